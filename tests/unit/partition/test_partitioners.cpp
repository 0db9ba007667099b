#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "tests/unit/partition/graphs.hpp"
#include "tutti/base/error.hpp"
#include "tutti/partition/graph_split.hpp"
#include "tutti/partition/quotas.hpp"
#include "tutti/partition/rebalance.hpp"

namespace tutti {
namespace {

using test::count_rows;
using test::Problem;

const std::vector<std::vector<double>>& all_targets() {
  static const std::vector<std::vector<double>> targets{{1},
                                                        {.415, .415, .17},
                                                        {.97, .03},
                                                        {.99, .01},
                                                        {1, 0, 1},
                                                        {.5, .5},
                                                        {0, 0, 3},
                                                        std::vector<double>(7, 1.0),
                                                        {0, 5, .1, 0, 2, 0},
                                                        std::vector<double>(64, 1.0)};
  return targets;
}

/// Every row has an owner, parts of target 0 are empty, the others meet their share: geometry within one row, graphs
/// within half a percent, and never empty where a row is due.
void expect_balanced(const Problem& problem, const std::vector<double>& targets, Partitioner method) {
  const auto owner = partition_rows(problem.input(), targets, method);
  ASSERT_EQ(static_cast<Gid>(owner.size()), problem.rows());
  const std::vector<Gid> rows = count_rows(owner, targets.size());
  const double sum = std::accumulate(targets.begin(), targets.end(), 0.0);
  const bool geometric = method == Partitioner::hilbert || method == Partitioner::slabs;
  for (std::size_t p = 0; p < targets.size(); ++p) {
    const double due = targets[p] / sum * static_cast<double>(problem.rows());
    const double off = std::abs(static_cast<double>(rows[p]) - due);
    EXPECT_LE(off, geometric ? 1.0 : 1.0 + (method == Partitioner::voronoi ? 0.01 : 0.005) * due)
        << "part " << p << ", due " << due;
    if (targets[p] == 0) {
      EXPECT_EQ(rows[p], 0);
    }
    if (due >= 1) {
      EXPECT_GT(rows[p], 0);
    }
  }
  EXPECT_EQ(owner, partition_rows(problem.input(), targets, method)) << "two calls differ";
}

void expect_all_balanced(const Problem& problem) {
  for (const Partitioner method : test::all_partitioners()) {
    for (const auto& targets : all_targets()) {
      SCOPED_TRACE(
          fmt::format("method {}, {} targets, the first {}", static_cast<int>(method), targets.size(), targets[0]));
      expect_balanced(problem, targets, method);
    }
  }
}

TEST(Partitioners, Lattice) {
  expect_all_balanced(test::lattice(20, 17, 13));
}
TEST(Partitioners, RandomGeometricGraph) {
  expect_all_balanced(test::random_geometric(3000, 0.1, 11));
}
TEST(Partitioners, Islands) {
  expect_all_balanced(test::islands(10, 300));
}
TEST(Partitioners, Star) {
  expect_all_balanced(test::star(2000));
}
TEST(Partitioners, NoEdges) {
  expect_all_balanced(test::islands(0, 500));
}
TEST(Partitioners, Path) {
  expect_all_balanced(test::lattice(1500, 1, 1));
}
TEST(Partitioners, ZeroRows) {
  expect_all_balanced(test::islands(0, 0));
}
TEST(Partitioners, OneRow) {
  expect_all_balanced(test::lattice(1, 1, 1));
}
TEST(Partitioners, MorePartsThanRows) {
  for (const Gid rows : {2, 3, 5, 17, 40, 63, 64, 65, 100}) {
    SCOPED_TRACE(rows);
    expect_all_balanced(test::lattice(rows, 1, 1));
    expect_all_balanced(test::star(rows));
  }
}

TEST(Partitioners, AllRowsGoToTheOnlyPartWithAWeight) {
  const Problem problem = test::lattice(6, 6, 6);
  for (const Partitioner method : test::all_partitioners()) {
    EXPECT_EQ(partition_rows(problem.input(), std::vector<double>{0, 1e-300, 0}, method),
              std::vector<std::int32_t>(216, 1));
  }
}

TEST(Partitioners, DirectedGraphWithLoopsGivesTheSameAsItsSymmetricForm) {
  const Problem whole = test::lattice(12, 12, 12);
  Problem directed;
  directed.points = whole.points;
  for (Gid i = 0; i < whole.rows(); ++i) {
    directed.graph.columns.push_back(i);
    for (const Gid j : whole.graph.row(i)) {
      if ((i + j) % 3 == 0 || j > i) directed.graph.columns.push_back(j);
    }
    directed.graph.close_row();
  }
  for (const Partitioner method : test::all_partitioners()) {
    const std::vector<double> targets{3, 2, 1};
    EXPECT_EQ(partition_rows(whole.input(), targets, method), partition_rows(directed.input(), targets, method));
  }
}

TEST(Partitioners, QualityOnALattice) {
  const Problem problem = test::lattice(32, 32, 32);
  for (const std::size_t parts : {2u, 8u, 7u, 64u}) {
    const std::vector<double> targets(parts, 1.0);
    std::vector<std::int32_t> scattered(problem.rows());
    for (std::size_t i = 0; i < scattered.size(); ++i)
      scattered[i] = static_cast<std::int32_t>(random_bits(9, i) % parts);
    const Size random_cut = assess_partition(problem.graph, scattered, targets).cut;
    const auto cut_of = [&](Partitioner method) {
      return assess_partition(problem.graph, partition_rows(problem.input(), targets, method), targets).cut;
    };
    const Size metis_cut = cut_of(Partitioner::metis);
    EXPECT_LT(metis_cut * 4, random_cut) << parts;
    EXPECT_LT(static_cast<double>(cut_of(Partitioner::hilbert)), 2.5 * static_cast<double>(metis_cut)) << parts;
    EXPECT_LT(cut_of(Partitioner::slabs), random_cut) << parts;
    const auto names = partitioner_names();
    EXPECT_LT(static_cast<double>(cut_of(Partitioner::voronoi)), 1.4 * static_cast<double>(metis_cut)) << parts;
    if (std::find(names.begin(), names.end(), "scotch") != names.end()) {
      EXPECT_LT(static_cast<double>(cut_of(Partitioner::scotch)), 1.5 * static_cast<double>(metis_cut)) << parts;
    }
  }
  // Halves of a cube: the best cut is a plane, 2 x 1024 entries.
  const std::vector<double> halves{1, 1};
  const auto slabs = partition_rows(problem.input(), halves, Partitioner::slabs);
  EXPECT_EQ(assess_partition(problem.graph, slabs, halves).cut, 2048);
  const auto hilbert = partition_rows(problem.input(), halves, Partitioner::hilbert);
  EXPECT_EQ(assess_partition(problem.graph, hilbert, halves).cut, 2048);
}

TEST(Partitioners, TinyPartIsCompact) {
  const Problem problem = test::lattice(30, 30, 30);
  for (const Partitioner method : {Partitioner::metis, Partitioner::hilbert}) {
    const std::vector<double> targets{.999, .001};
    const auto quality = assess_partition(problem.graph, partition_rows(problem.input(), targets, method), targets);
    EXPECT_EQ(quality.rows[1], 27);
    // A 3 x 3 x 3 cube inside has 54 faces, each cut in both directions.
    EXPECT_LE(quality.cut, 2 * 108);
  }
}

TEST(Partitioners, ThousandsOfPartsSayNothingOnStdout) {
  const Problem problem = test::lattice(40, 40, 25);
  testing::internal::CaptureStdout();
  const auto owner = partition_rows(problem.input(), std::vector<double>(20000, 1.0), Partitioner::metis);
  const auto few = partition_rows(problem.input(), std::vector<double>(2500, 1.0), Partitioner::metis);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  for (const Gid rows : count_rows(owner, 20000)) ASSERT_EQ(rows, 2);
  for (const Gid rows : count_rows(few, 2500)) ASSERT_EQ(rows, 16);
}

TEST(Partitioners, BadTargets) {
  const Problem problem = test::lattice(2, 2, 2);
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  for (const std::vector<double>& targets :
       std::vector<std::vector<double>>{{}, {0}, {0, 0}, {1, -1}, {nan, 1}, {1, inf}}) {
    for (const Partitioner method : test::all_partitioners()) {
      try {
        partition_rows(problem.input(), targets, method);
        ADD_FAILURE() << "accepted";
      } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::usage);
      }
    }
  }
  EXPECT_THROW(partition_tiers(problem.input(), {{2, -1}, {1}}, Partitioner::hilbert), Error);
  EXPECT_THROW(partition_tiers(problem.input(), {}, Partitioner::hilbert), Error);
}

