// Random directed adjacencies, random owners, random places of parts: what an exchange must cope with.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "tutti/base/csr.hpp"
#include "tutti/base/random.hpp"
#include "tutti/partition/index_map.hpp"

namespace tutti::test {

/// Random numbers in a row; the same on every rank.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : seed_(seed) {}
  /// Uniform in [low, high].
  std::int64_t roll(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_bits(seed_, next_++) % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(double p) { return random_unit(seed_, next_++) < p; }
  template <class T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 1; --i)
      std::swap(values[i - 1], values[roll(0, static_cast<std::int64_t>(i) - 1)]);
  }

 private:
  std::uint64_t seed_, next_ = 0;
};

/// A whole problem; every rank makes the same one from the seed.
struct RandomParts {
  Adjacency reads;                  ///< row i reads column j; directed, without i itself
  std::vector<std::int32_t> owner;  ///< of each row
  std::vector<int> rank_of_part;    ///< ascending; a rank may be left out
  std::vector<PartRows> parts;      ///< of all ranks, numbered; interior orders and ghosts shuffled

  Gid rows() const { return reads.rows(); }
  std::int32_t part_count() const { return static_cast<std::int32_t>(rank_of_part.size()); }
  std::int32_t owner_of(Gid row) const { return owner[row]; }
  int rank_of(std::int32_t part) const { return rank_of_part[part]; }
  /// Parts other than its owner that read the row, ascending.
  std::vector<std::int32_t> readers(Gid row) const { return readers_[row]; }
  std::vector<PartRows> parts_of(int rank) const {
    std::vector<PartRows> mine;
    for (const PartRows& p : parts)
      if (rank_of(p.part) == rank) mine.push_back(p);
    return mine;
  }

  std::vector<std::vector<std::int32_t>> readers_;
};

namespace detail {

inline Adjacency random_reads(Dice& dice, Gid rows) {
  enum { sparse, band, star, one_way, dense_few };
  const auto shape = dice.roll(sparse, dense_few);
  std::vector<std::set<Gid>> columns(rows);
  const auto read = [&](Gid i, Gid j) {
    if (i != j && j >= 0 && j < rows) columns[i].insert(j);
  };
  for (Gid i = 0; i < rows; ++i) switch (shape) {
      case sparse:
        for (auto k = dice.roll(0, 6); k > 0; --k) read(i, dice.roll(0, rows - 1));
        break;
      case band:
        for (Gid d = -3; d <= 3; ++d)
          if (dice.chance(0.7)) read(i, i + d);
        break;
      case star:  // everyone reads row 0, which reads nobody
        if (i > 0) read(i, 0);
        break;
      case one_way:  // nobody is read by a row below it
        for (auto k = dice.roll(0, 4); k > 0; --k) read(i, dice.roll(0, i));
        break;
      default:
        if (dice.chance(0.05))
          for (auto k = dice.roll(0, rows); k > 0; --k) read(i, dice.roll(0, rows - 1));
    }
  Adjacency reads;
  for (const auto& row : columns) {
    reads.columns.insert(reads.columns.end(), row.begin(), row.end());
    reads.close_row();
  }
  return reads;
}

inline std::vector<std::int32_t> random_owner(Dice& dice, Gid rows, std::int32_t parts) {
  enum { scattered, chunks, skewed, single_rows };
  const auto shape = dice.roll(scattered, single_rows);
  std::vector<std::int32_t> owner(rows);
  const auto favourite = static_cast<std::int32_t>(dice.roll(0, parts - 1));
  for (Gid i = 0; i < rows; ++i) {
    const auto any = static_cast<std::int32_t>(dice.roll(0, parts - 1));
    std::int32_t& o = owner[i];
    if (shape == scattered) o = any;
    if (shape == chunks) o = static_cast<std::int32_t>(i * parts / rows);
    if (shape == skewed) o = dice.chance(0.9) ? favourite : any;  // many parts are empty or small
    // Part p owns row p alone, the favourite owns the rest.
    if (shape == single_rows) o = i < parts ? static_cast<std::int32_t>(i) : favourite;
  }
  return owner;
}

}  // namespace detail

