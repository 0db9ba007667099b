// Numbers of double's precision whose exponent has 32 bits: path counts of a large grid exceed 1e600.
#pragma once

#include <cstring>

#include "tutti/base/types.hpp"

namespace tutti::graph {

/// mantissa * 2^exponent, 1 <= mantissa < 2, or zero. Positive. Each operation rounds once, as that of double does:
/// where double neither overflows nor leaves its normal range, its results have the same bits.
struct WideNumber {
  static constexpr int lowest = -(1 << 30);
  double mantissa = 0;
  std::int32_t exponent = lowest;

  /// 2^k, -1022 <= k <= 1023.
  TUTTI_HD static double power_of_two(int k) {
    const std::uint64_t bits = static_cast<std::uint64_t>(k + 1023) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }
  TUTTI_HD static WideNumber normalised(double mantissa, int exponent) {
    if (mantissa == 0) return {};
    std::uint64_t bits;
    memcpy(&bits, &mantissa, sizeof bits);
    const int k = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
    bits -= static_cast<std::uint64_t>(static_cast<std::int64_t>(k)) << 52;
    memcpy(&mantissa, &bits, sizeof mantissa);
    return {mantissa, exponent + k};
  }
  TUTTI_HD static WideNumber one() { return {1.0, 0}; }

  TUTTI_HD WideNumber plus(const WideNumber& other) const {
    // Chosen by value: a GPU would put what it has a reference to into memory.
    const bool less = exponent < other.exponent;
    const double large = less ? other.mantissa : mantissa, small = less ? mantissa : other.mantissa;
    const int top = less ? other.exponent : exponent, gap = top - (less ? exponent : other.exponent);
    // What is 2^60 times smaller changes no bit.
    return normalised(large + small * (gap > 60 ? 0.0 : power_of_two(-gap)), top);
  }
  TUTTI_HD WideNumber times(const WideNumber& other) const {
    return normalised(mantissa * other.mantissa, exponent + other.exponent);
  }
  /// Not of zero.
  TUTTI_HD WideNumber reciprocal() const { return normalised(1.0 / mantissa, -exponent); }
  /// Below 2^-1000: zero. The exponent is 1000 at most.
  TUTTI_HD double value() const { return exponent < -1000 ? 0.0 : mantissa * power_of_two(exponent); }
};

}  // namespace tutti::graph
