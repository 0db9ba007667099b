// The kernels of stencils on a GPU. What a pass reads once, weights and columns, streams past the caches, and many of
// its loads are underway at a time; the values that rows share stay in the caches.
#pragma once

#include "tutti/device/cuda/launch.hpp"
#include "tutti/device/device.hpp"
#include "tutti/models/transport/stencils/stencil_rows.hpp"

namespace tutti::transport {

/// How the kernel of threads is cut: blocks of so many threads, with the loads of so many entries underway at a time.
template <int block_, int entries_>
struct StencilTuning {
  static constexpr int block = block_, entries = entries_;
};

namespace stencils_cuda {

/// `count` values that lie together; pairs: at an even place.
template <int count, bool pairs>
__device__ inline void load(double (&to)[count], const double* from) {
  if constexpr (pairs) {
    static_assert(count % 2 == 0);
    for (int k = 0; k < count / 2; ++k) {
      const double2 two = __ldg(reinterpret_cast<const double2*>(from) + k);
      to[2 * k] = two.x;
      to[2 * k + 1] = two.y;
    }
  } else {
    for (int k = 0; k < count; ++k) to[k] = __ldg(from + k);
  }
}

/// `count` of a row's entries, from `at` on; u: the first of this thread's values.
template <int count, int operators, int mine, bool pairs>
__device__ inline void add_entries(const StencilView& view, const double* u, Size at, const double (&own)[mine],
                                   double (&sums)[mine][operators]) {
  Lid columns[count];
  double weights[count][operators], neighbours[count][mine];
#pragma unroll
  for (int k = 0; k < count; ++k) columns[k] = __ldcs(view.columns + at + 32 * k);
#pragma unroll
  for (int k = 0; k < count; ++k)
#pragma unroll
    for (int d = 0; d < operators; ++d)
      weights[k][d] = __ldcs(view.weights + (at - at % 32 + 32 * k) * operators + d * 32 + at % 32);
#pragma unroll
  for (int k = 0; k < count; ++k) load<mine, pairs>(neighbours[k], u + static_cast<Size>(columns[k]) * view.values);
#pragma unroll
  for (int k = 0; k < count; ++k)
#pragma unroll
    for (int d = 0; d < operators; ++d)
#pragma unroll
      for (int t = 0; t < mine; ++t) sums[t][d] = add_neighbour(weights[k][d], neighbours[k][t], own[t], sums[t][d]);
}

/// `threads` threads a row, each with `mine` of its values, and with all of its entries: in their order, as
/// apply_stencil takes them.
template <int operators, Joined joined, int threads, int mine, bool pairs, class Tuning, class Update>
__global__ void __launch_bounds__(Tuning::block)
    apply_by_threads(StencilView view, const double* u, Update update, Range rows) {
  const int thread = static_cast<int>(blockIdx.x) * Tuning::block + static_cast<int>(threadIdx.x);
  // Slices are read from their first row on.
  const Lid row = rows.begin / 32 * 32 + thread / threads;
  u = cuda::wait_for_earlier_work(u);
  cuda::let_next_kernel_begin();
  if (row < rows.begin || row >= rows.end) return;
  const int first = view.first + thread % threads * mine;
  double own[mine], sums[mine][operators] = {};
  load<mine, pairs>(own, u + static_cast<Size>(row) * view.values + first);
  Size at = static_cast<Size>(row / 32) * view.entries * 32 + row % 32;
  int left = view.entries;
  for (; left >= Tuning::entries; left -= Tuning::entries, at += 32 * Tuning::entries)
    add_entries<Tuning::entries, operators, mine, pairs>(view, u + first, at, own, sums);
  if (Tuning::entries > 4 && left >= 4) {
    add_entries<4, operators, mine, pairs>(view, u + first, at, own, sums);
    left -= 4;
    at += 4 * 32;
  }
  for (; left > 0; --left, at += 32) add_entries<1, operators, mine, pairs>(view, u + first, at, own, sums);
  const double* along = view.along == nullptr ? nullptr : view.along + 2 * static_cast<Size>(row);
#pragma unroll
  for (int t = 0; t < mine; ++t)
    update(static_cast<Lid>(static_cast<Size>(row) * view.values + first + t), own[t],
           join_sums<operators, joined>(sums[t], along));
}

/// 16 bytes from global to shared memory, past the first cache and underway until it is waited for.
__device__ inline void copy_ahead(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))),
               "l"(from)
               : "memory");
}
__device__ inline void close_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
/// Until no more than `open` groups are underway.
template <int open>
__device__ inline void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(open) : "memory");
}

