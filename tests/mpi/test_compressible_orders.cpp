// Orders of convergence of compressible flow, on elements of every type. --gtest_output=xml:FILE has those measured.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/compressible_run.hpp"

namespace tutti {
namespace {

using test::CompressibleRun;
using test::TestBox;

const Comm& alone() {
  static const Comm comm(MPI_COMM_SELF);
  return comm;
}

/// A wave of density along x, carried by a uniform flow, of the same share of a unit box.
double wave_error(const std::string& element, int n, int order) {
  const double h = 1.0 / n;
  const TestBox box{element, {n, 1, 1}, {1, h, h}};
  CompressibleRun run(alone(),
                      box.text() + fmt::format("[numerics]\norder = {}\n", order) +
                          "[physics.initial]\nrho = \"1 + 0.2*sin(2*pi*x)\"\nvelocity = [0.5, 0.3, -0.2]\np = 1\n"
                          "[physics.exact]\nrho = \"1 + 0.2*sin(2*pi*(x - 0.5*t))\"\n"
                          "[time]\nsteps = 1\nmethod = \"ssp-rk54\"\n",
                      "cpu");
  run.until(0.1);
  return run.l2() / h;
}

TEST(CompressibleOrders, DensityWaveOnEveryElement) {
  for (const char* element : {"tet", "hex", "prism", "pyramid"})
    for (int order = 1; order <= 5; ++order) {
      const int n = order < 4 ? 6 : 4;
      const double coarse = wave_error(element, n, order), fine = wave_error(element, 2 * n, order);
      RecordProperty(fmt::format("order {} p={}", element, order), fmt::format("{:.2f}", std::log2(coarse / fine)));
      EXPECT_GE(std::log2(coarse / fine), order + 0.8) << element << ' ' << order << ": " << coarse << ", " << fine;
    }
}

/// Shu's vortex, carried along x, y for a short time (the case of examples/isentropic-vortex).
double vortex_error(const std::string& element, int n, int order) {
  const auto power = [&](const std::string& x, double exponent) {
    return fmt::format("(1 - 0.4*25/(8*1.4*pi^2)*exp(1 - {}^2 - y^2))^{}", x, exponent);
  };
  const std::string wind = "5/(2*pi)*exp(0.5*(1 - x^2 - y^2))";
  const double h = 10.0 / n;
  const std::string text =
      fmt::format(
          "model = \"compressible\"\n[mesh]\ngenerate = \"box\"\nelement = \"{}\"\ncubes = [{}, {}, 1]\n"
          "lower = [-5, -5, 0]\nupper = [5, 5, {}]\nperiodic = true\n",
          element, n, n, h) +
      fmt::format(
          "[physics.initial]\nrho = \"{}\"\nvelocity = [\"1 - y*{}\", \"x*{}\", 0]\np = \"{}\"\n"
          "[physics.exact]\nrho = \"{}\"\n[numerics]\norder = {}\n[time]\nsteps = 1\n",
          power("x", 2.5), wind, wind, power("x", 3.5), power("(x - t)", 2.5), order);
  CompressibleRun run(alone(), text, "cpu");
  run.until(0.25);
  return run.l2() / std::sqrt(h);
}

TEST(CompressibleOrders, IsentropicVortex) {
  struct Case {
    const char* element;
    int order, n;
  };
  // Coarse: there are two or four elements across the vortex.
  for (const Case& c : {Case{"hex", 1, 16}, Case{"prism", 2, 12}, Case{"hex", 3, 10}, Case{"tet", 2, 10}}) {
    const double coarse = vortex_error(c.element, c.n, c.order), fine = vortex_error(c.element, 2 * c.n, c.order);
    RecordProperty(fmt::format("order {} p={}", c.element, c.order), fmt::format("{:.2f}", std::log2(coarse / fine)));
    EXPECT_GE(std::log2(coarse / fine), c.order + 0.5) << c.element << ' ' << c.order << ": " << coarse << ", " << fine;
  }
}

}  // namespace
}  // namespace tutti
