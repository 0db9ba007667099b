#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tutti/schedule/capacity.hpp"

namespace tutti {
namespace {

BoundWeights bound(std::vector<double> weights, std::vector<double> most, double rows = 1000) {
  BoundWeights b = bound_weights(weights, most, rows);
  EXPECT_NEAR(std::accumulate(b.weights.begin(), b.weights.end(), 0.0), 1.0, 1e-12);
  return b;
}

void expect_near(const std::vector<double>& found, const std::vector<double>& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t p = 0; p < found.size(); ++p) EXPECT_NEAR(found[p], wanted[p], 1e-12) << p;
}

TEST(Capacity, WeightsThatFitStay) {
  const auto b = bound({0.25, 0.75, 0}, {250, 750, 10});
  expect_near(b.weights, {0.25, 0.75, 0});
  EXPECT_TRUE(b.full.empty());
  EXPECT_TRUE(b.fits);
}

TEST(Capacity, WhatDoesNotFitGoesToTheOthersByTheirWeights) {
  const auto b = bound({0.8, 0.15, 0.05}, {400, 1000, 1000});
  expect_near(b.weights, {0.4, 0.45, 0.15});
  EXPECT_EQ(b.full, (std::vector<int>{0}));
}

TEST(Capacity, OneOverflowFillsTheNext) {
  // 600 rows are left by the first: 450 and 150. The second takes 420, so the third gets 180.
  const auto b = bound({0.8, 0.15, 0.05}, {400, 420, 1000});
  expect_near(b.weights, {0.4, 0.42, 0.18});
  EXPECT_EQ(b.full, (std::vector<int>{0, 1}));
  EXPECT_TRUE(b.fits);
}

TEST(Capacity, PartsWithoutAWeightTakeWhatIsLeft) {
  const auto b = bound({1, 0, 0}, {400, 900, 300});
  expect_near(b.weights, {0.4, 0.45, 0.15});
  // But only when those with a weight are full.
  const auto c = bound({0.9, 0.1, 0}, {400, 900, 900});
  expect_near(c.weights, {0.4, 0.6, 0});
}

TEST(Capacity, NoRoomAtAll) {
  const auto b = bound({0.9, 0.1}, {0, 1000});
  expect_near(b.weights, {0, 1});
  EXPECT_EQ(b.full, (std::vector<int>{0}));
  const auto none = bound({0.9, 0.1}, {0, 0});
  EXPECT_FALSE(none.fits);
  EXPECT_EQ(none.full.size(), 2u);
}

TEST(Capacity, AllFullExactly) {
  const auto b = bound({0.5, 0.5, 0}, {200, 700, 100});
  expect_near(b.weights, {0.2, 0.7, 0.1});
  EXPECT_TRUE(b.fits);
  const auto too_few = bound({0.5, 0.5, 0}, {200, 700, 99});
  EXPECT_FALSE(too_few.fits);
  expect_near(too_few.weights, {200 / 999.0, 700 / 999.0, 99 / 999.0});
}

TEST(Capacity, OnePart) {
  EXPECT_TRUE(bound({1}, {1000}).full.empty());
  EXPECT_FALSE(bound({1}, {999}).fits);
}

TEST(Capacity, ARoomHoldsRowsAndTheirGhosts) {
  EXPECT_EQ(rows_that_fit({0, 200, 16}, 1e6), 0);
  EXPECT_EQ(rows_that_fit({1'000'000, 200, 16, 1'000'001}, 1e6), 0);
  EXPECT_EQ(rows_that_fit({1'500'000, 200, 16, 500'000}, 1e6), rows_that_fit({1'000'000, 200, 16}, 1e6));
  EXPECT_EQ(rows_that_fit({Size{1} << 40, 200, 16}, 1e6), 1e6) << "the whole mesh has no ghosts";
  for (const Size bytes : {Size{10'000}, Size{10'000'000}, Size{10'000'000'000}}) {
    const double n = rows_that_fit({bytes, 200, 16}, 1e12), room = static_cast<double>(bytes);
    EXPECT_LE(200 * n + 16 * 12 * std::cbrt(n * n), room) << bytes;
    EXPECT_LE(rows_that_fit({bytes, 200, 32}, 1e12), n);
  }
  const double large = rows_that_fit({Size{10'000'000'000}, 200, 16}, 1e12);
  EXPECT_GT(200 * large, 0.95e10) << "little is wasted";
}

/// A device with room for 400 rows, of up to `most` if others come from the host at 1 ms each.
PartPace device_of(double rate, double most, bool behind = true) {
  PartPace pace;
  pace.rate = rate;
  pace.most = most;
  pace.held = 400;
  pace.pushed_out = 1.25;
  pace.copy_seconds = 1e-3;
  pace.behind = behind;
  return pace;
}
PartPace cpu_of(double rate) {
  PartPace pace;
  pace.rate = rate;
  pace.most = pace.held = 1e9;
  pace.on_host = true;
  return pace;
}

TEST(Pace, CopiesAreHiddenAsFarAsTheKernelTakesLonger) {
  const PartPace pace = device_of(1e4, 1e9);
  EXPECT_DOUBLE_EQ(seconds_of(pace, 400), 0.04);
  EXPECT_DOUBLE_EQ(seconds_of(pace, 420), 0.042) << "25 rows come in 25 ms";
  EXPECT_DOUBLE_EQ(seconds_of(pace, 480), 0.1) << "100 rows come in 100 ms";
  EXPECT_DOUBLE_EQ(seconds_of(pace, 1e4), 10) << "no more than all";
  EXPECT_DOUBLE_EQ(seconds_of(device_of(1e4, 1e9, false), 480), 0.148) << "one after the other";
}

TEST(Pace, RowsAreSharedSoThatAllAreReadyAtOnce) {
  for (const double rows : {100.0, 600.0, 2000.0, 50000.0}) {
    const std::vector<PartPace> paces = {device_of(1e4, 3000), device_of(5e3, 3000, false), cpu_of(500)};
    const PacedShares shares = share_by_pace(paces, rows);
    EXPECT_NEAR(std::accumulate(shares.rows.begin(), shares.rows.end(), 0.0), rows, 1e-6 * rows);
    for (std::size_t p = 0; p < paces.size(); ++p) {
      EXPECT_LE(seconds_of(paces[p], shares.rows[p]), shares.seconds * (1 + 1e-6));
      // No part could take more without being the last.
      if (shares.rows[p] < paces[p].most * (1 - 1e-9)) {
        EXPECT_GE(seconds_of(paces[p], shares.rows[p] * 1.001), shares.seconds * (1 - 1e-6));
      }
    }
  }
}

TEST(Pace, ADeviceAloneTakesAllThatThereIsRoomFor) {
  const PacedShares shares = share_by_pace(std::vector<PartPace>{device_of(1e4, 3000)}, 2500);
  EXPECT_NEAR(shares.rows[0], 2500, 1e-6);
  EXPECT_NEAR(shares.seconds, 2.5, 1e-6);
}

}  // namespace
}  // namespace tutti
