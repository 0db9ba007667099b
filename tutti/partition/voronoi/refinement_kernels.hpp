// Refinement of the boundaries between parts, the kernels: written once, for threads of the host and for devices.
// Inside this room only.
#pragma once

#include "tutti/base/random.hpp"
#include "tutti/device/atomics.hpp"

namespace tutti::voronoi {

/// The part that a row would move to, and how many more neighbours it has there than where it is.
struct Proposal {
  std::int32_t part, gain;
};
/// Of a row that stays, and of one that has just moved, locked for a sweep.
inline constexpr std::int32_t stays = -1, locked = -2;

/// Proposals of a part, those that gain most first; the last step has a row of no gain. Rows of a step are told apart
/// by chance.
inline constexpr int gain_steps = 8, chances = 4, grades = gain_steps * chances;
/// Parts that a row looks at, of those that its neighbours are in.
inline constexpr int parts_around = 8;

struct RefinementCounts {
  std::int32_t listed = 0, moved = 0, strays = 0;
};

/// Arrays of all rows, of all parts, and of the rows listed: those that have or had neighbours in other parts.
struct RefinementArrays {
  std::int32_t rows = 0, parts = 0;
  const std::int32_t *offsets = nullptr, *columns = nullptr;
  std::int32_t* part = nullptr;
  Proposal* proposal = nullptr;
  std::int32_t* is_listed = nullptr;
  std::int32_t* list = nullptr;
  std::int8_t* grade = nullptr;  ///< of the rows listed; -1: moves not
  std::int32_t *size = nullptr, *fewest = nullptr, *most = nullptr;
  std::int32_t *coming = nullptr, *going = nullptr;              ///< rows a part and grade
  std::int32_t *coming_below = nullptr, *going_below = nullptr;  ///< grades that a part lets in and out
  std::int32_t *parent = nullptr, *piece_size = nullptr;
  std::uint64_t *largest = nullptr, *strays = nullptr;
  RefinementCounts* counts = nullptr;
};

TUTTI_HD inline void list_row(const RefinementArrays& s, std::int32_t row) {
  s.list[add_atomic(s.counts->listed, 1)] = row;
}

struct ClearParts {
  RefinementArrays s;
  TUTTI_HD void operator()(Lid p) const {
    if (p == 0) *s.counts = {};
    s.largest[p] = 0;
    for (int g = 0; g < grades; ++g) s.coming[p * grades + g] = s.going[p * grades + g] = 0;
  }
};

struct ListBoundary {
  RefinementArrays s;
  TUTTI_HD void operator()(Lid row) const {
    bool on_boundary = false;
    for (std::int32_t k = s.offsets[row]; k < s.offsets[row + 1]; ++k)
      on_boundary = on_boundary || s.part[s.columns[k]] != s.part[row];
    s.proposal[row] = {stays, 0};
    s.is_listed[row] = on_boundary ? 1 : 0;
    if (on_boundary) list_row(s, row);
  }
};

/// The part with most of a row's neighbours that has room; among equals one by chance.
struct Propose {
  RefinementArrays s;
  std::int32_t least_gain;
  std::uint64_t chance;
  TUTTI_HD void operator()(Lid i) const {
    const std::int32_t row = s.list[i], mine = s.part[row];
    const bool is_locked = s.proposal[row].part == locked;
    Proposal proposal{stays, 0};
    if (!is_locked && s.size[mine] > s.fewest[mine]) proposal = best(row, mine);
    s.proposal[row] = proposal;
  }
  TUTTI_HD Proposal best(std::int32_t row, std::int32_t mine) const {
    std::int32_t around[parts_around], ties[parts_around], found = 0, own = 0;
    for (std::int32_t k = s.offsets[row]; k < s.offsets[row + 1]; ++k) {
      const std::int32_t p = s.part[s.columns[k]];
      if (p == mine) {
        ++own;
        continue;
      }
      std::int32_t a = 0;
      while (a < found && around[a] != p) ++a;
      if (a == parts_around) continue;
      if (a == found) around[found] = p, ties[found++] = 0;
      ++ties[a];
    }
    Proposal proposal{stays, 0};
    for (std::int32_t a = 0; a < found; ++a) {
      const std::int32_t p = around[a], gain = ties[a] - own;
      if (gain < least_gain || s.size[p] >= s.most[p]) continue;
      if (proposal.part == stays || gain > proposal.gain ||
          (gain == proposal.gain && luck(row, p) > luck(row, proposal.part)))
        proposal = {p, gain};
    }
    return proposal;
  }
  TUTTI_HD std::uint64_t luck(std::int32_t row, std::int32_t p) const {
    return mix64(chance ^ (static_cast<std::uint64_t>(row) << 32 | static_cast<std::uint32_t>(p)));
  }
};

/// What a proposal gains when the neighbours that come before it have moved: those that gain more, among equals by
/// chance (Gilbert et al., "Jet: multilevel graph partitioning on graphics processing units", SIAM J. Sci. Comput.
/// 2024, section 4.1). The proposals that still gain enough are counted.
struct WeighProposal {
  RefinementArrays s;
  std::int32_t least_gain;
  std::uint64_t chance;
  TUTTI_HD std::uint64_t luck(std::int32_t row) const { return mix64(chance ^ static_cast<std::uint64_t>(row)); }
  TUTTI_HD void operator()(Lid i) const {
    const std::int32_t row = s.list[i], mine = s.part[row];
    const Proposal proposal = s.proposal[row];
    s.grade[i] = -1;
    if (proposal.part < 0) return;
    const std::uint64_t my_luck = luck(row);
    std::int32_t gain = 0;
    for (std::int32_t k = s.offsets[row]; k < s.offsets[row + 1]; ++k) {
      const std::int32_t j = s.columns[k];
      const Proposal other = s.proposal[j];
      const bool before =
          other.part >= 0 && (other.gain > proposal.gain || (other.gain == proposal.gain && luck(j) > my_luck));
      const std::int32_t p = before ? other.part : s.part[j];
      gain += (p == proposal.part ? 1 : 0) - (p == mine ? 1 : 0);
    }
    if (gain < least_gain) return;
    const std::int32_t step = gain >= gain_steps ? 0 : gain_steps - 1 - gain;
    const auto grade = step * chances + static_cast<std::int32_t>(my_luck % chances);
    s.grade[i] = static_cast<std::int8_t>(grade);
    add_atomic(s.coming[proposal.part * grades + grade], 1);
    add_atomic(s.going[mine * grades + grade], 1);
  }
};

/// How many grades keep a part within its sizes, whatever the other parts do.
struct LimitMoves {
  RefinementArrays s;
  TUTTI_HD void operator()(Lid p) const {
    s.coming_below[p] = within(s.coming + p * grades, s.most[p] - s.size[p]);
    s.going_below[p] = within(s.going + p * grades, s.size[p] - s.fewest[p]);
    if (p == 0) s.counts->moved = 0;
  }
  TUTTI_HD static std::int32_t within(std::int32_t* counts, std::int32_t room) {
    std::int32_t below = 0;
    for (std::int32_t g = 0, sum = 0; g < grades; ++g) {
      sum += counts[g];
      if (sum <= room) below = g + 1;
      counts[g] = 0;
    }
    return below;
  }
};

struct Move {
  RefinementArrays s;
  TUTTI_HD void operator()(Lid i) const {
    const std::int8_t grade = s.grade[i];
    if (grade < 0) return;
    const std::int32_t row = s.list[i], mine = s.part[row], to = s.proposal[row].part;
    if (grade >= s.coming_below[to] || grade >= s.going_below[mine]) return;
    s.part[row] = to;
    s.proposal[row] = {locked, 0};
    add_atomic(s.size[mine], -1);
    add_atomic(s.size[to], 1);
    add_atomic(s.counts->moved, 1);
    for (std::int32_t k = s.offsets[row]; k < s.offsets[row + 1]; ++k) {
      const std::int32_t j = s.columns[k];
      if (load_atomic(s.is_listed[j]) == 0 && exchange_atomic(s.is_listed[j], 1) == 0) list_row(s, j);
    }
  }
};

/// Pieces of parts, by union-find: every row gets to know the lowest row of its piece (Jaiganesh, Burtscher, "A
/// high-performance connected components implementation for GPUs", HPDC 2018).
struct FirstParent {
  RefinementArrays s;
  TUTTI_HD void operator()(Lid row) const {
    std::int32_t lowest = row;
    for (std::int32_t k = s.offsets[row]; k < s.offsets[row + 1]; ++k) {
      const std::int32_t j = s.columns[k];
      if (j < lowest && s.part[j] == s.part[row]) lowest = j;
    }
    s.parent[row] = lowest;
    s.piece_size[row] = 0;
  }
};

/// The lowest row that a row's parents lead to. Parents are lower than their children, so that ways end. Rows on the
/// way get their grandparents for parents; where others do the same, one may get back a parent that it had: it is on
/// the way to the lowest, too.
TUTTI_HD inline std::int32_t lowest_of(std::int32_t* parent, std::int32_t row) {
  std::int32_t p = load_atomic(parent[row]), next = load_atomic(parent[p]);
  while (p != next) {
    store_atomic(parent[row], next);
    row = p;
    p = next;
    next = load_atomic(parent[p]);
  }
  return p;
}

/// Makes ways shorter.
struct ShortenWay {
  RefinementArrays s;
  TUTTI_HD void operator()(Lid row) const { store_atomic(s.parent[row], lowest_of(s.parent, row)); }
};

struct JoinPieces {
  RefinementArrays s;
  TUTTI_HD void operator()(Lid row) const {
    std::int32_t mine = lowest_of(s.parent, row);
    for (std::int32_t k = s.offsets[row]; k < s.offsets[row + 1]; ++k) {
      const std::int32_t j = s.columns[k];
      if (j >= row || s.part[j] != s.part[row]) continue;
      std::int32_t other = lowest_of(s.parent, j);
      while (mine != other) {
        const std::int32_t high = mine > other ? mine : other, low = mine > other ? other : mine;
        const std::int32_t before = replace_atomic(s.parent[high], high, low);
        mine = low;
        other = before == high ? low : lowest_of(s.parent, before);
      }
    }
  }
};

/// Every row gets the lowest for its parent. Writes to its own row alone: lowest_of might give another row, which is
/// done, an older parent back.
struct Flatten {
  RefinementArrays s;
  TUTTI_HD void operator()(Lid row) const {
    std::int32_t lowest = load_atomic(s.parent[row]);
    for (std::int32_t next = load_atomic(s.parent[lowest]); next != lowest; next = load_atomic(s.parent[lowest]))
      lowest = next;
    store_atomic(s.parent[row], lowest);
  }
};

/// Neighbours in number mostly are of one piece.
inline constexpr int run_rows = 32;

struct CountPieces {
  RefinementArrays s;
  TUTTI_HD void operator()(Lid run) const {
    const std::int32_t begin = run * run_rows, end = begin + run_rows < s.rows ? begin + run_rows : s.rows;
    std::int32_t piece = s.parent[begin], count = 0;
    for (std::int32_t row = begin; row < end; ++row) {
      if (s.parent[row] != piece) {
        add_atomic(s.piece_size[piece], count);
        piece = s.parent[row];
        count = 0;
      }
      ++count;
    }
    add_atomic(s.piece_size[piece], count);
  }
};

/// The largest piece of every part, by size and then by the lowest row.
struct FindLargest {
  RefinementArrays s;
  TUTTI_HD static std::uint64_t key(std::int32_t size, std::int32_t row) {
    return static_cast<std::uint64_t>(size) << 32 | ~static_cast<std::uint32_t>(row);
  }
  TUTTI_HD void operator()(Lid row) const {
    if (s.parent[row] == row) raise_atomic(s.largest[s.part[row]], key(s.piece_size[row], row));
  }
};

/// Rows of all other pieces, with the lowest row of their piece above them.
struct ListStrays {
  RefinementArrays s;
  TUTTI_HD void operator()(Lid row) const {
    const std::int32_t piece = s.parent[row];
    if (FindLargest::key(s.piece_size[piece], piece) == s.largest[s.part[row]]) return;
    s.strays[add_atomic(s.counts->strays, 1)] =
        static_cast<std::uint64_t>(piece) << 32 | static_cast<std::uint32_t>(row);
  }
};

}  // namespace tutti::voronoi
