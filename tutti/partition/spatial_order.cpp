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

constexpr std::uint32_t lattice_end = std::uint32_t{1} << hilbert_bits;

/// The box around all points and what maps it to the lattice: one scale for the three axes, so that a flat or long
/// body does not fold the curve.
struct Lattice {
  Vec3 low, high;
  double scale = 0;

  std::array<std::uint32_t, 3> of(Vec3 p) const {
    std::array<std::uint32_t, 3> at{};
    for (int axis = 0; axis < 3; ++axis) {
      at[static_cast<std::size_t>(axis)] =
          std::min(static_cast<std::uint32_t>((p[axis] - low[axis]) * scale), lattice_end - 1);
    }
    return at;
  }
};

Lattice lattice_of(std::span<const Vec3> points) {
  Lattice lattice;
  if (points.empty()) return lattice;
  lattice.low = lattice.high = points[0];
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Vec3 p = points[i];
    if (!std::isfinite(p.x) || !std::isfinite(p.y) || !std::isfinite(p.z)) {
      fail(ErrorKind::input, "mesh: point {} is ({}, {}, {}): points must be finite to be ordered in space", i, p.x,
           p.y, p.z);
    }
    for (int axis = 0; axis < 3; ++axis) {
      lattice.low[axis] = std::min(lattice.low[axis], p[axis]);
      lattice.high[axis] = std::max(lattice.high[axis], p[axis]);
    }
  }
  double extent = 0;
  for (int axis = 0; axis < 3; ++axis) extent = std::max(extent, lattice.high[axis] - lattice.low[axis]);
  if (!std::isfinite(extent)) {
    fail(ErrorKind::input,
         "mesh: the points span more than {:.1e}: too far apart to be ordered in space; check their units",
         std::numeric_limits<double>::max());
  }
  // All points in one place, or so near that the scale overflows: every key is 0 and the rows keep their order.
  const double scale = extent > 0 ? static_cast<double>(lattice_end) / extent : 0.0;
  lattice.scale = std::isfinite(scale) ? scale : 0.0;
  return lattice;
}

template <class KeyOf>
std::vector<KeyedRow> sorted_rows(std::size_t rows, KeyOf key_of) {
  std::vector<KeyedRow> keyed(rows);
  for (std::size_t i = 0; i < rows; ++i) keyed[i] = {key_of(i), static_cast<Gid>(i)};
  sort_by_key(keyed);
  return keyed;
}

}  // namespace

void sort_by_key(std::vector<KeyedRow>& rows) {
  if (rows.size() < small_sort) {
    std::stable_sort(rows.begin(), rows.end(), [](const KeyedRow& a, const KeyedRow& b) { return a.key < b.key; });
    return;
  }
  std::array<std::array<std::size_t, buckets>, digits> counts{};
  for (const KeyedRow& r : rows) {
    for (std::size_t d = 0; d < digits; ++d) ++counts[d][(r.key >> (d * digit_bits)) & (buckets - 1)];
  }
  std::vector<KeyedRow> scratch(rows.size());
  for (std::size_t d = 0; d < digits; ++d) {
    auto& count = counts[d];
    // A digit all keys share moves nothing.
    if (*std::max_element(count.begin(), count.end()) == rows.size()) continue;
    std::size_t at = 0;
    for (std::size_t& c : count) at += std::exchange(c, at);
    for (const KeyedRow& r : rows) scratch[count[(r.key >> (d * digit_bits)) & (buckets - 1)]++] = r;
    rows.swap(scratch);
  }
}

std::vector<KeyedRow> hilbert_order(std::span<const Vec3> points) {
  const Lattice lattice = lattice_of(points);
  return sorted_rows(points.size(), [&](std::size_t i) {
    const auto at = lattice.of(points[i]);
    return hilbert_key(at[0], at[1], at[2]);
  });
}

std::vector<KeyedRow> axis_order(std::span<const Vec3> points) {
  const Lattice lattice = lattice_of(points);
  std::array<int, 3> axes{0, 1, 2};
  std::stable_sort(axes.begin(), axes.end(),
                   [&](int a, int b) { return lattice.high[a] - lattice.low[a] > lattice.high[b] - lattice.low[b]; });
  return sorted_rows(points.size(), [&](std::size_t i) {
    const auto at = lattice.of(points[i]);
    std::uint64_t key = 0;
    for (const int axis : axes) key = (key << hilbert_bits) | at[static_cast<std::size_t>(axis)];
    return key;
  });
}

}  // namespace tutti
