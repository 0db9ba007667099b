// Compressible flow against exact solutions and laws of conservation. --gtest_output=xml:FILE has what was measured.
#include <gmock/gmock.h>
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

const std::string density_wave =
    "[physics.initial]\nrho = \"1 + 0.2*sin(2*pi*x)*sin(2*pi*y)*sin(2*pi*z)\"\nvelocity = [0.5, 0.5, 0.5]\np = 1\n"
    "[physics.exact]\nrho = \"1 + 0.2*sin(2*pi*(x-0.5*t))*sin(2*pi*(y-0.5*t))*sin(2*pi*(z-0.5*t))\"\n"
    "[time]\nsteps = 1\n";

double wave_error(const std::string& element, int n, int order, double end) {
  const TestBox box{element, {n, n, n}};
  CompressibleRun run(alone(), box.text() + fmt::format("[numerics]\norder = {}\n", order) + density_wave, "cpu");
  run.until(end);
  return run.l2();
}

// Errors of the best approximation: for n = 4 and 8 and p = 1, 2, 3.
TEST(CompressibleLaws, DensityWaveConverges) {
  struct Floor {
    const char* element;
    int order;
    double coarse, fine, most;  ///< times the floor
  };
  for (const Floor& f : {Floor{"tet", 1, 1.256e-2, 3.449e-3, 6}, Floor{"hex", 2, 8.421e-3, 1.188e-3, 3},
                         Floor{"hex", 3, 2.336e-3, 1.635e-4, 3}}) {
    SCOPED_TRACE(fmt::format("{} p = {}", f.element, f.order));
    const double end = f.order == 1 ? 0.25 : 0.1;
    const double coarse = wave_error(f.element, 4, f.order, end), fine = wave_error(f.element, 8, f.order, end);
    EXPECT_GE(coarse, 0.99 * f.coarse);
    EXPECT_LE(coarse, f.most * f.coarse);
    EXPECT_GE(fine, 0.99 * f.fine);
    EXPECT_LE(fine, f.most * f.fine);
    RecordProperty(fmt::format("order {} p={}", f.element, f.order), fmt::format("{:.2f}", std::log2(coarse / fine)));
    RecordProperty(fmt::format("over the best {} p={}", f.element, f.order), fmt::format("{:.2f}", fine / f.fine));
    EXPECT_GE(std::log2(coarse / fine), f.order + 0.8) << coarse << " and " << fine;
  }
}

TEST(CompressibleLaws, FreeStreamIsKept) {
  const std::string still = "[physics.initial]\nrho = 1.2\nvelocity = [0.3, 0.1, -0.2]\np = 0.9\n[time]\nsteps = 1\n";
  const std::string curved =
      "order = 2\nmap = [\"x + 0.05*sin(2*pi*y)*sin(2*pi*z)\", \"y + 0.05*sin(2*pi*x)\", \"z + "
      "0.04*sin(2*pi*(x+y))\"]\n";
  for (const char* element : {"tet", "hex", "prism", "pyramid", "mixed"})
    for (const int order : {1, 2, 4})
      for (const bool bent : {false, true}) {
        const TestBox box{element, {4, 2, 2}, {1, 1, 1}, 0.1, "true", bent ? curved : ""};
        if (bent && order == 4 && std::string(element) != "mixed") continue;  // time
        for (const char* gas : {"", "[physics]\nviscosity = 0.01\n"}) {
          if (order == 4 && *gas != 0) continue;
          CompressibleRun run(alone(), box.text() + gas + fmt::format("[numerics]\norder = {}\n", order) + still,
                              "cpu");
          EXPECT_LT(run.model().free_stream_error(), 1e-13) << element << ' ' << order << ' ' << bent << gas;
        }
      }
}

// All five conserved quantities of a periodic box.
TEST(CompressibleLaws, NothingIsLost) {
  for (const char* viscosity : {"0.0", "0.02"})
    for (const char* method : {"ssp-rk3", "ssp-rk54", "low-storage"}) {
      const TestBox box{"mixed", {4, 2, 2}, {1, 1, 1}, 0.1};
      CompressibleRun run(
          alone(),
          box.text() +
              fmt::format(
                  "[physics]\nviscosity = {}\n[numerics]\norder = 1\n"
                  "[physics.initial]\nrho = \"1 + 0.2*sin(2*pi*x)\"\n"
                  "velocity = [\"0.5*cos(2*pi*y)\", \"0.3*sin(2*pi*z)\", \"0.2\"]\np = \"1 + 0.1*cos(2*pi*z)\"\n"
                  "[time]\nsteps = 1\nmethod = \"{}\"\n",
                  viscosity, method),
          "cpu");
      const auto totals = [&] {
        const auto u = run.coefficients();
        const std::size_t bases = 4, rows = u.size() / (5 * bases);
        std::array<double, 5> sums{};
        for (std::size_t e = 0; e < rows; ++e) {
          const auto& mesh = run.model().domain().meshes[0];
          const auto& map = run.model().domain().maps[0];
          Lid row = 0;
          while (map.global[row] != static_cast<Gid>(e)) ++row;
          const compressible::ElementBasis basis(compressible::ElementMap(mesh.types[row], mesh.element_nodes(row)), 1,
                                                 false);
          for (std::size_t v = 0; v < 5; ++v) sums[v] += basis.volume() * u[(e * 5 + v) * bases];
        }
        return sums;
      };
      const auto before = totals();
      run.steps(20, 0.8 * run.model().time_step());
      const auto after = totals();
      for (std::size_t v = 0; v < 5; ++v) EXPECT_NEAR(after[v], before[v], 1e-13 * before[4]) << method << ' ' << v;
    }
}

