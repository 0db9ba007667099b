// The Jacobi sweep tuned for GPUs: threads march in z, several cells of a plane each, with the planes ahead under way.
//
// What is above and below a cell stays in registers (Micikevicius 2009). Blocks cut a plane as it lies in memory, row
// after row with the ghosts between them, and not into tiles: where planes hold a multiple of four values, all loads
// and stores but those of the rows beside are then of 16 aligned bytes, though rows are two values longer than a power
// of two. The bits are those of JacobiSweep.
#pragma once

#include <cstdint>

#include "tutti/models/incompressible/passes/march_cuda.cuh"
#include "tutti/models/incompressible/pressure/jacobi_kernel.hpp"

namespace tutti::incompressible {

/// How the kernel is cut. cells: of a plane a thread, one after the other, 1, 2 or 4; threads: of a block; resident:
/// blocks that a multiprocessor shall hold, which limits registers; ahead: planes that are loaded before they are
/// needed; sides: are the cells beside, too? Caches have most of them.
template <int cells_, int threads_, int resident_, int ahead_, bool sides_>
struct MarchTuning {
  static constexpr int cells = cells_, threads = threads_, resident = resident_, ahead = ahead_;
  static constexpr bool sides = sides_;
};

/// What the model takes; bench_flow_kernels compares others. A block takes the two rows beside its own from the second
/// cache, so it should have several rows itself.
template <class T, template <class> class Stencil>
struct ModelMarch {
  using Tuning = MarchTuning<16 / static_cast<int>(sizeof(T)), 512, 2, 1, true>;
};
template <class T>
struct ModelMarch<T, MetricStencil> {
  using Tuning = MarchTuning<16 / static_cast<int>(sizeof(T)), 768, 1, 1, sizeof(T) == 4>;
};
namespace detail {

/// What a plane needs beside the cells' own values and those below.
template <class T, int cells>
struct MarchPlane {
  T above[cells], rhs[cells], south[cells], north[cells];
  T edge;  ///< the first thread's of a warp: beside its first cell; the last one's: beside its last cell

  __device__ void load(const T* p, const T* f, Lid plane) {
    load_aligned<cells>(p + plane, above);
    stream_aligned<cells>(f, rhs);
  }
  /// The rows beside are aligned to pairs only.
  __device__ void load_sides(const T* p, Lid row, int lane) {
    constexpr int pair = cells > 1 ? 2 : 1;
#pragma unroll
    for (int c = 0; c < cells; c += pair) {
      load_aligned<pair>(p - row + c, south + c);
      load_aligned<pair>(p + row + c, north + c);
    }
    if (lane == 0 || lane == 31) edge = __ldg(p + (lane == 0 ? -1 : cells));
  }
};

/// A thread's cells: which of them are in the box, and which set a value beyond an end.
template <int cells>
struct MarchCells {
  enum : unsigned { inside = 1, west = 2, east = 4, south = 8, north = 16, bits = 5 };
  unsigned flags = 0;      ///< `bits` a cell
  Lid i[cells], j[cells];  ///< where it is, or is beside the box, the nearest in it