TEST(Partitioners, MissingInputIsABug) {
  const Problem problem = test::lattice(2, 2, 2);
  EXPECT_THROW(partition_rows({nullptr, problem.points, 8, {}}, std::vector<double>{1}, Partitioner::metis),
               std::logic_error);
  EXPECT_THROW(partition_rows({&problem.graph, {}, 8, {}}, std::vector<double>{1}, Partitioner::hilbert),
               std::logic_error);
  Adjacency bad;
  bad.columns = {-1};
  bad.close_row();
  EXPECT_THROW(partition_rows({&bad, {}, 1, {}}, std::vector<double>{1, 1}, Partitioner::metis), std::logic_error);
}

TEST(Quotas, LargestRemainders) {
  EXPECT_EQ(row_quotas(10, std::vector<double>{1, 1, 1}), (std::vector<Gid>{4, 3, 3}));
  EXPECT_EQ(row_quotas(10, std::vector<double>{.97, .03}), (std::vector<Gid>{10, 0}));
  EXPECT_EQ(row_quotas(0, std::vector<double>{2, 1}), (std::vector<Gid>{0, 0}));
  EXPECT_EQ(row_quotas(7, std::vector<double>{1e308, 1e308, 0}), (std::vector<Gid>{4, 3, 0}));
  EXPECT_EQ(row_quotas(7, std::vector<double>{5e-324, 0, 5e-324}), (std::vector<Gid>{4, 0, 3}));
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::vector<double> targets;
    for (std::uint64_t p = 0; p < 1 + seed % 30; ++p) targets.push_back(std::pow(random_unit(seed, p), 4.0));
    const Gid rows = static_cast<Gid>(random_bits(seed, 99) >> (20 + seed % 44));
    const auto quotas = row_quotas(rows, targets);
    const double sum = std::accumulate(targets.begin(), targets.end(), 0.0);
    Gid total = 0;
    for (std::size_t p = 0; p < targets.size(); ++p) {
      const double due = targets[p] / sum * static_cast<double>(rows);
      EXPECT_LE(std::abs(static_cast<double>(quotas[p]) - due), 1.0 + 1e-14 * static_cast<double>(rows));
      total += quotas[p];
    }
    EXPECT_EQ(total, rows);
  }
}