/// A shear wave and a temperature wave, which a source holds against viscosity and conduction, carried along z.
double viscous_error(const std::string& element, int n, int order, double eta) {
  const TestBox box{element, {2, 2, n}, {2.0 / n, 2.0 / n, 1}, 0.1};
  const double mu = 0.02, a = 0.3, w = 0.2, k = 2 * std::acos(-1.0), heat = mu * 1.4 / (0.4 * 0.72);
  const std::string s = fmt::format("({:.17g}*(z - {}*t))", k, w), s0 = fmt::format("({:.17g}*z)", k);
  const std::string text = fmt::format(
      "[physics]\nviscosity = {}\nsource = [0, \"{:.17g}*sin({})\", 0, 0, \"{:.17g}*cos(2*{}) + {:.17g}*sin({})\"]\n"
      "[physics.initial]\nrho = \"1/(1 + 0.2*sin({}))\"\nvelocity = [\"{}*sin({})\", 0, {}]\np = 1\n"
      "[physics.exact]\nrho = \"1/(1 + 0.2*sin({}))\"\n[numerics]\norder = {}\neta = {}\n[time]\nsteps = 1\n",
      mu, mu * a * k * k, s, -mu * a * a * k * k, s, 0.2 * heat * k * k, s, s0, a, s0, w, s, order, eta);
  CompressibleRun run(alone(), box.text() + text, "cpu");
  run.until(0.02);
  return run.l2() / (2.0 / n);  // of the same share of a unit box
}

TEST(CompressibleLaws, ViscousManufacturedSolutionConverges) {
  struct Case {
    const char* element;
    int order;
    double eta;
  };
  for (const Case& c :
       {Case{"tet", 1, 2}, Case{"hex", 2, 6}, Case{"prism", 1, 1}, Case{"pyramid", 1, 6}, Case{"hex", 3, 2}}) {
    const double coarse = viscous_error(c.element, 8, c.order, c.eta),
                 fine = viscous_error(c.element, 16, c.order, c.eta);
    RecordProperty(fmt::format("order {} p={}", c.element, c.order), fmt::format("{:.2f}", std::log2(coarse / fine)));
    EXPECT_GE(std::log2(coarse / fine), c.order + 0.7) << c.element << ' ' << c.order << ": " << coarse << ", " << fine;
  }
}

// Time methods: the error of a step against the same with many short ones.
TEST(CompressibleLaws, TimeMethodsHaveTheirOrder) {
  for (const auto& [method, order] : {std::pair{"ssp-rk3", 3}, {"ssp-rk54", 4}, {"low-storage", 4}}) {
    const TestBox box{"hex", {4, 1, 1}, {1, 0.25, 0.25}};
    const std::string text =
        box.text() + fmt::format(
                         "[numerics]\norder = 2\n[physics.initial]\nrho = \"1 + 0.2*sin(2*pi*x)\"\nvelocity = "
                         "[\"0.2*cos(2*pi*x)\", 0, 0]\np = 1\n[time]\nsteps = 1\nmethod = \"{}\"\n",
                         method);
    const auto after = [&](int count) {
      CompressibleRun run(alone(), text, "cpu");
      run.steps(count, 0.04 / count);
      return run.coefficients();
    };
    const auto exact = after(128), coarse = after(8), fine = after(16);
    double far = 0, near = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      far = std::max(far, std::abs(coarse[i] - exact[i]));
      near = std::max(near, std::abs(fine[i] - exact[i]));
    }
    RecordProperty(fmt::format("order {}", method), fmt::format("{:.2f}", std::log2(far / near)));
    EXPECT_NEAR(std::log2(far / near), order, 0.4) << method << ": " << far << ", " << near;
  }
}