  /// `at`: of the first cell in a plane.
  template <class T>
  __device__ MarchCells(const CellBox& box, const BoxArray& array, const Mirrors<T>& ends, Lid at) {
#pragma unroll
    for (int c = 0; c < cells; ++c) {
      const Lid line = (at + c) / array.row();
      const Lid x = at + c - line * array.row() + array.stored.lower[0], y = line + array.stored.lower[1];
      i[c] = min(max(x, box.lower[0]), box.upper[0] - 1);
      j[c] = min(max(y, box.lower[1]), box.upper[1] - 1);
      if (i[c] != x || j[c] != y) continue;
      unsigned flag = inside;
      if (x == 0 && ends.lower[0] != 0) flag |= west;
      if (x == ends.last[0] && ends.upper[0] != 0) flag |= east;
      if (y == 0 && ends.lower[1] != 0) flag |= south;
      if (y == ends.last[1] && ends.upper[1] != 0) flag |= north;
      flags |= flag << (bits * c);
    }
  }
  __device__ bool has(int c, unsigned flag) const {
    return (flags >> (bits * c) & flag) != 0;
  }
  /// All of them are cells of the box, and none sets a value beyond an end in x or y.
  __device__ bool plain() const {
    unsigned all = 0;
#pragma unroll
    for (int c = 0; c < cells; ++c) all |= inside << (bits * c);
    return flags == all;
  }
  template <class T>
  __device__ void store(T* next, const T* values, const Mirrors<T>& ends, Lid row) const {
#pragma unroll
    for (int c = 0; c < cells; ++c) {
      if (!has(c, inside)) continue;
      next[c] = values[c];
      if (has(c, west)) next[c - 1] = ends.lower[0] * values[c];
      if (has(c, east)) next[c + 1] = ends.upper[0] * values[c];
      if (has(c, south)) next[c - row] = ends.lower[1] * values[c];
      if (has(c, north)) next[c + row] = ends.upper[1] * values[c];
    }
  }
  /// Beyond an end in z.
  template <class T>
  __device__ void store_beyond(T* beyond, const T* values, T factor) const {
#pragma unroll
    for (int c = 0; c < cells; ++c)
      if (has(c, inside)) beyond[c] = factor * values[c];
  }
};

/// Cells of a plane that a launch goes over: from the first of the box to the last, with all that lies between.
struct MarchSpan {
  Lid begin, last;  ///< first cells of the first and of the last thread that is needed
  __host__ __device__ MarchSpan(const CellBox& box, const BoxArray& array, int cells) {
    const Lid first = array.at(box.lower[0], box.lower[1], array.stored.lower[2]);
    const Lid end = array.at(box.upper[0] - 1, box.upper[1] - 1, array.stored.lower[2]);
    begin = first / cells * cells;
    last = end / cells * cells;
  }
};

/// Over `planes` planes a block; grid: blocks of a plane, and of planes. Whole warps, for neighbours are shuffled.
template <class Tuning, class T, template <class> class Stencil>
__global__ void __launch_bounds__(Tuning::threads, Tuning::resident)
    march_kernel(CellBox box, JacobiSweep<T, Stencil> sweep, Lid planes) {
  cuda::wait_for_earlier_work();
  constexpr int cells = Tuning::cells, ahead = Tuning::ahead;
  const MarchSpan span(box, sweep.array, cells);
  const Lid row = sweep.array.row(), plane = sweep.array.plane();
  // Threads behind the last one compute what nobody wants; the first of them has the last one's neighbour.
  const Lid mine = span.begin + static_cast<Lid>(blockIdx.x * Tuning::threads + threadIdx.x) * cells;
  const Lid at = min(mine, span.last + cells);
  const MarchCells<cells> own(box, sweep.array, sweep.ends, at);
  const bool plain = own.plain();
  const int lane = static_cast<int>(threadIdx.x % 32);
  typename Stencil<T>::Weights x[cells], y[cells];
#pragma unroll
  for (int c = 0; c < cells; ++c) {
    x[c] = sweep.stencil.along(0, own.i[c]);
    y[c] = sweep.stencil.along(1, own.j[c]);
  }
  const Lid first = box.lower[2] + static_cast<Lid>(blockIdx.y) * planes, end = min(first + planes, box.upper[2]);
  const Lid n = (first - sweep.array.stored.lower[2]) * plane + at;
  const T *p = sweep.p + n, *f = sweep.rhs + n;
  T* next = sweep.next + n;
  T below[cells], here[cells];
  load_aligned<cells>(p - plane, below);
  load_aligned<cells>(p, here);
  MarchPlane<T, cells> pipe[ahead + 1];
  const auto load = [&](MarchPlane<T, cells>& to, int away) {
    to.load(p + away * plane, f + away * plane, plane);
    if (Tuning::sides) to.load_sides(p + away * plane, row, lane);
  };
#pragma unroll
  for (int a = 0; a < ahead; ++a)
    if (first + a < end) load(pipe[a], a);
  for (Lid k = first; k < end; ++k, p += plane, f += plane, next += plane) {
    if (k + ahead < end) load(pipe[ahead], ahead);
    MarchPlane<T, cells>& now = pipe[0];
    if (!Tuning::sides) now.load_sides(p, row, lane);
    T west = __shfl_up_sync(~0U, here[cells - 1], 1), east = __shfl_down_sync(~0U, here[0], 1);
    if (lane == 0) west = now.edge;
    if (lane == 31) east = now.edge;
    const auto z = sweep.stencil.along(2, k);
    T values[cells];
#pragma unroll
    for (int c = 0; c < cells; ++c)
      values[c] = sweep.relaxed(
          here[c], sweep.stencil.value(x[c], y[c], z, c > 0 ? here[c - 1] : west, c + 1 < cells ? here[c + 1] : east,
                                       now.south[c], now.north[c], below[c], now.above[c], now.rhs[c]));
    if (plain)
      store_aligned<cells>(next, values);
    else
      own.store(next, values, sweep.ends, row);
    if (k == 0 && sweep.ends.lower[2] != 0) own.store_beyond(next - plane, values, sweep.ends.lower[2]);
    if (k == sweep.ends.last[2] && sweep.ends.upper[2] != 0)
      own.store_beyond(next + plane, values, sweep.ends.upper[2]);
#pragma unroll
    for (int c = 0; c < cells; ++c) {
      below[c] = here[c];
      here[c] = now.above[c];
    }
#pragma unroll
    for (int a = 0; a < ahead; ++a) pipe[a] = pipe[a + 1];
  }
}

}  // namespace detail

/// Can a launch with so many cells a thread be? Values that are moved together have to be aligned.
template <int cells, class T, template <class> class Stencil>
bool can_march(const JacobiSweep<T, Stencil>& sweep) {
  constexpr int together = detail::wide_count<T, cells>;
  const auto aligned = [](const T* values) {
    return reinterpret_cast<std::uintptr_t>(values) % (sizeof(T) * together) == 0;
  };
  const Lid row = sweep.array.row();
  // What is read beside the last cell shall lie in the array.
  return row >= 2 * cells && (cells == 1 || row % 2 == 0) && sweep.array.plane() % together == 0 && aligned(sweep.p) &&
         aligned(sweep.rhs) && aligned(sweep.next);
}

/// Of a plane of the box.
template <class Tuning>
unsigned march_blocks(const CellBox& box, const BoxArray& array) {
  const detail::MarchSpan span(box, array, Tuning::cells);
  const Lid threads = (span.last - span.begin) / Tuning::cells + 1;
  return static_cast<unsigned>((threads + Tuning::threads - 1) / Tuning::threads);
}

/// Enqueues a sweep over a box, which is not empty.
template <class Tuning, class T, template <class> class Stencil>
void launch_march(Stream& stream, const CellBox& box, const JacobiSweep<T, Stencil>& sweep, Lid planes) {
  const dim3 grid(march_blocks<Tuning>(box, sweep.array), static_cast<unsigned>((box.size(2) + planes - 1) / planes));
  cuda::launch(stream, detail::march_kernel<Tuning, T, Stencil>, grid, Tuning::threads, 0, box, sweep, planes);
}

template <class Tuning, class T, template <class> class Stencil>
void launch_march(Stream& stream, const CellBox& box, const JacobiSweep<T, Stencil>& sweep) {
  const Gid slots = Gid{multiprocessors(stream.device())} * Tuning::resident;
  launch_march<Tuning>(stream, box, sweep,
                       planes_to_march(march_blocks<Tuning>(box, sweep.array), box.size(2), slots, 2));
}

/// Enqueues a sweep over a box as it is fastest; false: nothing was done, for a thread a cell is as fast.
template <class T, template <class> class Stencil>
bool march_on_gpu(Stream& stream, const CellBox& box, const JacobiSweep<T, Stencil>& sweep) {
  using Tuning = typename ModelMarch<T, Stencil>::Tuning;
  using Single = MarchTuning<1, Tuning::threads, Tuning::resident, Tuning::ahead, Tuning::sides>;
  // Layers that other parts wait for, and boxes that are a small part of the rows that hold them.
  if (box.size(2) < fewest_march_planes || box.size(0) < sweep.array.row() / 2) return false;
  if (can_march<Tuning::cells>(sweep))
    launch_march<Tuning>(stream, box, sweep);
  else if (can_march<1>(sweep))
    launch_march<Single>(stream, box, sweep);
  else
    return false;
  return true;
}

}  // namespace tutti::incompressible
