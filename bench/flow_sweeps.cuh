// Two Jacobi sweeps a pass on a GPU: p, the right-hand side and the new p move once for both. What bench_flow_kernels
// compares with the model's sweep.
#pragma once

#include "tutti/models/incompressible/jacobi_cuda.cuh"

namespace tutti {

/// How the kernel is cut: threads of a block in x and y, rows a thread (cells of a column in y, one after the other),
/// and blocks that a multiprocessor shall hold.
template <int x_, int y_, int rows_, int resident_>
struct TwiceTuning {
  static constexpr int x = x_, y = y_, rows = rows_, resident = resident_, threads = x * y, tile = y * rows;
};

/// Values of a thread's rows that a plane takes: those above, and the right-hand side.
template <class T, int rows>
struct TwicePlane {
  T above[rows], rhs[rows];
};

/// A block marches in z over a tile of x times `tile` cells, with results for two less each way; tiles overlap by the
/// cells whose first sweep two blocks make. The first sweep's values of a plane go through shared memory, those of a
/// column stay in registers. The box is the whole grid; ends are those of JacobiSweep, and so are the bits.
template <class Tuning, class T>
__global__ void __launch_bounds__(Tuning::threads, Tuning::resident)
    twice_kernel(CellBox box, JacobiSweep<T, UniformStencil> sweep, Lid planes) {
  constexpr int rows = Tuning::rows;
  __shared__ T middle[2][Tuning::tile][Tuning::x];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y) * rows;
  const Lid i = box.lower[0] + static_cast<Lid>(blockIdx.x) * (Tuning::x - 2) + x - 1;
  const Lid j = box.lower[1] + static_cast<Lid>(blockIdx.y) * (Tuning::tile - 2) + y - 1;
  const Lid first = box.lower[2] + static_cast<Lid>(blockIdx.z) * planes, last = min(first + planes, box.upper[2]);
  const Lid row = sweep.array.row(), plane = sweep.array.plane();
  const UniformStencil<T> s = sweep.stencil;
  const Mirrors<T> ends = sweep.ends;
  const bool in_line = i >= box.lower[0] && i < box.upper[0];
  unsigned stored = 0, inside = 0, result = 0;  // a bit a row
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const bool in_box = in_line && j + r >= box.lower[1] && j + r < box.upper[1];
    if (i <= box.upper[0] && j + r <= box.upper[1]) stored |= 1U << r;
    if (in_box) inside |= 1U << r;
    if (in_box && x > 0 && x < Tuning::x - 1 && y + r > 0 && y + r < Tuning::tile - 1) result |= 1U << r;
  }
  const auto has = [](unsigned set, int r) { return (set >> r & 1U) != 0; };
  // Of plane k, whose cells p points to.
  const auto load = [&](TwicePlane<T, rows>& to, const T* p, const T* f, Lid k) {
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      to.above[r] = has(stored, r) && k < box.upper[2] ? __ldg(p + r * row + plane) : T(0);
      to.rhs[r] = has(inside, r) && k >= box.lower[2] && k < box.upper[2] ? __ldcs(f + r * row) : T(0);
    }
  };
  const Lid n = sweep.array.at(i, j, first - 1);
  const T *p = sweep.p + n, *f = sweep.rhs + n;
  T* next = sweep.next + n;
  T below[rows], here[rows];                     // p below and at the plane that the first sweep makes
  T made_below[rows], made[rows], f_made[rows];  // first sweep below and at the plane that the second makes
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    here[r] = has(stored, r) ? __ldg(p + r * row) : T(0);
    below[r] = has(stored, r) && first > box.lower[2] ? __ldg(p + r * row - plane) : T(0);
    made_below[r] = made[r] = f_made[r] = T(0);
  }
  TwicePlane<T, rows> now, ahead;
  load(now, p, f, first - 1);
  int side = 0;
  for (Lid k = first - 1; k <= last; ++k, p += plane, f += plane, next += plane, side ^= 1) {
    if (k < last) load(ahead, p + plane, f + plane, k + 1);
    const bool wall = k < box.lower[2] || k >= box.upper[2];
    T fresh[rows];
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      fresh[r] = here[r];
      if (wall || !has(inside, r)) continue;
      const T south = r > 0 ? here[r > 0 ? r - 1 : 0] : __ldg(p - row);
      const T north = r + 1 < rows ? here[r + 1 < rows ? r + 1 : r] : __ldg(p + rows * row);
      fresh[r] =
          sweep.relaxed(here[r], s.value(s.weight[0], s.weight[1], s.weight[2], __ldg(p + r * row - 1),
                                         __ldg(p + r * row + 1), south, north, below[r], now.above[r], now.rhs[r]));
    }
    // The plane before: all its first values are in shared memory since the last barrier.
    if (k > first) {
      const T(&flat)[Tuning::tile][Tuning::x] = middle[side ^ 1];
#pragma unroll
      for (int r = 0; r < rows; ++r) {
        if (!has(result, r)) continue;
        const T lower = k - 1 == 0 && ends.lower[2] != 0 ? ends.lower[2] * made[r] : made_below[r];
        const T upper = k - 1 == ends.last[2] && ends.upper[2] != 0 ? ends.upper[2] * made[r] : fresh[r];
        const T value = sweep.relaxed(
            made[r], s.value(s.weight[0], s.weight[1], s.weight[2], flat[y + r][x - 1], flat[y + r][x + 1],
                             flat[y + r - 1][x], flat[y + r + 1][x], lower, upper, f_made[r]));
        T* const to = next + r * row - plane;
        *to = value;
        if (i == 0 && ends.lower[0] != 0) to[-1] = ends.lower[0] * value;
        if (i == ends.last[0] && ends.upper[0] != 0) to[1] = ends.upper[0] * value;
        if (j + r == 0 && ends.lower[1] != 0) to[-row] = ends.lower[1] * value;
        if (j + r == ends.last[1] && ends.upper[1] != 0) to[row] = ends.upper[1] * value;
        if (k - 1 == 0 && ends.lower[2] != 0) to[-plane] = ends.lower[2] * value;
        if (k - 1 == ends.last[2] && ends.upper[2] != 0) to[plane] = ends.upper[2] * value;
      }
    }
    // What lies beyond an end is set by the cell before it, as in a sweep.
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const bool mirrored = (i < 0 && ends.lower[0] != 0) || (i > ends.last[0] && ends.upper[0] != 0) ||
                            (j + r < 0 && ends.lower[1] != 0) || (j + r > ends.last[1] && ends.upper[1] != 0);
      if (!mirrored) middle[side][y + r][x] = fresh[r];
      if (has(inside, r)) {
        if (i == 0 && ends.lower[0] != 0) middle[side][y + r][x - 1] = ends.lower[0] * fresh[r];
        if (i == ends.last[0] && ends.upper[0] != 0 && x + 1 < Tuning::x)
          middle[side][y + r][x + 1] = ends.upper[0] * fresh[r];
        if (j + r == 0 && ends.lower[1] != 0) middle[side][y + r - 1][x] = ends.lower[1] * fresh[r];
        if (j + r == ends.last[1] && ends.upper[1] != 0 && y + r + 1 < Tuning::tile)
          middle[side][y + r + 1][x] = ends.upper[1] * fresh[r];
      }
      made_below[r] = made[r];
      made[r] = fresh[r];
      f_made[r] = now.rhs[r];
      below[r] = here[r];
      here[r] = now.above[r];
    }
    now = ahead;
    __syncthreads();
  }
}

/// Enqueues two sweeps over a whole grid.
template <class Tuning, class T>
void launch_twice(Stream& stream, const CellBox& box, const JacobiSweep<T, UniformStencil>& sweep) {
  const auto blocks = [](Lid cells, Lid of) { return static_cast<unsigned>((cells + of - 1) / of); };
  const unsigned along_x = blocks(box.size(0), Tuning::x - 2), along_y = blocks(box.size(1), Tuning::tile - 2);
  const Lid planes =
      planes_to_march(Gid{along_x} * along_y, box.size(2), Gid{multiprocessors(stream.device())} * Tuning::resident, 4);
  const dim3 grid(along_x, along_y, blocks(box.size(2), planes));
  twice_kernel<Tuning>
      <<<grid, dim3(Tuning::x, Tuning::y), 0, static_cast<cudaStream_t>(stream.native())>>>(box, sweep, planes);
  TUTTI_CUDA_CHECK(cudaGetLastError());
}

}  // namespace tutti
