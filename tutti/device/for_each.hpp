// The one portable launch: f is written once and runs on every device.
#pragma once

#include <limits>

#include "tutti/device/device.hpp"

#if defined(__CUDACC__)
#include "tutti/device/cuda/launch.hpp"
#endif

namespace tutti {

#if defined(__CUDACC__)
namespace detail {
template <class F>
__global__ void for_each_kernel(Range range, F f) {
  cuda::wait_for_earlier_work();
  const Lid i = range.begin + static_cast<Lid>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < range.end) f(i);
}
}  // namespace detail
#endif

/// As for_each, where f also writes `bytes` bytes of the array at `peer`, which is in the memory of another device that
/// the stream's one can reach. Null: there is none.
template <class F>
void for_each_reaching(Stream& stream, Range range, const F& f, void* peer, std::size_t bytes) {
  if (range.empty()) return;
  if (peer != nullptr) stream.reach(peer, bytes);
#if defined(__CUDACC__)
  if (stream.kind() == DeviceKind::cuda) {
    constexpr int block = 256;
    return cuda::launch(stream, detail::for_each_kernel<F>, (range.size() + block - 1) / block, block, 0, range, f);
  }
#endif
  stream.loop(range, [f](Lid begin, Lid end) {
    for (Lid i = begin; i < end; ++i) f(i);
  });
}

/// Enqueues f(i) for every i of the range on the stream. f is copied; its operator() is TUTTI_HD and touches device
/// memory of the stream's device only. Different i must be independent. A GPU needs this to be compiled by nvcc (.cu
/// file).
template <class F>
void for_each(Stream& stream, Range range, const F& f) {
  for_each_reaching(stream, range, f, nullptr, 0);
}

/// This launch as a value (see Kernels): of those of the range that are below `most`.
template <class F>
struct ForEach {
  F f;
  Lid most;
  void operator()(Stream& stream, Range range) const {
    for_each(stream, {range.begin < most ? range.begin : most, range.end < most ? range.end : most}, f);
  }
};
template <class F>
ForEach<F> on_rows(const F& f, Lid most = std::numeric_limits<Lid>::max()) {
  return {f, most};
}

}  // namespace tutti
