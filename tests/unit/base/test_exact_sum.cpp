#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "mpi_environment.hpp"
#include "tutti/base/exact_sum.hpp"
#include "tutti/base/random.hpp"

namespace tutti {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double largest = std::numeric_limits<double>::max();
constexpr double smallest = std::numeric_limits<double>::denorm_min();

ExactSum sum_of(const std::vector<double>& values) {
  ExactSum sum;
  for (const double v : values) sum.add(v);
  return sum;
}

double exact(const std::vector<double>& values) {
  return sum_of(values).value();
}

std::uint64_t bits(double x) {
  return std::bit_cast<std::uint64_t>(x);
}

/// Another exact sum: non-overlapping partial sums (Shewchuk 1997), rounded once, half to even. No overflow inside.
double reference_sum(const std::vector<double>& values) {
  std::vector<double> partials;
  for (double x : values) {
    std::size_t kept = 0;
    for (double y : partials) {
      if (std::abs(x) < std::abs(y)) std::swap(x, y);
      const double high = x + y, low = y - (high - x);
      if (low != 0) partials[kept++] = low;
      x = high;
    }
    partials.resize(kept);
    partials.push_back(x);
  }
  if (partials.empty()) return 0;
  double high = partials.back(), low = 0;
  partials.pop_back();
  while (!partials.empty() && low == 0) {
    const double x = high, y = partials.back();
    partials.pop_back();
    high = x + y;
    low = y - (high - x);
  }
  if (!partials.empty() && ((low < 0 && partials.back() < 0) || (low > 0 && partials.back() > 0))) {
    const double y = 2 * low, x = high + y;
    if (y == x - high) high = x;
  }
  return high;
}

/// Values of both signs whose exponents spread over `range` binary orders of magnitude around 2^centre.
std::vector<double> wild(std::size_t count, std::uint64_t seed, int centre, int range) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = std::ldexp(
        random_unit(seed, 2 * i) - 0.5,
        centre + static_cast<int>(random_bits(seed, 2 * i + 1) % static_cast<std::uint64_t>(range)) - range / 2);
  return values;
}

void shuffle(std::vector<double>& values, std::uint64_t seed) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random_bits(seed, i) % i]);
}

TEST(ExactSum, IsTheCorrectlyRoundedSum) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const int range = 1 + static_cast<int>(random_bits(seed, 77) % 400);
    const auto values = wild(1 + seed % 97, seed, static_cast<int>(seed) - 150, range);
    ASSERT_EQ(bits(exact(values)), bits(reference_sum(values))) << "seed " << seed;
  }
}

TEST(ExactSum, OneValueComesBackBitForBit) {
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const double x = std::bit_cast<double>(random_bits(5, i));
    if (std::isnan(x)) continue;
    ASSERT_EQ(bits(exact({x})), bits(x)) << x;
  }
  for (const double x : {smallest, -smallest, 3 * smallest, largest, -largest, 0x1p-1022, -0x1p-1022, 0x1p-1023, 1.0})
    EXPECT_EQ(bits(exact({x})), bits(x)) << x;
}

TEST(ExactSum, OrderAndSplitDoNotMatter) {
  auto values = wild(5000, 3, 0, 1800);
  const ExactSum once = [&] {
    ExactSum s = sum_of(values);
    s.normalise();
    return s;
  }();
  for (std::uint64_t trial = 0; trial < 50; ++trial) {
    shuffle(values, trial);
    ExactSum total;
    for (std::size_t begin = 0; begin < values.size();) {
      const std::size_t end = std::min(values.size(), begin + 1 + random_bits(trial, begin) % 900);
      total.merge(sum_of(
          {values.begin() + static_cast<std::ptrdiff_t>(begin), values.begin() + static_cast<std::ptrdiff_t>(end)}));
      begin = end;
    }
    total.normalise();
    ASSERT_TRUE(std::equal(total.word, total.word + ExactSum::size, once.word));
    ASSERT_EQ(bits(total.value()), bits(once.value()));
  }
}

TEST(ExactSum, RoundsHalfToEven) {
  const double half = 0x1p-53;
  EXPECT_EQ(exact({1, half}), 1.0);
  EXPECT_EQ(exact({1, half, smallest}), 1 + 0x1p-52);
  EXPECT_EQ(exact({1, half, -smallest}), 1.0);
  EXPECT_EQ(exact({1 + 0x1p-52, half}), 1 + 0x1p-51);
  EXPECT_EQ(exact({-1, -half}), -1.0);
  EXPECT_EQ(exact({-1, -half, -smallest}), -1 - 0x1p-52);
  EXPECT_EQ(exact({2 - 0x1p-52, half}), 2.0);  // the carry reaches the next binade
  EXPECT_EQ(exact({2 - 0x1p-52, half, -smallest}), 2 - 0x1p-52);
}

