// Sines and cosines of fractions of half a turn, exact to rounding and the same on every machine.
#pragma once

#include "tutti/base/portable_math.hpp"
#include "tutti/base/types.hpp"

namespace tutti::incompressible {

/// sin(pi a / b), a >= 0, b > 0: the angle is brought into [0, pi/4] by whole numbers, without an error.
inline double sin_pi(Size a, Size b) {
  a %= 2 * b;
  const bool negative = a >= b;
  if (negative) a -= b;
  if (2 * a > b) a = b - a;
  const auto angle = [b](Size part) {
    return portable::whole_pi() *
           (portable::Pair{static_cast<double>(part), 0} / portable::Pair{static_cast<double>(b), 0});
  };
  // Above pi/4 the cosine of what is missing to pi/2 = pi b / (2 b).
  const double size = 4 * a <= b ? portable::sin_near_0(angle(a)).value()
                                 : portable::cos_near_0(portable::half_pi() - angle(a)).value();
  return portable::with_sign(size, negative);
}

inline double cos_pi(Size a, Size b) {
  return sin_pi(2 * a + b, 2 * b);
}

}  // namespace tutti::incompressible