/// A warp takes a slice: the weights and columns of `Tuning::entries` entries at a time come into shared memory ahead
/// of their use, and of `threads` threads (1, 2, 4 or 8) a row as many as it takes have `mine` of its values each.
/// Terms in their order, as apply_stencil takes them. tracers: a multiple of `mine`, and at most threads times that.
template <int operators, Joined joined, int threads, int mine, bool pairs, class Tuning, class Update>
__global__ void __launch_bounds__(Tuning::block)
    apply_ahead(StencilView view, const double* u, Update update, Range rows, int tracers) {
  constexpr int entries = Tuning::entries, stages = 3, warps = Tuning::block / 32;
  constexpr int groups = threads, at_once = 32 / threads;  // groups of rows, one after the other
  __shared__ alignas(16) double all_weights[warps][stages][entries * operators * 32];
  __shared__ alignas(16) Lid all_columns[warps][stages][entries * 32];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const Lid slice = rows.begin / 32 + static_cast<Lid>(blockIdx.x) * warps + warp;
  if (slice * 32 >= rows.end) return;
  auto& weights = all_weights[warp];
  auto& columns = all_columns[warp];
  const Size begin = static_cast<Size>(slice) * view.entries * 32;
  const int chunks = (view.entries + entries - 1) / entries;
  const auto fetch = [&](int chunk) {
    if (chunk < chunks) {
      const int stage = chunk % stages, count = min(entries, view.entries - chunk * entries);
      const double* from = view.weights + (begin + static_cast<Size>(chunk) * entries * 32) * operators;
      for (int k = lane; k < count * operators * 16; k += 32) copy_ahead(&weights[stage][2 * k], from + 2 * k);
      const Lid* from_columns = view.columns + begin + static_cast<Size>(chunk) * entries * 32;
      for (int k = lane; k < count * 8; k += 32) copy_ahead(&columns[stage][4 * k], from_columns + 4 * k);
    }
    close_copies();
  };
  for (int chunk = 0; chunk + 1 < stages; ++chunk) fetch(chunk);
  u = cuda::wait_for_earlier_work(u);
  cuda::let_next_kernel_begin();

  const int first_row = lane / threads, part = lane % threads * mine < tracers ? lane % threads : 0;
  const double* values = u + view.first + part * mine;
  double own[groups][mine], sums[groups][mine][operators] = {};
#pragma unroll
  for (int g = 0; g < groups; ++g)
    load<mine, pairs>(
        own[g], values + static_cast<Size>(min(slice * 32 + g * at_once + first_row, rows.end - 1)) * view.values);
  const auto add = [&](int stage, int k) {
    double neighbours[groups][mine];
#pragma unroll
    for (int g = 0; g < groups; ++g)
      load<mine, pairs>(neighbours[g],
                        values + static_cast<Size>(columns[stage][k * 32 + g * at_once + first_row]) * view.values);
#pragma unroll
    for (int g = 0; g < groups; ++g)
#pragma unroll
      for (int d = 0; d < operators; ++d) {
        const double weight = weights[stage][(k * operators + d) * 32 + g * at_once + first_row];
#pragma unroll
        for (int t = 0; t < mine; ++t)
          sums[g][t][d] = add_neighbour(weight, neighbours[g][t], own[g][t], sums[g][t][d]);
      }
  };
  for (int chunk = 0; chunk < chunks; ++chunk) {
    wait_for_copies<stages - 2>();
    __syncwarp();
    fetch(chunk + stages - 1);
    const int stage = chunk % stages, left = view.entries - chunk * entries;
    if (left >= entries) {
#pragma unroll
      for (int k = 0; k < entries; ++k) add(stage, k);
    } else {
      for (int k = 0; k < left; ++k) add(stage, k);
    }
  }
  if (lane % threads != part) return;
#pragma unroll
  for (int g = 0; g < groups; ++g) {
    const Lid row = slice * 32 + g * at_once + first_row;
    if (row < rows.begin || row >= rows.end) continue;
    const double* along = view.along == nullptr ? nullptr : view.along + 2 * static_cast<Size>(row);
#pragma unroll
    for (int t = 0; t < mine; ++t)
      update(static_cast<Lid>(static_cast<Size>(row) * view.values + view.first + part * mine + t), own[g][t],
             join_sums<operators, joined>(sums[g][t], along));
  }
}

