#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "tests/unit/partition/graphs.hpp"

namespace tutti {
namespace {

Adjacency random_directed(Gid rows, std::uint64_t seed) {
  Adjacency graph;
  std::uint64_t counter = 0;
  for (Gid i = 0; i < rows; ++i) {
    const auto entries = random_bits(seed, counter++) % 4;
    for (std::uint64_t e = 0; e < entries; ++e) {
      graph.columns.push_back(static_cast<Gid>(random_bits(seed, counter++) % static_cast<std::uint64_t>(rows)));
    }
    graph.close_row();
  }
  return graph;
}

/// The definitions, word for word, with sets.
PartitionQuality assess_slowly(const Adjacency& stencil, const std::vector<std::int32_t>& owner, std::size_t parts) {
  PartitionQuality quality;
  std::vector<std::set<Gid>> ghosts(parts);
  std::vector<std::set<std::int32_t>> neighbours(parts);
  std::vector<std::vector<Gid>> ties(owner.size());
  for (Gid i = 0; i < stencil.rows(); ++i) {
    const auto p = static_cast<std::size_t>(owner[i]);
    for (const Gid j : stencil.row(i)) {
      const auto q = static_cast<std::size_t>(owner[j]);
      if (p == q) {
        ties[i].push_back(j);
        ties[j].push_back(i);
        continue;
      }
      ++quality.cut;
      ghosts[p].insert(j);
      neighbours[p].insert(static_cast<std::int32_t>(q));
      neighbours[q].insert(static_cast<std::int32_t>(p));
    }
  }
  quality.rows = test::count_rows(owner, parts);
  quality.components.assign(parts, 0);
  for (std::size_t p = 0; p < parts; ++p) {
    quality.ghosts.push_back(static_cast<Gid>(ghosts[p].size()));
    quality.neighbours.push_back(static_cast<int>(neighbours[p].size()));
  }
  std::vector<bool> met(owner.size(), false);
  const std::function<void(std::size_t)> visit = [&](std::size_t i) {
    if (met[i]) return;
    met[i] = true;
    for (const Gid j : ties[i]) visit(static_cast<std::size_t>(j));
  };
  for (std::size_t i = 0; i < owner.size(); ++i) {
    if (!met[i]) ++quality.components[owner[i]];
    visit(i);
  }
  return quality;
}

TEST(Assess, EqualsTheDefinitionOnRandomDirectedStencils) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Gid rows = 1 + static_cast<Gid>(random_bits(seed, 1000) % 60);
    const std::size_t parts = 1 + random_bits(seed, 1001) % 6;
    const Adjacency stencil = random_directed(rows, seed);
    std::vector<std::int32_t> owner;
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(rows); ++i) {
      owner.push_back(static_cast<std::int32_t>(random_bits(seed + 7777, i) % parts));
    }
    const auto expected = assess_slowly(stencil, owner, parts);
    const auto quality = assess_partition(stencil, owner, std::vector<double>(parts, 1.0));
    EXPECT_EQ(quality.cut, expected.cut);
    EXPECT_EQ(quality.rows, expected.rows);
    EXPECT_EQ(quality.ghosts, expected.ghosts);
    EXPECT_EQ(quality.neighbours, expected.neighbours);
    EXPECT_EQ(quality.components, expected.components);
  }
}

TEST(Assess, ImbalanceIsMeasuredAgainstTheTargets) {
  const Adjacency path = test::lattice(10, 1, 1).graph;
  const std::vector<std::int32_t> owner{0, 0, 0, 0, 0, 0, 0, 0, 2, 2};
  EXPECT_DOUBLE_EQ(assess_partition(path, owner, std::vector<double>{8, 0, 2}).imbalance, 1.0);
  EXPECT_DOUBLE_EQ(assess_partition(path, owner, std::vector<double>{9, 0, 1}).imbalance, 2.0);
  EXPECT_DOUBLE_EQ(assess_partition(path, owner, std::vector<double>{1, 1, 1}).imbalance, 2.4);
  const auto quality = assess_partition(path, owner, std::vector<double>{8, 0, 2});
  EXPECT_EQ(quality.cut, 2);
  EXPECT_EQ(quality.ghosts, (std::vector<Gid>{1, 0, 1}));
  EXPECT_EQ(quality.neighbours, (std::vector<int>{1, 0, 1}));
  EXPECT_EQ(quality.components, (std::vector<int>{1, 0, 1}));
}

TEST(Assess, NoRows) {
  const auto quality = assess_partition({}, {}, std::vector<double>{1, 1});
  EXPECT_EQ(quality.cut, 0);
  EXPECT_EQ(quality.imbalance, 1.0);
  EXPECT_EQ(quality.rows, (std::vector<Gid>{0, 0}));
}

TEST(Assess, BadInputIsABug) {
  const Adjacency path = test::lattice(2, 1, 1).graph;
  const std::vector<double> targets{1, 1};
  EXPECT_THROW(assess_partition(path, std::vector<std::int32_t>{0}, targets), std::logic_error);
  EXPECT_THROW(assess_partition(path, std::vector<std::int32_t>{0, 2}, targets), std::logic_error);
  EXPECT_THROW(assess_partition(path, std::vector<std::int32_t>{0, -1}, targets), std::logic_error);
  Adjacency bad;
  bad.columns = {4};
  bad.close_row();
  EXPECT_THROW(assess_partition(bad, std::vector<std::int32_t>{0}, targets), std::logic_error);
}

}  // namespace
}  // namespace tutti
