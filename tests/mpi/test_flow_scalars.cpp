// Passive scalars of incompressible flow: the temperature's arithmetic, what must hold whatever the flow does, and
// solutions that are known.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/support/flow_run.hpp"
#include "tutti/mesh/box_grid.hpp"

namespace tutti::incompressible {
namespace {

using test::face;
using test::flow_text;
using test::FlowRun;
using test::periodic;
using test::SavedState;

const Comm& world() {
  static const Comm comm;
  return comm;
}

const std::string blocks = "[partition]\ncut = \"blocks\"\n[balance]\nweights = \"equal\"\n";

std::string scalar(const std::string& name, double diffusivity, const std::string& more) {
  return fmt::format("[[scalar]]\nname = \"{}\"\ndiffusivity = {}\n{}\n", name, diffusivity, more);
}
std::string scalar_face(const std::string& name, const std::string& where, const std::string& keys) {
  return "[[scalar_boundary]]\nscalar = \"" + name + "\"\nface = \"" + where + "\"\n" + keys + "\n";
}
std::string time_keys(const std::string& method, const std::string& more = "steps = 8") {
  return "[time]\nmethod = \"" + method + "\"\n" + more + "\n";
}

TEST(FlowScalars, without_buoyancy_the_temperature_is_one_of_them) {
  const std::string warm =
      "stretch = [1, 0, 2]\n[fluid]\nviscosity = 0.01\ndiffusivity = 0.02\nheat_source = \"sin(3*x)*exp(-y+t)\"\n"
      "[initial]\ntemperature = \"x*y-z\"\nvelocity = [\"sin(5*y)\", \"z\", \"x*x\"]\n" +
      face("x-lower", "temperature = \"fixed\"\ntemperature_value = \"1+y*t\"") +
      face("z-upper", "value = [1, 0, 0]\ntemperature = \"flux\"\ntemperature_value = \"0.1*x\"") + periodic("y");
  // So many that the dye does not go with momentum.
  std::string others;
  for (const char* name : {"a", "b", "c", "other"}) others += scalar(name, 0.3, "initial = \"y\"");
  const std::string same = others + scalar("dye", 0.02, "initial = \"x*y-z\"\nsource = \"sin(3*x)*exp(-y+t)\"") +
                           scalar_face("dye", "x-lower", "kind = \"fixed\"\nvalue = \"1+y*t\"") +
                           scalar_face("dye", "x-upper", "kind = \"no-flux\"") +
                           scalar_face("dye", "z-upper", "kind = \"flux\"\nvalue = \"0.1*x\"");
  for (const char* method : {"ab2", "rk3"})
    for (const char* precision : {"double", "float"}) {
      SCOPED_TRACE(fmt::format("{}, {}", method, precision));
      FlowRun run(world(),
                  flow_text("[9, 8, 8]", warm) + same + time_keys(method) + "[numerics]\nprecision = \"" + precision +
                      "\"\n" + blocks,
                  "fake:1,cpu");
      run.steps(8);
      const SavedState state = run.state();
      const auto renamed = [&](const std::string& name) {
        return SavedState{{{"s", state.fields.at(name)}, {"rate", state.fields.at("rate of " + name)}}, {}};
      };
      EXPECT_EQ(test::difference(renamed("T"), renamed("dye")), "");
      EXPECT_NE(test::difference(renamed("T"), renamed("other")), "");
      EXPECT_EQ(run.diagnostic("amount of dye"), run.diagnostic("heat"));
    }
}

TEST(FlowScalars, leave_the_flow_as_it_is) {
  const std::string text =
      flow_text("[9, 8, 8]", "[fluid]\nviscosity = 0.01\n") + time_keys("rk3") + face("y-upper", "value = [1, 0, 0]");
  FlowRun without(world(), text, "cpu"), with(world(), text + scalar("dye", 0.01, "initial = \"1e3*x\""), "cpu");
  ASSERT_EQ(without.model().time_step(), with.model().time_step());
  without.steps(8);
  with.steps(8);
  SavedState state = with.state();
  state.fields.erase("dye");
  state.fields.erase("rate of dye");
  EXPECT_EQ(test::difference(without.state(), state), "");
}

TEST(FlowScalars, stay_in_a_closed_box) {
  for (const char* method : {"ab2", "rk3"})
    for (const char* solver : {"solver = \"direct\"\n", "solver = \"jacobi\"\nsweeps = 5\n"}) {
      SCOPED_TRACE(std::string(method) + ", " + solver);
      FlowRun run(world(),
                  flow_text("[9, 8, 8]",
                            "stretch = [1, 0, 2]\n[fluid]\nviscosity = 0.01\n[initial]\nvelocity = [\"z-0.5\", 0, "
                            "\"0.5-x\"]\n") +
                      time_keys(method) + "[pressure]\n" + solver + face("z-upper", "value = [1, 0, 0]") +
                      face("x-lower", "velocity = \"free-slip\"") + periodic("y") +
                      scalar("dye", 0.02, "initial = \"1+x*x-y*z\"") + scalar("salt", 0, "initial = \"2+sin(9*z)\"") +
                      blocks,
                  "fake:1,cpu");
      const double dye = run.diagnostic("amount of dye"), salt = run.diagnostic("amount of salt"),
                   most = run.diagnostic("largest dye");
      run.steps(8);
      EXPECT_NEAR(run.diagnostic("amount of dye"), dye, 1e-14 * dye);
      EXPECT_NEAR(run.diagnostic("amount of salt"), salt, 1e-14 * salt);
      EXPECT_LT(run.diagnostic("largest dye"), most) << "nothing has moved";
    }
}

TEST(FlowScalars, change_by_what_flows_in_and_by_their_sources) {
  FlowRun run(world(),
              flow_text("[9, 8, 8]", "upper = [1, 2, 1]\nstretch = [1, 0, 2]\n[fluid]\nviscosity = 0.01\n") +
                  time_keys("ab2", "dt = 0.005\nsteps = 8") + face("z-upper", "value = [1, 0, 0]") +
                  scalar("dye", 0.02, "initial = 1\nsource = -0.25") +
                  scalar_face("dye", "x-upper", "kind = \"flux\"\nvalue = 0.75") + blocks,
              "cpu");
  EXPECT_NEAR(run.diagnostic("amount of dye"), 2, 1e-14);
  EXPECT_EQ(run.diagnostic("smallest dye"), 1);
  run.steps(8);
  // Through an area of 2 flows 0.75, and a volume of 2 loses 0.25.
  EXPECT_NEAR(run.diagnostic("amount of dye"), 2 + 0.04 * (2 * 0.75 - 2 * 0.25), 1e-13);
}

TEST(FlowScalars, that_are_no_numbers_are_told) {
  FlowRun run(world(),
              flow_text("[8, 4, 1]", "[fluid]\nviscosity = 0.01\n") + time_keys("ab2", "dt = 0.01\nsteps = 2") +
                  scalar("dye", 0.02, "source = \"x < 0.1 ? 1e308*1e308 : 0\""),
              "cpu");
  run.steps(2);
  EXPECT_FALSE(std::isfinite(run.diagnostic("largest dye")));
  EXPECT_TRUE(std::isfinite(run.diagnostic("max|u|")));
}

TEST(FlowDiagnostics, are_the_same_columns_once_the_flow_is_no_number) {
  FlowRun run(
      world(),
      flow_text("[8, 4, 4]",
                "[fluid]\nviscosity = 0.01\ndiffusivity = 0.01\nforce = [\"x < 0.3 ? 1e308*1e308 : 0\", 0, 0]\n") +
          time_keys("ab2", "dt = 0.01\nsteps = 2") + face("x-lower", "temperature = \"fixed\"\ntemperature_value = 1") +
          face("x-upper", "temperature = \"fixed\"\ntemperature_value = 0"),
      "cpu");
  std::vector<std::string> before, after;
  for (const Diagnostic& d : run.model().diagnose()) before.push_back(d.name);
  run.steps(2);
  for (const Diagnostic& d : run.model().diagnose()) after.push_back(d.name);
  EXPECT_FALSE(std::isfinite(run.diagnostic("max|u|")));
  EXPECT_EQ(after, before);
}

TEST(FlowScalars, that_change_are_not_steady) {
  const auto ends = [](const std::string& more) {
    FlowRun run(world(),
                flow_text("[8, 4, 1]", "[fluid]\nviscosity = 0.01\n") +
                    time_keys("ab2", "dt = 0.01\nsteps = 60\nsteady = 1e-3") + scalar("dye", 0.02, more),
                "cpu");
    run.steps(50);
    return run.model().finished();
  };
  EXPECT_TRUE(ends("initial = 3"));
  EXPECT_FALSE(ends("initial = \"x\""));
  EXPECT_FALSE(ends("source = 1"));
}

using Solution = std::function<double(double x, double y, double t)>;

/// The largest error of `dye` in a periodic square of n^2 cells at t = 0.2, with steps in proportion to the cells.
double error_of(int n, const std::string& method, const std::string& keys, const Solution& exact) {
  const int steps = 5 * n;
  FlowRun run(world(),
              flow_text(fmt::format("[{}, {}, 1]", n, n), keys) + periodic("x") + periodic("y") +
                  time_keys(method, fmt::format("dt = {}\nsteps = {}", 0.2 / steps, steps)),
              "cpu");
  run.steps(steps);
  const auto dye = run.state().fields.at("dye");
  double error = 0;
  for (std::size_t cell = 0; cell < dye.size(); ++cell) {
    const int i = static_cast<int>(cell) % n, j = static_cast<int>(cell) / n;
    error = std::max(error, std::abs(dye[cell] - exact((i + 0.5) / n, (j + 0.5) / n, run.time())));
  }
  return error;
}

void expect_second_order(const std::string& keys, const Solution& exact) {
  for (const char* method : {"ab2", "rk3"}) {
    SCOPED_TRACE(method);
    const double coarse = error_of(16, method, keys, exact), fine = error_of(32, method, keys, exact),
                 finest = error_of(64, method, keys, exact);
    EXPECT_NEAR(std::log2(coarse / fine), 2, 0.1) << coarse << ' ' << fine;
    EXPECT_NEAR(std::log2(fine / finest), 2, 0.05) << fine << ' ' << finest;
  }
}

const double two_pi = 2 * std::acos(-1.0);

TEST(FlowScalars, second_order_in_an_even_flow) {
  const double diffusivity = 0.01;
  expect_second_order("[fluid]\nviscosity = 0.01\n[initial]\nvelocity = [1, 0.5, 0]\n" +
                          scalar("dye", diffusivity, "initial = \"sin(2*pi*x)*cos(2*pi*y)\""),
                      [=](double x, double y, double t) {
                        return std::sin(two_pi * (x - t)) * std::cos(two_pi * (y - 0.5 * t)) *
                               std::exp(-2 * two_pi * two_pi * diffusivity * t);
                      });
}

TEST(FlowScalars, second_order_in_vortices) {
  // Along the streamlines of Taylor and Green's vortices it does not change.
  const double diffusivity = 0.02;
  expect_second_order(
      "[fluid]\nviscosity = 0.01\n[initial]\nvelocity = [\"sin(2*pi*x)*cos(2*pi*y)\", "
      "\"-cos(2*pi*x)*sin(2*pi*y)\", 0]\n" +
          scalar("dye", diffusivity, "initial = \"sin(2*pi*x)*sin(2*pi*y)\""),
      [=](double x, double y, double t) {
        return std::sin(two_pi * x) * std::sin(two_pi * y) * std::exp(-2 * two_pi * two_pi * diffusivity * t);
      });
}

}  // namespace
}  // namespace tutti::incompressible