// Couette flow between walls of two temperatures: the temperature is a parabola of the shear, exact for p = 2.
TEST(CompressibleLaws, CouetteFlowWithHeat) {
  const double mu = 0.1, pr = 0.72, gamma = 1.4, speed = 0.5, factor = pr * (gamma - 1) / gamma * speed * speed / 2;
  const std::string temperature = fmt::format("(1 + 0.1*y + {:.17g}*y*(1 - y))", factor);
  const TestBox box{"prism", {2, 3, 1}, {0.6, 1, 0.3}, 0, "\"xz\""};
  const std::string text =
      box.text() +
      fmt::format(
          "[physics]\nviscosity = {}\n[physics.initial]\nrho = \"1/{}\"\nvelocity = [\"{}*y\", 0, 0]\np = 1\n"
          "[physics.exact]\nrho = \"1/{}\"\n[numerics]\norder = 3\n[time]\nsteps = 1\n"
          "[[boundary]]\ntag = \"y-min\"\ntype = \"isothermal\"\ntemperature = 1\n"
          "[[boundary]]\ntag = \"y-max\"\ntype = \"isothermal\"\ntemperature = 1.1\nvelocity = [{}, 0, 0]\n",
          mu, temperature, speed, temperature, speed);
  CompressibleRun run(alone(), text, "cpu");
  const double before = run.l2();  // rho = 1/T is no polynomial
  run.until(0.1);
  EXPECT_LT(run.l2(), 3 * before);
  RecordProperty("error", fmt::format("{:.2e}", run.l2()));
  EXPECT_LT(run.l2(), 1e-4);
}

// Gas at rest between slip walls presses on them with p A; a shear flow drags its walls with mu du/dy A.
TEST(CompressibleLaws, ForcesOnWalls) {
  const TestBox box{"prism", {2, 2, 1}, {0.6, 1, 0.3}, 0, "\"xz\""};
  CompressibleRun run(alone(),
                      box.text() +
                          "[physics]\nviscosity = 0.1\n[physics.initial]\nrho = 1.3\nvelocity = [\"0.2*y\", 0, 0]\n"
                          "p = 0.8\n[numerics]\norder = 2\n[time]\nsteps = 1\n"
                          "[[boundary]]\ntag = \"y-min\"\ntype = \"adiabatic\"\n"
                          "[[boundary]]\ntag = \"y-max\"\ntype = \"adiabatic\"\nvelocity = [0.2, 0, 0]\n",
                      "cpu");
  Summary summary;
  run.model().summarise(summary, 0);
  ASSERT_EQ(summary.forces.size(), 2u);
  const auto& lower = summary.forces[0];
  EXPECT_EQ(lower.surface, "y-min");
  const double area = 0.18, pressure = 0.8 * area, drag = 0.1 * 0.2 * area;
  EXPECT_NEAR(lower.force[0], drag, 1e-12);
  EXPECT_NEAR(lower.force[1], -pressure, 1e-12);
  EXPECT_NEAR(lower.force[2], 0, 1e-12);
  EXPECT_NEAR(lower.moment[0], 0.15 * pressure, 1e-12);  // y Fz - z Fy
  EXPECT_NEAR(lower.moment[1], 0.15 * drag, 1e-12);      // z Fx - x Fz
  EXPECT_NEAR(lower.moment[2], -0.3 * pressure, 1e-12);  // x Fy - y Fx
  EXPECT_NEAR(summary.forces[1].force[0], -drag, 1e-12);
  EXPECT_NEAR(summary.forces[1].force[1], pressure, 1e-12);
  for (const Diagnostic& d : run.model().diagnose())
    if (d.name == "enstrophy") {
      EXPECT_NEAR(d.value, 0.5 * 1.3 * 0.2 * 0.2 * 0.18, 1e-12);
    }
}

TEST(CompressibleLaws, AVacuumIsNamedWithItsPlace) {
  const TestBox box{"hex", {4, 1, 1}, {1, 0.25, 0.25}};
  CompressibleRun run(alone(),
                      box.text() +
                          "[numerics]\norder = 1\n[physics.initial]\nrho = \"x < 0.5 ? 1 : 1e-3\"\nvelocity = "
                          "[\"x < 0.5 ? -9 : 9\", 0, 0]\np = \"x < 0.5 ? 1 : 1e-3\"\n[time]\nsteps = 1\n",
                      "cpu");
  try {
    for (int k = 0; k < 50; ++k) {
      run.steps(1, 5e-3);
      run.model().diagnose();
    }
    FAIL() << "nothing was noticed";
  } catch (const SharedError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::numerical);
    EXPECT_THAT(std::string(error.what()), testing::HasSubstr("in element"));
    EXPECT_THAT(std::string(error.what()), testing::HasSubstr("at time"));
  }
}

}  // namespace
}  // namespace tutti
