// Two steps in one pass over the rows: slab k makes its second step while its coefficients are still in L2, as soon as
// slabs k - 1 to k + 1 have made their first.
#pragma once

#include "bench/ideas_tiles.cuh"

namespace tutti {

struct TwoStepsView {
  const Lid* items;  ///< 2 tile + step, in the order of thread blocks
  unsigned* done;    ///< a slab: tiles that have made the first step
  Lid slab_tiles, tiles;
};

struct TwoSteps {
  Buffer<Lid> list;
  Buffer<unsigned> done;
  Lid slab_tiles = 0, tiles = 0;
  unsigned items() const { return static_cast<unsigned>(list.size()); }
  TwoStepsView view() const { return {list.data(), const_cast<unsigned*>(done.data()), slab_tiles, tiles}; }
  void reset(cudaStream_t stream) const {
    cudaMemsetAsync(const_cast<unsigned*>(done.data()), 0, static_cast<std::size_t>(done.bytes()), stream);
  }
};

/// Slab k's second step comes with or after slab k + lag's first. `mixed`: tile by tile in turns.
inline TwoSteps plan_two_steps(Stream& stream, const TileArrays& tiles, Lid slab_tiles, int lag, bool mixed) {
  TwoSteps plan;
  plan.slab_tiles = slab_tiles;
  plan.tiles = static_cast<Lid>(tiles.tiles);
  const Lid slabs = (plan.tiles + slab_tiles - 1) / slab_tiles;
  std::vector<Lid> items;
  for (Lid p = 0; p < slabs + lag; ++p)
    for (int pass = 0; pass < (mixed ? 1 : 2); ++pass)
      for (Lid t = 0; t < slab_tiles; ++t) {
        const Lid first = p * slab_tiles + t, second = (p - lag) * slab_tiles + t;
        if ((mixed || pass == 0) && first < plan.tiles) items.push_back(2 * first);
        if ((mixed || pass == 1) && second >= 0 && second < plan.tiles) items.push_back(2 * second + 1);
      }
  plan.list = make_buffer(stream, std::span<const Lid>(items), "items");
  const std::vector<unsigned> none(static_cast<std::size_t>(slabs), 0U);
  plan.done = make_buffer(stream, std::span<const unsigned>(none), "done");
  return plan;
}

/// Does every row read only its own slab and the two beside it?
inline bool slabs_are_thick(const DiffusionRows& rows, Lid slab_rows) {
  std::atomic<bool> thick{true};
  for_all(static_cast<Size>(rows.counts.size()), [&](Size i) {
    for (const Lid c : rows.columns[static_cast<std::size_t>(i)])
      if (std::abs(c / slab_rows - static_cast<Lid>(i) / slab_rows) > 1) thick = false;
  });
  return thick;
}

/// Thread blocks start in the order of their numbers, so the ones that a block waits for are done or at work.
template <int tile_rows, int blocks, int bits, Touch first>
__global__ void __launch_bounds__(tile_rows, blocks)
    two_steps_kernel(TileView view, TwoStepsView plan, int, const double* u, double* mid, double* next, double dt) {
  extern __shared__ double shared_u[];
  const Lid item = __ldg(plan.items + blockIdx.x), t = item / 2, slab = t / plan.slab_tiles;
  const int lane = static_cast<int>(threadIdx.x);
  if (item % 2 == 0) {
    step_tile<tile_rows, bits, true, first, ReadU::cached, float>(view, t, lane, u, mid, dt, shared_u);
    __syncthreads();
    if (lane == 0) {
      __threadfence();
      atomicAdd(plan.done + slab, 1U);
    }
    return;
  }
  if (lane < 3) {
    const Lid other = slab + lane - 1, begin = other * plan.slab_tiles;
    if (begin >= 0 && begin < plan.tiles) {
      const auto all = static_cast<unsigned>(min(plan.slab_tiles, plan.tiles - begin));
      const volatile unsigned* done = plan.done + other;
      while (*done < all) __nanosleep(100);
    }
    __threadfence();
  }
  __syncthreads();
  step_tile<tile_rows, bits, true, Touch::stream, ReadU::shared, float>(view, t, lane, mid, next, dt, shared_u);
}

__global__ void read_all(const float4* from, Size count, int passes, float* to) {
  float sum = 0;
  for (int pass = 0; pass < passes; ++pass)
#pragma unroll 4
    for (Size i = blockIdx.x * static_cast<Size>(blockDim.x) + threadIdx.x; i < count;
         i += static_cast<Size>(gridDim.x) * blockDim.x) {
      const float4 v = __ldcg(from + i);
      sum += v.x + v.y + v.z + v.w;
    }
  if (sum == 12345.678F) *to = sum;
}

/// What reading alone reaches, in and out of L2.
template <class F>
void measure_l2(cudaStream_t stream, const F& time) {
  float* data = nullptr;
  constexpr Size most = Size{1} << 30;
  if (cudaMalloc(&data, most) != cudaSuccess) return;
  cudaMemsetAsync(data, 0, most, stream);
  for (const Size megabytes : {8, 16, 24, 32, 48, 1024}) {
    const Size bytes = megabytes << 20;
    const int passes = static_cast<int>(most / bytes);
    time(fmt::format("reading {} MiB again and again", megabytes), static_cast<double>(bytes * passes), [=] {
      read_all<<<132 * 8, 256, 0, stream>>>(reinterpret_cast<const float4*>(data), bytes / 16, passes, data);
    });
  }
  cudaFree(data);
}

}  // namespace tutti
