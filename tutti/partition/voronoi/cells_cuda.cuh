// A pass on a GPU: a block of threads has a box of points. It looks at the centres near the box alone, and adds up its
// points before it touches the sums. bench_voronoi compares it with the portable form (device_arrays.hpp).
#pragma once

#include "tutti/device/cuda/check.hpp"
#include "tutti/partition/voronoi/device_arrays.hpp"

namespace tutti::voronoi::gpu {

inline constexpr unsigned all_lanes = 0xffffffffu;

__device__ inline double warp_smallest(double value) {
  for (int d = 16; d > 0; d /= 2) value = smaller(__shfl_xor_sync(all_lanes, value, d), value);
  return value;
}
__device__ inline double warp_largest(double value) {
  for (int d = 16; d > 0; d /= 2) value = larger(__shfl_xor_sync(all_lanes, value, d), value);
  return value;
}
/// Of numbers below 2^27.
__device__ inline unsigned warp_sum(unsigned value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(all_lanes, value);
#else
  for (int d = 16; d > 0; d /= 2) value += __shfl_xor_sync(all_lanes, value, d);
  return value;
#endif
}
/// Of numbers in [0, 2^31).
__device__ inline std::int64_t warp_sum_long(std::int32_t value) {
  const auto bits = static_cast<unsigned>(value);
  return (static_cast<std::int64_t>(warp_sum(bits >> 16)) << 16) + warp_sum(bits & 0xffffu);
}
/// Of the lanes that take part; the rest give nothing.
__device__ inline IntegerSums warp_sums(const Counter& counter, Vec3 p, bool takes_part) {
  IntegerSums mine = counter.of(p);
  if (!takes_part) mine = {};
  return {warp_sum_long(static_cast<std::int32_t>(mine.x)), warp_sum_long(static_cast<std::int32_t>(mine.y)),
          warp_sum_long(static_cast<std::int32_t>(mine.z)), __popc(__ballot_sync(all_lanes, takes_part))};
}

/// Shared memory of a type with initial values: it starts with none.
template <class T, int count>
struct Shared {
  static_assert(alignof(T) <= alignof(double));
  double words[(count * sizeof(T) + sizeof(double) - 1) / sizeof(double)];
  __device__ T* get() { return reinterpret_cast<T*>(words); }
};

__global__ void __launch_bounds__(block_points) fill_boxes(Sample s) {
  __shared__ Shared<Box, block_points / 32> shared_boxes;
  __shared__ Shared<IntegerSums, 1> shared_sums;
  Box* boxes = shared_boxes.get();
  IntegerSums& sums = *shared_sums.get();
  const auto b = static_cast<Lid>(blockIdx.x);
  const Lid first = b * block_points, mine = first + static_cast<Lid>(threadIdx.x);
  const bool inside = mine < s.points;
  if (threadIdx.x == 0) sums = {};
  __syncthreads();
  const Lid i = inside ? mine : first;
  const Vec3 p = s.all[s.rows[static_cast<Size>(i) * s.stride]];
  if (inside) s.x[i] = p.x, s.y[i] = p.y, s.z[i] = p.z;
  const IntegerSums of_warp = warp_sums(s.counter, p, inside);
  const Box box{{warp_smallest(p.x), warp_smallest(p.y), warp_smallest(p.z)},
                {warp_largest(p.x), warp_largest(p.y), warp_largest(p.z)}};
  if (threadIdx.x % 32 == 0) {
    boxes[threadIdx.x / 32] = box;
    add_atomic(sums, of_warp);
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  Box whole = boxes[0];
  for (int w = 1; w < block_points / 32; ++w) widen(whole, boxes[w].low, boxes[w].high);
  s.box[b] = whole;
  s.sums_of_boxes[b] = sums;
}

/// The smallest of farthest() over the centres that `number(k)` names, k < count. All threads of the block.
template <class Number>
__device__ double least_reach(const Box& box, const Centre* centres, int count, double* of_warps, Number number) {
  double least = std::numeric_limits<double>::infinity();
  for (int k = static_cast<int>(threadIdx.x); k < count; k += block_points)
    least = smaller(farthest(box, centres[number(k)]), least);
  least = warp_smallest(least);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = least;
  __syncthreads();
  for (int w = 0; w < block_points / 32; ++w) least = smaller(of_warps[w], least);
  return least;
}

/// Centres near outer boxes, in any order.
__global__ void __launch_bounds__(block_points) find_near(Sample s, const Centre* centres, int parts) {
  __shared__ double of_warps[block_points / 32];
  __shared__ int found;
  const auto o = static_cast<Lid>(blockIdx.x);
  const Box box = s.outer_box[o];
  if (threadIdx.x == 0) found = 0;
  const double least = least_reach(box, centres, parts, of_warps, [](int k) { return k; });
  Near& near = s.near[o];
  for (int p = static_cast<int>(threadIdx.x); p < parts; p += block_points) {
    if (!is_near(box, centres[p], least)) continue;
    const int k = atomicAdd(&found, 1);
    if (k < most_near) near.part[k] = p;
  }
  __syncthreads();
  if (threadIdx.x == 0) near.count = found <= most_near ? found : -1;
}

/// Centres of a box that have room in shared memory.
inline constexpr int room = 96;

struct Nearby {
  Centre centre[room];
  IntegerSums sums[room];
  std::int32_t part[room];
  double of_warps[block_points / 32];
  int count;
};

/// Sums of the parts, and where they end up: in memory of the host that the GPU writes to.
struct Totals {
  IntegerSums* sums;  ///< zero before a pass and after it
  int copies;         ///< of the sums of all parts: fewer blocks wait for the same one
  std::int32_t* done;
  IntegerSums* result;

  /// By all threads of a block that has given its sums: the last block tells the result.
  __device__ void finish(int parts) const {
    __shared__ bool is_last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) is_last = tutti::add_atomic(*done, 1) == static_cast<std::int32_t>(gridDim.x) - 1;
    __syncthreads();
    if (!is_last) return;
    __threadfence();
    constexpr int words = sizeof(IntegerSums) / sizeof(long long);
    auto* from = reinterpret_cast<long long*>(sums);
    for (int w = static_cast<int>(threadIdx.x); w < words * parts; w += block_points) {
      long long total = 0;
      for (int c = 0; c < copies; ++c) {
        long long& word = from[static_cast<Size>(c) * words * parts + w];
        total += __ldcg(&word);
        word = 0;
      }
      reinterpret_cast<long long*>(result)[w] = total;
    }
    if (threadIdx.x == 0) *done = 0;
  }
};

template <bool two_steps>
__device__ void assign_box(const Sample& s, const Centre* centres, int parts, IntegerSums* sums) {
  __shared__ Shared<Nearby, 1> shared;
  Nearby& near = *shared.get();
  const auto b = static_cast<Lid>(blockIdx.x);
  const Box box = s.box[b];
  const Near* outer = two_steps ? s.near + b / block_boxes : nullptr;
  const bool some = two_steps && outer->count >= 0;
  const int candidates = some ? outer->count : parts;
  const auto number = [&](int k) { return some ? outer->part[k] : k; };
  if (threadIdx.x == 0) near.count = 0;
  const double least = least_reach(box, centres, candidates, near.of_warps, number);
  for (int k = static_cast<int>(threadIdx.x); k < candidates; k += block_points) {
    const std::int32_t p = number(k);
    const Centre c = centres[p];
    if (!is_near(box, c, least)) continue;
    const int slot = atomicAdd(&near.count, 1);
    if (slot >= room) continue;
    near.centre[slot] = c;
    near.part[slot] = p;
    near.sums[slot] = {};
  }
  __syncthreads();
  const int count = near.count;
  const Lid i = b * block_points + static_cast<Lid>(threadIdx.x);
  const bool inside = i < s.points;
  if (count == 1) {
    if (inside) s.label[i] = near.part[0];
    if (threadIdx.x == 0) add_atomic(sums[near.part[0]], s.sums_of_boxes[b]);
    return;
  }
  const bool fits = count <= room;
  const Vec3 at = inside ? s.at(i) : box.low;
  std::int32_t mine = 0, slot = -1;
  double best = std::numeric_limits<double>::infinity();
  // Of centres as near as each other the first part has the point: the list is in any order.
  const int looked_at = fits ? count : candidates;
  for (int k = 0; k < looked_at; ++k) {
    const std::int32_t p = fits ? near.part[k] : number(k);
    const double d = distance(at, fits ? near.centre[k] : centres[p]);
    if (d < best || (d == best && p < mine)) {
      best = d;
      mine = p;
      slot = fits ? k : -1;
    }
  }
  if (inside) s.label[i] = mine;
  bool waits = inside;
  for (unsigned left = __ballot_sync(all_lanes, waits); left != 0; left = __ballot_sync(all_lanes, waits)) {
    const int leader = __ffs(static_cast<int>(left)) - 1;
    const std::int32_t wanted = __shfl_sync(all_lanes, mine, leader);  // all lanes, also those that wait no more
    const bool same = waits && mine == wanted;
    const IntegerSums total = warp_sums(s.counter, at, same);
    if (static_cast<int>(threadIdx.x % 32) == leader) {
      if (slot >= 0)
        add_atomic(near.sums[slot], total);
      else
        add_atomic(sums[mine], total);
    }
    waits = waits && !same;
  }
  if (!fits) return;
  __syncthreads();
  for (int k = static_cast<int>(threadIdx.x); k < count; k += block_points)
    add_atomic(sums[near.part[k]], near.sums[k]);
}

/// Few centres come with the launch.
struct FewCentres {
  Centre centre[many_centres];
};
__global__ void __launch_bounds__(block_points)
    assign_to_few(Sample s, const __grid_constant__ FewCentres centres, int parts, Totals totals) {
  assign_box<false>(s, centres.centre, parts, totals.sums + static_cast<int>(blockIdx.x) % totals.copies * parts);
  totals.finish(parts);
}
__global__ void __launch_bounds__(block_points)
    assign_to_many(Sample s, const Centre* centres, int parts, Totals totals) {
  assign_box<true>(s, centres, parts, totals.sums + static_cast<int>(blockIdx.x) % totals.copies * parts);
  totals.finish(parts);
}

template <class... Parameters, class... Arguments>
void launch(Stream& stream, Lid blocks, void (*kernel)(Parameters...), Arguments... arguments) {
  if (blocks == 0) return;
  const cuda::CurrentDevice current(stream.device().index());
  kernel<<<static_cast<unsigned>(blocks), block_points, 0, static_cast<cudaStream_t>(stream.native())>>>(arguments...);
  TUTTI_CUDA_CHECK(cudaGetLastError());
  stream.device().counts().launches += 1;
}

}  // namespace tutti::voronoi::gpu
