// Sums of doubles without rounding until the end: the same bits for any order, partition, thread count and device.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "tutti/base/types.hpp"

namespace tutti {

/// A fixed-point number that spans every double (the "long accumulator" of Kulisch 1971; word layout as in Neal,
/// "Fast exact summation using small and large superaccumulators", 2015). Word k < `digits` counts units of
/// 2^(32 k - 1088); the last three words count NaN, +infinity and -infinity.
///
/// Over ranks: normalise(), add all words() as 64-bit integers (up to 2^30 ranks), normalise().
struct ExactSum {
  static constexpr int digits = 68;  ///< 2^-1088 .. 2^1088: 2^64 of the largest doubles fit
  static constexpr int size = digits + 3;
  static constexpr int nan_word = digits, plus_infinity_word = digits + 1, minus_infinity_word = digits + 2;
  static constexpr int lowest_exponent = -1088;
  static constexpr std::int64_t limit = std::int64_t{1} << 30;  ///< additions between two carries

  std::int64_t word[size] = {};
  std::int64_t pending = 0;  ///< |word| < (pending + 1) 2^32

  /// A double as sign * mantissa * 2^(position - 1088), 14 <= position. mantissa < 2^53.
  struct Parts {
    std::uint64_t mantissa;
    int position;
    bool negative, finite;
  };
  TUTTI_HD static Parts split(double x) {
    std::uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const int exponent = static_cast<int>(bits >> 52 & 0x7ff);
    const std::uint64_t fraction = bits & 0xfffffffffffffull;
    const bool normal = exponent != 0;
    return {fraction | static_cast<std::uint64_t>(normal) << 52, exponent + !normal + 13, bits >> 63 != 0,
            exponent != 0x7ff};
  }
  /// The word that counts a NaN or an infinity.
  TUTTI_HD static int special_word(double x) {
    return x != x ? nan_word : x > 0 ? plus_infinity_word : minus_infinity_word;
  }

  TUTTI_HD void add(double x) {
    const Parts p = split(x);
    if (!p.finite) {
      ++word[special_word(x)];
      return;
    }
    const int k = p.position >> 5, shift = p.position & 31;
    const std::uint64_t low = p.mantissa << shift;
    // Negation by xor and subtraction: no branch on a random sign.
    const std::int64_t sign = -static_cast<std::int64_t>(p.negative);
    word[k] += (static_cast<std::int64_t>(low & 0xffffffffu) ^ sign) - sign;
    word[k + 1] += (static_cast<std::int64_t>(low >> 32) ^ sign) - sign;
    word[k + 2] += (static_cast<std::int64_t>(p.mantissa >> 32 >> (32 - shift)) ^ sign) - sign;
    if (++pending >= limit) normalise();
  }

  TUTTI_HD void merge(const ExactSum& other) {
    if (pending + other.pending + 1 >= limit) normalise();
    for (int k = 0; k < size; ++k) word[k] += other.word[k];
    pending += other.pending + 1;
    if (pending >= limit) normalise();
  }

  /// Carries: afterwards 0 <= word < 2^32 except for the top digit, which has the sign. Equal sums have equal words.
  TUTTI_HD void normalise() {
    std::int64_t carry = 0;
    for (int k = 0; k < digits - 1; ++k) {
      word[k] += carry;
      carry = word[k] >> 32;
      word[k] &= 0xffffffff;
    }
    word[digits - 1] += carry;
    pending = 1;
  }

  /// The words, as they travel between ranks.
  std::span<std::int64_t> words() { return {word, static_cast<std::size_t>(size)}; }

  /// The sum rounded once, to nearest even. Infinity beyond the range of double; NaN of a NaN or of infinities of both
  /// signs; +0 of nothing.
  double value() const;
};

inline double ExactSum::value() const {
  if (word[nan_word] > 0 || (word[plus_infinity_word] > 0 && word[minus_infinity_word] > 0))
    return std::numeric_limits<double>::quiet_NaN();
  if (word[plus_infinity_word] > 0) return std::numeric_limits<double>::infinity();
  if (word[minus_infinity_word] > 0) return -std::numeric_limits<double>::infinity();

  ExactSum magnitude = *this;
  magnitude.normalise();
  const bool negative = magnitude.word[digits - 1] < 0;
  if (negative) {
    for (int k = 0; k < digits; ++k) magnitude.word[k] = -magnitude.word[k];
    magnitude.normalise();
  }
  const auto bit = [&](int i) {
    const int k = i / 32 < digits - 1 ? i / 32 : digits - 1;
    return static_cast<std::uint64_t>(magnitude.word[k] >> (i - 32 * k) & 1);
  };
  int top = 32 * (digits - 1) + 62;
  while (top >= 0 && bit(top) == 0) --top;
  if (top < 0) return 0.0;

  // 53 bits, fewer in the subnormal range, whose last bit is 2^-1074.
  const int last = top - 52 > -1074 - lowest_exponent ? top - 52 : -1074 - lowest_exponent;
  std::uint64_t mantissa = 0;
  for (int i = top; i >= last; --i) mantissa = 2 * mantissa + bit(i);
  if (bit(last - 1) != 0) {
    bool more = false;
    for (int i = last - 2; i >= 0 && !more; --i) more = bit(i) != 0;
    if (more || mantissa % 2 != 0) ++mantissa;
  }
  const double result = std::ldexp(static_cast<double>(mantissa), last + lowest_exponent);
  return negative ? -result : result;
}

}  // namespace tutti
