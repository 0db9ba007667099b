#include "tutti/models/diffusion/implicit/coarse_levels.hpp"

#include <algorithm>
#include <cmath>

namespace tutti::diffusion {
namespace {

/// Piecewise constants are stiffer than what they stand for (Braess, Computing 55, 1995).
constexpr double correction = 1.7;

std::int64_t wider(std::int64_t key) {
  constexpr std::int64_t half = (std::int64_t{1} << (box_bits - 1)) - 1;
  constexpr std::int64_t boxes = (std::int64_t{1} << (3 * box_bits)) - 1;
  return (key & ~boxes) | ((key & boxes) >> 1 & (half << (2 * box_bits) | half << box_bits | half));
}

std::int32_t place_of(const std::vector<std::int64_t>& keys, std::int64_t key) {
  return static_cast<std::int32_t>(std::lower_bound(keys.begin(), keys.end(), key) - keys.begin());
}

/// Those for one place become one, in the order they have.
void add_up(std::vector<CoarseEntry>& entries) {
  std::stable_sort(entries.begin(), entries.end(), [](const CoarseEntry& a, const CoarseEntry& b) {
    return a.row != b.row ? a.row < b.row : a.column < b.column;
  });
  std::size_t count = 0;
  for (const CoarseEntry& e : entries) {
    if (count > 0 && entries[count - 1].row == e.row && entries[count - 1].column == e.column)
      entries[count - 1].value += e.value;
    else
      entries[count++] = e;
  }
  entries.resize(count);
}

}  // namespace

CoarseLevels::Level CoarseLevels::make_level(const std::vector<std::int64_t>& keys, std::vector<CoarseEntry>& entries,
                                             std::vector<double> volumes) {
  add_up(entries);
  const std::size_t n = keys.size();
  Level level;
  level.first.assign(n + 1, 0);
  level.losses.assign(n, 0.0);
  level.volumes = std::move(volumes);
  level.right.assign(n, 0.0);
  level.x.assign(n, 0.0);
  std::vector<double> sums(n, 0.0), magnitudes(n, 0.0);
  for (const CoarseEntry& e : entries) {
    const auto i = static_cast<std::size_t>(place_of(keys, e.row));
    sums[i] += e.value;
    magnitudes[i] += std::abs(e.value);
    if (e.row == e.column) {
      level.losses[i] = e.value;
      continue;
    }
    level.columns.push_back(place_of(keys, e.column));
    level.values.push_back(e.value);
    level.first[i + 1] = static_cast<Size>(level.values.size());
  }
  for (std::size_t i = 0; i < n; ++i) level.first[i + 1] = std::max(level.first[i], level.first[i + 1]);
  level.diagonal.resize(n);  // as jacobi_diagonal
  for (std::size_t i = 0; i < n; ++i) level.diagonal[i] = std::max(sums[i], 0.5 * magnitudes[i]);
  return level;
}

CoarseLevels::CoarseLevels(std::vector<std::int64_t> keys, std::vector<CoarseEntry> entries,
                           std::vector<double> volumes) {
  for (;;) {
    levels_.push_back(make_level(keys, entries, std::move(volumes)));
    Level& level = levels_.back();
    std::vector<std::int64_t> next(keys.size());
    std::transform(keys.begin(), keys.end(), next.begin(), wider);
    for (CoarseEntry& e : entries) {
      const bool loss = e.row == e.column;
      e.row = wider(e.row);
      e.column = wider(e.column);
      if (!loss && e.row == e.column) e.value = 0;
    }
    std::vector<std::int64_t> fewer = next;
    std::sort(fewer.begin(), fewer.end());
    fewer.erase(std::unique(fewer.begin(), fewer.end()), fewer.end());
    if (fewer.size() == keys.size()) return;
    level.parent.resize(next.size());
    volumes.assign(fewer.size(), 0.0);
    for (std::size_t i = 0; i < next.size(); ++i) {
      level.parent[i] = place_of(fewer, next[i]);
      volumes[static_cast<std::size_t>(level.parent[i])] += level.volumes[i];
    }
    keys = std::move(fewer);
  }
}

/// Of row i, what x leaves of the right-hand side.
double CoarseLevels::Level::residual(std::size_t i, double sigma) const {
  double rest = right[i] - (sigma * volumes[i] + losses[i]) * x[i];
  for (Size e = first[i]; e < first[i + 1]; ++e)
    rest += values[static_cast<std::size_t>(e)] *
            (x[static_cast<std::size_t>(columns[static_cast<std::size_t>(e)])] - x[i]);
  return rest;
}

void CoarseLevels::Level::sweep(double sigma, bool forward) {
  const std::size_t n = x.size();
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t i = forward ? k : n - 1 - k;
    const double pivot = sigma * volumes[i] + diagonal[i];
    if (pivot > 0) x[i] += residual(i, sigma) / pivot;
  }
}

void CoarseLevels::cycle(std::size_t l, double sigma) {
  Level& level = levels_[l];
  std::fill(level.x.begin(), level.x.end(), 0.0);
  if (l + 1 == levels_.size()) {
    constexpr int sweeps = 10;
    for (int k = 0; k < sweeps; ++k) level.sweep(sigma, k % 2 == 0);
    return;
  }
  Level& next = levels_[l + 1];
  for (int k = 0; k < (l == 0 ? 1 : 2); ++k) {
    level.sweep(sigma, true);
    std::fill(next.right.begin(), next.right.end(), 0.0);
    for (std::size_t i = 0; i < level.x.size(); ++i)
      next.right[static_cast<std::size_t>(level.parent[i])] += level.residual(i, sigma);
    cycle(l + 1, sigma);
    for (std::size_t i = 0; i < level.x.size(); ++i)
      level.x[i] += correction * next.x[static_cast<std::size_t>(level.parent[i])];
    level.sweep(sigma, false);
  }
}

std::span<const double> CoarseLevels::cycle(double sigma) {
  cycle(0, sigma);
  return levels_[0].x;
}

}  // namespace tutti::diffusion
