// Incompressible flow: what must hold whatever the flow does. Mass, heat, divergence, and what Jacobi sweeps take away.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/flow_run.hpp"
#include "tutti/mesh/box_grid.hpp"

namespace tutti {
namespace {

using test::face;
using test::flow_text;
using test::FlowRun;
using test::periodic;

const Comm& world() {
  static const Comm comm;
  return comm;
}

const std::string blocks = "[partition]\ncut = \"blocks\"\n[balance]\nweights = \"equal\"\n";

std::string solver(const std::string& name, const std::string& more = "") {
  return "[pressure]\nsolver = \"" + name + "\"\n" + more;
}

TEST(FlowLaws, what_flows_in_flows_out) {
  const Lid nx = 7, ny = 9, nz = 8;
  const GridLine y = make_grid_line(ny, 0, 1, 1.5, false), z = make_grid_line(nz, 0, 2, 0, false),
                 x = make_grid_line(nx, 0, 1, 0, false);
  FlowRun run(world(),
              flow_text("[7, 9, 8]",
                        "upper = [1, 1, 2]\nstretch = [0, 1.5, 0]\n[fluid]\nviscosity = 0.02\n[time]\nsteps = 5\n") +
                  face("x-lower", "velocity = \"inflow\"\nvalue = [\"4*y*(1-y)*(1+z)*(1+t)\", 0, 0]") +
                  face("z-upper", "velocity = \"inflow\"\nvalue = [0, \"x\", \"-x*y\"]") +
                  face("x-upper", "velocity = \"outflow\"") + blocks,
              "fake:1,cpu");
  for (int k = 0; k < 5; ++k) {
    run.steps(1);
    const auto u = run.state().fields.at("u");
    double in = 0, out = 0;
    for (Lid k3 = 0; k3 < nz; ++k3)
      for (Lid j = 0; j < ny; ++j) {
        const double at = y.centre(j), area = y.width(j) * z.width(k3);
        in += 4 * at * (1 - at) * (1 + z.centre(k3)) * (1 + run.time()) * area;
        out += u[(k3 * ny + j) * nx + nx - 1] * area;
      }
    for (Lid j = 0; j < ny; ++j)
      for (Lid i = 0; i < nx; ++i) in += x.centre(i) * y.centre(j) * x.width(i) * y.width(j);
    EXPECT_NEAR(out, in, 1e-12 * in) << "step " << k;
  }
}

TEST(FlowLaws, heat_stays_in_a_closed_box) {
  for (const char* method : {"ab2", "rk3"})
    for (const char* name : {"direct", "jacobi"}) {  // also where divergence is left
      SCOPED_TRACE(std::string(method) + ", " + name);
      FlowRun run(world(),
                  flow_text("[9, 8, 8]",
                            "stretch = [1, 0, 2]\n[fluid]\nviscosity = 0.01\ndiffusivity = 0.02\n"
                            "buoyancy = [0, 0, 3]\n[initial]\ntemperature = \"1+x*x-y*z\"\nvelocity = "
                            "[\"z-0.5\", 0, \"0.5-x\"]\n[time]\nsteps = 8\nmethod = \"") +
                      method + "\"\n" + solver(name, std::string(name) == "jacobi" ? "sweeps = 5\n" : "") +
                      face("z-upper", "value = [1, 0, 0]") + face("x-lower", "velocity = \"free-slip\"") +
                      periodic("y") + blocks,
                  "cpu");
      const double before = run.diagnostic("heat"), energy = run.diagnostic("energy");
      run.steps(8);
      EXPECT_NEAR(run.diagnostic("heat"), before, 1e-14 * before);
      EXPECT_LE(std::abs(run.summary().mass.drift), 1e-14);
      EXPECT_NE(run.diagnostic("energy"), energy);
    }
}

TEST(FlowLaws, divergence_left_by_each_solver) {
  const std::string stir =
      "[fluid]\nviscosity = 0.01\n[initial]\nvelocity = [\"sin(9*y+z)\", \"x*x\", \"cos(7*x)\"]\n"
      "[time]\nsteps = 3\n";
  const std::string lid = face("y-upper", "value = [1, 0, 0]"),
                    channel = face("x-lower", "velocity = \"inflow\"\nvalue = [\"y*(1-y)\", 0, 0]") +
                              face("x-upper", "velocity = \"outflow\""),
                    around = periodic("x") + periodic("y") + periodic("z"),
                    downwards = face("z-upper", "velocity = \"free-slip\"") + face("z-lower", "velocity = \"outflow\"");
  for (const std::string grid : {"[10, 8, 8]", "[16, 12, 1]"})
    for (const std::string& ends : {lid, channel, around, downwards}) {
      if (grid == "[16, 12, 1]" && ends == downwards) continue;
      SCOPED_TRACE(grid + "\n" + ends);
      const std::string text = flow_text(grid, stir) + ends + blocks;
      const auto left = [&](const std::string& more) {
        FlowRun run(world(), text + more, "cpu");
        run.steps(3);
        return run.diagnostic("divergence");
      };
      EXPECT_LE(left(solver("direct")), 1e-12);
      EXPECT_LE(left(solver("direct") + "[numerics]\nprecision = \"float\"\n"), 1e-6);
      EXPECT_LE(left(solver("red_black")), 1e-8);
      EXPECT_GT(left(solver("jacobi", "sweeps = 1\n")), 1e-3) << "a bound that nothing can miss";
    }
}

/// The flow converges in one cell and diverges in the next. Undamped sweeps only turn such a pressure over again and
/// again, unless the ghosts at walls are those of the sweep before.
double checkerboard_left(const std::string& cells, const std::string& velocity, const std::string& ends, int sweeps) {
  FlowRun run(
      world(),
      flow_text(cells, "[fluid]\nviscosity = 0.01\n[initial]\nvelocity = " + velocity + "\n[time]\nsteps = 1\n") +
          solver("jacobi", fmt::format("sweeps = {}\n", sweeps)) + ends + blocks,
      "cpu");
  return run.diagnostic("divergence") * run.diagnostic("max|u|");
}

void expect_smoothed(const std::string& cells, const std::string& velocity, const std::string& ends) {
  SCOPED_TRACE(cells + ", " + velocity + "\n" + ends);
  double before = checkerboard_left(cells, velocity, ends, 1);
  EXPECT_GT(before, 1e-3);
  for (const int sweeps : {150, 450}) {
    const double left = checkerboard_left(cells, velocity, ends, sweeps);
    EXPECT_LT(left, std::max(0.2 * before, 1e-13)) << sweeps << " sweeps";
    before = left;
  }
  EXPECT_LT(before, 1e-3);
}

TEST(FlowLaws, jacobi_sweeps_take_a_checkerboard_away) {
  const std::string square = "[\"cos(pi*8*x)*sin(pi*8*y)\", 0, 0]",
                    cube = "[\"cos(pi*8*x)*sin(pi*8*y)*sin(pi*8*z)\", 0, 0]";
  expect_smoothed("[8, 8, 1]", square, "");
  expect_smoothed("[8, 8, 8]", cube, "");
  expect_smoothed("[8, 8, 8]", cube, face("x-upper", "velocity = \"outflow\""));
  expect_smoothed("[8, 8, 8]", cube, periodic("x") + periodic("y"));
  expect_smoothed("[8, 8, 1]", square, periodic("x") + periodic("y"));
  expect_smoothed("[8, 8, 8]", cube, periodic("x") + periodic("y") + periodic("z"));
  expect_smoothed("[8, 8, 8]", cube,
                  periodic("x") + periodic("y") + face("z-lower", "velocity = \"outflow\"") +
                      face("z-upper", "velocity = \"outflow\""));
}

}  // namespace
}  // namespace tutti
