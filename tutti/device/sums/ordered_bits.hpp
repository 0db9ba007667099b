// Doubles as integers in the same order, for maxima that do not depend on the order of their values.
#pragma once

#include <cstring>
#include <limits>

#include "tutti/base/types.hpp"

namespace tutti::detail {

/// -infinity < ... < -0 < +0 < ... < infinity < NaN (one for all NaN).
TUTTI_HD inline std::uint64_t ordered_bits(double x) {
  if (x != x) return ~std::uint64_t{0};
  std::uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits >> 63 != 0 ? ~bits : bits | std::uint64_t{1} << 63;
}
inline double from_ordered_bits(std::uint64_t ordered) {
  if (ordered == ~std::uint64_t{0}) return std::numeric_limits<double>::quiet_NaN();
  const std::uint64_t bits = ordered >> 63 != 0 ? ordered & ~(std::uint64_t{1} << 63) : ~ordered;
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

}  // namespace tutti::detail
