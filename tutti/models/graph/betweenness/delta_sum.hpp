// Sums of dependencies over sources: fixed point, so that neither order nor grouping changes a bit.
#pragma once

#include <cmath>

#include "tutti/base/types.hpp"

namespace tutti::graph {

/// A dependency delta is rounded to a multiple of 2^-100 and cut into three digits of 2^-8, 2^-54 and 2^-100 by
/// additions of constants, which are exact. Sums of up to 64 digits are exact doubles, those of any number are
/// integers.
///
/// 0 <= delta < 2^31; the sum may reach 2^55.
struct DeltaParts {
  double high = 0, middle = 0, low = 0;
};

inline constexpr double high_unit = 0x1p-8, middle_unit = 0x1p-54, low_unit = 0x1p-100;

/// The multiple of `unit` nearest to x, |x| < 2^51 unit: what does not fit the mantissa of x + 1.5 2^52 unit is lost.
template <class Real>
TUTTI_HD inline Real nearest_multiple(const Real& x, double unit) {
  const double shift = 0x1.8p52 * unit;
  return (x + shift) - shift;
}

TUTTI_HD inline DeltaParts split_delta(double delta) {
  DeltaParts parts;
  parts.high = nearest_multiple(delta, high_unit);
  const double rest = delta - parts.high;
  parts.middle = nearest_multiple(rest, middle_unit);
  parts.low = nearest_multiple(rest - parts.middle, low_unit);
  return parts;
}

/// 24 bytes a vertex. Ranks add the digits as integers (up to 2^16 ranks) and carry afterwards.
struct DeltaSum {
  std::int64_t high = 0, middle = 0, low = 0;  ///< units of 2^-8, 2^-54, 2^-100

  TUTTI_HD void add(const DeltaParts& parts) {
    high += static_cast<std::int64_t>(parts.high * (1 / high_unit));
    middle += static_cast<std::int64_t>(parts.middle * (1 / middle_unit));
    low += static_cast<std::int64_t>(parts.low * (1 / low_unit));
    carry();
  }
  TUTTI_HD void add(const DeltaSum& other) {
    high += other.high;
    middle += other.middle;
    low += other.low;
    carry();
  }
  /// Afterwards 0 <= middle, low < 2^46: equal sums have equal digits.
  TUTTI_HD void carry() {
    constexpr std::int64_t mask = (std::int64_t{1} << 46) - 1;
    middle += low >> 46;
    low &= mask;
    high += middle >> 46;
    middle &= mask;
  }
  /// Rounded to double, at most one unit in the last place away.
  double value() const {
    return static_cast<double>(high) * high_unit +
           (static_cast<double>(middle) * middle_unit + static_cast<double>(low) * low_unit);
  }
  friend bool operator==(const DeltaSum&, const DeltaSum&) = default;
};

}  // namespace tutti::graph
