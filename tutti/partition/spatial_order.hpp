// Sorting points along a curve or an axis.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tutti/base/parallel.hpp"
#include "tutti/base/types.hpp"
#include "tutti/base/vec3.hpp"

namespace tutti {

struct KeyedRow {
  std::uint64_t key = 0;
  Gid row = 0;
  friend bool operator==(const KeyedRow&, const KeyedRow&) = default;
};

/// The box around points and what maps it to cells, 2^21 along the longest axis: one scale for the three axes, so that
/// a flat or long body does not fold the curve.
struct Lattice {
  Vec3 low, high;
  double scale = 0;  ///< 0: all points in one cell

  TUTTI_HD std::uint32_t cell(Vec3 p, int axis) const {
    const auto at = static_cast<std::uint32_t>((p[axis] - low[axis]) * scale);
    return at < lattice_cells ? at : lattice_cells - 1;
  }
  static constexpr std::uint32_t lattice_cells = std::uint32_t{1} << 21;
};

/// Around all points. Errors: input (a coordinate is not finite, which names the row; they span more than a double can
/// hold).
Lattice lattice_of(std::span<const Vec3> points);
/// Of a box known.
Lattice lattice_between(Vec3 low, Vec3 high);

/// Sorts by key; rows of equal key keep their order. Radix sort, O(n), as much scratch memory as `rows`.
void sort_by_key(std::vector<KeyedRow>& rows, const ParallelFor& parallel = {});

/// Rows in the order of the Hilbert curve through the cube around all points (2^21 cells an axis); equal keys by row.
/// Errors: input (a coordinate is not finite; names the row).
std::vector<KeyedRow> hilbert_order(std::span<const Vec3> points, const ParallelFor& parallel = {});
/// The same with the lattice known.
std::vector<KeyedRow> hilbert_order(std::span<const Vec3> points, const Lattice& lattice, const ParallelFor& parallel);

/// Rows in the order of the coordinate along the longest axis of the bounding box, then the second longest, then the
/// shortest (2^21 steps an axis); equal keys by row. Errors: input (a coordinate is not finite; names the row).
std::vector<KeyedRow> axis_order(std::span<const Vec3> points);

}  // namespace tutti
