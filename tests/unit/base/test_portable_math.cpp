// Functions of our own beside the C library's in long double, which is right to 2^-63.
#include "tutti/base/portable_math.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tutti/base/random.hpp"
#include "tutti/base/short_exp.hpp"

namespace tutti::portable {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Distance to `exact` in units in the last place of a double of its size.
double ulps(double value, long double exact) {
  const auto rounded = static_cast<double>(exact);
  if (std::isnan(value) || std::isnan(rounded)) return std::isnan(value) && std::isnan(rounded) ? 0 : inf;
  if (std::isinf(value) || std::isinf(rounded)) return value == rounded ? 0 : inf;
  int exponent = 0;
  static_cast<void>(std::frexp(exact, &exponent));
  return static_cast<double>(std::fabs(value - exact) / std::ldexp(1.0L, std::max(exponent - 53, -1074)));
}

struct Case {
  const char* name;
  double (*mine)(double);
  long double (*exact)(long double);
  double low, high;  ///< where the function is interesting
  double bound;      ///< ulp
};

const Case cases[] = {
    {"exp", exp, std::exp, -745, 709.7, 1},    {"log", log, std::log, 0, 10, 0.51},
    {"log10", log10, std::log10, 0, 10, 0.51}, {"sin", sin, std::sin, -100, 100, 1},
    {"cos", cos, std::cos, -100, 100, 1},      {"tan", tan, std::tan, -100, 100, 1},
    {"asin", asin, std::asin, -1, 1, 0.51},    {"acos", acos, std::acos, -1, 1, 0.51},
    {"atan", atan, std::atan, -10, 10, 0.51},  {"sinh", sinh, std::sinh, -3, 3, 1},
    {"cosh", cosh, std::cosh, -3, 3, 1},       {"tanh", tanh, std::tanh, -3, 3, 1},
    {"erf", erf, std::erf, -6.5, 6.5, 1.5},
};

double any_double(std::uint64_t stream, std::uint64_t k) {
  const double x = from_bits(random_bits(stream, k));
  return std::isfinite(x) ? x : 1;
}

TEST(PortableMath, is_within_an_ulp) {
  constexpr std::uint64_t count = 40000;
  for (const Case& c : cases) {
    double worst = 0, at = 0;
    const auto look = [&](double x) {
      const double error = ulps(c.mine(x), c.exact(x));
      if (error > worst) {
        worst = error;
        at = x;
      }
    };
    for (std::uint64_t k = 0; k < count; ++k) {
      const double unit = random_unit(1, k);
      look(c.low + unit * (c.high - c.low));
      look(any_double(2, k));
      look((k % 2 == 0 ? 1 : -1) * std::exp2(120 * unit - 60));
    }
    EXPECT_LE(worst, c.bound) << c.name << " at " << at;
  }
}

TEST(PortableMath, the_short_exponential_is_within_an_ulp) {
  double worst = 0;
  for (std::uint64_t k = 0; k < 200000; ++k) {
    const double x = (k % 2 == 0 ? 708 : 1) * (2 * random_unit(11, k) - 1);
    worst = std::max(worst, ulps(short_exp(x), std::exp(static_cast<long double>(x))));
  }
  EXPECT_LE(worst, 1);
  EXPECT_EQ(short_exp(0), 1);
  EXPECT_EQ(short_exp(1e300), short_exp(708));
  EXPECT_EQ(short_exp(-inf), short_exp(-708));
  EXPECT_TRUE(std::isnan(short_exp(nan)));
}

TEST(PortableMath, of_two_arguments_is_within_an_ulp) {
  double power = 0, angle = 0;
  for (std::uint64_t k = 0; k < 100000; ++k) {
    const double a = random_unit(3, 2 * k), b = 2 * random_unit(3, 2 * k + 1) - 1;
    const double x = any_double(4, 2 * k), y = any_double(4, 2 * k + 1);
    const auto look = [&](double base, double exponent) {
      power = std::max(power, ulps(pow(base, exponent),
                                   std::pow(static_cast<long double>(base), static_cast<long double>(exponent))));
    };
    look(10 * a, 20 * b);
    look(0.99 + 0.02 * a, 70000 * b);
    look(x, y);
    angle = std::max({angle, ulps(atan2(b, a - 0.5), std::atan2(static_cast<long double>(b), a - 0.5L)),
                      ulps(atan2(y, x), std::atan2(static_cast<long double>(y), static_cast<long double>(x)))});
  }
  EXPECT_LE(angle, 0.51);
  EXPECT_LE(power, 1);
}

TEST(PortableMath, special_values_are_those_of_c) {
  const std::vector<double> special = {0.0,
                                       -0.0,
                                       1,
                                       -1,
                                       inf,
                                       -inf,
                                       nan,
                                       5e-324,
                                       -5e-324,
                                       0x1p-1022,
                                       0.5,
                                       -0.5,
                                       2,
                                       -2,
                                       3,
                                       -3,
                                       2.5,
                                       -2.5,
                                       1e300,
                                       -1e300,
                                       1e-300,
                                       0x1p52,
                                       -0x1p52 - 1,
                                       0x1p53,
                                       0x1p53 + 2,
                                       1e22,
                                       710.4,
                                       -745.1,
                                       1.7976931348623157e308,
                                       -1.7976931348623157e308};
  const auto same = [](double mine, double c) {
    return (std::isnan(mine) && std::isnan(c)) || (std::signbit(mine) == std::signbit(c) && ulps(mine, c) <= 1);
  };
  for (const double x : special) {
    for (const Case& c : cases) EXPECT_TRUE(same(c.mine(x), static_cast<double>(c.exact(x)))) << c.name << " of " << x;
    for (const double y : special) {
      EXPECT_TRUE(same(pow(x, y), std::pow(x, y))) << x << " ^ " << y << " = " << pow(x, y);
      EXPECT_TRUE(same(atan2(x, y), std::atan2(x, y))) << x << ", " << y;
    }
  }
}

TEST(PortableMath, exact_cases_are_exact) {
  EXPECT_EQ(exp(0.0), 1);
  EXPECT_EQ(log(1.0), 0);
  EXPECT_EQ(cos(0.0), 1);
  EXPECT_EQ(pow(2, 0.5), std::sqrt(2.0));
  EXPECT_EQ(pow(-3, 3), -27);
  EXPECT_EQ(pow(2, -1074), 5e-324);
  double power = 1;
  for (int k = 0; k <= 22; ++k, power *= 10) EXPECT_EQ(log10(power), k);
  for (int k = 1; k < 1000; ++k) EXPECT_EQ(pow(k, 2), static_cast<double>(k) * k);
  // A multiple of pi so near that the rest is small: x = 6381956970095103 2^797 (Kahan).
  EXPECT_LE(ulps(cos(std::ldexp(6381956970095103.0, 797)), -4.68716592425462761112e-19L), 1);
}

/// The same bits for ever: on other processors, with other compilers, on a GPU (tests/gpu).
TEST(PortableMath, bits_are_these) {
  std::uint64_t sum = 0;
  for (std::uint64_t k = 0; k < 20000; ++k) {
    const double x = 40 * random_unit(5, k) - 20;
    for (const Case& c : cases) {
      const double value = c.mine(x);
      if (!std::isnan(value)) sum = mix64(sum ^ bits_of(value));
    }
    sum = mix64(sum ^ bits_of(pow(magnitude(x), 0.3 * x)) ^ bits_of(atan2(x, 1.5)));
  }
  EXPECT_EQ(sum, 14874619135947796043u);
}

}  // namespace
}  // namespace tutti::portable
