#include <algorithm>
#include <numeric>
#include <utility>

#include "tutti/base/error.hpp"
#include "tutti/partition/partition.hpp"

namespace tutti {
namespace {

std::size_t at(Gid i) {
  return static_cast<std::size_t>(i);
}

void check(const Adjacency& stencil, std::span<const std::int32_t> owner, std::span<const double> targets) {
  require(static_cast<Gid>(owner.size()) == stencil.rows(), "assess_partition: {} owners of {} rows", owner.size(),
          stencil.rows());
  for (std::size_t i = 0; i < owner.size(); ++i) {
    require(owner[i] >= 0 && at(owner[i]) < targets.size(), "assess_partition: row {} is owned by {} of {} parts", i,
            owner[i], targets.size());
  }
  for (const Gid j : stencil.columns) {
    require(j >= 0 && j < stencil.rows(), "assess_partition: column {} of {} rows", j, stencil.rows());
  }
}

/// The rows of each part, part after part, ascending within one.
struct Dealt {
  std::vector<Gid> rows;
  std::vector<Size> begin;  ///< parts + 1
};

Dealt deal(std::span<const std::int32_t> owner, std::size_t parts) {
  Dealt dealt;
  dealt.begin.assign(parts + 1, 0);
  for (const std::int32_t p : owner) ++dealt.begin[at(p) + 1];
  std::partial_sum(dealt.begin.begin(), dealt.begin.end(), dealt.begin.begin());
  dealt.rows.resize(owner.size());
  std::vector<Size> next(dealt.begin.begin(), dealt.begin.end() - 1);
  for (std::size_t i = 0; i < owner.size(); ++i) dealt.rows[at(next[at(owner[i])]++)] = static_cast<Gid>(i);
  return dealt;
}

/// Fills cut, ghosts and neighbours.
void count_reads(const Adjacency& stencil, std::span<const std::int32_t> owner, const Dealt& dealt,
                 PartitionQuality& quality) {
  const std::size_t parts = quality.rows.size();
  // The last part that met a row as its ghost, and the last that read from a part.
  std::vector<std::int32_t> ghost_of(owner.size(), -1), reader_of(parts, -1);
  std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
  for (std::size_t p = 0; p < parts; ++p) {
    const auto reader = static_cast<std::int32_t>(p);
    for (Size k = dealt.begin[p]; k < dealt.begin[p + 1]; ++k) {
      for (const Gid j : stencil.row(dealt.rows[at(k)])) {
        const std::int32_t source = owner[at(j)];
        if (source == reader) continue;
        ++quality.cut;
        if (ghost_of[at(j)] == reader) continue;
        ghost_of[at(j)] = reader;
        ++quality.ghosts[p];
        if (reader_of[at(source)] == reader) continue;
        reader_of[at(source)] = reader;
        pairs.emplace_back(reader, source);
        pairs.emplace_back(source, reader);
      }
    }
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  for (const auto& [p, q] : pairs) ++quality.neighbours[at(p)];
}

/// Pieces by union-find over the entries that stay within a part; the direction of an entry does not matter.
void count_components(const Adjacency& stencil, std::span<const std::int32_t> owner, PartitionQuality& quality) {
  std::vector<Gid> parent(owner.size());
  std::iota(parent.begin(), parent.end(), Gid{0});
  const auto root = [&](Gid i) {
    while (parent[at(i)] != i) i = parent[at(i)] = parent[at(parent[at(i)])];
    return i;
  };
  for (Gid i = 0; i < stencil.rows(); ++i) {
    Gid mine = root(i);
    for (const Gid j : stencil.row(i)) {
      if (owner[at(j)] != owner[at(i)]) continue;
      const Gid other = root(j);
      // The lower row stays the root: rows of a mesh are mostly numbered along it, so the trees stay flat.
      parent[at(std::max(mine, other))] = std::min(mine, other);
      mine = std::min(mine, other);
    }
  }
  for (Gid i = 0; i < stencil.rows(); ++i) {
    if (parent[at(i)] == i) ++quality.components[at(owner[at(i)])];
  }
}

double imbalance_of(std::span<const Gid> rows, std::span<const double> targets, Gid total) {
  const double sum = std::accumulate(targets.begin(), targets.end(), 0.0);
  if (total == 0 || !(sum > 0)) return 1.0;
  double worst = 0;
  for (std::size_t p = 0; p < rows.size(); ++p) {
    if (targets[p] > 0) {
      worst = std::max(worst, static_cast<double>(rows[p]) / (targets[p] / sum * static_cast<double>(total)));
    }
  }
  return worst;
}

}  // namespace

PartitionQuality assess_partition(const Adjacency& stencil, std::span<const std::int32_t> owner,
                                  std::span<const double> targets) {
  check(stencil, owner, targets);
  const std::size_t parts = targets.size();
  PartitionQuality quality;
  quality.rows.assign(parts, 0);
  quality.ghosts.assign(parts, 0);
  quality.neighbours.assign(parts, 0);
  quality.components.assign(parts, 0);
  const Dealt dealt = deal(owner, parts);
  for (std::size_t p = 0; p < parts; ++p) quality.rows[p] = dealt.begin[p + 1] - dealt.begin[p];
  count_reads(stencil, owner, dealt, quality);
  count_components(stencil, owner, quality);
  quality.imbalance = imbalance_of(quality.rows, targets, stencil.rows());
  return quality;
}

}  // namespace tutti
