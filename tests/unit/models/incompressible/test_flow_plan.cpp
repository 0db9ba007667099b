// What a flow is planned to take and to move, against a model that has taken and moved it.
#include "tutti/models/incompressible/flow_plan.hpp"

#include <gtest/gtest.h>

#include "tests/unit/base/mpi_environment.hpp"
#include "tutti/exchange/box_pieces.hpp"
#include "tutti/models/incompressible/incompressible.hpp"
#include "tutti/models/incompressible/pressure/direct/direct_layout.hpp"
#include "tutti/partition/split_box.hpp"

namespace tutti::incompressible {
namespace {

using test::world;

Case read_plan(const std::string& keys, const std::string& time = "") {
  const ModelKinds kinds{{"incompressible", add_incompressible_keys, make_incompressible, DomainKeys::box}};
  return parse_case("model = \"incompressible\"\n" + keys + "[time]\nsteps = 1\n" + time, "test.toml",
                    schema_of(kinds, "incompressible"));
}

struct PlannedCase {
  const char* name;
  std::string keys;
  const char* devices = "fake:2,cpu";
  std::string time = "";
};
void PrintTo(const PlannedCase& one, std::ostream* out) {
  *out << one.name;
}

const std::string lid = "[[boundary]]\nface = \"y-upper\"\nvalue = [1, 0, 0]\n";
const std::string equal = "[balance]\nweights = \"equal\"\n";

class FlowPlan : public ::testing::TestWithParam<PlannedCase> {};

TEST_P(FlowPlan, IsWhatTheModelTakes) {
  const Case options = read_plan(GetParam().keys + equal, GetParam().time);
  DeviceSet devices = open_devices(GetParam().devices, world());
  Phases phases;
  const ModelSetup setup{world(), devices, options, {}, phases};
  const FlowCase flow = read_flow_case(options);
  std::vector<FlowPartPlan> plans;
  {
    BoxDomain domain(flow.grid, cut_order(flow), true);
    make_domain(domain, setup, {});
    for (std::size_t p = 0; p < domain.mine(); ++p)
      plans.push_back(plan_part(options, flow, domain, p, planned_sweeps(flow)));
  }
  for (const auto& device : devices.devices) ASSERT_EQ(device->budget().used(), 0) << "a plan takes memory";
  const auto model = make_incompressible(setup);
  // A plan knows the largest components, not where they are: its step may be shorter.
  const double share = planned_time_step(options, flow) / model->time_step();
  EXPECT_LE(share, 1 + 1e-12);
  EXPECT_GE(share, 0.5);
  Summary before, after;
  summarise(world(), *model, before, 0);
  model->step(0, model->time_step());
  summarise(world(), *model, after, 0);
  for (std::size_t p = 0; p < plans.size(); ++p) {
    const double planned = static_cast<double>(plans[p].bytes());
    const double taken = static_cast<double>(devices.devices[p]->budget().peak());
    EXPECT_NEAR(planned / taken, 1, 0.03) << "of part " << p;
    EXPECT_EQ(plans[p].bytes_a_step, after.parts[p].bytes - before.parts[p].bytes) << "of part " << p;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, FlowPlan,
    ::testing::Values(
        PlannedCase{"direct", "[grid]\ncells = [20, 18, 16]\n[fluid]\nviscosity = 0.01\n" + lid},
        PlannedCase{"direct in pieces",
                    "[grid]\ncells = [20, 18, 16]\n[fluid]\nviscosity = 0.01\n[pressure]\npieces = 3\n" + lid},
        PlannedCase{"one part", "[grid]\ncells = [20, 18, 16]\n[fluid]\nviscosity = 0.01\n" + lid, "fake:1"},
        PlannedCase{"between walls, stretched",
                    "[grid]\ncells = [20, 18, 16]\nstretch = [0, 1.5, 0]\n[fluid]\nviscosity = 0.01\n" + lid},
        PlannedCase{"between walls, stretched, blocks",
                    "[grid]\ncells = [20, 18, 16]\nstretch = [0, 1.5, 0]\n[fluid]\nviscosity = 0.01\n[partition]\n"
                    "cut = \"blocks\"\n" +
                        lid,
                    "fake:3,cpu"},
        PlannedCase{"between walls in x, stretched",
                    "[grid]\ncells = [18, 20, 16]\nstretch = [1.5, 0, 0]\n[fluid]\nviscosity = 0.01\n" + lid},
        PlannedCase{"between walls in x, stretched, blocks",
                    "[grid]\ncells = [18, 20, 16]\nstretch = [1.5, 0, 0]\n[fluid]\nviscosity = 0.01\n[partition]\n"
                    "cut = \"blocks\"\n" +
                        lid,
                    "fake:3,cpu"},
        PlannedCase{"flat", "[grid]\ncells = [40, 30, 1]\n[fluid]\nviscosity = 0.01\n" + lid},
        PlannedCase{"jacobi in float",
                    "[grid]\ncells = [24, 20, 16]\n[fluid]\nviscosity = 0.01\n[numerics]\nprecision = "
                    "\"float\"\n[pressure]\nsolver = \"jacobi\"\nsweeps = 7\n" +
                        lid},
        PlannedCase{"warm, three stages",
                    "[grid]\ncells = [16, 20, 18]\n[fluid]\nviscosity = 0.01\ndiffusivity = 0.02\nbuoyancy = [0, 3, "
                    "0]\n[[boundary]]\nface = \"x-lower\"\ntemperature = "
                    "\"fixed\"\ntemperature_value = 1\n[[boundary]]\nface = \"x-upper\"\ntemperature = \"fixed\"\n",
                    "fake:2,cpu", "method = \"rk3\"\n"},
        PlannedCase{"two scalars",
                    "[grid]\ncells = [16, 20, 18]\n[fluid]\nviscosity = 0.01\n[[scalar]]\nname = \"dye\"\n"
                    "diffusivity = 0.03\nsource = \"x*t\"\n[[scalar]]\nname = \"salt\"\ndiffusivity = 0\n" +
                        lid,
                    "fake:2,cpu", "steady = 1e-3\n"},
        PlannedCase{"warm, implicit",
                    "[grid]\ncells = [16, 20, 18]\n[fluid]\nviscosity = 0.3\ndiffusivity = 0.2\n" + lid, "fake:2,cpu",
                    "diffusion = \"implicit\"\ndt = 0.02\n"},
        PlannedCase{
            "blocks, periodic",
            "[grid]\ncells = [24, 24, 24]\n[fluid]\nviscosity = 0.01\n[partition]\ncut = "
            "\"blocks\"\n[initial]\nvelocity "
            "= [0.25, 0, -0.5]\n[[boundary]]\nface = \"z-lower\"\nvelocity = \"periodic\"\n[[boundary]]\nface = "
            "\"z-upper\"\nvelocity = \"periodic\"\n",
            "fake:3,cpu"}));

/// Cells by number, one after the other: what count_transfer finds without looking at any.
TransferCount count_by_cells(const BoxParts& parts, const std::vector<std::vector<CellBox>>& wanted, std::int32_t part,
                             bool same_arrays) {
  TransferCount count;
  std::vector<Size> sent(parts.boxes.size());
  for (std::int32_t taker = 0; taker < static_cast<std::int32_t>(wanted.size()); ++taker)
    for (const CellBox& box : wanted[taker])
      for (Lid k = box.lower[2]; k < box.upper[2]; ++k)
        for (Lid j = box.lower[1]; j < box.upper[1]; ++j)
          for (Lid i = box.lower[0]; i < box.upper[0]; ++i) {
            std::array<Lid, 3> cell{i, j, k};
            bool there = true, moved = false;
            for (std::size_t d = 0; d < 3; ++d) {
              if (cell[d] >= 0 && cell[d] < parts.cells[d]) continue;
              there = there && parts.periodic[d];
              moved = true;
              cell[d] = (cell[d] + parts.cells[d]) % parts.cells[d];
            }
            if (!there) continue;
            std::int32_t owner = 0;
            while (!parts.boxes[owner].contains(cell[0], cell[1], cell[2])) ++owner;
            if (taker == part && owner == part) count.copies += same_arrays && !moved ? 0 : 1;
            if (taker == part && owner != part) ++count.arrivals;
            if (owner == part && taker != part) {
              ++sent[taker];
              ++count.packed;
            }
          }
  for (std::size_t other = 0; other < sent.size(); ++other)
    if (sent[other] > 0) count.to.emplace_back(static_cast<std::int32_t>(other), sent[other]);
  return count;
}

TEST(CountTransfer, IsWhatCellsSay) {
  for (const BoxCut cut : {BoxCut::slabs, BoxCut::pencils, BoxCut::blocks})
    for (const int pattern : {0, 1, 2, 4, 7}) {
      BoxParts parts;
      parts.cells = {7, 6, 9};
      parts.periodic = {(pattern & 1) != 0, (pattern & 2) != 0, (pattern & 4) != 0};
      parts.boxes = split_box(parts.cells, std::vector<double>{1, 2, 0, 1.5, 1, 1}, cut);
      parts.rank_of_part.assign(6, 0);
      const BoxParts planes = [&] {
        BoxParts other = parts;
        other.boxes = split_box(parts.cells, std::vector<double>{1, 1, 1, 0, 0, 0}, BoxCut::slabs);
        return other;
      }();
      std::vector<std::vector<CellBox>> rings, faces, all;
      for (const CellBox& box : parts.boxes) {
        rings.push_back(ring_around(box));
        faces.push_back(faces_around(box));
        all.push_back({box});
      }
      const auto same = [](const BoxParts& from, const std::vector<std::vector<CellBox>>& wanted, std::int32_t part,
                           bool same_arrays) {
        const TransferCount found = count_transfer(from, wanted, part, same_arrays);
        const TransferCount right = count_by_cells(from, wanted, part, same_arrays);
        EXPECT_EQ(found.packed, right.packed);
        EXPECT_EQ(found.arrivals, right.arrivals);
        EXPECT_EQ(found.copies, right.copies);
        EXPECT_EQ(found.to, right.to);
      };
      for (std::int32_t part = 0; part < 6; ++part) {
        SCOPED_TRACE(fmt::format("cut {}, periodic {}, part {}", static_cast<int>(cut), pattern, part));
        same(parts, rings, part, true);
        same(parts, faces, part, true);
        same(planes, all, part, false);
      }
    }
}

TEST(DirectOrder, EliminatesWhereThatSparesMatrices) {
  const auto order = [](const char* grid) {
    return direct_order(read_flow_case(read_plan(fmt::format("[grid]\n{}\n[fluid]\nviscosity = 1\n", grid))));
  };
  using Order = std::array<int, 3>;
  EXPECT_EQ(order("cells = [16, 16, 16]"), (Order{0, 1, 2}));
  EXPECT_EQ(order("cells = [16, 16, 16]\nstretch = [0, 0, 1]"), (Order{0, 1, 2}));
  EXPECT_EQ(order("cells = [16, 16, 16]\nstretch = [0, 1, 0]"), (Order{0, 2, 1}));
  EXPECT_EQ(order("cells = [16, 17, 16]"), (Order{0, 2, 1})) << "an odd number of cells has no fast transform";
  EXPECT_EQ(order("cells = [16, 16, 16]\nstretch = [0, 1, 1]"), (Order{0, 1, 2}));
  EXPECT_EQ(order("cells = [16, 16, 16]\nstretch = [1, 0, 0]"), (Order{1, 2, 0}));
  EXPECT_EQ(order("cells = [16, 16, 16]\nstretch = [1, 0, 1]"), (Order{0, 1, 2}));
  EXPECT_EQ(order("cells = [16, 16, 16]\nstretch = [1, 1, 0]"), (Order{0, 2, 1}));
  EXPECT_EQ(order("cells = [16, 16, 1]"), (Order{0, 2, 1}));
  EXPECT_EQ(order("cells = [16, 16, 1]\nstretch = [1, 0, 0]"), (Order{1, 2, 0}));
  EXPECT_EQ(order("cells = [16, 1, 16]\nstretch = [0, 0, 1]"), (Order{0, 1, 2}));
  EXPECT_EQ(order("cells = [16, 1, 16]\nstretch = [1, 0, 0]"), (Order{2, 1, 0}));
}

TEST(FlowCounts, OfAStep) {
  const FlowCase cold =
      read_flow_case(read_plan("[grid]\ncells = [8, 8, 8]\n[fluid]\nviscosity = 1\n[pressure]\nsolver = \"jacobi\"\n"));
  // The seed's 108 + 12 m bytes in float have the temperature.
  EXPECT_EQ(values_a_stage(cold, 20), 21 + 3 * 20);
  EXPECT_EQ(flops_a_stage(cold, 20) - flops_a_stage(cold, 19), 10);
  const FlowCase warm = read_flow_case(read_plan(
      "[grid]\ncells = [8, 8, 8]\n[fluid]\nviscosity = 1\ndiffusivity = 1\n[pressure]\nsolver = \"jacobi\"\n"));
  EXPECT_EQ(4 * values_a_stage(warm, 20), 108 + 12 * 20);
  // Half of the velocities (rounded up), scalar, what it becomes, and its rate, read and written; a source.
  const FlowCase dyed = read_flow_case(
      read_plan("[grid]\ncells = [8, 8, 8]\n[fluid]\nviscosity = 1\ndiffusivity = 1\n[pressure]\nsolver = "
                "\"jacobi\"\n[[scalar]]\nname = \"dye\"\ndiffusivity = 1\nsource = \"x\"\n"));
  EXPECT_EQ(values_a_stage(dyed, 20) - values_a_stage(warm, 20), 2 + 1 + 1 + 2 + 1);
  EXPECT_EQ(flops_a_stage(dyed, 20) - flops_a_stage(warm, 20), 52);
}

}  // namespace
}  // namespace tutti::incompressible