TEST(ExactSum, CancelsCatastrophically) {
  EXPECT_EQ(exact({1e300, 1, -1e300}), 1.0);
  EXPECT_EQ(exact({largest, largest, smallest, -largest, -largest}), smallest);
  EXPECT_EQ(bits(exact({1e17, -1e17})), bits(0.0));
  EXPECT_EQ(bits(exact({})), bits(0.0));
  EXPECT_EQ(bits(exact({-0.0})), bits(0.0));
  auto values = wild(1000, 9, 0, 1000);
  const std::size_t n = values.size();
  for (std::size_t i = 0; i < n; ++i) values.push_back(-values[i]);
  values.push_back(0x1.23456789abcdep-700);
  shuffle(values, 1);
  EXPECT_EQ(exact(values), 0x1.23456789abcdep-700);
}

TEST(ExactSum, SumsSubnormals) {
  EXPECT_EQ(exact(std::vector<double>(1000, smallest)), 1000 * smallest);
  EXPECT_EQ(exact({0x1p-1022, -smallest}), 0x1p-1022 - smallest);
  EXPECT_EQ(exact({0x1p-1023, 0x1p-1023}), 0x1p-1022);
}

TEST(ExactSum, OverflowsOnlyAtTheEnd) {
  EXPECT_EQ(exact({largest, largest}), infinity);
  EXPECT_EQ(exact({-largest, -largest}), -infinity);
  EXPECT_EQ(exact({largest, largest, -largest}), largest);
  EXPECT_EQ(exact({largest, 0x1p969}), largest);   // below half a unit in the last place
  EXPECT_EQ(exact({largest, 0x1p970}), infinity);  // half: the even neighbour is 2^1024
  EXPECT_EQ(exact({largest, 0x1p970, -smallest}), largest);
  EXPECT_EQ(exact(std::vector<double>(100000, largest)), infinity);
}

TEST(ExactSum, KeepsNaNAndInfinity) {
  const double nan = std::nan("");
  EXPECT_TRUE(std::isnan(exact({1, nan, 2})));
  EXPECT_TRUE(std::isnan(exact({1, -nan})));
  EXPECT_EQ(exact({1, infinity, -largest}), infinity);
  EXPECT_EQ(exact({1, -infinity, largest}), -infinity);
  EXPECT_TRUE(std::isnan(exact({infinity, 1, -infinity})));
  EXPECT_TRUE(std::isnan(exact({infinity, nan})));
  ExactSum a = sum_of({1, nan});
  ExactSum b = sum_of({2});
  b.merge(a);
  EXPECT_TRUE(std::isnan(b.value()));
}

TEST(ExactSum, CarriesBeforeItsWordsOverflow) {
  // Doubling by merge counts as 2^k additions of the value that fills a word most.
  for (const double x : {0x1.fffffffffffffp0, -0x1.fffffffffffffp0, -1.0, largest}) {
    ExactSum sum = sum_of({x});
    const int doublings = x == largest ? 0 : 60;
    for (int k = 0; k < doublings; ++k) {
      const ExactSum copy = sum;
      sum.merge(copy);
    }
    EXPECT_EQ(sum.value(), std::ldexp(x, doublings));
  }
  // The counter itself: just before the limit, then past it.
  ExactSum sum = sum_of(std::vector<double>(1000, -0x1.fffffffffffffp3));
  for (int k = 0; k < ExactSum::digits; ++k) sum.word[k] *= std::int64_t{1} << 20;
  sum.pending = ExactSum::limit - 1;
  sum.add(-0x1.fffffffffffffp3);
  EXPECT_EQ(sum.pending, 1);
  EXPECT_EQ(sum.value(), reference_sum({-0x1.fffffffffffffp3 * 0x1p20 * 1000, -0x1.fffffffffffffp3}));
  EXPECT_TRUE(
      std::all_of(sum.word, sum.word + ExactSum::digits - 1, [](std::int64_t w) { return w >= 0 && w >> 32 == 0; }));
}

TEST(ExactSum, WordsAddOverRanks) {
  const Comm& comm = test::world();
  const auto values = wild(999, 21, 10, 500);
  // Any split over the ranks gives the bits of one rank's sum.
  ExactSum mine;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (static_cast<int>(random_bits(4, i) % static_cast<std::uint64_t>(comm.size())) == comm.rank())
      mine.add(values[i]);
  mine.normalise();
  comm.sum(mine.words());
  mine.normalise();
  EXPECT_EQ(bits(mine.value()), bits(exact(values)));
}

}  // namespace
}  // namespace tutti
