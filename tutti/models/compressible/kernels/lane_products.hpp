// Tables as CPUs multiply by them in lanes: rows in blocks of as many sums as registers hold, and of each block only
// the terms whose factors are not all zero. Polynomials that do not change along a direction have no slope there.
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

/// Points of a volume that are computed at a time, and the most pieces that there are.
inline constexpr int most_chunks = 5;
struct ElementProducts {
  LaneProduct values[most_chunks], projection[most_chunks];
  LaneProduct lift[6];                                                               ///< of a face
  LaneProduct derivative[3];                                                         ///< of viscous flow on hexahedra
  LaneProduct slopes[3][most_chunks], oblique[most_chunks], spread[3][most_chunks];  ///< on tetrahedra; of jumps
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
