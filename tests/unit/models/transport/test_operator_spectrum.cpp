// Eigenvalues of operators that are known, and of the model's own beside what it found of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>

#include "tests/support/transport_run.hpp"
#include "tests/unit/base/mpi_environment.hpp"
#include "tutti/models/transport/operator_spectrum.hpp"

namespace tutti::transport {
namespace {

using Complex = std::complex<double>;

/// By imaginary part, then real part.
void sort(std::vector<Complex>& values) {
  std::sort(values.begin(), values.end(), [](Complex a, Complex b) {
    return std::abs(a.imag() - b.imag()) > 1e-9 ? a.imag() < b.imag() : a.real() < b.real();
  });
}

TEST(OperatorSpectrum, WavesOnACircle) {
  // (left, centre, right) = (-1 + d, -2 d, 1 + d): i 2 sin(phi) + d (2 cos(phi) - 2) for phi = 2 pi k / N.
  constexpr Gid n = 12;
  constexpr double d = 0.1;
  std::vector<Gid> columns;
  std::vector<double> weights;
  std::vector<Complex> known;
  for (Gid i = 0; i < n; ++i) {
    for (const Gid j : {i, (i + n - 1) % n, (i + 1) % n}) columns.push_back(j);
    for (const double w : {-2 * d, -1 + d, 1 + d}) weights.push_back(w);
    const double phi = 2 * std::numbers::pi * static_cast<double>(i) / n;
    known.emplace_back(d * (2 * std::cos(phi) - 2), 2 * std::sin(phi));
  }
  auto found = dense_eigenvalues(3, columns, weights);
  ASSERT_EQ(found.size(), known.size());
  sort(found);
  sort(known);
  for (std::size_t k = 0; k < known.size(); ++k) EXPECT_LT(std::abs(found[k] - known[k]), 1e-12) << k;
}

TEST(OperatorSpectrum, AColumnThatComesTwice) {
  // (1 + 2, 0; 5, 4)
  auto found = dense_eigenvalues(2, std::vector<Gid>{0, 0, 1, 0}, std::vector<double>{1, 2, 4, 5});
  sort(found);
  EXPECT_NEAR(found[0].real(), 3, 1e-14);
  EXPECT_NEAR(found[1].real(), 4, 1e-14);
}

TEST(OperatorSpectrum, WhatATimeStepAllows) {
  const auto limit = [](RungeKutta method, std::vector<Complex> values) {
    return assess_spectrum(values, method, 1).dt_limit;
  };
  // Along the imaginary and the real axis.
  EXPECT_NEAR(limit(RungeKutta::rk4, {{0, 2}, {0, -2}}), std::sqrt(8) / 2, 1e-3);
  EXPECT_NEAR(limit(RungeKutta::rk4, {{-2, 0}}), 2.7853 / 2, 1e-3);
  EXPECT_NEAR(limit(RungeKutta::ssp_rk3, {{0, 2}, {0, -2}}), std::sqrt(3) / 2, 1e-3);
  EXPECT_NEAR(limit(RungeKutta::ssp_rk3, {{-2, 0}}), 2.5127 / 2, 1e-3);
  EXPECT_NEAR(limit(RungeKutta::rk4, {{0, 1}, {0, -1}, {-40, 0}}), 2.7853 / 40, 1e-3) << "the least of them";
  EXPECT_NEAR(limit(RungeKutta::rk4, {{1e-9, 1}, {-1e-12, 0}}), std::sqrt(8), 2e-3) << "rounding is no growth";
  EXPECT_EQ(limit(RungeKutta::rk4, {{0, 0}}), std::numeric_limits<double>::infinity());
  EXPECT_NEAR(limit(RungeKutta::rk4, {{0.1, 1}, {-1, 0}}), 2.7853, 2e-3) << "what grows by itself bounds no step";
  const std::vector<Complex> values{{0.1, 1}, {0.1, -1}, {-3, 0}};
  const SpectrumReport report = assess_spectrum(values, RungeKutta::rk4, 0.5);
  EXPECT_EQ(report.largest_real, 0.1);
  EXPECT_EQ(report.radius, 3);
  EXPECT_EQ(report.growing, 2);
  EXPECT_NEAR(report.amplification, std::exp(0.05), 1e-3);
}

const char* const turning = R"(model = "transport"
[nodes]
generate = "icosahedral"
count = 642
[stencil]
size = 37
degree = 4
[velocity]
cartesian = ["-0.8*y", "0.8*x - 0.6*z", "0.6*y"]
[[tracer]]
name = "q"
initial = "x"
[time]
end = 1.0
)";

TEST(OperatorSpectrum, AgreesWithPowerIteration) {
  const Case options = parse_case(turning, "case.toml", test::transport_schema());
  const TransportCase transport = read_transport_case(options);
  test::TransportRun run(test::world(), turning, "cpu");
  const TransportSpectrum& estimate = run.model().spectrum();
  Threads threads(1);
  const auto& nodes = run.model().domain().cloud.points;
  const OperatorRows unit = operator_rows(transport, nodes, 0, 1, false, threads);
  const auto radius = [&](std::span<const double> weights) {
    const auto values = dense_eigenvalues(unit.size, unit.columns, weights);
    return assess_spectrum(values, RungeKutta::rk4, 1).radius;
  };
  // 5 % are added to what power iteration found, which has settled to half a per cent in a window.
  const auto advecting = dense_eigenvalues(unit.size, unit.columns, unit.advection);
  const double advection = assess_spectrum(advecting, RungeKutta::rk4, 1).radius, hyper = radius(unit.damping);
  EXPECT_GT(estimate.advection, 0.99 * advection);
  EXPECT_LT(estimate.advection, 1.07 * advection);
  EXPECT_GT(estimate.hyper, 0.99 * hyper);
  EXPECT_LT(estimate.hyper, 1.07 * hyper);

  // What the noise test let pass: nothing grows that the advection does not, and a constant stays.
  const OperatorRows rows = operator_rows(transport, nodes, 0, estimate.gamma, estimate.local, threads);
  const double dt = run.model().time_step();
  const auto all = rows.sum();
  const auto damped = dense_eigenvalues(rows.size, rows.columns, all);
  const SpectrumReport report = assess_spectrum(damped, RungeKutta::rk4, dt),
                       bare = assess_spectrum(advecting, RungeKutta::rk4, dt);
  ASSERT_EQ(rows.advection, unit.advection);
  EXPECT_GT(bare.largest_real, 1e-3 * bare.radius);
  EXPECT_LT(report.largest_real, 1e-4 * report.radius);
  EXPECT_LT(report.growing, bare.growing / 4);
  EXPECT_LE(report.amplification, 1 + 1e-4);
  EXPECT_GE(report.dt_limit, dt);
  EXPECT_LT(std::abs(*std::min_element(damped.begin(), damped.end(),
                                       [](Complex a, Complex b) { return std::abs(a) < std::abs(b); })),
            1e-9 * report.radius);
  // The other sign would let grow what it damps.
  std::vector<double> wrong = rows.advection;
  for (std::size_t i = 0; i < wrong.size(); ++i) wrong[i] -= rows.damping[i];
  const auto undamped = dense_eigenvalues(rows.size, rows.columns, wrong);
  EXPECT_GT(assess_spectrum(undamped, RungeKutta::rk4, dt).growing, 300);
}

TEST(OperatorSpectrum, OfAHighPowerIsFound) {
  // Twenty growths of Delta^10 in a row are beyond the range of doubles.
  const std::string text = R"(model = "transport"
[nodes]
generate = "icosahedral"
count = 642
[stencil]
basis = "gaussian"
size = 50
[hyperviscosity]
k = 10
beta = 0.3
[velocity]
cartesian = ["-y", "x", 0]
[[tracer]]
name = "q"
initial = "x"
[time]
end = 1.0
[numerics]
check = false
)";
  test::TransportRun run(test::world(), text, "cpu");
  const TransportSpectrum& estimate = run.model().spectrum();
  Threads threads(1);
  const OperatorRows rows = operator_rows(read_transport_case(parse_case(text, "case.toml", test::transport_schema())),
                                          run.model().domain().cloud.points, 0, 1, false, threads);
  const auto values = dense_eigenvalues(rows.size, rows.columns, rows.damping);
  const double radius = assess_spectrum(values, RungeKutta::rk4, 1).radius;
  EXPECT_GT(radius, 1e17);
  EXPECT_GT(estimate.hyper, 0.99 * radius);
  EXPECT_LT(estimate.hyper, 1.07 * radius);
  EXPECT_GT(estimate.gamma, 0);
}

TEST(OperatorSpectrum, DampingThatIsScaledAtEachNode) {
  std::string text = turning;
  text.replace(text.find("icosahedral"), 11, "random");
  text.replace(text.find("[velocity]"), 0, "[hyperviscosity]\ngamma = \"local\"\n");
  test::TransportRun run(test::world(), text, "cpu");
  const TransportSpectrum& estimate = run.model().spectrum();
  ASSERT_TRUE(estimate.local);
  Threads threads(1);
  const OperatorRows rows = operator_rows(read_transport_case(parse_case(text, "case.toml", test::transport_schema())),
                                          run.model().domain().cloud.points, 0, 1, true, threads);
  const double radius =
      assess_spectrum(dense_eigenvalues(rows.size, rows.columns, rows.damping), RungeKutta::rk4, 1).radius;
  EXPECT_GT(estimate.hyper, 0.99 * radius);
  EXPECT_LT(estimate.hyper, 1.07 * radius);
}

}  // namespace
}  // namespace tutti::transport