TEST(Rebalance, FromAnyStartToExactQuotas) {
  for (const Problem& problem : {test::lattice(9, 8, 7), test::islands(6, 72), test::star(504)}) {
    const SymmetricGraph graph = symmetrise(problem.graph);
    const std::vector<std::int32_t> quotas{1, 200, 3, 150, 150};
    for (int start = 0; start < 3; ++start) {
      std::vector<std::int32_t> part(504);
      for (std::size_t i = 0; i < part.size(); ++i) {
        part[i] = start == 0 ? 0 : start == 1 ? 4 : static_cast<std::int32_t>(random_bits(2, i) % 5);
      }
      rebalance(graph, quotas, 0.0, part);
      EXPECT_EQ(count_rows(part, 5), (std::vector<Gid>{1, 200, 3, 150, 150}));
    }
  }
}

TEST(Rebalance, LeavesAGoodPartAloneAndMovesTheSeam) {
  const Problem problem = test::lattice(20, 10, 1);
  const SymmetricGraph graph = symmetrise(problem.graph);
  // Three stripes of 6, 8 and 6 columns; the outer two are to swap ten rows through the middle one.
  std::vector<std::int32_t> part;
  for (const Vec3& p : problem.points) part.push_back(p.x < 6 ? 0 : p.x < 14 ? 1 : 2);
  std::vector<std::int32_t> same = part;
  rebalance(graph, std::vector<std::int32_t>{61, 79, 60}, 0.05, same);
  EXPECT_EQ(same, part);
  const std::vector<double> equal(3, 1.0);
  const Size before = assess_partition(problem.graph, part, equal).cut;
  rebalance(graph, std::vector<std::int32_t>{50, 80, 70}, 0.0, part);
  const auto quality = assess_partition(problem.graph, part, equal);
  EXPECT_EQ(quality.rows, (std::vector<Gid>{50, 80, 70}));
  EXPECT_LE(quality.cut, before + 8);
  EXPECT_EQ(quality.components, (std::vector<int>{1, 1, 1}));
}

TEST(Names, ParseAndNearest) {
  EXPECT_EQ(parse_partitioner("metis"), Partitioner::metis);
  EXPECT_EQ(parse_partitioner("scotch"), Partitioner::scotch);
  EXPECT_EQ(parse_ordering("metis_blocks"), Ordering::metis_blocks);
  for (const std::string& name : ordering_names()) EXPECT_NO_THROW(parse_ordering(name));
  const auto message = [](auto parse, const char* word) {
    try {
      parse(word);
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::usage);
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(message(parse_partitioner, "metsi").find("\"metis\""), std::string::npos);
  EXPECT_NE(message(parse_ordering, "Hilbert").find("\"hilbert\""), std::string::npos);
  EXPECT_NE(message(parse_ordering, "zzzzzzzzzzzzzzzzzzzzzzzzz").find("rcm"), std::string::npos);
  EXPECT_NE(message(parse_ordering, ""), "");
}

}  // namespace
}  // namespace tutti
