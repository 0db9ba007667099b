// Seams of parts that were made without a graph.
#include <algorithm>
#include <cmath>

#include "tutti/base/random.hpp"
#include "tutti/partition/rebalance.hpp"
#include "tutti/partition/voronoi/voronoi.hpp"

namespace tutti {
namespace {

std::size_t at(std::int32_t i) {
  return static_cast<std::size_t>(i);
}

/// Measured on nodes of Kuhn's tetrahedra, 16 parts: 8 leave 1.3 % more of the cut, 0 leave 4 %.
constexpr std::uint64_t shakes = 16;

struct Seams {
  const SymmetricGraph& graph;
  std::span<const std::int32_t> quotas;
  std::span<std::int32_t> part;
  std::vector<double> size, most;
  std::vector<std::int32_t> ties;  ///< of the row at hand to each part; 0 between rows
  std::vector<std::int32_t> near;  ///< rows that may have neighbours in other parts, ascending

  Seams(const SymmetricGraph& g, std::span<const std::int32_t> q, double imbalance, std::span<std::int32_t> p)
      : graph(g), quotas(q), part(p), size(q.size(), 0), ties(q.size(), 0) {
    for (const std::int32_t owner : part) size[at(owner)] += 1;
    for (const std::int32_t quota : quotas) most.push_back(quota + std::floor(imbalance * quota));
  }

  /// The part with most ties to a row, of those that have room; among equals the emptier one. `shake`: another one as
  /// good is taken by chance, where it is not 0.
  std::int32_t best_part(std::int32_t row, std::uint64_t shake) {
    const std::int32_t mine = part[at(row)];
    bool on_seam = false;
    for (const std::int32_t j : graph.row(row)) on_seam = on_seam || part[at(j)] != mine;
    if (!on_seam) return mine;
    for (const std::int32_t j : graph.row(row)) ++ties[at(part[at(j)])];
    const auto fill = [&](std::int32_t p) { return size[at(p)] / quotas[at(p)]; };
    std::int32_t best = mine;
    for (const std::int32_t j : graph.row(row)) {
      const std::int32_t p = part[at(j)];
      if (p == best || size[at(p)] + 1 > most[at(p)]) continue;
      const bool chance = shake != 0 && best == mine && random_bits(shake, static_cast<std::uint64_t>(row)) % 2 == 0;
      const bool better = ties[at(p)] > ties[at(best)] || (ties[at(p)] == ties[at(best)] && size[at(mine)] > 1 &&
                                                           (chance || fill(p) + 0.01 < fill(best)));
      if (better) best = p;
    }
    for (const std::int32_t j : graph.row(row)) ties[at(part[at(j)])] = 0;
    return best;
  }

  void give(std::int32_t row, std::int32_t to) {
    size[at(part[at(row)])] -= 1;
    size[at(to)] += 1;
    part[at(row)] = to;
  }

  std::int64_t sweep(std::uint64_t shake = 0) {
    std::vector<std::int32_t> moved;
    for (const std::int32_t row : near) {
      const std::int32_t to = best_part(row, shake);
      if (to == part[at(row)] || size[at(part[at(row)])] <= 1) continue;
      give(row, to);
      moved.push_back(row);
    }
    const auto known = static_cast<std::ptrdiff_t>(near.size());
    for (const std::int32_t row : moved)
      for (const std::int32_t j : graph.row(row)) near.push_back(j);
    std::sort(near.begin() + known, near.end());
    std::inplace_merge(near.begin(), near.begin() + known, near.end());
    near.erase(std::unique(near.begin(), near.end()), near.end());
    return static_cast<std::int64_t>(moved.size());
  }

  void find_near() {
    near.clear();
    for (std::int32_t row = 0; row < graph.rows(); ++row)
      if (std::ranges::any_of(graph.row(row), [&](std::int32_t j) { return part[at(j)] != part[at(row)]; }))
        near.push_back(row);
  }

  void fall() {
    for (int k = 0; k < 12; ++k)
      if (sweep() <= graph.rows() / 20000) break;
  }

  /// All but the largest piece of every part go to the part that has most ties with them.
  void reconnect() {
    std::vector<std::int32_t> piece(part.size(), -1), open;
    std::vector<std::vector<std::int32_t>> rows;
    for (std::int32_t start = 0; start < graph.rows(); ++start) {
      if (piece[at(start)] >= 0) continue;
      const auto number = static_cast<std::int32_t>(rows.size());
      rows.emplace_back();
      piece[at(start)] = number;
      open.push_back(start);
      while (!open.empty()) {
        const std::int32_t row = open.back();
        open.pop_back();
        rows.back().push_back(row);
        for (const std::int32_t j : graph.row(row))
          if (piece[at(j)] < 0 && part[at(j)] == part[at(start)]) {
            piece[at(j)] = number;
            open.push_back(j);
          }
      }
    }
    std::vector<std::int32_t> largest(quotas.size(), -1);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::int32_t& best = largest[at(part[at(rows[i][0])])];
      if (best < 0 || rows[i].size() > rows[at(best)].size()) best = static_cast<std::int32_t>(i);
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::int32_t mine = part[at(rows[i][0])];
      if (largest[at(mine)] == static_cast<std::int32_t>(i)) continue;
      std::int32_t best = mine;
      for (const std::int32_t row : rows[i])
        for (const std::int32_t j : graph.row(row)) {
          const std::int32_t p = part[at(j)];
          if (p == mine) continue;
          if (++ties[at(p)] > (best == mine ? 0 : ties[at(best)])) best = p;
        }
      for (const std::int32_t row : rows[i])
        for (const std::int32_t j : graph.row(row)) ties[at(part[at(j)])] = 0;
      // A piece of its own in the graph has no part around it and stays.
      if (best == mine) continue;
      for (const std::int32_t row : rows[i]) give(row, best);
    }
  }
};

}  // namespace

void refine_parts(const SymmetricGraph& graph, std::span<const std::int32_t> quotas, double imbalance,
                  std::span<std::int32_t> part) {
  if (quotas.size() > 1 && !graph.columns.empty()) {
    Seams seams(graph, quotas, imbalance, part);
    seams.find_near();
    seams.fall();
    // Greedy moves end on seams with steps in them; rows that may go either way without loss are shaken off these.
    for (std::uint64_t k = 1; k <= shakes; ++k) {
      seams.sweep(k);
      seams.fall();
    }
    seams.reconnect();
    seams.find_near();
    seams.fall();
    seams.reconnect();
  }
  rebalance(graph, quotas, imbalance, part);
}

}  // namespace tutti
