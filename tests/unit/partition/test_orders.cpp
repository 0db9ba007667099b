#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/unit/partition/graphs.hpp"
#include "tutti/base/error.hpp"

namespace tutti {
namespace {

Csr<Lid> local(const Adjacency& graph) {
  Csr<Lid> result;
  result.offsets = graph.offsets;
  result.columns.assign(graph.columns.begin(), graph.columns.end());
  return result;
}

/// Place of every row, after a check that `order` is a permutation.
std::vector<Lid> places(const std::vector<Lid>& order, Gid rows) {
  std::vector<Lid> place(rows, -1);
  EXPECT_EQ(static_cast<Gid>(order.size()), rows);
  for (std::size_t k = 0; k < order.size(); ++k) {
    EXPECT_EQ(place.at(static_cast<std::size_t>(order[k])), -1) << "row " << order[k] << " comes twice";
    place.at(static_cast<std::size_t>(order[k])) = static_cast<Lid>(k);
  }
  return place;
}

double mean_distance(const Adjacency& graph, const std::vector<Lid>& place) {
  double sum = 0;
  for (Gid i = 0; i < graph.rows(); ++i) {
    for (const Gid j : graph.row(i)) {
      sum += std::abs(place[i] - place[j]);
    }
  }
  return sum / static_cast<double>(graph.entries());
}

Lid bandwidth(const Adjacency& graph, const std::vector<Lid>& place) {
  Lid widest = 0;
  for (Gid i = 0; i < graph.rows(); ++i) {
    for (const Gid j : graph.row(i)) {
      widest = std::max(widest, std::abs(place[i] - place[j]));
    }
  }
  return widest;
}

TEST(Orders, AreDeterministicPermutationsOfAnyGraph) {
  const std::vector<test::Problem> problems{
      test::lattice(0, 0, 0),   test::lattice(1, 1, 1),   test::lattice(2, 1, 1),
      test::lattice(13, 9, 11), test::islands(7, 150),    test::islands(0, 40),
      test::star(700),          test::lattice(900, 1, 1), test::random_geometric(1500, 0.12, 4)};
  for (const test::Problem& problem : problems) {
    for (const std::string& name : ordering_names()) {
      SCOPED_TRACE(name + ", " + std::to_string(problem.rows()) + " rows");
      const auto order = order_rows(parse_ordering(name), problem.points, local(problem.graph), 64);
      places(order, problem.rows());
      EXPECT_EQ(order, order_rows(parse_ordering(name), problem.points, local(problem.graph), 64));
    }
  }
}

TEST(Orders, LocalityOnALatticeNumberedAtRandom) {
  const test::Problem sorted = test::lattice(16, 16, 16);
  const auto shuffle = order_rows(Ordering::random, sorted.points, {});
  const auto where = places(shuffle, sorted.rows());
  test::Problem problem;
  for (const Lid i : shuffle) {
    problem.points.push_back(sorted.points[i]);
    for (const Gid j : sorted.graph.row(i)) problem.graph.columns.push_back(where[j]);
    problem.graph.close_row();
  }
  const auto distance = [&](Ordering ordering) {
    return mean_distance(problem.graph,
                         places(order_rows(ordering, problem.points, local(problem.graph), 64), problem.rows()));
  };
  const double native = distance(Ordering::native);
  EXPECT_GT(distance(Ordering::random), 0.8 * native);
  EXPECT_LT(distance(Ordering::hilbert), 0.12 * native);
  EXPECT_LT(distance(Ordering::rcm), 0.12 * native);
  EXPECT_LT(distance(Ordering::metis_blocks), 0.15 * native);
}

TEST(Orders, RcmBandwidth) {
  // A path numbered at random gets bandwidth 1; a long grid its width plus a little.
  test::Problem path;
  const auto where = places(order_rows(Ordering::random, test::lattice(500, 1, 1).points, {}), 500);
  std::vector<std::pair<Gid, Gid>> edges;
  for (std::size_t i = 0; i + 1 < 500; ++i) edges.emplace_back(where[i], where[i + 1]);
  path.graph = test::graph_of(500, edges);
  EXPECT_EQ(bandwidth(path.graph, places(order_rows(Ordering::rcm, {}, local(path.graph)), 500)), 1);
  const test::Problem grid = test::lattice(60, 8, 1);
  EXPECT_GE(bandwidth(grid.graph, places(order_rows(Ordering::native, {}, local(grid.graph)), 480)), 60);
  EXPECT_LE(bandwidth(grid.graph, places(order_rows(Ordering::rcm, {}, local(grid.graph)), 480)), 9);
}

TEST(Orders, RcmKeepsComponentsTogether) {
  const test::Problem problem = test::islands(5, 30);
  const auto order = order_rows(Ordering::rcm, {}, local(problem.graph));
  int changes = 0;
  for (std::size_t k = 1; k < order.size(); ++k)
    changes += std::min(order[k] / 125, 2) != std::min(order[k - 1] / 125, 2);
  EXPECT_EQ(changes, 2);
}

TEST(Orders, MetisBlocksAreExactCompactAndInHilbertOrder) {
  const test::Problem problem = test::lattice(17, 16, 15);
  for (const Lid block : {1, 64, 512, 4080, 5000}) {
    SCOPED_TRACE(block);
    const auto order = order_rows(Ordering::metis_blocks, problem.points, local(problem.graph), block);
    places(order, problem.rows());
    const std::size_t blocks = static_cast<std::size_t>((problem.rows() - 1) / block) + 1;
    std::vector<std::int32_t> owner(order.size());
    for (std::size_t k = 0; k < order.size(); ++k) {
      owner[order[k]] = static_cast<std::int32_t>(k / static_cast<std::size_t>(block));
    }
    const std::vector<double> targets(blocks, 1.0);
    const auto quality = assess_partition(problem.graph, owner, targets);
    if (block == 64) {
      // A 4 x 4 x 4 cube cuts 96 faces; blocks must not fall apart.
      EXPECT_LT(static_cast<double>(quality.cut) / static_cast<double>(blocks), 1.4 * 96);
      int pieces = 0;
      for (const int c : quality.components) pieces += c;
      EXPECT_LT(static_cast<double>(pieces) / static_cast<double>(blocks), 1.15);
    }
  }
  EXPECT_THROW(order_rows(Ordering::metis_blocks, problem.points, local(problem.graph), 0), Error);
}

TEST(Orders, WorkWithoutWhatTheyDoNotNeed) {
  const test::Problem problem = test::lattice(10, 10, 10);
  places(order_rows(Ordering::hilbert, problem.points, {}), 1000);
  places(order_rows(Ordering::metis_blocks, {}, local(problem.graph), 64), 1000);
  places(order_rows(Ordering::random, {}, local(problem.graph)), 1000);
  EXPECT_THROW(order_rows(Ordering::hilbert, {}, local(problem.graph)), std::logic_error);
  EXPECT_THROW(order_rows(Ordering::rcm, problem.points, {}), std::logic_error);
}

}  // namespace
}  // namespace tutti
