#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/support/random_parts.hpp"
#include "tests/support/thread_hook.hpp"
#include "tests/unit/base/mpi_environment.hpp"

namespace tutti {
namespace {

using test::random_parts;
using test::world;

std::vector<IndexMap> number_all(const test::RandomParts& problem, const ParallelFor& parallel = {}) {
  return number_parts(world(), problem.parts, problem.rank_of_part, parallel);
}

const Link& link_of(const IndexMap& map, std::int32_t part) {
  for (const Link& link : map.links)
    if (link.part == part) return link;
  throw std::out_of_range("no such link");
}

TEST(IndexMap, KeepsItsPromisesOnRandomDirectedGraphs) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto problem = random_parts(seed, 1);
    const auto maps = number_all(problem, seed % 8 == 0 ? ParallelFor(test::five_threads) : ParallelFor());
    ASSERT_EQ(maps.size(), problem.parts.size());
    for (const IndexMap& map : maps) test::expect_good_map(problem, map, 0);
    // Both ends of a link name the same rows in the same order.
    for (const IndexMap& map : maps)
      for (const Link& link : map.links) {
        const IndexMap& other = maps[link.part];
        const Link& back = link_of(other, map.part);
        ASSERT_EQ(back.ghosts.size(), static_cast<Lid>(link.send_rows.size()));
        for (std::size_t k = 0; k < link.send_rows.size(); ++k)
          ASSERT_EQ(map.global[link.send_rows[k]], other.global[static_cast<std::size_t>(back.ghosts.begin) + k]);
      }
  }
}

TEST(IndexMap, TwoPartsNeverNeedPacking) {
  int links = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto problem = random_parts(seed, 1);
    if (problem.part_count() != 2) continue;
    for (const IndexMap& map : number_all(problem))
      for (const Link& link : map.links)
        if (!link.send_rows.empty()) {
          EXPECT_TRUE(link.contiguous()) << "seed " << seed;
          ++links;
        }
  }
  EXPECT_GT(links, 20) << "the problems are too easy";
}

TEST(IndexMap, ThreadsChangeNothing) {
  // A chain of 100,000 rows, cut in pieces of 7 that go to two parts in turns.
  std::vector<PartRows> parts(2);
  for (Gid row = 0; row < 100'000; ++row) {
    const auto p = static_cast<std::size_t>(row / 7 % 2);
    parts[p].part = static_cast<std::int32_t>(p);
    parts[p].owned.insert(row % 3 == 0 ? parts[p].owned.begin() : parts[p].owned.end(), row);
    if (row % 7 != 0 && row % 7 != 6) continue;
    parts[1 - p].ghosts.push_back(row);
    parts[1 - p].ghost_owners.push_back(static_cast<std::int32_t>(p));
  }
  const std::vector<int> ranks{0, 0};
  const auto a = number_parts(world(), parts, ranks), b = number_parts(world(), parts, ranks, test::five_threads);
  for (std::size_t p = 0; p < 2; ++p) {
    EXPECT_EQ(a[p].global, b[p].global);
    EXPECT_EQ(a[p].interior, b[p].interior);
    ASSERT_EQ(a[p].links.size(), 1U);
    EXPECT_EQ(a[p].links[0].send_rows, b[p].links[0].send_rows);
    // The interior keeps the given order.
    EXPECT_EQ(a[p].links[0].send_rows.size(), parts[1 - p].ghosts.size());
  }
}

TEST(IndexMap, OnePartHasNoSeparators) {
  const PartRows rows{.part = 0, .owned = {4, 2, 0, 1, 3}, .ghosts = {}, .ghost_owners = {}};
  const auto maps = number_parts(world(), std::span(&rows, 1), std::vector<int>{0});
  EXPECT_EQ(maps[0].interior, 5);
  EXPECT_EQ(maps[0].local(), 5);
  EXPECT_EQ(maps[0].global, rows.owned) << "the interior keeps the order it is given";
  EXPECT_TRUE(maps[0].links.empty());
}

TEST(IndexMap, EmptyPartMayReadAndBeIgnored) {
  // Part 1 owns nothing and yet reads a row; part 2 has nothing to do with anyone.
  const std::vector<PartRows> rows{{.part = 0, .owned = {0, 1}, .ghosts = {}, .ghost_owners = {}},
                                   {.part = 1, .owned = {}, .ghosts = {1}, .ghost_owners = {0}},
                                   {.part = 2, .owned = {}, .ghosts = {}, .ghost_owners = {}}};
  const auto maps = number_parts(world(), rows, std::vector<int>{0, 0, 0});
  EXPECT_EQ(maps[0].global, (std::vector<Gid>{0, 1}));
  EXPECT_EQ(maps[0].interior, 1);
  EXPECT_EQ(maps[1].owned, 0);
  EXPECT_EQ(maps[1].global, std::vector<Gid>{1});
  EXPECT_EQ(maps[1].links.at(0).ghosts, (Range{0, 1}));
  EXPECT_TRUE(maps[2].global.empty());
  EXPECT_TRUE(maps[2].links.empty());
}

TEST(IndexMap, GlobalNumbersMayBeHuge) {
  const Gid big = Gid{1} << 40;
  const std::vector<PartRows> rows{{.part = 0, .owned = {big + 1, big}, .ghosts = {big + 2}, .ghost_owners = {1}},
                                   {.part = 1, .owned = {big + 2}, .ghosts = {big}, .ghost_owners = {0}}};
  const auto maps = number_parts(world(), rows, std::vector<int>{0, 0});
  EXPECT_EQ(maps[0].global, (std::vector<Gid>{big + 1, big, big + 2}));
  EXPECT_EQ(maps[1].global, (std::vector<Gid>{big + 2, big}));
}

TEST(IndexMap, BrokenPromisesOfTheCallerAreFound) {
  const std::vector<int> ranks{0, 0};
  const PartRows owner{.part = 0, .owned = {0, 1}, .ghosts = {}, .ghost_owners = {}};
  const std::vector<PartRows> strange{owner, {.part = 1, .owned = {2}, .ghosts = {7}, .ghost_owners = {0}}};
  EXPECT_THROW(number_parts(world(), strange, ranks), std::logic_error) << "nobody owns row 7";
  const std::vector<PartRows> twice{owner, {.part = 1, .owned = {2}, .ghosts = {1, 1}, .ghost_owners = {0, 0}}};
  EXPECT_THROW(number_parts(world(), twice, ranks), std::logic_error) << "a ghost is named twice";
}

}  // namespace
}  // namespace tutti
