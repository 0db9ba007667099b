// Exact sums and maxima on a GPU (device/reduce.hpp).
#pragma once

#include <algorithm>

#include "tutti/device/cuda/check.hpp"
#include "tutti/device/cuda/reduce_room.hpp"
#include "tutti/device/device.hpp"
#include "tutti/device/sums/sum_and_largest.hpp"
#include "tutti/device/sums/window_adder.hpp"

namespace tutti::detail {

/// CUDA has 64-bit atomics for this type only; sums of two's complements are right all the same.
using AtomicWord = unsigned long long;

struct SharedWords {
  AtomicWord* words;
  __device__ void operator()(int k, std::int64_t amount) const {
    atomicAdd(words + k, static_cast<AtomicWord>(amount));
  }
};

/// What the threads of a warp have in their windows, as few amounts: all would wait for each other at the same words.
template <class Adder>
__device__ void flush_warp(Adder& adder, const SharedWords& words) {
  std::int64_t amount[Adder::amounts] = {};
  const int k = adder.take(amount), lane = static_cast<int>(threadIdx.x % 32);
  for (unsigned left = __ballot_sync(~0U, k >= 0); left != 0;) {
    const int first = __ffs(static_cast<int>(left)) - 1, word = __shfl_sync(~0U, k, first);
    const bool mine = k == word;
    left &= ~__ballot_sync(~0U, mine);
#pragma unroll
    for (int i = 0; i < Adder::amounts; ++i) {
      std::int64_t sum = mine ? amount[i] : 0;
#pragma unroll
      for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(~0U, sum, apart);
      if (lane == first && sum != 0) words(word + i, sum);
    }
  }
}

/// Adds the f(i).added of the range to the words of a sum; behind them stands the largest f(i).compared. A block's
/// words carry before they leave it, so that 2^31 blocks are safe.
template <bool adds, bool compares, class F>
__global__ void reduce_kernel(Range range, F f, AtomicWord* words) {
  constexpr int sum_words = adds ? ExactSum::size : 0;
  __shared__ AtomicWord block[sum_words + 1];
  for (int k = static_cast<int>(threadIdx.x); k <= sum_words; k += static_cast<int>(blockDim.x)) block[k] = 0;
  __syncthreads();
  WindowAdder<SharedWords> adder(SharedWords{block});
  AtomicWord largest = 0;
  const Size stride = static_cast<Size>(blockDim.x) * gridDim.x;
  for (Size i = range.begin + static_cast<Size>(blockIdx.x) * blockDim.x + threadIdx.x; i < range.end; i += stride) {
    const auto term = f(static_cast<Lid>(i));
    if constexpr (adds) adder.add(term.added);
    if constexpr (compares) {
      const AtomicWord value = ordered_bits(term.compared);
      largest = value > largest ? value : largest;
    }
  }
  if constexpr (adds) flush_warp(adder, SharedWords{block});
  if constexpr (compares) atomicMax(block + sum_words, largest);
  __syncthreads();
  if constexpr (adds) {
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
    for (int k = static_cast<int>(threadIdx.x); k < sum_words; k += static_cast<int>(blockDim.x))
      if (block[k] != 0) atomicAdd(words + k, block[k]);
  }
  if constexpr (compares) {
    if (threadIdx.x == 0) atomicMax(words + sum_words, block[sum_words]);
  }
}

inline constexpr int reduce_block = 256;
/// A thread has some values: those of a window leave it together.
inline int reduce_grid(Range range) {
  constexpr int values = 16;
  return std::min(range.size() / (values * reduce_block) + 1, 2048);
}

template <bool adds, bool compares, class F>
Pending<SumAndLargest> cuda_start_reduction(Stream& stream, Range range, const F& f) {
  constexpr std::size_t sum_words = adds ? ExactSum::size : 0, bytes = (sum_words + 1) * sizeof(std::int64_t);
  static_assert(sum_words < cuda::ReduceRoom::words);
  const cuda::CurrentDevice current(stream.device().index());
  const cuda::ReduceRoom room = cuda::reduce_room(stream);
  auto* const native = static_cast<cudaStream_t>(stream.native());
  TUTTI_CUDA_CHECK(cudaMemsetAsync(room.on_device, 0, bytes, native));
  reduce_kernel<adds, compares>
      <<<reduce_grid(range), reduce_block, 0, native>>>(range, f, reinterpret_cast<AtomicWord*>(room.on_device));
  TUTTI_CUDA_CHECK(cudaGetLastError());
  stream.device().counts().launches += 1;
  stream.copy(room.pinned, room.on_device, bytes, CopyDirection::to_host);
  stream.record(*room.arrived);
  return [words = room.pinned, arrived = room.arrived] {
    arrived->wait();  // not for what was enqueued since
    SumAndLargest all;
    if constexpr (adds) {
      std::copy_n(words, sum_words, all.sum.word);
      all.sum.normalise();
    }
    if constexpr (compares) all.largest = from_ordered_bits(static_cast<std::uint64_t>(words[sum_words]));
    return all;
  };
}

}  // namespace tutti::detail
