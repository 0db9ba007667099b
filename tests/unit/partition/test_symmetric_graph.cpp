#include <gtest/gtest.h>

#include <set>

#include "tests/unit/partition/graphs.hpp"
#include "tutti/base/error.hpp"
#include "tutti/partition/symmetric_graph.hpp"

namespace tutti {
namespace {

std::vector<std::set<std::int32_t>> sets_of(const SymmetricGraph& graph) {
  std::vector<std::set<std::int32_t>> sets;
  for (std::int32_t i = 0; i < graph.rows(); ++i) {
    const auto row = graph.row(i);
    EXPECT_TRUE(std::is_sorted(row.begin(), row.end()));
    sets.emplace_back(row.begin(), row.end());
    EXPECT_EQ(sets.back().size(), row.size()) << "double edge in row " << i;
  }
  return sets;
}

TEST(SymmetricGraph, RandomDirectedGraphsWithLoopsDoublesAndUnsortedRows) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Gid rows = 1 + static_cast<Gid>(random_bits(seed, 0) % 40);
    Adjacency graph;
    std::vector<std::set<std::int32_t>> expected(rows);
    std::uint64_t counter = 1;
    for (Gid i = 0; i < rows; ++i) {
      const auto entries = random_bits(seed, counter++) % 6;
      for (std::uint64_t e = 0; e < entries; ++e) {
        const Gid j = static_cast<Gid>(random_bits(seed, counter++) % static_cast<std::uint64_t>(rows));
        graph.columns.push_back(j);
        if (j == i) continue;
        expected[i].insert(static_cast<std::int32_t>(j));
        expected[j].insert(static_cast<std::int32_t>(i));
      }
      graph.close_row();
    }
    EXPECT_EQ(sets_of(symmetrise(graph)), expected) << seed;
  }
}

TEST(SymmetricGraph, GhostColumnsOfAPartAreLeftOut) {
  Csr<Lid> graph;
  graph.columns = {1, 5, 0, 2, 7};
  graph.offsets = {0, 2, 3, 5};
  EXPECT_EQ(sets_of(symmetrise(graph)), (std::vector<std::set<std::int32_t>>{{1}, {0}, {}}));
}

TEST(SymmetricGraph, InducedKeepsTheEdgesInside) {
  const SymmetricGraph graph = symmetrise(test::lattice(3, 3, 1).graph);
  std::vector<std::int32_t> scratch(9, -1);
  const std::vector<std::int32_t> chosen{4, 0, 1, 8};
  const auto sets = sets_of(induced_graph(graph, chosen, scratch));
  EXPECT_EQ(sets, (std::vector<std::set<std::int32_t>>{{2}, {2}, {0, 1}, {}}));
  EXPECT_EQ(scratch, std::vector<std::int32_t>(9, -1));
}

TEST(SymmetricGraph, TooLargeForTheLibrariesIsAResourceError) {
  EXPECT_NO_THROW(check_graph_size(2147483646, 2147483647));
  for (const auto& [rows, entries] : {std::pair<Gid, Size>{2147483647, 0}, {10, 2147483648}}) {
    try {
      check_graph_size(rows, entries);
      FAIL();
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::resource);
      EXPECT_NE(std::string(e.what()).find("hilbert"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace tutti
