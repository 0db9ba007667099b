// Drag, lift and Strouhal number of signals that are known.
#include <gtest/gtest.h>

#include <cmath>

#include "tutti/models/compressible/force_coefficients.hpp"

namespace tutti::compressible {
namespace {

constexpr double pi = 3.14159265358979323846;

TEST(LiftPeriods, KnowsASine) {
  LiftPeriods periods;
  const double frequency = 0.165, mean = 0.4, amplitude = 0.3;
  for (int k = 0; k < 4000; ++k) {
    const double t = 3 + 0.01 * k, phase = 2 * pi * frequency * t;
    periods.add(t, 1.3 + 0.01 * std::sin(2 * phase), mean + amplitude * std::sin(phase));
  }
  const ForceCoefficients c = periods.coefficients(2, 0.5);
  EXPECT_GE(c.periods, 3);
  EXPECT_NEAR(c.strouhal, frequency * 4, 2e-3 * frequency * 4);
  EXPECT_NEAR(c.drag, 1.3, 1e-3);
  EXPECT_NEAR(c.lift, mean, 5e-3);
  EXPECT_NEAR(c.lift_rms, amplitude / std::sqrt(2.0), 2e-3);
}

// The first level is a guess where the lift still grows; later periods do not depend on it.
TEST(LiftPeriods, KnowsASineThatGrows) {
  LiftPeriods periods;
  for (int k = 0; k < 20000; ++k) {
    const double t = 0.01 * k;
    periods.add(t, 1, (1 - std::exp(-t / 20)) * std::sin(2 * pi * 0.2 * t));
  }
  const ForceCoefficients c = periods.coefficients(1, 1);
  EXPECT_GE(c.periods, 36);
  EXPECT_NEAR(c.strouhal, 0.2, 1e-3);
}

TEST(LiftPeriods, SteadyForcesHaveNoFrequency) {
  LiftPeriods periods;
  EXPECT_EQ(periods.coefficients(1, 1).strouhal, 0);
  periods.add(1, 0.5, 0.2);
  EXPECT_EQ(periods.coefficients(1, 1).drag, 0.5);
  for (int k = 2; k < 30; ++k) periods.add(k, 0.5, 0.2);
  const ForceCoefficients c = periods.coefficients(1, 1);
  EXPECT_EQ(c.periods, 0);
  EXPECT_EQ(c.strouhal, 0);
  EXPECT_DOUBLE_EQ(c.drag, 0.5);
  EXPECT_DOUBLE_EQ(c.lift, 0.2);
  EXPECT_NEAR(c.lift_rms, 0, 1e-8);
}

// A restart: the numbers are all there is.
TEST(LiftPeriods, GoesOnFromItsNumbers) {
  LiftPeriods whole, first, second;
  const auto add = [](LiftPeriods& to, int k) { to.add(0.1 * k, 1 + 0.1 * std::cos(0.3 * k), std::sin(0.1 * k)); };
  for (int k = 0; k < 300; ++k) {
    add(whole, k);
    if (k < 140) add(first, k);
  }
  auto from = first.numbers(), to = second.numbers();
  ASSERT_EQ(from.size(), to.size());
  for (std::size_t i = 0; i < from.size(); ++i) *to[i].value = *from[i].value;
  for (int k = 140; k < 300; ++k) add(second, k);
  const ForceCoefficients a = whole.coefficients(1, 1), b = second.coefficients(1, 1);
  EXPECT_EQ(a.strouhal, b.strouhal);
  EXPECT_EQ(a.drag, b.drag);
  EXPECT_EQ(a.lift_rms, b.lift_rms);
}

}  // namespace
}  // namespace tutti::compressible
