// Ways to make a Jacobi sweep of a uniform grid on a GPU: what bench_flow_kernels compares. Arrays have one layer of
// ghosts, whose values do not change; every way gives the same bits.
#pragma once

#include "tutti/device/cuda/check.hpp"
#include "tutti/exchange/for_each_cell.hpp"
#include "tutti/models/incompressible/flow_kernel.hpp"

namespace tutti {

/// next = (sum of weighted neighbours - rhs) / diagonal, 10 flops: three pairs, three weights, three sums.
template <class T>
struct UniformSweep {
  BoxArray array;
  const T *p, *rhs;
  T* next;
  T weight[3], inverse;  ///< 1 / h^2 a direction, 1 / diagonal
  TUTTI_HD T value(T west, T east, T south, T north, T below, T above, T f) const {
    return (weight[0] * (west + east) + weight[1] * (south + north) + weight[2] * (below + above) - f) * inverse;
  }
  TUTTI_HD void operator()(Lid i, Lid j, Lid k) const {
    const Lid n = array.at(i, j, k), row = array.row(), plane = array.plane();
    next[n] = value(p[n - 1], p[n + 1], p[n - row], p[n + row], p[n - plane], p[n + plane], rhs[n]);
  }
};

/// As the model has it: lengths of any grid, 26 flops.
template <class T>
struct AnySweep {
  GridView<T> g;
  const T *p, *rhs;
  T* next;
  TUTTI_HD void operator()(Lid i, Lid j, Lid k) const {
    const Lid at[3] = {i, j, k};
    const Lid n = g.array.at(i, j, k);
    T diagonal;
    const T sum = laplacian_neighbours(g, p, n, at, diagonal);
    next[n] = (sum - rhs[n]) / diagonal;
  }
};

/// A thread a column: what lies below and above is in registers (Micikevicius 2009).
template <class T>
__global__ void march(CellBox box, UniformSweep<T> sweep, Lid planes) {
  const Lid i = box.lower[0] + static_cast<Lid>(blockIdx.x * blockDim.x + threadIdx.x);
  const Lid j = box.lower[1] + static_cast<Lid>(blockIdx.y * blockDim.y + threadIdx.y);
  const Lid first = box.lower[2] + static_cast<Lid>(blockIdx.z) * planes;
  if (i >= box.upper[0] || j >= box.upper[1]) return;
  const Lid last = min(first + planes, box.upper[2]);
  const Lid row = sweep.array.row(), plane = sweep.array.plane();
  Lid n = sweep.array.at(i, j, first);
  const T* p = sweep.p;
  T below = p[n - plane], here = p[n];
  for (Lid k = first; k < last; ++k, n += plane) {
    const T above = p[n + plane];
    sweep.next[n] = sweep.value(p[n - 1], p[n + 1], p[n - row], p[n + row], below, above, sweep.rhs[n]);
    below = here;
    here = above;
  }
}

inline constexpr int tile_x = 64, tile_y = 8;  // threads of a block; two less each way have a result

/// Two sweeps a pass: a block marches in z; the first sweep's values of a plane go through shared memory, those of a
/// column stay in registers. Tiles overlap by the cells whose first sweep two blocks make.
template <class T>
__global__ void __launch_bounds__(tile_x* tile_y) march_twice(CellBox box, UniformSweep<T> sweep, Lid planes) {
  __shared__ T middle[2][tile_y][tile_x];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const Lid i = box.lower[0] + static_cast<Lid>(blockIdx.x) * (tile_x - 2) + x - 1;
  const Lid j = box.lower[1] + static_cast<Lid>(blockIdx.y) * (tile_y - 2) + y - 1;
  const Lid first = box.lower[2] + static_cast<Lid>(blockIdx.z) * planes, last = min(first + planes, box.upper[2]);
  const Lid row = sweep.array.row(), plane = sweep.array.plane();
  // Ghosts keep their values; threads beyond them only wait.
  const bool stored = i <= box.upper[0] && j <= box.upper[1];
  const bool inside = i >= box.lower[0] && i < box.upper[0] && j >= box.lower[1] && j < box.upper[1];
  const bool result = inside && x > 0 && x < tile_x - 1 && y > 0 && y < tile_y - 1;
  const T* p = sweep.p;
  Lid n = stored ? sweep.array.at(i, j, first - 1) : 0;
  T below = T(0), here = T(0), f = T(0);            // p below and at the plane that the first sweep makes
  T made_below = T(0), made = T(0), f_made = T(0);  // first sweep below and at the plane that the second makes
  if (stored) {
    here = p[n];
    below = first - 1 > box.lower[2] - 1 ? p[n - plane] : T(0);
  }
  int side = 0;
  for (Lid k = first - 1; k <= last; ++k, n += plane) {
    T now = here;
    if (stored) {
      const bool wall = k < box.lower[2] || k >= box.upper[2];
      const T above = k < box.upper[2] ? p[n + plane] : T(0);
      if (inside && !wall) {
        f = sweep.rhs[n];
        now = sweep.value(p[n - 1], p[n + 1], p[n - row], p[n + row], below, above, f);
      }
      below = here;
      here = above;
    }
    // The plane before: all its first values are in shared memory since the last barrier.
    if (result && k > first)
      sweep.next[n - plane] =
          sweep.value(middle[side ^ 1][y][x - 1], middle[side ^ 1][y][x + 1], middle[side ^ 1][y - 1][x],
                      middle[side ^ 1][y + 1][x], made_below, now, f_made);
    middle[side][y][x] = now;
    made_below = made;
    made = now;
    f_made = f;
    side ^= 1;
    __syncthreads();
  }
}

inline unsigned blocks(Lid cells, Lid of) {
  return static_cast<unsigned>((cells + of - 1) / of);
}

template <class T>
void launch_march(Stream& stream, const CellBox& box, const UniformSweep<T>& sweep, Lid planes) {
  const dim3 block(64, 4), grid(blocks(box.size(0), 64), blocks(box.size(1), 4), blocks(box.size(2), planes));
  march<<<grid, block, 0, static_cast<cudaStream_t>(stream.native())>>>(box, sweep, planes);
  TUTTI_CUDA_CHECK(cudaGetLastError());
}

template <class T>
void launch_march_twice(Stream& stream, const CellBox& box, const UniformSweep<T>& sweep, Lid planes) {
  const dim3 block(tile_x, tile_y);
  const dim3 grid(blocks(box.size(0), tile_x - 2), blocks(box.size(1), tile_y - 2), blocks(box.size(2), planes));
  march_twice<<<grid, block, 0, static_cast<cudaStream_t>(stream.native())>>>(box, sweep, planes);
  TUTTI_CUDA_CHECK(cudaGetLastError());
}

}  // namespace tutti