/// A problem for `ranks` ranks with up to three parts each.
inline RandomParts random_parts(std::uint64_t seed, int ranks) {
  Dice dice(seed);
  RandomParts problem;
  const Gid rows = dice.chance(0.1) ? dice.roll(1, 5) : dice.roll(6, 150);
  problem.reads = detail::random_reads(dice, rows);
  for (int r = 0; r < ranks; ++r)
    for (auto k = dice.roll(0, 3); k > 0; --k) problem.rank_of_part.push_back(r);
  if (problem.rank_of_part.empty()) problem.rank_of_part.push_back(static_cast<int>(dice.roll(0, ranks - 1)));
  problem.owner = detail::random_owner(dice, rows, problem.part_count());

  problem.readers_.resize(rows);
  std::vector<std::set<Gid>> ghosts(problem.rank_of_part.size());
  for (Gid i = 0; i < rows; ++i)
    for (const Gid j : problem.reads.row(i))
      if (problem.owner_of(i) != problem.owner_of(j)) {
        ghosts[problem.owner_of(i)].insert(j);
        problem.readers_[j].push_back(problem.owner_of(i));
      }
  for (auto& readers : problem.readers_) {
    std::sort(readers.begin(), readers.end());
    readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
  }
  for (std::int32_t p = 0; p < problem.part_count(); ++p) {
    PartRows& part = problem.parts.emplace_back();
    part.part = p;
    for (Gid i = 0; i < rows; ++i)
      if (problem.owner_of(i) == p) part.owned.push_back(i);
    part.ghosts.assign(ghosts[p].begin(), ghosts[p].end());
    dice.shuffle(part.owned);
    dice.shuffle(part.ghosts);
    for (const Gid g : part.ghosts) part.ghost_owners.push_back(problem.owner_of(g));
  }
  return problem;
}

/// Expects what index_map.hpp promises of one part's numbering.
inline void expect_good_map(const RandomParts& problem, const IndexMap& map, int my_rank) {
  const PartRows& rows = problem.parts[map.part];
  SCOPED_TRACE("part " + std::to_string(map.part));
  ASSERT_EQ(map.owned, static_cast<Lid>(rows.owned.size()));
  ASSERT_EQ(map.ghosts(), static_cast<Lid>(rows.ghosts.size()));
  ASSERT_LE(map.interior, map.owned);
  const auto global = [&](Lid i) { return map.global[i]; };
  const auto sorted = [](auto first, auto last) {
    std::vector<Gid> list(first, last);
    std::sort(list.begin(), list.end());
    return list;
  };
  const auto owned_end = map.global.begin() + map.owned;
  EXPECT_EQ(sorted(map.global.begin(), owned_end), sorted(rows.owned.begin(), rows.owned.end()));
  EXPECT_EQ(sorted(owned_end, map.global.end()), sorted(rows.ghosts.begin(), rows.ghosts.end()));

  std::map<Gid, std::size_t> given;
  for (std::size_t i = 0; i < rows.owned.size(); ++i) given[rows.owned[i]] = i;
  // Interior rows are read by nobody and keep the given order; separators are read by someone.
  for (Lid i = 0; i < map.owned; ++i) {
    EXPECT_EQ(problem.readers(global(i)).empty(), i < map.interior) << "row " << i;
    if (i > 0 && i < map.interior) {
      EXPECT_LT(given[global(i - 1)], given[global(i)]);
    }
  }
  // One run a set of readers, sets with another rank's part first, the given order inside a run.
  std::set<std::vector<std::int32_t>> seen;
  bool local_seen = false;
  for (Lid i = map.interior; i < map.owned; ++i) {
    const auto readers = problem.readers(global(i));
    const bool local =
        std::all_of(readers.begin(), readers.end(), [&](auto p) { return problem.rank_of(p) == my_rank; });
    EXPECT_TRUE(local || !local_seen) << "a row of another rank's comes after one of this rank's";
    local_seen = local_seen || local;
    if (i > map.interior && problem.readers(global(i - 1)) == readers)
      EXPECT_LT(given[global(i - 1)], given[global(i)]);
    else
      EXPECT_TRUE(seen.insert(readers).second) << "two runs of rows have the same readers";
  }

  // Links: ascending, none with itself, none without rows; exactly the rows that the other part reads; ghosts tile.
  Lid next_ghost = map.owned;
  for (std::size_t k = 0; k < map.links.size(); ++k) {
    const Link& link = map.links[k];
    SCOPED_TRACE("link to part " + std::to_string(link.part));
    EXPECT_NE(link.part, map.part);
    EXPECT_EQ(link.rank, problem.rank_of(link.part));
    EXPECT_TRUE(!link.send_rows.empty() || !link.ghosts.empty());
    if (k > 0) {
      EXPECT_LT(map.links[k - 1].part, link.part);
    }
    std::vector<Lid> expected;
    for (Lid i = map.interior; i < map.owned; ++i) {
      const auto readers = problem.readers(global(i));
      if (std::find(readers.begin(), readers.end(), link.part) != readers.end()) expected.push_back(i);
    }
    EXPECT_EQ(link.send_rows, expected);
    EXPECT_EQ(link.contiguous(),
              !expected.empty() && expected.back() - expected.front() + 1 == static_cast<Lid>(expected.size()));
    if (link.ghosts.empty()) continue;
    EXPECT_EQ(link.ghosts.begin, next_ghost);
    next_ghost = link.ghosts.end;
    for (Lid g = link.ghosts.begin; g < link.ghosts.end; ++g) EXPECT_EQ(problem.owner_of(global(g)), link.part);
  }
  EXPECT_EQ(next_ghost, map.local());
}

}  // namespace tutti::test