/// A warp a row, whose entries lie together, for one tracer: as apply_stencil_by_lanes.
template <int operators, Joined joined, class Update>
__global__ void __launch_bounds__(256) apply_by_warps(StencilView view, const double* u, Update update, Range rows) {
  const Lid row = rows.begin + static_cast<Lid>(blockIdx.x * 8 + threadIdx.x / 32);
  u = cuda::wait_for_earlier_work(u);
  cuda::let_next_kernel_begin();
  if (row >= rows.end) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Size place = static_cast<Size>(row) * view.values + view.first, begin = static_cast<Size>(row) * view.entries;
  const double own = __ldg(u + place);
  double sums[operators] = {};
  for (int j = lane; j < view.entries; j += 32) {
    const double neighbour = __ldg(u + static_cast<Size>(__ldcs(view.columns + begin + j)) * view.values + view.first);
    for (int d = 0; d < operators; ++d)
      sums[d] = add_neighbour(__ldcs(view.weights + (begin + j) * operators + d), neighbour, own, sums[d]);
  }
  for (int d = 0; d < operators; ++d)
    for (int step = 16; step > 0; step /= 2) sums[d] += __shfl_xor_sync(0xffffffffU, sums[d], step);
  const double* along = view.along == nullptr ? nullptr : view.along + 2 * static_cast<Size>(row);
  if (lane == 0) update(static_cast<Lid>(place), own, join_sums<operators, joined>(sums, along));
}

inline int blocks_of(Size threads, int block) {
  return static_cast<int>((threads + block - 1) / block);
}

template <int operators, Joined joined, int threads, int mine, bool pairs, class Tuning, class Update>
void launch_threads(Stream& stream, const StencilView& view, const double* u, const Update& update, Range rows) {
  if (rows.empty()) return;
  const Size count = static_cast<Size>(rows.end - rows.begin / 32 * 32) * threads;
  cuda::launch(stream, apply_by_threads<operators, joined, threads, mine, pairs, Tuning, Update>,
               blocks_of(count, Tuning::block), Tuning::block, 0, view, u, update, rows);
}

template <int operators, Joined joined, int threads, int mine, bool pairs, class Tuning, class Update>
void launch_ahead(Stream& stream, const StencilView& view, const double* u, const Update& update, Range rows,
                  int tracers) {
  if (rows.empty()) return;
  const Size slices = (rows.end + 31) / 32 - rows.begin / 32;
  cuda::launch(stream, apply_ahead<operators, joined, threads, mine, pairs, Tuning, Update>,
               blocks_of(slices * 32, Tuning::block), Tuning::block, 0, view, u, update, rows, tracers);
}

template <int operators, Joined joined, class Update>
void launch_warps(Stream& stream, const StencilView& view, const double* u, const Update& update, Range rows) {
  if (rows.empty()) return;
  cuda::launch(stream, apply_by_warps<operators, joined, Update>, blocks_of(Size{rows.size()} * 32, 256), 256, 0, view,
               u, update, rows);
}

}  // namespace stencils_cuda
}  // namespace tutti::transport
