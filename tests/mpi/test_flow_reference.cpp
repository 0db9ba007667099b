// The model against a flow that is computed the slow and obvious way: all ends, stretched and uniform grids, both time
// schemes, Jacobi and red-black sweeps.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/flow_run.hpp"
#include "tests/support/slow_flow.hpp"

namespace tutti::incompressible {
namespace {

using test::face;
using test::flow_text;
using test::FlowRun;

const Comm& world() {
  static const Comm comm;
  return comm;
}

/// Both run for five steps.
void expect_same(const std::string& cells, const std::string& more, double tolerance = 1e-12) {
  const std::string text = flow_text(cells, more);
  SCOPED_TRACE(text);
  constexpr int steps = 5;
  FlowRun run(world(), text, "cpu");
  const Case options = parse_case(text, "flow.toml", test::flow_schema());
  const FlowCase flow = read_flow_case(options);
  test::SlowFlow slow(flow);
  run.steps(steps);
  for (int k = 0; k < steps; ++k) slow.step(run.model().time_step());
  const auto fields = run.state().fields;
  const auto compare = [&](const std::string& name, const std::vector<double>& expected) {
    const std::vector<double>& values = fields.at(name);
    ASSERT_EQ(values.size(), expected.size());
    double largest = 0;
    for (const double v : expected) largest = std::max(largest, std::abs(v));
    EXPECT_TRUE(largest > 1e-3 || name == "w") << name << " is all but 0, which any code may find";
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_NEAR(values[i], expected[i], tolerance * std::max(largest, 1e-3)) << name << " of cell " << i;
  };
  for (int d = 0; d < 3; ++d) compare(std::string(1, "uvw"[d]), slow.velocity(d));
  compare("p", slow.pressure());
  for (std::size_t k = 0; k < flow.scalars.size(); ++k) compare(flow.scalars[k].name, slow.scalar(k));
}

const std::string stirred =
    "[fluid]\nviscosity = 0.01\n[initial]\nvelocity = [\"sin(9*y+z)\", \"x*x+z\", \"cos(7*x)*y\"]\n";
const std::string ab2 = "[time]\nsteps = 5\ndt = 0.01\n", rk3 = "[time]\nsteps = 5\ndt = 0.02\nmethod = \"rk3\"\n",
                  jacobi = "[pressure]\nsolver = \"jacobi\"\nsweeps = 5\n",
                  red_black = "[pressure]\nsolver = \"red_black\"\nomega = 1.3\ntolerance = 1e9\n";
const std::string outflow = "velocity = \"outflow\"", periodic = "velocity = \"periodic\"";

TEST(FlowReference, box_with_a_lid) {
  for (const std::string& scheme : {ab2, rk3})
    for (const std::string& solver : {jacobi, red_black})
      expect_same("[7, 6, 5]", "stretch = [1.2, 0, 2]\n" + stirred + scheme + solver +
                                   face("y-upper", "value = [\"1+x*t\", 0, \"z\"]") +
                                   face("x-lower", "velocity = \"free-slip\""));
}

TEST(FlowReference, warm_box) {
  const std::string warm =
      "[fluid]\nviscosity = 0.01\ndiffusivity = 0.02\nbuoyancy = [0.3, 0, 2]\nreference = 0.5\n"
      "heat_source = \"sin(3*x)*exp(-y+t)\"\nforce = [\"cos(4*z-t)\", 0.1, \"x*y\"]\n"
      "[initial]\ntemperature = \"x*y-z\"\nvelocity = [\"sin(5*y)\", \"z\", \"x*x\"]\n";
  const std::string ends =
      face("x-lower", "temperature = \"fixed\"\ntemperature_value = \"1+y*t\"") +
      face("x-upper", "velocity = \"free-slip\"\ntemperature = \"flux\"\ntemperature_value = \"0.1*z\"");
  const std::string dye =
      "[[scalar]]\nname = \"dye\"\ndiffusivity = 0.03\ninitial = \"x+y*z\"\nsource = \"z-t\"\n"
      "[[scalar_boundary]]\nscalar = \"dye\"\nface = \"z-upper\"\nkind = \"fixed\"\nvalue = \"x+t\"\n"
      "[[scalar_boundary]]\nscalar = \"dye\"\nface = \"z-lower\"\nkind = \"flux\"\nvalue = 0.2\n";
  for (const std::string& scheme : {ab2, rk3}) {
    expect_same("[6, 5, 7]", "stretch = [1, 1.5, 0]\n" + warm + scheme + jacobi + ends + dye);
    expect_same("[6, 4, 7]", warm + scheme + red_black + ends + face("y-lower", periodic) + face("y-upper", periodic));
  }
}

/// Some go with momentum, others do not.
TEST(FlowReference, many_scalars) {
  const std::string warm =
      "[fluid]\nviscosity = 0.01\ndiffusivity = 0.02\nbuoyancy = [0, 0, 2]\n"
      "[initial]\ntemperature = \"x*y-z\"\nvelocity = [\"sin(5*y)\", \"z\", \"x*x\"]\n";
  std::string dyes;
  for (int k = 1; k <= 6; ++k)
    dyes += fmt::format("[[scalar]]\nname = \"dye{}\"\ndiffusivity = {}\ninitial = \"x+{}*y*z\"\nsource = {}\n", k,
                        0.01 * k, k, k % 2 == 0 ? "\"z-t\"" : "0.3");
  for (const std::string& flow : {stirred, warm})
    for (const std::string& scheme : {ab2, rk3})
      expect_same("[6, 5, 7]", "stretch = [1, 1.5, 0]\n" + flow + scheme + jacobi + dyes);
}

TEST(FlowReference, channels) {
  const std::string in = "velocity = \"inflow\"\nvalue = [\"4*y*(1-y)*(1+t)\", \"0.1*sin(9*z+t)\", 0]";
  for (const std::string& scheme : {ab2, rk3})
    for (const std::string& solver : {jacobi, red_black}) {
      expect_same("[8, 5, 6]", stirred + scheme + solver + face("x-lower", in) + face("x-upper", outflow));
      expect_same("[6, 5, 8]", "stretch = [0, 1, 1]\n" + stirred + scheme + solver +
                                   face("z-upper", "velocity = \"inflow\"\nvalue = [0, 0, \"-x*(1-x)-t\"]") +
                                   face("z-lower", outflow) + face("y-upper", outflow));
    }
}

TEST(FlowReference, subgrid_models_and_a_kept_mass_flow) {
  const std::string around = test::periodic("x");
  for (const std::string& scheme : {ab2, rk3})
    for (const std::string model : {"smagorinsky", "wale"}) {
      const std::string fluid = "subgrid = \"" + model + "\"\nsubgrid_constant = 0.8\nbulk_velocity = 0.9\n" +
                                "force = [0, \"sin(3*x)\", 0.2]\n";
      std::string text = "stretch = [0, 1.2, 2]\n" + stirred + scheme + jacobi + around +
                         face("y-upper", "value = [1, 0, 0.5]") + face("z-upper", "velocity = \"free-slip\"");
      text.replace(text.find("viscosity = 0.01\n"), 0, fluid);
      expect_same("[7, 6, 5]", text);
    }
}

TEST(FlowReference, periods_and_slices) {
  std::string around;
  for (const char* name : box_face_names) around += face(name, periodic);
  const std::string wave =
      "[fluid]\nviscosity = 0.01\n[initial]\nvelocity = [\"sin(6.2831853071795862*(x+2*y))\", "
      "\"cos(6.2831853071795862*z)\", \"sin(6.2831853071795862*(x-z))\"]\n";
  for (const std::string& scheme : {ab2, rk3})
    for (const std::string& solver : {jacobi, red_black}) {
      expect_same("[6, 8, 4]", wave + scheme + solver + around);
      expect_same("[9, 8, 1]", stirred + scheme + solver + face("y-upper", "value = [1, 0, 0]"));
    }
}

}  // namespace
}  // namespace tutti::incompressible
