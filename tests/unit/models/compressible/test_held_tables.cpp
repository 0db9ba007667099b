// Tables of volumes in rows of any format: what is computed from them are the bits of a table with the decoded values.
#include <gtest/gtest.h>

#include <numeric>

#include "tutti/base/random.hpp"
#include "tutti/device/device_list.hpp"
#include "tutti/mesh/elements/generate_element_box.hpp"
#include "tutti/models/compressible/flow_part.hpp"

namespace tutti::compressible {
namespace {

struct Sample {
  LocalElementMesh mesh;
  IndexMap map;

  explicit Sample(BoxElements elements) {
    ElementBoxSpec spec;
    spec.elements = elements;
    spec.cubes = {3, 3, 3};
    spec.jitter = 0.1;
    spec.periodic = {true, true, true};
    const ElementMesh whole = generate_element_box(spec);
    map.interior = map.owned = static_cast<Lid>(whole.element_count());
    map.global.resize(whole.element_count());
    std::iota(map.global.begin(), map.global.end(), Gid{0});
    mesh = local_elements(map, whole, match_faces(whole));
  }
};

/// A stage from a rough flow, limited, by the view's tables.
std::vector<double> advance(Stream& stream, const CompressibleCase& flow, FlowPart& part, const PartView& view) {
  double state[variables];
  to_conserved(flow.gas, {1, 0.3, 0.2, 0.1, 1}, state);
  const auto n = static_cast<std::size_t>(flow.bases());
  std::vector<double> u(static_cast<std::size_t>(part.u[0].buffer().size()));
  for (std::size_t i = 0; i < u.size(); ++i)
    u[i] = i % n == 0 ? state[i / n % variables] : 0.1 * (random_unit(3, static_cast<std::uint64_t>(i)) - 0.5);
  upload(stream, part.u[0].buffer(), std::span<const double>(u));
  StageArrays stage;
  stage.count = 1;
  stage.x[0] = part.u[0].data();
  stage.weight[0] = 1;
  stage.factor = 1e-3;
  stage.out = part.u[1].data();
  compute_fluxes(stream, part.all_faces(), view, {}, flow.eta, part.u[0].data(), part.at_faces());
  advance_elements(stream, {0, static_cast<Lid>(u.size() / n / variables)}, view, part.u[0].data(), part.at_faces(),
                   stage, stage.out);
  download(stream, std::span<double>(u), part.u[1].buffer());
  return u;
}

ResidencyOptions held_as(ValueFormat format, Policy policy) {
  ResidencyOptions options;
  options.policy = policy;
  options.format = format;
  options.group = 120;
  return options;
}

TEST(HeldTables, GiveTheBitsOfTheirDecodedValues) {
  const Comm alone(MPI_COMM_SELF);
  DeviceSet devices = open_devices("fake:1", alone, {});
  const auto stream = devices.devices[0]->make_stream("test");
  for (const auto& [elements, order, viscosity] :
       {std::tuple{BoxElements::hexahedra, 2, 0.0}, {BoxElements::mixed, 1, 0.01}, {BoxElements::hexahedra, 3, 0.01}}) {
    const Sample sample(elements);
    CompressibleCase flow;
    flow.order = order;
    flow.gas.viscosity = viscosity;
    if (viscosity > 0) flow.gas.law = ViscosityLaw::constant;
    const IndexMap values = with_components(sample.map, variables * flow.bases());
    FlowPart all(*stream, flow, sample.mesh, sample.map, values, {}, 2);
    const std::vector<double> in_place = advance(*stream, flow, all, all.view());
    for (const ValueFormat format :
         {ValueFormat::doubles, ValueFormat::floats, ValueFormat::int32, ValueFormat::int16, ValueFormat::zfp}) {
      SCOPED_TRACE(fmt::format("order {}, format {}", order, static_cast<int>(format)));
      const Policy policy = is_exact(format) ? Policy::resident : Policy::compressed;
      FlowPart apart(*stream, flow, sample.mesh, sample.map, values, {}, 2, {}, true);
      EXPECT_TRUE(apart.waits_to_be_held());
      apart.hold(*stream, flow, sample.mesh, held_as(format, policy));
      const std::vector<double> found = advance(*stream, flow, apart, apart.view());
      if (is_exact(format))
        EXPECT_EQ(found, in_place);
      else
        EXPECT_NE(found, in_place);

      const int width = apart.held()->layout().width;
      std::vector<double> decoded(static_cast<std::size_t>(sample.map.owned) * static_cast<std::size_t>(width));
      for_each_chunk(*apart.view().volumes, [&](Range rows, const auto& access) {
        for (Lid r = rows.begin; r < rows.end; ++r)
          for (int i = 0; i < width; ++i) decoded[static_cast<std::size_t>(r) * width + i] = access(r, i);
      });
      Residency plain(*stream, row_source("decoded", width, decoded), held_as(ValueFormat::doubles, Policy::resident));
      PartView view = apart.view();
      view.volumes = &plain;
      EXPECT_EQ(advance(*stream, flow, apart, view), found);
      // Kernels that are seldom run read the same.
      const Range rows = sample.map.owned_rows();
      const double* u = apart.u[1].data();
      const PartView coded = apart.view();
      EXPECT_EQ(kinetic_energy_of(*stream, rows, coded, u).value(), kinetic_energy_of(*stream, rows, view, u).value());
      EXPECT_EQ(enstrophy_of(*stream, rows, coded, u).value(), enstrophy_of(*stream, rows, view, u).value());
      EXPECT_EQ(largest_mach(*stream, rows, coded, u), largest_mach(*stream, rows, view, u));
      EXPECT_EQ(smallest_step_negated(*stream, rows, coded, u, apart.projected(), order),
                smallest_step_negated(*stream, rows, view, u, apart.projected(), order));
    }
  }
}

}  // namespace
}  // namespace tutti::compressible
