// The exponential of base/portable_math.hpp at half the work, with the same bits on every processor.
#pragma once

#include "tutti/base/portable_math.hpp"

namespace tutti::portable {

/// e^x for kernels that are made of it: within 1 ulp for |x| <= 708, at half the work of exp, of which it has not all
/// bits; beyond as at +-708, not a number where x is none.
TUTTI_HD inline double short_exp(double x) {
  const double inside = x > 708 ? 708 : x < -708 ? -708 : x;
  const double turns = inside * 0x1.71547652b82fep+0, k = nearest(turns);
  // As in exp_parts, with one double for the rest.
  const double r = std::fma(-k, 0x1.abc9e3b39803fp-56, std::fma(-k, 0x1.62e42fefa39efp-1, inside));
  const double series = polynomial(r, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320,
                                   1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800);
  return (1 + std::fma(r * r, series, r)) * power_of_two(nearest_int(turns));
}

}  // namespace tutti::portable
