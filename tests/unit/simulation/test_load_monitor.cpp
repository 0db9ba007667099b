// When the mesh is repartitioned, and how.
#include "tutti/simulation/run/load_monitor.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace tutti {
namespace {

TEST(ChooseShares, DevicesThatComputeAsLongKeepTheirs) {
  EXPECT_FALSE(choose_shares({{1000, 1.0}, {9000, 0.96}}, 50)) << "4 % is not enough";
  EXPECT_FALSE(choose_shares({{1000, 1.0}}, 50)) << "alone, nobody waits";
}

TEST(ChooseShares, AreInProportionToTheRates) {
  // 1000 cells a second and 4000.
  const auto shares = choose_shares({{1000, 1.0}, {1000, 0.25}}, 50);
  ASSERT_TRUE(shares);
  EXPECT_EQ(shares->idle_part, 1);
  EXPECT_DOUBLE_EQ(shares->idle, 0.75);
  ASSERT_EQ(shares->weights.size(), 2U);
  EXPECT_DOUBLE_EQ(shares->weights[0], 0.2);
  EXPECT_DOUBLE_EQ(shares->weights[1], 0.8);
  EXPECT_DOUBLE_EQ(shares->seconds, 1.0 / 50);
  EXPECT_DOUBLE_EQ(shares->seconds_then, 0.4 / 50) << "2000 cells, 5000 per second";
}

TEST(ChooseShares, WhoHasNothingKeepsNothing) {
  const auto shares = choose_shares({{0, 0.0}, {1000, 1.0}, {1000, 0.5}}, 50);
  ASSERT_TRUE(shares);
  EXPECT_EQ(shares->weights[0], 0);
  EXPECT_EQ(shares->idle_part, 2);
  EXPECT_DOUBLE_EQ(std::accumulate(shares->weights.begin(), shares->weights.end(), 0.0), 1.0);
}

TEST(ChooseShares, ASmallPartThatWaitsIsNotWorthIt) {
  // It waits half of a step, but has so few cells that the others would be hardly quicker.
  EXPECT_FALSE(choose_shares({{100'000, 1.0}, {1000, 0.5}}, 50));
}

TEST(ChooseShares, NothingIsKnownOfAPartThatWasNotTimed) {
  EXPECT_FALSE(choose_shares({{1000, 1.0}, {1000, 0.0}}, 50));
  EXPECT_FALSE(choose_shares({{0, 0.0}, {0, 0.0}}, 50));
}

}  // namespace
}  // namespace tutti
