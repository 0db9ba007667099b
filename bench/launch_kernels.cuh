// Kernels of bench_graph_launch: two parts that lean on each other, in whole numbers modulo 2^64, so that sums are
// exact.
#pragma once

#include <cuda_runtime.h>

#include <cuda/atomic>

namespace tutti::launch {

using Word = unsigned long long;

constexpr int block_threads = 256;
constexpr Word log_steps = 1 << 16;  // of one run, at most
// Cycles, about 2 s: a neighbour that never comes must not hang the GPU.
constexpr long long wait_cycles = 4'000'000'000;

/// A GPU's counters. The neighbour writes `arrived` only, which has a line of its own.
struct Control {
  alignas(128) Word arrived;  ///< steps of the neighbour whose values can be used here
  alignas(128) Word step;     ///< steps that were signalled to the neighbour
  Word begun;                 ///< interiors
  unsigned blocks_done, timed_out, loops_left;
};

/// One step of one GPU, from one of its two buffers to the other.
struct StepView {
  const Word *interior, *coefficient, *separator, *ghost;
  Word *next_interior, *next_separator, *next_ghost;
  Word* neighbour_ghost;            ///< its next_ghost
  const Word* neighbour_separator;  ///< its next_separator
  Control* control;
  Word* neighbour_arrived;
  Word* begun_at;  ///< of log_steps, ns: when each interior began
  Word cells;      ///< of the interior, even
  Word separators;
};

/// Start values: a mix of the array's number and the place (Steele, Lea and Flood 2014, SplitMix64).
__host__ __device__ inline Word start_value(Word array, Word i) {
  Word z = (array << 40) + (i + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

using Flag = cuda::atomic_ref<Word, cuda::thread_scope_system>;

/// A block's threads go on when the neighbour has signalled as many steps as this GPU has.
__device__ inline void wait_for_neighbour(Control* control) {
  if (threadIdx.x == 0 && *static_cast<volatile unsigned*>(&control->timed_out) == 0) {
    const Word wanted = __ldcg(&control->step);
    Flag arrived(control->arrived);
    const long long start = clock64();
    // Relaxed while it polls: each acquire empties the L1 cache that the interior uses, too.
    while (arrived.load(cuda::memory_order_relaxed) < wanted)
      if (clock64() - start > wait_cycles) {
        atomicExch(&control->timed_out, 1U);
        break;
      }
    arrived.load(cuda::memory_order_acquire);
  }
  __syncthreads();
}

__device__ inline void signal_neighbour(const StepView& v) {
  const Word done = __ldcg(&v.control->step) + 1;
  v.control->step = done;
  __threadfence_system();
  Flag(*v.neighbour_arrived).store(done, cuda::memory_order_release);
}

/// The last block that comes here signals, behind what all blocks wrote.
__device__ inline void signal_when_all_are_done(const StepView& v) {
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence_system();
  if (atomicAdd(&v.control->blocks_done, 1U) + 1 < gridDim.x) return;
  __threadfence_system();
  v.control->blocks_done = 0;
  signal_neighbour(v);
}

/// 24 bytes a cell from and to memory, as a triad. The first cells read separators: what comes too early shows.
__global__ void __launch_bounds__(block_threads) interior_kernel(StepView v) {
  const Word i = blockIdx.x * static_cast<Word>(block_threads) + threadIdx.x;
  if (i == 0) {
    Word now = 0;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    v.begun_at[v.control->begun++ % log_steps] = now;
  }
  if (2 * i >= v.cells) return;
  const ulonglong2 a = reinterpret_cast<const ulonglong2*>(v.interior)[i];
  const ulonglong2 b = reinterpret_cast<const ulonglong2*>(v.coefficient)[i];
  ulonglong2 sum{3 * a.x + b.x, 3 * a.y + b.y};
  if (2 * i < v.separators) sum.x += __ldcg(v.separator + 2 * i);
  if (2 * i + 1 < v.separators) sum.y += __ldcg(v.separator + 2 * i + 1);
  reinterpret_cast<ulonglong2*>(v.next_interior)[i] = sum;
}

/// Loads past L1 and past the read-only path: ghosts may be written while the kernel waits.
template <bool waits, bool stores, bool signals>
__global__ void __launch_bounds__(block_threads) separator_kernel(StepView v) {
  if constexpr (waits) wait_for_neighbour(v.control);
  const Word i = blockIdx.x * static_cast<Word>(block_threads) + threadIdx.x;
  if (i < v.separators) {
    const Word sum = 3 * __ldcg(v.separator + i) + __ldcg(v.ghost + i) + __ldcg(v.interior + i);
    v.next_separator[i] = sum;
    if constexpr (stores) v.neighbour_ghost[i] = sum;
  }
  if constexpr (signals) signal_when_all_are_done(v);
}

/// Reads the neighbour's memory.
template <bool waits>
__global__ void __launch_bounds__(block_threads) pull_kernel(StepView v) {
  if constexpr (waits) wait_for_neighbour(v.control);
  const Word i = blockIdx.x * static_cast<Word>(block_threads) + threadIdx.x;
  if (i < v.separators) v.next_ghost[i] = __ldcg(v.neighbour_separator + i);
}

__global__ void wait_kernel(StepView v) {
  wait_for_neighbour(v.control);
}

__global__ void signal_kernel(StepView v) {
  signal_neighbour(v);
}

/// The body of a while node comes again until it has come often enough.
__global__ void loop_kernel(Control* control, cudaGraphConditionalHandle more) {
  cudaGraphSetConditional(more, --control->loops_left > 0 ? 1 : 0);
}

__global__ void busy_kernel(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

__global__ void fill_kernel(Word* values, Word count, Word array) {
  const Word i = blockIdx.x * static_cast<Word>(block_threads) + threadIdx.x;
  if (i < count) values[i] = start_value(array, i);
}

__global__ void sum_kernel(const Word* values, Word count, Word* sum) {
  Word mine = 0;
  for (Word i = blockIdx.x * static_cast<Word>(block_threads) + threadIdx.x; i < count;
       i += static_cast<Word>(gridDim.x) * block_threads)
    mine += values[i];
  atomicAdd(sum, mine);
}

}  // namespace tutti::launch
