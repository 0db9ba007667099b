#include "tutti/partition/spatial_order.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "tutti/base/error.hpp"
#include "tutti/partition/hilbert.hpp"

namespace tutti {
namespace {

constexpr int digit_bits = 8;
constexpr std::size_t digits = 8;
constexpr std::size_t buckets = std::size_t{1} << digit_bits;
// Below this the histograms cost more than a comparison sort.
constexpr std::size_t small_sort = 512;

static_assert(Lattice::lattice_cells == std::uint32_t{1} << hilbert_bits);

template <class KeyOf>
std::vector<KeyedRow> sorted_rows(std::size_t rows, const ParallelFor& parallel, KeyOf key_of) {
  std::vector<KeyedRow> keyed(rows);
  for_ranges(parallel, static_cast<Size>(rows), [&](Size begin, Size end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
      keyed[i] = {key_of(i), static_cast<Gid>(i)};
  });
  sort_by_key(keyed, parallel);
  return keyed;
}

}  // namespace

Lattice lattice_between(Vec3 low, Vec3 high) {
  Lattice lattice{low, high, 0};
  double extent = 0;
  for (int axis = 0; axis < 3; ++axis) extent = std::max(extent, high[axis] - low[axis]);
  if (!std::isfinite(extent)) {
    fail(ErrorKind::input,
         "mesh: the points span more than {:.1e}: too far apart to be ordered in space; check their units",
         std::numeric_limits<double>::max());
  }
  // All points in one place, or so near that the scale overflows: every key is 0 and the rows keep their order.
  const double scale = extent > 0 ? static_cast<double>(Lattice::lattice_cells) / extent : 0.0;
  lattice.scale = std::isfinite(scale) ? scale : 0.0;
  return lattice;
}

Lattice lattice_of(std::span<const Vec3> points) {
  if (points.empty()) return {};
  Vec3 low = points[0], high = points[0];
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Vec3 p = points[i];
    if (!std::isfinite(p.x) || !std::isfinite(p.y) || !std::isfinite(p.z)) {
      fail(ErrorKind::input, "mesh: point {} is ({}, {}, {}): points must be finite to be ordered in space", i, p.x,
           p.y, p.z);
    }
    for (int axis = 0; axis < 3; ++axis) {
      low[axis] = std::min(low[axis], p[axis]);
      high[axis] = std::max(high[axis], p[axis]);
    }
  }
  return lattice_between(low, high);
}

void sort_by_key(std::vector<KeyedRow>& rows, const ParallelFor& parallel) {
  if (rows.size() < small_sort) {
    std::stable_sort(rows.begin(), rows.end(), [](const KeyedRow& a, const KeyedRow& b) { return a.key < b.key; });
    return;
  }
  // Each block counts and then moves its own rows, so that the order is the same for any number of threads.
  const Blocks blocks(static_cast<Size>(rows.size()), 16384);
  std::vector<std::array<std::size_t, buckets>> counts(blocks.number);
  std::vector<KeyedRow> scratch(rows.size());
  for (std::size_t d = 0; d < digits; ++d) {
    const auto digit_of = [d](const KeyedRow& r) { return (r.key >> (d * digit_bits)) & (buckets - 1); };
    blocks.run(parallel, [&](Size block, Size begin, Size end) {
      auto& count = counts[block];
      count.fill(0);
      for (Size i = begin; i < end; ++i) ++count[digit_of(rows[i])];
    });
    std::size_t at = 0, largest = 0;
    for (std::size_t value = 0; value < buckets; ++value) {
      const std::size_t before = at;
      for (auto& count : counts) at += std::exchange(count[value], at);
      largest = std::max(largest, at - before);
    }
    // A digit all keys share moves nothing.
    if (largest == rows.size()) continue;
    blocks.run(parallel, [&](Size block, Size begin, Size end) {
      auto& next = counts[block];
      for (Size i = begin; i < end; ++i) {
        const KeyedRow& r = rows[i];
        scratch[next[digit_of(r)]++] = r;
      }
    });
    rows.swap(scratch);
  }
}

std::vector<KeyedRow> hilbert_order(std::span<const Vec3> points, const ParallelFor& parallel) {
  return hilbert_order(points, lattice_of(points), parallel);
}

std::vector<KeyedRow> hilbert_order(std::span<const Vec3> points, const Lattice& lattice, const ParallelFor& parallel) {
  return sorted_rows(points.size(), parallel, [&](std::size_t i) {
    return hilbert_key(lattice.cell(points[i], 0), lattice.cell(points[i], 1), lattice.cell(points[i], 2));
  });
}

std::vector<KeyedRow> axis_order(std::span<const Vec3> points) {
  const Lattice lattice = lattice_of(points);
  std::array<int, 3> axes{0, 1, 2};
  std::stable_sort(axes.begin(), axes.end(),
                   [&](int a, int b) { return lattice.high[a] - lattice.low[a] > lattice.high[b] - lattice.low[b]; });
  return sorted_rows(points.size(), {}, [&](std::size_t i) {
    std::uint64_t key = 0;
    for (const int axis : axes) key = (key << hilbert_bits) | lattice.cell(points[i], axis);
    return key;
  });
}

}  // namespace tutti
