// exact_sum and max_value on a GPU (device/reduce.hpp).
#pragma once

#include <algorithm>

#include "tutti/base/exact_sum.hpp"
#include "tutti/device/buffer.hpp"
#include "tutti/device/cuda/check.hpp"
#include "tutti/device/device.hpp"
#include "tutti/device/ordered_bits.hpp"
#include "tutti/device/window_adder.hpp"

namespace tutti::detail {

/// CUDA has 64-bit atomics for this type only; sums of two's complements are right all the same.
using AtomicWord = unsigned long long;

struct SharedWords {
  AtomicWord* words;
  __device__ void operator()(int k, std::int64_t amount) const {
    atomicAdd(words + k, static_cast<AtomicWord>(amount));
  }
};

/// Adds the f(i) of the range to `words`. A block's words carry before they leave it, so that 2^31 blocks are safe.
template <class F>
__global__ void exact_sum_kernel(Range range, F f, AtomicWord* words) {
  __shared__ AtomicWord block[ExactSum::size];
  for (int k = static_cast<int>(threadIdx.x); k < ExactSum::size; k += static_cast<int>(blockDim.x)) block[k] = 0;
  __syncthreads();
  WindowAdder<SharedWords> adder(SharedWords{block});
  const Size stride = static_cast<Size>(blockDim.x) * gridDim.x;
  for (Size i = range.begin + static_cast<Size>(blockIdx.x) * blockDim.x + threadIdx.x; i < range.end; i += stride)
    adder.add(f(static_cast<Lid>(i)));
  adder.flush();
  __syncthreads();
  if (threadIdx.x == 0) {
    std::int64_t carry = 0;
    for (int k = 0; k < ExactSum::digits - 1; ++k) {
      const std::int64_t word = static_cast<std::int64_t>(block[k]) + carry;
      carry = word >> 32;
      block[k] = static_cast<AtomicWord>(word & 0xffffffff);
    }
    block[ExactSum::digits - 1] += static_cast<AtomicWord>(carry);
  }
  __syncthreads();
  for (int k = static_cast<int>(threadIdx.x); k < ExactSum::size; k += static_cast<int>(blockDim.x))
    if (block[k] != 0) atomicAdd(words + k, block[k]);
}

template <class F>
__global__ void max_kernel(Range range, F f, AtomicWord* largest) {
  __shared__ AtomicWord block;
  if (threadIdx.x == 0) block = 0;
  __syncthreads();
  AtomicWord mine = 0;
  const Size stride = static_cast<Size>(blockDim.x) * gridDim.x;
  for (Size i = range.begin + static_cast<Size>(blockIdx.x) * blockDim.x + threadIdx.x; i < range.end; i += stride) {
    const AtomicWord value = ordered_bits(f(static_cast<Lid>(i)));
    mine = value > mine ? value : mine;
  }
  atomicMax(&block, mine);
  __syncthreads();
  if (threadIdx.x == 0) atomicMax(largest, block);
}

inline constexpr int reduce_block = 256;
inline int reduce_grid(Range range) {
  return std::min(range.size() / reduce_block + 1, 2048);
}

/// The words of `values` go to the device, through the launch and back.
template <class Launch>
void cuda_reduce(Stream& stream, std::span<std::int64_t> values, const Launch& launch) {
  const cuda::CurrentDevice current(stream.device().index());
  Buffer<std::int64_t> words(stream.device(), static_cast<Size>(values.size()), "reduction");
  upload(stream, words, std::span<const std::int64_t>(values));
  launch(static_cast<cudaStream_t>(stream.native()), reinterpret_cast<AtomicWord*>(words.data()));
  TUTTI_CUDA_CHECK(cudaGetLastError());
  stream.device().counts().launches += 1;
  download(stream, values, words);
}

template <class F>
void cuda_exact_sum(Stream& stream, Range range, const F& f, ExactSum& total) {
  cuda_reduce(stream, total.words(), [&](cudaStream_t native, AtomicWord* words) {
    exact_sum_kernel<<<reduce_grid(range), reduce_block, 0, native>>>(range, f, words);
  });
  total.normalise();
}

template <class F>
void cuda_max(Stream& stream, Range range, const F& f, std::uint64_t& largest) {
  auto value = static_cast<std::int64_t>(largest);
  cuda_reduce(stream, std::span(&value, 1), [&](cudaStream_t native, AtomicWord* words) {
    max_kernel<<<reduce_grid(range), reduce_block, 0, native>>>(range, f, words);
  });
  largest = static_cast<std::uint64_t>(value);
}

}  // namespace tutti::detail
