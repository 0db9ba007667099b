// Coefficients of RKC2: order conditions and the stability interval, on the scalar test equation.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "tutti/models/diffusion/rkc.hpp"

namespace tutti::diffusion {
namespace {

/// One step for y' = lambda y with z = dt lambda: the stability function.
std::complex<double> amplify(int stages, std::complex<double> z) {
  const RkcCoefficients c = rkc_coefficients(stages);
  const std::complex<double> f0 = z;  // dt F_0 with y_0 = 1
  std::complex<double> before = 1, now = 1.0 + c.mu1 * f0;
  for (std::size_t j = 0; j < c.stages.size(); ++j) {
    const auto& s = c.stages[j];
    const std::complex<double> next =
        1.0 + s.mu * (now - 1.0) + s.nu * (before - 1.0) + s.rate_weight * z * now + s.first_weight * f0;
    before = now;
    now = next;
  }
  return now;
}

TEST(Rkc, IsOfSecondOrder) {
  for (const int stages : {2, 3, 5, 10, 40}) {
    double last = 0;
    for (const double z : {-0.1, -0.05, -0.025}) {
      const double error = std::abs(amplify(stages, z).real() - std::exp(z));
      if (last > 0) {
        EXPECT_GT(std::log2(last / error), 2.8) << stages;  // local error of third order
      }
      last = error;
    }
  }
}

TEST(Rkc, IsStableUpToItsLimitAndNotFarBeyond) {
  for (const int stages : {2, 3, 5, 10, 40, 100}) {
    const double limit = rkc_limit(stages);
    for (int k = 1; k <= 2000; ++k)
      EXPECT_LE(std::abs(amplify(stages, -limit * k / 2000.0)), 1 + 1e-12) << stages << " at " << k;
    // The region ends there: a stronger step grows before long.
    EXPECT_GT(std::abs(amplify(stages, -1.6 * limit)), 1) << stages;
  }
}

TEST(Rkc, ToleratesTheComplexEigenvaluesOfTheScheme) {
  // |Im| / rho up to 0.1 in the middle of the spectrum; the usual damping of 2/13 fails this.
  for (const int stages : {5, 10, 20, 40}) {
    const double limit = rkc_limit(stages);
    for (int k = 1; k < 100; ++k) {
      const double x = -limit * k / 100.0;
      const double y = std::min({0.02 * limit, -0.3 * x, 0.3 * (limit + x)});
      EXPECT_LE(std::abs(amplify(stages, {x, y})), 1.0) << stages << " at " << x << " + " << y << "i";
    }
  }
}

TEST(Rkc, StagesAreTheFewestThatReachTheStep) {
  for (const double reach : {0.1, 1.0, 5.0, 50.0, 500.0, 5000.0}) {
    const int stages = rkc_stages(reach, 1000);
    EXPECT_GE(rkc_limit(stages), reach);
    if (stages > 2) {
      EXPECT_LT(rkc_limit(stages - 1), reach);
    }
  }
}

TEST(Rkc, StagesAreBounded) {
  EXPECT_EQ(rkc_stages(1e300, 500), 500);
}

TEST(Rkc, RateTimesRiseFromZero) {
  const auto c = rkc_coefficients(7);
  ASSERT_EQ(c.times.size(), 7U);
  EXPECT_EQ(c.times[0], 0);
  for (std::size_t i = 1; i < c.times.size(); ++i) EXPECT_GT(c.times[i], c.times[i - 1]);
  EXPECT_LT(c.times.back(), 1);
}

}  // namespace
}  // namespace tutti::diffusion
