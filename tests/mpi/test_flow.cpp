// Incompressible flow: the bits of a single CPU part, for any cut, number of ranks, devices and overlap policy, and
// after a restart on others.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/flow_run.hpp"

namespace tutti::incompressible {
namespace {

using test::difference;
using test::face;
using test::flow_text;
using test::FlowRun;
using test::periodic;
using test::SavedState;

const Comm& world() {
  static const Comm comm;
  return comm;
}

/// Who computes: keys of the case and a list of devices, for this number of ranks.
struct Machine {
  std::string devices, cut, overlap;
  std::vector<double> weights;  ///< one a part; empty: equal

  std::string keys() const {
    std::string list;
    for (const double w : weights) list += fmt::format("{}{}", list.empty() ? "" : ", ", w);
    return fmt::format("[partition]\ncut = \"{}\"\n[devices]\noverlap = \"{}\"\n[balance]\nweights = {}\n", cut,
                       overlap, weights.empty() ? "\"equal\"" : "[" + list + "]");
  }
};

/// Weights 1, 2, 3, 1, ... of `parts` parts; those of the second, fifth, ... and all after `most` others are 0.
std::vector<double> uneven_weights(int parts, int most) {
  std::vector<double> weights;
  for (int p = 0; p < parts; ++p) weights.push_back((p % 3 == 1 && parts > 1) || most-- <= 0 ? 0 : 1 + p % 3);
  return weights;
}

/// The smallest grid has 8 planes. Fake devices take much time of the system: many ranks have few.
std::vector<Machine> machines() {
  const int ranks = world().size();
  if (ranks > 1)
    return {{"cpu", "slabs", "full", {}},
            {"cpu", "blocks", "none", {}},
            {"fake:1", "pencils", "full", uneven_weights(ranks, 8)},
            {"cpu", "pencils", "messages", uneven_weights(ranks, 8)},
            {"fake:1", "slabs", "messages", {}},
            {"fake:1,cpu", "blocks", "full", uneven_weights(2 * ranks, 5)}};
  return {{"cpu", "slabs", "full", {}},         {"fake:1,cpu", "pencils", "messages", {}},
          {"fake:2,cpu", "blocks", "full", {}}, {"fake:2,cpu", "slabs", "full", {1, 0, 2}},
          {"fake:2", "slabs", "none", {}},      {"fake:2,cpu", "pencils", "messages", {3, 1, 0}},
          {"cpu", "blocks", "none", {}}};
}

struct Flow {
  std::string name, text;
};

std::vector<Flow> flows() {
  const std::string inflow = "velocity = \"inflow\"\nvalue = [\"4*y*(1-y)*(1+t)\", \"0.1*sin(9*z+t)\", 0]",
                    outflow = "velocity = \"outflow\"", lid = face("y-upper", "value = [1, 0, 0.25]");
  const std::string warm =
      "[fluid]\nviscosity = 0.01\ndiffusivity = 0.02\nbuoyancy = [0, 0, 2]\nreference = 0.5\n"
      "heat_source = \"sin(3*x)*exp(-y+t)\"\nforce = [\"cos(4*z-t)\", 0.1, \"x*y\"]\n"
      "[initial]\ntemperature = \"x*y-z\"\nvelocity = [\"sin(5*y)\", \"z\", \"x*x\"]\n" +
      face("x-lower", "temperature = \"fixed\"\ntemperature_value = \"1+y*t\"") +
      face("x-upper", "velocity = \"free-slip\"\ntemperature = \"flux\"\ntemperature_value = \"0.1*z\"");
  const std::string cold = "[fluid]\nviscosity = 0.01\n";
  const std::string wave =
      "[initial]\nvelocity = [\"sin(6.2831853*(x+2*y))\", \"cos(6.2831853*z)\", \"sin(6.2831853*(x-z))\"]\n";
  const std::string direct = "[pressure]\nsolver = \"direct\"\n", in_pieces = direct + "pieces = 3\n",
                    jacobi = "[pressure]\nsolver = \"jacobi\"\nsweeps = 4\n",
                    red_black = "[pressure]\nsolver = \"red_black\"\ntolerance = 0.05\ncheck = false\n",
                    ab2 = "[time]\nsteps = 6\nmethod = \"ab2\"\n", rk3 = "[time]\nsteps = 6\nmethod = \"rk3\"\n",
                    implicit = "[time]\nsteps = 6\ndt = 0.05\ndiffusion = \"implicit\"\n";
  const std::string scalars =
      "[[scalar]]\nname = \"dye\"\ndiffusivity = 0.005\ninitial = \"sin(7*x)*z\"\n"
      "[[scalar]]\nname = \"salt\"\ndiffusivity = 0.03\ninitial = \"1-y\"\nsource = \"x*cos(t)\"\n"
      "[[scalar_boundary]]\nscalar = \"salt\"\nface = \"x-lower\"\nkind = \"fixed\"\nvalue = \"1+y*t\"\n"
      "[[scalar_boundary]]\nscalar = \"dye\"\nface = \"y-upper\"\nkind = \"flux\"\nvalue = \"0.1*x\"\n"
      "[[scalar_boundary]]\nscalar = \"salt\"\nface = \"y-upper\"\nkind = \"fixed\"\nvalue = \"z\"\n";
  const std::string box = "[9, 8, 8]", slice = "[16, 12, 1]";
  return {
      {"lid, stretched, direct, ab2", flow_text(box, "stretch = [1.5, 0, 2]\n" + cold + ab2 + in_pieces + lid)},
      {"lid, slice, direct, rk3, float",
       flow_text(slice, cold + rk3 + in_pieces + lid + "[numerics]\nprecision = \"float\"\n")},
      {"lid, slice, direct, rk3", flow_text(slice, cold + rk3 + direct + "pieces = 64\n" + lid)},
      {"lid, slice, stretched, jacobi, ab2", flow_text(slice, "stretch = [0, 2, 0]\n" + cold + ab2 + jacobi + lid)},
      {"lid, jacobi, rk3", flow_text(box, cold + rk3 + jacobi + lid)},
      {"warm, stretched, direct, rk3", flow_text(box, "stretch = [1, 1, 0]\n" + warm + rk3 + direct + lid)},
      // Eliminated along y; an even number of cells along x lets the transform find the divergence.
      {"mass flow between walls, stretched, direct, rk3",
       flow_text("[12, 9, 8]", "stretch = [0, 1.5, 0]\n" + cold + "bulk_velocity = 1\n" + wave + rk3 + in_pieces +
                                   periodic("x") + periodic("z"))},
      {"mass flow between walls, red_black, ab2",
       flow_text("[10, 8, 8]", cold + "bulk_velocity = 1\n" + wave + ab2 + red_black + periodic("x") + periodic("z"))},
      // Eliminated along x, as is all that has nine cells in x and equal ones in y and z.
      {"mass flow between walls in x, stretched, direct, rk3",
       flow_text("[10, 8, 12]", "stretch = [1.5, 0, 0]\n" + cold + "bulk_velocity = 1\nbulk_direction = \"y\"\n" + rk3 +
                                    in_pieces + periodic("y") + periodic("z"))},
      {"lid, slice, stretched in x, direct, ab2, float",
       flow_text(slice, "stretch = [2, 0, 0]\n" + cold + ab2 + direct + lid + "[numerics]\nprecision = \"float\"\n")},
      {"lid, even, direct, ab2", flow_text("[10, 8, 9]", cold + ab2 + in_pieces + lid)},
      {"warm, red_black, ab2", flow_text(box, warm + ab2 + red_black + periodic("y"))},
      {"warm with two scalars, stretched, direct, rk3",
       flow_text(box, "stretch = [1, 1, 0]\n" + warm + rk3 + in_pieces + lid + scalars)},
      {"channel with two scalars, jacobi, ab2", flow_text(box, cold + ab2 + jacobi + face("x-lower", inflow) +
                                                                   face("x-upper", outflow) + periodic("z") + scalars)},
      {"two scalars, stretched, jacobi, rk3, float",
       flow_text(slice, "stretch = [0, 2, 0]\n" + cold + rk3 + jacobi + lid + scalars +
                            "[numerics]\nprecision = \"float\"\n")},
      {"periodic, direct, ab2",
       flow_text(box, cold + wave + ab2 + in_pieces + periodic("x") + periodic("y") + periodic("z"))},
      {"periodic, slice, red_black, ab2",
       flow_text("[16, 14, 1]", cold + wave + ab2 + red_black + periodic("x") + periodic("y"))},
      {"channel, red_black, ab2",
       flow_text(box, cold + ab2 + red_black + face("x-lower", inflow) + face("x-upper", outflow) + periodic("z"))},
      {"channel upwards, stretched, direct, rk3",
       flow_text(box, "stretch = [0, 1, 1]\n" + cold + rk3 + in_pieces +
                          face("z-lower", "velocity = \"inflow\"\nvalue = [0, 0, \"x*(1-x)+t\"]") +
                          face("z-upper", outflow))},
      {"channel downwards, jacobi, ab2",
       flow_text(box, cold + ab2 + jacobi + face("z-upper", "velocity = \"inflow\"\nvalue = [0, 0, \"-x*(1-x)-t\"]") +
                          face("z-lower", outflow))},
      {"warm, stretched, direct, implicit", flow_text(box, "stretch = [1, 1, 0]\n" + warm + implicit + direct + lid)},
      {"channel, red_black, implicit", flow_text(box, cold + implicit + red_black + face("x-lower", inflow) +
                                                          face("x-upper", outflow) + periodic("z"))},
      {"lid, slice, stretched, jacobi, implicit, float",
       flow_text(slice,
                 "stretch = [0, 2, 0]\n" + cold + implicit + jacobi + lid + "[numerics]\nprecision = \"float\"\n")},
      {"periodic, warm, direct, implicit", flow_text(box, warm + implicit + in_pieces + periodic("y") + periodic("z"))},
      {"channel downwards, direct, implicit",
       flow_text(box, cold + implicit + direct +
                          face("z-upper", "velocity = \"inflow\"\nvalue = [0, 0, \"-x*(1-x)-t\"]") +
                          face("z-lower", outflow))},
  };
}

TEST(Flow, any_machine_gives_the_bits_of_one_part) {
  const auto all = machines();
  auto turn = static_cast<std::size_t>(world().size());
  for (const Flow& flow : flows()) {
    const Machine& machine = all[turn++ % all.size()];
    SCOPED_TRACE(fmt::format("{}; {}, {}", flow.name, machine.devices, machine.keys()));
    std::uint64_t checksum = 0;
    const SavedState expected = test::state_of_one_part<FlowRun>(world(), flow.text, 2, &checksum);
    FlowRun run(world(), flow.text + machine.keys(), machine.devices, turn);
    run.steps(2);
    EXPECT_EQ(difference(expected, run.state()), "");
    EXPECT_EQ(run.summary().checksum, checksum);
  }
}

TEST(Flow, has_the_same_bits_when_its_passes_are_captured) {
  if (world().size() > 1) GTEST_SKIP() << "other ranks' messages are waited for";
  const std::string start = "[fluid]\nviscosity = 0.01\n", end = face("y-upper", "value = [1, 0, 0.25]"),
                    dye = "[[scalar]]\nname = \"dye\"\ndiffusivity = 0.005\ninitial = \"sin(7*x)*z\"\n",
                    steps = "[time]\nsteps = 20\ndt = 0.02\n",
                    pressure = "[pressure]\nsolver = ", direct = pressure + "\"direct\"\n";
  // Arrays that change places: with an odd number of sweeps the pressure's, in a step a scalar's, and all that are
  // diffused implicitly.
  for (const std::string& flow :
       {steps + pressure + "\"jacobi\"\nsweeps = 5\n" + end, steps + direct + end + dye,
        steps + "method = \"rk3\"\n" + direct + end, steps + "diffusion = \"implicit\"\n" + direct + end,
        steps + "diffusion = \"implicit\"\n" + direct + end + dye,
        steps + pressure + "\"multigrid\"\ntolerance = 1e-9\n" + end + dye,
        steps + pressure + "\"red_black\"\ntolerance = 0.05\ncheck = false\n" + end}) {
    SCOPED_TRACE(flow);
    const std::string text = flow_text("[12, 9, 10]", start + flow + periodic("z"));
    // Steps enough for all passes to come again and again.
    const SavedState expected = test::state_of_one_part<FlowRun>(world(), text, 14);
    FlowRun run(world(), text, "fake:2");
    run.steps(14);
    EXPECT_EQ(difference(expected, run.state()), "");
    // The first part has no cells.
    FlowRun second(world(), text + "[balance]\nweights = [0, 1]\n", "fake:2");
    second.steps(14);
    EXPECT_EQ(difference(expected, second.state()), "");
  }
}

TEST(Flow, goes_on_from_a_state_on_another_machine) {
  const auto all = machines();
  auto turn = static_cast<std::size_t>(world().size());
  for (const Flow& flow : flows()) {
    // What leaves through a lower end is in no cell.
    const bool downwards = flow.name.find("downwards") != std::string::npos;
    if (++turn % 3 != 0 && !downwards) continue;  // the other flows with other numbers of ranks
    const Machine &before = all[turn / 3 % all.size()], &behind = all[(turn / 3 + 2) % all.size()];
    SCOPED_TRACE(fmt::format("{}; {}, {}; then {}, {}", flow.name, before.devices, before.keys(), behind.devices,
                             behind.keys()));
    const SavedState expected = test::state_of_one_part<FlowRun>(world(), flow.text, 6);
    FlowRun first(world(), flow.text + before.keys(), before.devices);
    first.steps(3);
    FlowRun second(world(), flow.text + behind.keys(), behind.devices);
    second.resume(first.state(), 3);
    second.steps(3);
    EXPECT_EQ(difference(expected, second.state()), "");
  }
}

}  // namespace
}  // namespace tutti::incompressible
