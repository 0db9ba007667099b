#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tests/unit/partition/graphs.hpp"

namespace tutti {
namespace {

TEST(Tiers, KeepTheTotalsOfNodesAndDevices) {
  const test::Problem problem = test::lattice(24, 20, 18);
  const std::vector<std::vector<double>> targets{{.4, .4, .03}, {1.0}, {}, {0, 0}, {.2, 0, .6}};
  for (const Partitioner method : test::all_partitioners()) {
    const auto owner = partition_tiers(problem.input(), targets, method);
    EXPECT_EQ(owner, partition_tiers(problem.input(), targets, method));
    const auto rows = test::count_rows(owner, 9);
    const double tolerance = method == Partitioner::voronoi ? 0.0101 : 0.005;
    double all = 0;
    for (const auto& node : targets) all = std::accumulate(node.begin(), node.end(), all);
    std::size_t part = 0;
    for (const auto& node : targets) {
      Gid node_rows = 0;
      double node_due = 0;
      for (const double target : node) {
        const double due = target / all * static_cast<double>(problem.rows());
        EXPECT_NEAR(static_cast<double>(rows[part]), due, 2 + 2 * tolerance * due);
        node_due += due;
        node_rows += rows[part++];
      }
      EXPECT_NEAR(static_cast<double>(node_rows), node_due, 1 + tolerance * node_due);
    }
  }
}

TEST(Tiers, ANodeIsInOnePiece) {
  // Eight nodes of two devices: what the nodes cut must be what a plain partition into eight cuts.
  const test::Problem problem = test::lattice(16, 16, 16);
  for (const Partitioner method : test::all_partitioners()) {
    auto owner = partition_tiers(problem.input(), std::vector<std::vector<double>>(8, {1.0, 1.0}), method);
    for (std::int32_t& p : owner) p /= 2;
    EXPECT_EQ(owner, partition_rows(problem.input(), std::vector<double>(8, 2.0), method));
  }
}

TEST(Tiers, FewRows) {
  for (const Gid rows : {0, 1, 2, 5}) {
    const test::Problem problem = test::lattice(rows, 1, 1);
    for (const Partitioner method : test::all_partitioners()) {
      const auto owner = partition_tiers(problem.input(), {{1, 1, 1}, {1, 1, 1}, {0.001}}, method);
      EXPECT_EQ(static_cast<Gid>(owner.size()), rows);
      test::count_rows(owner, 7);
    }
  }
}

}  // namespace
}  // namespace tutti
