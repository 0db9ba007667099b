#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tutti/exchange/exchange.hpp"

namespace tutti {
namespace {

/// Part `part` with one separator row for and one ghost of each of `others`, on `ranks`.
IndexMap star(std::int32_t part, const std::vector<std::int32_t>& others, const std::vector<int>& ranks) {
  IndexMap map;
  map.part = part;
  const auto n = static_cast<Lid>(others.size());
  map.owned = n;
  map.global.assign(2 * n, 0);
  for (Lid k = 0; k < n; ++k) {
    const auto at = static_cast<std::size_t>(k);
    map.links.push_back(
        {.part = others[at], .rank = ranks[at], .send_rows = {k}, .ghosts = {map.owned + k, map.owned + k + 1}});
  }
  return map;
}

TEST(Plan, TagsAreUniqueAPairOfRanksAndCountFromZero) {
  // Rank 0 has parts 0 and 1; each talks with parts 2 and 3 of rank 1 and with part 4 of rank 2.
  const std::vector<IndexMap> maps{star(0, {2, 3, 4}, {1, 1, 2}), star(1, {2, 3, 4}, {1, 1, 2})};
  const Plan plan = make_plan(maps, 0);
  EXPECT_TRUE(plan.local.empty());
  ASSERT_EQ(plan.outgoing.size(), 6u);
  ASSERT_EQ(plan.incoming.size(), 6u);
  std::vector<std::vector<int>> tags(3);
  for (const Message& m : plan.outgoing) tags[m.to_rank].push_back(m.tag);
  EXPECT_EQ(tags[1], (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(tags[2], (std::vector<int>{0, 1}));
  EXPECT_EQ(plan.rows_sent(), 6);
}

TEST(Plan, BothEndsNumberTheirMessagesAlike) {
  // The same two ranks, each seeing its own parts: 0 and 1 on rank 0, 2 and 3 on rank 1.
  const std::vector<IndexMap> here{star(0, {2, 3}, {1, 1}), star(1, {2, 3}, {1, 1})};
  const std::vector<IndexMap> there{star(2, {0, 1}, {0, 0}), star(3, {0, 1}, {0, 0})};
  const Plan a = make_plan(here, 0), b = make_plan(there, 1);
  ASSERT_EQ(a.outgoing.size(), b.incoming.size());
  for (std::size_t k = 0; k < a.outgoing.size(); ++k) {
    EXPECT_EQ(a.outgoing[k].from, b.incoming[k].from);
    EXPECT_EQ(a.outgoing[k].to, b.incoming[k].to);
    EXPECT_EQ(a.outgoing[k].tag, b.incoming[k].tag);
  }
}

TEST(Plan, exchanges_at_the_same_time_have_tags_of_their_own) {
  const std::vector<IndexMap> maps{star(0, {2, 3}, {1, 1}), star(1, {2, 3}, {1, 1})};
  std::vector<int> tags;
  for (const int number : {0, 1, 2})
    for (const Message& m : make_plan(maps, 0, {.number = number, .of = 3}).outgoing) tags.push_back(m.tag);
  std::sort(tags.begin(), tags.end());
  std::vector<int> all(12);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(tags, all);
}

TEST(Plan, PartsOfOneRankThatDisagreeAreABug) {
  // Part 0 wants to send a row to part 1, which expects none.
  std::vector<IndexMap> maps{star(0, {1}, {0}), star(1, {0}, {0})};
  maps[1].links[0].ghosts = {};
  EXPECT_THROW(make_plan(maps, 0), std::logic_error);
}

TEST(Plan, ReadingNeedNotBeMutual) {
  std::vector<IndexMap> maps{star(0, {1}, {0}), star(1, {0}, {0})};
  maps[1].links[0].send_rows.clear();
  maps[0].links[0].ghosts = {};
  const Plan plan = make_plan(maps, 0);
  ASSERT_EQ(plan.local.size(), 1u);
  EXPECT_EQ(plan.local[0].from, 0);
  EXPECT_EQ(plan.local[0].to, 1);
  EXPECT_TRUE(plan.local[0].contiguous());
}

TEST(Message, IsContiguousWhenItsRowsAreARun) {
  Message m;
  EXPECT_FALSE(m.contiguous()) << "nothing needs no transport";
  m.rows = {4, 5, 6};
  m.count = 3;
  EXPECT_TRUE(m.contiguous());
  m.rows = {4, 6};
  m.count = 2;
  EXPECT_FALSE(m.contiguous());
}

}  // namespace
}  // namespace tutti
