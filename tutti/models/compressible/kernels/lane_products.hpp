// Tables as CPUs multiply by them in lanes: rows in blocks of as many sums as registers hold, and of each block only
// the terms whose factors are not all zero: padding, and slopes of functions that do not change along a direction. A
// term of zeros changes no sum, as none that begins at +0 is ever -0.
#pragma once

#include <cstdint>

#include "tutti/models/compressible/flux/lanes.hpp"

namespace tutti::compressible {

/// Of five variables each: with the row's factors and one value they fit 32, or 16, registers.
inline constexpr int most_rows_at_once = lane_count == 8 ? 5 : 2;

/// Rows y[row[r]] += sum_k factors[k][r] x[terms[k]].
struct ProductBlock {
  std::int32_t terms = 0, factors = 0;  ///< where they begin in LaneProducts
  std::uint16_t count = 0;              ///< of terms, at least one
  std::uint8_t rows = 0, row[5] = {};
};
/// A table's blocks.
struct LaneProduct {
  std::int32_t begin = 0, end = 0;
};

/// Chunks of an element's points.
inline constexpr int most_chunks = 5;
struct ElementProducts {
  LaneProduct values[most_chunks];
  LaneProduct projection[most_chunks];  ///< of ElementTiles::in; the first with the lifts of all faces before it
  LaneProduct lift[6];                  ///< of viscous flow on hexahedra, as the derivatives
  LaneProduct derivative[3];
  LaneProduct slopes[3][most_chunks];  ///< of viscous flow on tetrahedra, as what jumps add to them:
  LaneProduct oblique[most_chunks];    ///< those at face 0, in all directions
  LaneProduct spread[3][most_chunks];  ///< and at face d + 1, in direction d
};
/// Of all sides that have the same trace.
struct SideProducts {
  LaneProduct trace, slope[3], spread;
};

struct LaneProducts {
  const ProductBlock* blocks = nullptr;
  const std::uint16_t* terms = nullptr;
  const double* factors = nullptr;
  const SideProducts* sides = nullptr;
  ElementProducts element;
};

}  // namespace tutti::compressible
