// Exact sums of many groups of values at once.
#pragma once

#include <vector>

#include "tutti/device/buffer.hpp"
#include "tutti/device/sums/reduce.hpp"

namespace tutti {

#if defined(__CUDACC__)
namespace detail {

/// Adds the f(group, i) of the range to the words of the group. Fewer than ExactSum::limit values need no carries.
template <class F>
__global__ void exact_sums_kernel(Lid groups, Range range, F f, AtomicWord* words) {
  __shared__ AtomicWord block[ExactSum::size];
  for (Lid group = static_cast<Lid>(blockIdx.y); group < groups; group += static_cast<Lid>(gridDim.y)) {
    for (int k = static_cast<int>(threadIdx.x); k < ExactSum::size; k += static_cast<int>(blockDim.x)) block[k] = 0;
    __syncthreads();
    WindowAdder<SharedWords> adder(SharedWords{block});
    const Size stride = static_cast<Size>(blockDim.x) * gridDim.x;
    for (Size i = range.begin + static_cast<Size>(blockIdx.x) * blockDim.x + threadIdx.x; i < range.end; i += stride)
      adder.add(f(group, static_cast<Lid>(i)));
    adder.flush();
    __syncthreads();
    for (int k = static_cast<int>(threadIdx.x); k < ExactSum::size; k += static_cast<int>(blockDim.x))
      if (block[k] != 0) atomicAdd(words + static_cast<Size>(group) * ExactSum::size + k, block[k]);
    __syncthreads();
  }
}

template <class F>
void cuda_exact_sums(Stream& stream, Range range, const F& f, std::vector<ExactSum>& sums) {
  require(range.size() < ExactSum::limit, "a group of so many values would need carries");
  const auto groups = static_cast<Lid>(sums.size());
  // A thread adds some 64 values; some blocks a group are enough where there are many groups.
  const dim3 grid(static_cast<unsigned>(std::min(range.size() / (64 * reduce_block) + 1, 256)),
                  static_cast<unsigned>(std::min<Lid>(groups, 65535)));
  const cuda::CurrentDevice current(stream.device().index());
  std::vector<std::int64_t> all(sums.size() * ExactSum::size);
  Buffer<std::int64_t> words(stream.device(), static_cast<Size>(all.size()), "sums of groups");
  auto* const native = static_cast<cudaStream_t>(stream.native());
  TUTTI_CUDA_CHECK(cudaMemsetAsync(words.data(), 0, static_cast<std::size_t>(words.bytes()), native));
  exact_sums_kernel<<<grid, reduce_block, 0, native>>>(groups, range, f, reinterpret_cast<AtomicWord*>(words.data()));
  TUTTI_CUDA_CHECK(cudaGetLastError());
  stream.device().counts().launches += 1;
  download(stream, std::span<std::int64_t>(all), words);
  for (std::size_t g = 0; g < sums.size(); ++g)
    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(g * ExactSum::size), ExactSum::size, sums[g].word);
}

}  // namespace detail
#endif

/// The exact sums of f(group, i) over the range, one a group; otherwise as exact_sum, for up to 2^30 values a group.
template <class F>
std::vector<ExactSum> exact_sums(Stream& stream, Lid groups, Range range, const F& f) {
  std::vector<ExactSum> sums(static_cast<std::size_t>(groups));
  if (groups == 0 || range.empty()) return sums;
#if defined(__CUDACC__)
  if (stream.kind() == DeviceKind::cuda) {
    detail::cuda_exact_sums(stream, range, f, sums);
    for (ExactSum& sum : sums) sum.normalise();
    return sums;
  }
#endif
  stream.loop({0, groups}, [&](Lid begin, Lid end) {
    for (Lid group = begin; group < end; ++group) {
      ExactSum& sum = sums[static_cast<std::size_t>(group)];
      for (Lid i = range.begin; i < range.end; ++i) sum.add(f(group, i));
      sum.normalise();
    }
  });
  stream.synchronize();
  return sums;
}

}  // namespace tutti
