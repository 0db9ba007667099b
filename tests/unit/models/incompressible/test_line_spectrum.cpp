#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tutti/base/random.hpp"
#include "tutti/models/incompressible/turbulence/line_spectrum.hpp"

namespace tutti::incompressible {
namespace {

/// The squares of the sums over each line with cosines and sines, as the formula says.
std::vector<double> slow_spectrum(std::size_t n, const std::vector<double>& values) {
  std::vector<double> energy(n / 2 + 1, 0.0);
  const std::size_t lines = values.size() / n;
  for (std::size_t m = 0; m < energy.size(); ++m)
    for (std::size_t l = 0; l < lines; ++l) {
      double re = 0, im = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const double angle = 2 * std::numbers::pi * static_cast<double>(m * i % n) / static_cast<double>(n);
        re += values[l * n + i] * std::cos(angle) / static_cast<double>(n);
        im += values[l * n + i] * std::sin(angle) / static_cast<double>(n);
      }
      const bool alone = m == 0 || 2 * m == n;  // else n - m has as much
      energy[m] += (alone ? 1 : 2) * (re * re + im * im) / static_cast<double>(lines);
    }
  return energy;
}

TEST(LineSpectrum, is_that_of_plain_sums) {
  for (const std::size_t n : {2, 3, 9, 12, 22, 64, 250}) {  // with a fast transform and without
    std::vector<double> values(3 * n);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = random_unit(5, i) - 0.3;
    const auto expected = slow_spectrum(n, values), found = LineSpectrum(static_cast<Lid>(n))(values);
    ASSERT_EQ(found.size(), expected.size());
    double sum = 0, squares = 0;
    for (std::size_t m = 0; m < found.size(); ++m) {
      EXPECT_NEAR(found[m], expected[m], 1e-14) << "wave number " << m << " of " << n;
      sum += found[m];
    }
    for (const double v : values) squares += v * v / static_cast<double>(values.size());
    EXPECT_NEAR(sum, squares, 1e-14) << n;
  }
}

}  // namespace
}  // namespace tutti::incompressible
