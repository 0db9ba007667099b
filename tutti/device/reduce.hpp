// Sums and maxima whose bits do not depend on the device, the thread count or the split.
#pragma once

#include <algorithm>
#include <limits>
#include <mutex>

#include "tutti/base/exact_sum.hpp"
#include "tutti/device/buffer.hpp"
#include "tutti/device/device.hpp"
#include "tutti/device/ordered_bits.hpp"

#if defined(__CUDACC__)
#include "tutti/device/cuda/reduce_kernels.cuh"
#endif

namespace tutti {

/// The exact sum of f(i) over the range, with all earlier work of the stream done. f is TUTTI_HD, returns double and
/// reads device memory. Waits for the result. A GPU needs this to be compiled by nvcc (.cu file).
template <class F>
ExactSum exact_sum(Stream& stream, Range range, const F& f) {
  ExactSum total;
  if (range.empty()) return total;
#if defined(__CUDACC__)
  if (stream.kind() == DeviceKind::cuda) {
    detail::cuda_exact_sum(stream, range, f, total);
    return total;
  }
#endif
  std::mutex mutex;
  stream.loop(range, [&](Lid begin, Lid end) {
    ExactSum piece;
    for (Lid i = begin; i < end; ++i) piece.add(f(i));
    std::lock_guard lock(mutex);
    total.merge(piece);
  });
  stream.synchronize();
  total.normalise();
  return total;
}

/// The largest f(i) of the range: NaN when any is NaN, -infinity of an empty range, +0 rather than -0. Otherwise as
/// exact_sum.
template <class F>
double max_value(Stream& stream, Range range, const F& f) {
  std::uint64_t largest = detail::ordered_bits(-std::numeric_limits<double>::infinity());
  if (range.empty()) return detail::from_ordered_bits(largest);
#if defined(__CUDACC__)
  if (stream.kind() == DeviceKind::cuda) {
    detail::cuda_max(stream, range, f, largest);
    return detail::from_ordered_bits(largest);
  }
#endif
  std::mutex mutex;
  stream.loop(range, [&](Lid begin, Lid end) {
    std::uint64_t piece = 0;
    for (Lid i = begin; i < end; ++i) piece = std::max(piece, detail::ordered_bits(f(i)));
    std::lock_guard lock(mutex);
    largest = std::max(largest, piece);
  });
  stream.synchronize();
  return detail::from_ordered_bits(largest);
}

}  // namespace tutti
