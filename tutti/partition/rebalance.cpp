#include "tutti/partition/rebalance.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <queue>
#include <utility>
#include <vector>

#include "tutti/base/error.hpp"

namespace tutti {
namespace {

/// A row on the seam and what the cut loses when it crosses. The best gain comes first; among equals the one that has
/// waited longest, so that a part grows evenly to all sides and not along the row numbers.
struct Candidate {
  std::int32_t gain;
  std::int32_t row;
  std::int64_t turn;
  friend bool operator<(const Candidate& a, const Candidate& b) {
    return a.gain != b.gain ? a.gain < b.gain : a.turn > b.turn;
  }
};

struct State {
  const SymmetricGraph& graph;
  std::span<std::int32_t> part;
  std::vector<std::vector<std::int32_t>> rows;       ///< of each part; may name rows that have left since
  std::vector<std::int32_t> excess;                  ///< rows held minus quota
  std::vector<std::int32_t> slack;                   ///< the excess or lack that is tolerated
  std::vector<std::vector<std::int32_t>> neighbour;  ///< parts that touch, ascending, as they were at the start

  std::int32_t& part_of(std::int32_t row) const { return part[row]; }
};

std::size_t at(std::int32_t i) {
  return static_cast<std::size_t>(i);
}

std::vector<std::vector<std::int32_t>> touching_parts(const SymmetricGraph& graph, std::span<const std::int32_t> part,
                                                      std::size_t parts) {
  std::vector<bool> touch(parts * parts, false);
  for (std::int32_t i = 0; i < graph.rows(); ++i) {
    for (const std::int32_t j : graph.row(i)) touch[at(part[at(i)]) * parts + at(part[at(j)])] = true;
  }
  std::vector<std::vector<std::int32_t>> touching(parts);
  for (std::size_t p = 0; p < parts; ++p) {
    for (std::size_t q = 0; q < parts; ++q) {
      if (p != q && touch[p * parts + q]) touching[p].push_back(static_cast<std::int32_t>(q));
    }
  }
  return touching;
}

/// Shortest way over touching parts from `start` to a part that `is_end` accepts; empty when there is none.
template <class IsEnd>
std::vector<std::int32_t> shortest_way(const State& state, std::int32_t start, IsEnd is_end) {
  std::vector<std::int32_t> before(state.excess.size(), -1);
  before[at(start)] = start;
  std::deque<std::int32_t> queue{start};
  while (!queue.empty()) {
    const std::int32_t p = queue.front();
    queue.pop_front();
    if (p != start && is_end(p)) {
      std::vector<std::int32_t> way{p};
      while (way.back() != start) way.push_back(before[at(way.back())]);
      std::reverse(way.begin(), way.end());
      return way;
    }
    for (const std::int32_t q : state.neighbour[at(p)]) {
      if (before[at(q)] >= 0) continue;
      before[at(q)] = p;
      queue.push_back(q);
    }
  }
  return {};
}

std::int32_t gain_of(const State& state, std::int32_t row, std::int32_t from, std::int32_t to, bool& on_seam) {
  std::int32_t gain = 0;
  on_seam = false;
  for (const std::int32_t j : state.graph.row(row)) {
    const std::int32_t p = state.part_of(j);
    gain += (p == to) - (p == from);
    on_seam = on_seam || p == to;
  }
  return gain;
}

/// Moves `count` rows of `from` to `to`, those that lower the cut most (or raise it least) first. Where the two do not
/// touch, the row with the fewest neighbours crosses first and the next ones follow it.
void move_rows(State& state, std::int32_t from, std::int32_t to, std::int32_t count) {
  auto& rows = state.rows[at(from)];
  std::erase_if(rows, [&](std::int32_t r) { return state.part_of(r) != from; });
  require(count <= static_cast<std::int32_t>(rows.size()), "rebalance: {} rows wanted of {}", count, rows.size());

  std::priority_queue<Candidate> seam;
  std::int64_t turn = 0;
  bool grows = false;
  const auto consider = [&](std::int32_t r) {
    bool on_seam = false;
    const std::int32_t gain = gain_of(state, r, from, to, on_seam);
    if (on_seam) seam.push({grows ? 0 : gain, r, turn++});
  };
  for (const std::int32_t r : rows) consider(r);
  // A part that starts from nothing grows in rounds from its first row: greedy growth would give it a ragged hull.
  grows = seam.empty();

  std::vector<std::int32_t> seeds;
  std::size_t next_seed = 0;
  for (std::int32_t moved = 0; moved < count;) {
    std::int32_t row = -1;
    if (!seam.empty()) {
      const Candidate best = seam.top();
      seam.pop();
      bool on_seam = false;
      // A row whose gain has changed since is in the queue again with its new gain.
      if (state.part_of(best.row) != from) continue;
      if (!grows && gain_of(state, best.row, from, to, on_seam) != best.gain) continue;
      row = best.row;
    } else {
      if (seeds.empty()) {
        seeds = rows;
        std::sort(seeds.begin(), seeds.end(), [&](std::int32_t a, std::int32_t b) {
          return std::pair(state.graph.degree(a), a) < std::pair(state.graph.degree(b), b);
        });
      }
      row = seeds[next_seed++];
      if (state.part_of(row) != from) continue;
    }
    state.part_of(row) = to;
    state.rows[at(to)].push_back(row);
    ++moved;
    for (const std::int32_t j : state.graph.row(row)) {
      if (state.part_of(j) == from) consider(j);
    }
  }
  state.excess[at(from)] -= count;
  state.excess[at(to)] += count;
}

/// The part furthest beyond its slack, or -1 when all are within.
std::int32_t worst_part(const State& state) {
  std::int32_t worst = -1, beyond = 0;
  for (std::size_t p = 0; p < state.excess.size(); ++p) {
    const std::int32_t b = std::abs(state.excess[p]) - state.slack[p];
    if (b > beyond) {
      beyond = b;
      worst = static_cast<std::int32_t>(p);
    }
  }
  return worst;
}

/// From a part with too many rows to one with too few; one end is `worst`.
std::vector<std::int32_t> way_out(const State& state, std::int32_t worst) {
  const bool gives = state.excess[at(worst)] > 0;
  const auto is_end = [&](std::int32_t p) { return gives ? state.excess[at(p)] < 0 : state.excess[at(p)] > 0; };
  std::vector<std::int32_t> way = shortest_way(state, worst, is_end);
  if (way.empty()) {
    // Nothing touches: straight to the part that lacks (or has) most.
    const auto furthest = gives ? std::min_element(state.excess.begin(), state.excess.end())
                                : std::max_element(state.excess.begin(), state.excess.end());
    way = {worst, static_cast<std::int32_t>(furthest - state.excess.begin())};
  }
  if (!gives) std::reverse(way.begin(), way.end());
  return way;
}

}  // namespace

void rebalance(const SymmetricGraph& graph, std::span<const std::int32_t> quotas, double tolerance,
               std::span<std::int32_t> part) {
  State state{graph, part, {}, std::vector<std::int32_t>(quotas.size(), 0), {}, {}};
  for (const std::int32_t p : part) ++state.excess[at(p)];
  for (std::size_t p = 0; p < quotas.size(); ++p) {
    state.excess[p] -= quotas[p];
    state.slack.push_back(static_cast<std::int32_t>(tolerance * quotas[p]));
  }
  require(std::accumulate(state.excess.begin(), state.excess.end(), std::int64_t{0}) == 0,
          "rebalance: the quotas do not sum up to {} rows", part.size());
  if (worst_part(state) < 0) return;

  state.rows.resize(quotas.size());
  for (std::size_t i = 0; i < part.size(); ++i) state.rows[at(part[i])].push_back(static_cast<std::int32_t>(i));
  state.neighbour = touching_parts(graph, part, quotas.size());
  // Every round brings one part to its quota exactly, so there are at most as many rounds as parts.
  for (std::int32_t worst = worst_part(state); worst >= 0; worst = worst_part(state)) {
    const std::vector<std::int32_t> way = way_out(state, worst);
    const std::int32_t count = std::min(state.excess[at(way.front())], -state.excess[at(way.back())]);
    // The part in between receives before it gives: it never runs empty.
    for (std::size_t k = 0; k + 1 < way.size(); ++k) move_rows(state, way[k], way[k + 1], count);
  }
}

}  // namespace tutti
