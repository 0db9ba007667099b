// The inner loop of an exact sum where the words are far away (a GPU's shared memory).
#pragma once

#include "tutti/base/exact_sum.hpp"

namespace tutti {

/// Adds doubles to the words of an ExactSum that `sink(word, amount)` owns. Values whose exponents lie in a window of
/// 2^33 gather in one 128-bit integer in registers; others go to the sink at once, and after 16 of them the window
/// moves. Up to 2^31 values in all; |amount| < 2^32, and at most one amount a word and value. Call flush() at the end.
template <class Sink>
class WindowAdder {
 public:
  TUTTI_HD explicit WindowAdder(const Sink& sink) : sink_(sink) {}

  TUTTI_HD void add(double x) {
    const ExactSum::Parts p = ExactSum::split(x);
    if (p.mantissa == 0) return;
    const auto shift = static_cast<unsigned>(p.position - base_);
    if (shift < window && p.finite) {
      const Wide value = static_cast<Wide>(p.mantissa) << shift;
      window_sum_ += p.negative ? -value : value;
    } else if (!p.finite) {
      sink_(ExactSum::special_word(x), 1);
    } else if (++misses_ >= 16 || base_ == none) {
      flush();
      base_ = p.position - 16;  // >= -2: the window may begin below the words, its values do not
      base_ = base_ < 0 ? 0 : base_;
      misses_ = 0;
      add_inside(p);
    } else {
      const int k = p.position >> 5;
      const int inner = p.position & 31;
      const std::uint64_t low = p.mantissa << inner;
      const std::int64_t sign = p.negative ? -1 : 1;
      sink_(k, sign * static_cast<std::int64_t>(low & 0xffffffffu));
      sink_(k + 1, sign * static_cast<std::int64_t>(low >> 32));
      sink_(k + 2, sign * static_cast<std::int64_t>(p.mantissa >> 32 >> (32 - inner)));
    }
  }

  TUTTI_HD void flush() {
    std::int64_t amount[amounts];
    const int k = take(amount);
    for (int i = 0; i < amounts && k >= 0; ++i)
      if (amount[i] != 0) sink_(k + i, amount[i]);
  }
  static constexpr int amounts = 5;
  /// Empties the window: what its words, from the one that is returned on, are to get; -1: nothing.
  TUTTI_HD int take(std::int64_t (&amount)[amounts]) {
    if (window_sum_ == 0) return -1;
    // The integer's lowest bit is bit base_ % 32 of word base_ / 32. Shifts of negative numbers round down, so the
    // digits are >= 0 and the last one carries the sign.
    const int shift = base_ & 31;
    amount[0] = static_cast<std::int64_t>(static_cast<std::uint64_t>(window_sum_) << shift & 0xffffffffu);
    Wide rest = window_sum_ >> (32 - shift);
    for (int i = 1; i < 4; ++i, rest >>= 32)
      amount[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(rest) & 0xffffffffu);
    amount[4] = static_cast<std::int64_t>(rest);
    window_sum_ = 0;
    return base_ >> 5;
  }

 private:
  using Wide = __int128;
  static constexpr unsigned window = 34;
  static constexpr int none = -1000000;

  TUTTI_HD void add_inside(const ExactSum::Parts& p) {
    const Wide value = static_cast<Wide>(p.mantissa) << (p.position - base_);
    window_sum_ = p.negative ? -value : value;
  }

  Sink sink_;
  Wide window_sum_ = 0;  ///< 53 + 33 bits a value: room for 2^40 values
  int base_ = none;      ///< position of the window's lowest bit
  int misses_ = 0;
};

}  // namespace tutti
