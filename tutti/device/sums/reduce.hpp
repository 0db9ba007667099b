// Sums and maxima whose bits do not depend on the device, the thread count or the split.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>

#include "tutti/device/device.hpp"
#include "tutti/device/sums/sum_and_largest.hpp"

#if defined(__CUDACC__)
#include "tutti/device/cuda/reduce_kernels.cuh"
#endif

namespace tutti {

namespace detail {

template <class F>
struct AddedTerm {
  F f;
  TUTTI_HD ReduceTerm operator()(Lid i) const { return {f(i), 0}; }
};
template <class F>
struct ComparedTerm {
  F f;
  TUTTI_HD ReduceTerm operator()(Lid i) const { return {0, f(i)}; }
};

/// What is not asked for is neither computed nor part of the result.
template <bool adds, bool compares, class F>
Pending<SumAndLargest> start_reduction(Stream& stream, Range range, const F& f) {
  if (range.empty()) return [] { return SumAndLargest{}; };
#if defined(__CUDACC__)
  if (stream.kind() == DeviceKind::cuda) return cuda_start_reduction<adds, compares>(stream, range, f);
#endif
  struct Result {
    std::mutex mutex;
    SumAndLargest all;
  };
  const auto result = std::make_shared<Result>();
  stream.loop(range, [f, result](Lid begin, Lid end) {
    // Terms first, then what becomes of them: a sum is a chain of stores, which terms between them would wait for.
    constexpr Lid together = 64;
    ReduceTerm terms[together];
    ExactSum sum;
    std::uint64_t largest = ordered_bits(-std::numeric_limits<double>::infinity());
    for (Lid first = begin; first < end; first += together) {
      const Lid count = std::min(together, end - first);
      for (Lid i = 0; i < count; ++i) terms[i] = f(first + i);
      for (Lid i = 0; i < count; ++i) {
        if constexpr (adds) sum.add(terms[i].added);
        if constexpr (compares) largest = std::max(largest, ordered_bits(terms[i].compared));
      }
    }
    std::lock_guard lock(result->mutex);
    result->all.merge({sum, from_ordered_bits(largest)});
  });
  return [result, &stream] {
    stream.synchronize();
    result->all.sum.normalise();
    return result->all;
  };
}

}  // namespace detail

/// The exact sum of f(i).added and the largest f(i).compared of the range, in one pass, with all earlier work of the
/// stream done. f is TUTTI_HD and reads device memory. A GPU needs this to be compiled by nvcc (.cu file).
template <class F>
Pending<SumAndLargest> start_sum_and_largest(Stream& stream, Range range, const F& f) {
  return detail::start_reduction<true, true>(stream, range, f);
}

/// The exact sum of f(i), a double, over the range; likewise.
template <class F>
Pending<SumAndLargest> start_sum(Stream& stream, Range range, const F& f) {
  return detail::start_reduction<true, false>(stream, range, detail::AddedTerm<F>{f});
}
/// The same, waited for.
template <class F>
ExactSum exact_sum(Stream& stream, Range range, const F& f) {
  return start_sum(stream, range, f)().sum;
}

/// The largest f(i) of the range: NaN when any is NaN, -infinity of an empty range, +0 rather than -0. Otherwise as
/// exact_sum.
template <class F>
double max_value(Stream& stream, Range range, const F& f) {
  return detail::start_reduction<false, true>(stream, range, detail::ComparedTerm<F>{f})().largest;
}

}  // namespace tutti
