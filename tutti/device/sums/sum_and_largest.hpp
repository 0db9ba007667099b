// What a reduction takes and what it returns.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>

#include "tutti/base/exact_sum.hpp"
#include "tutti/device/sums/ordered_bits.hpp"

namespace tutti {

/// A value and another one, of which a reduction makes a sum and a maximum.
struct ReduceTerm {
  double added = 0, compared = 0;
};

struct SumAndLargest {
  ExactSum sum;
  double largest = -std::numeric_limits<double>::infinity();  ///< NaN when any is NaN, +0 rather than -0

  void merge(const SumAndLargest& other) {
    sum.merge(other.sum);
    largest = detail::from_ordered_bits(std::max(detail::ordered_bits(largest), detail::ordered_bits(other.largest)));
  }
};

/// The result of work that a stream has to do still: waits for it when called, which happens once. A stream has one at
/// a time.
template <class T>
using Pending = std::function<T()>;

}  // namespace tutti
