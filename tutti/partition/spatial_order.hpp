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

/// Sorts by key; rows of equal key keep their order. Radix sort, O(n), as much scratch memory as `rows`.
void sort_by_key(std::vector<KeyedRow>& rows, const ParallelFor& parallel = {});

/// Rows in the order of the Hilbert curve through the cube around all points (2^21 cells an axis); equal keys by row.
/// Errors: input (a coordinate is not finite; names the row).
std::vector<KeyedRow> hilbert_order(std::span<const Vec3> points, const ParallelFor& parallel = {});

/// Rows in the order of the coordinate along the longest axis of the bounding box, then the second longest, then the
/// shortest (2^21 steps an axis); equal keys by row. Errors: input (a coordinate is not finite; names the row).
std::vector<KeyedRow> axis_order(std::span<const Vec3> points);

}  // namespace tutti
