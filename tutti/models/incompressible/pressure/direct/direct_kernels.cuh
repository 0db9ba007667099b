// Kernels of the direct solver on a GPU. A transform is a product of matrices whose sums are single chains of fma in
// ascending order, as on the CPU; folding and unfolding of lines (line_modes.hpp) happen on the way to and from the
// tiles in shared memory.
#pragma once

#include <cstdint>
#include <utility>

#include "tutti/device/cuda/launch.hpp"
#include "tutti/models/incompressible/pressure/direct/fast_group.hpp"
#include "tutti/models/incompressible/pressure/direct/line_transform.hpp"
#include "tutti/models/incompressible/pressure/direct/tridiagonal_rows.hpp"

namespace tutti::incompressible::direct {

// A block makes 64 results of 128 lines, of both halves of the matrix; a thread 8 x 4 of each. So each value that is
// read from shared memory takes part in five sums or more, and 64 chains hide the latency of one.
inline constexpr int tile_rows = 64, tile_lines = 128, block_threads = 256;
inline constexpr int rows_a_thread = 8, lines_a_thread = 4;
inline constexpr int padding = 4;  // lines along x are transposed into shared memory: else their places share banks
template <class T>
constexpr int depth = 32 / static_cast<int>(sizeof(T));  // terms of the sums between two barriers
template <class T>
constexpr int vector_values = 16 / static_cast<int>(sizeof(T));  // of one load from shared memory

/// What is done with the two halves of a line: nothing, as there is one; both are made of it; it is made of both.
enum class Halves : std::uint8_t { none, fold, unfold };

/// Line l of an array: value j is at first[(l / per_plane) * plane + (l % per_plane) * line + j * step].
template <class T>
struct Lines {
  T* first;
  Size plane, line, step;
  Lid per_plane;
  __device__ Size at(Lid l) const { return (l / per_plane) * plane + (l % per_plane) * line; }
};

/// Rows in panels of tile_rows, [panel][column][row of the panel], as LineTransformView.
template <class T>
struct Panels {
  const T *even_rows, *odd_rows;
  Lid even, odd;
};

template <class T>
struct alignas(16) Vector {
  T value[vector_values<T>];
};

/// Read as vectors.
template <class T, int halves>
struct alignas(16) Tile {
  T matrix[halves][depth<T>][tile_rows];
  T lines[halves][depth<T>][tile_lines + padding];
};

/// One thread's part of a tile on its way from memory.
template <class T, LineAxis axis, Halves halves>
class Loader {
 public:
  static constexpr int sides = halves == Halves::none ? 1 : 2;
  static constexpr int line_values = depth<T> * tile_lines / block_threads;
  static constexpr int matrix_values = depth<T> * tile_rows / block_threads;

  __device__ Loader(const Panels<T>& panels, const Lines<const T>& in, Lid row, Lid line, Lid lines)
      : panels_(panels), in_(in), row_(row) {
#pragma unroll
    for (int e = 0; e < own_lines; ++e) {
      const Lid l = line + line_of(e);
      there_[e] = l < lines;
      at_[e] = there_[e] ? in.at(l) : 0;
    }
  }
  __device__ void load(Lid from) {
#pragma unroll
    for (int e = 0; e < line_values; ++e) load_pair(from + term_of(e), e);
#pragma unroll
    for (int e = 0; e < matrix_values; ++e) {
      const Lid j = from + matrix_term(e);
      matrix_[0][e] = element(panels_.even_rows, panels_.even, j);
      if constexpr (sides == 2) matrix_[1][e] = element(panels_.odd_rows, panels_.odd, j);
    }
  }
  __device__ void store(Tile<T, sides>& tile) const {
#pragma unroll
    for (int s = 0; s < sides; ++s) {
#pragma unroll
      for (int e = 0; e < line_values; ++e) tile.lines[s][term_of(e)][line_of(e)] = lines_[s][e];
#pragma unroll
      for (int e = 0; e < matrix_values; ++e) tile.matrix[s][matrix_term(e)][matrix_row()] = matrix_[s][e];
    }
  }

 private:
  // Threads side by side read what lies side by side: along x terms of a line, along y lines.
  static constexpr int own_lines = axis == LineAxis::x ? line_values : 1;
  __device__ static int me() {
    return static_cast<int>(threadIdx.x);
  }
  __device__ static int term_of(int e) {
    return axis == LineAxis::x ? me() % depth<T> : me() / tile_lines + e * (block_threads / tile_lines);
  }
  __device__ static int line_of(int e) {
    return axis == LineAxis::x ? me() / depth<T> + e * (block_threads / depth<T>) : me() % tile_lines;
  }
  __device__ static int matrix_term(int e) {
    return me() / tile_rows + e * (block_threads / tile_rows);
  }
  __device__ static int matrix_row() {
    return me() % tile_rows;
  }

  __device__ T element(const T* panels, Lid size, Lid j) const {
    return row_ < size && j < size ? __ldg(panels + (Size{row_} * size + Size{j} * tile_rows + matrix_row())) : T(0);
  }
  __device__ T value(int own, Lid j) const {
    return __ldg(in_.first + at_[own] + j * in_.step);
  }
  __device__ void load_pair(Lid j, int e) {
    const int own = axis == LineAxis::x ? e : 0;
    const bool even = there_[own] && j < panels_.even, odd = there_[own] && j < panels_.odd;
    if constexpr (halves == Halves::fold) {
      const T a = even ? value(own, j) : T(0), b = odd ? value(own, panels_.even + panels_.odd - 1 - j) : T(0);
      lines_[0][e] = odd ? a + b : a;
      lines_[1][e] = a - b;
    } else {
      lines_[0][e] = even ? value(own, j) : T(0);
      if constexpr (halves == Halves::unfold) lines_[1][e] = odd ? value(own, panels_.even + j) : T(0);
    }
  }

  Panels<T> panels_;
  Lines<const T> in_;
  Lid row_;
  Size at_[own_lines];
  bool there_[own_lines];
  T lines_[sides][line_values], matrix_[sides][matrix_values];
};

/// A thread's results of a tile.
template <class T, LineAxis axis, int sides>
class Sums {
 public:
  /// Terms [0, count) of side s.
  __device__ void add(const Tile<T, sides>& tile, int s, int k) {
    T a[rows_a_thread], b[lines_a_thread];
#pragma unroll
    for (int r = 0; r < rows_a_thread; r += vector_values<T>) get(a + r, &tile.matrix[s][k][row(r)]);
#pragma unroll
    for (int l = 0; l < lines_a_thread; l += vector_values<T>) get(b + l, &tile.lines[s][k][line(l)]);
#pragma unroll
    for (int r = 0; r < rows_a_thread; ++r)
#pragma unroll
      for (int l = 0; l < lines_a_thread; ++l) sum[s][r][l] = std::fma(a[r], b[l], sum[s][r][l]);
  }
  /// Of the tile: the row of the thread's r-th sums, the line of its l-th.
  __device__ static int row(int r) {
    constexpr int v = vector_values<T>;
    return r / v * (8 * v) + group_row() * v + r % v;
  }
  __device__ static int line(int l) {
    constexpr int v = vector_values<T>;
    return l / v * (32 * v) + group_line() * v + l % v;
  }

  T sum[sides][rows_a_thread][lines_a_thread] = {};

 private:
  // 8 x 32 groups. A warp's results lie side by side in memory as far as they can: rows along x, lines along y.
  __device__ static int lane() {
    return static_cast<int>(threadIdx.x) % 32;
  }
  __device__ static int warp() {
    return static_cast<int>(threadIdx.x) / 32;
  }
  __device__ static int group_row() {
    return axis == LineAxis::x ? lane() % 8 : lane() / 8 + warp() % 2 * 4;
  }
  __device__ static int group_line() {
    return axis == LineAxis::x ? lane() / 8 + warp() * 4 : lane() % 8 + warp() / 2 * 8;
  }
  __device__ static void get(T* to, const T* from) {
    const Vector<T> v = *reinterpret_cast<const Vector<T>*>(from);
#pragma unroll
    for (int i = 0; i < vector_values<T>; ++i) to[i] = v.value[i];
  }
};

/// The results of one line, where they belong.
template <class T, Halves halves, int sides>
__device__ inline void put(const Panels<T>& panels, const T (&sum)[sides], Lid k, T* line, Size step) {
  if constexpr (halves == Halves::unfold) {
    const Lid last = panels.even + panels.odd - 1;
    if (k < panels.odd) {
      line[k * step] = sum[0] + sum[1];
      line[(last - k) * step] = sum[0] - sum[1];
    } else if (k < panels.even) {
      line[k * step] = sum[0];
    }
  } else {
    if (k < panels.even) line[k * step] = sum[0];
    if constexpr (halves == Halves::fold)
      if (k < panels.odd) line[(panels.even + k) * step] = sum[1];
  }
}

/// Blocks: row tiles of the even half, fastest, times tiles of lines.
template <class T, LineAxis axis, Halves halves>
__global__ void __launch_bounds__(block_threads, sizeof(T) == 4 ? 2 : 1)
    transform_kernel(Panels<T> panels, Lines<const T> in, Lines<T> out, Lid lines, Lid row_tiles) {
  cuda::wait_for_earlier_work();
  constexpr int sides = halves == Halves::none ? 1 : 2;
  __shared__ Tile<T, sides> tiles[2];
  const Lid row = static_cast<Lid>(blockIdx.x) % row_tiles * tile_rows;
  const Lid line = static_cast<Lid>(blockIdx.x) / row_tiles * tile_lines;
  Loader<T, axis, halves> loader(panels, in, row, line, lines);
  Sums<T, axis, sides> sums;
  loader.load(0);
  loader.store(tiles[0]);
  __syncthreads();
  int now = 0;
  for (Lid from = 0; from < panels.even; from += depth<T>, now ^= 1) {
    const bool more = from + depth<T> < panels.even;
    if (more) loader.load(from + depth<T>);
    const Tile<T, sides>& tile = tiles[now];
    // The odd half is the shorter one, by one term at most.
    if (from + depth<T> <= (sides == 2 ? panels.odd : panels.even)) {
#pragma unroll
      for (int k = 0; k < depth<T>; ++k)
#pragma unroll
        for (int s = 0; s < sides; ++s) sums.add(tile, s, k);
    } else {
      const Lid even = min(depth<T>, panels.even - from), odd = panels.odd - from;
      for (int k = 0; k < even; ++k) {
        sums.add(tile, 0, k);
        if constexpr (sides == 2)
          if (k < odd) sums.add(tile, 1, k);
      }
    }
    if (more) loader.store(tiles[now ^ 1]);
    __syncthreads();
  }
#pragma unroll
  for (int l = 0; l < lines_a_thread; ++l) {
    const Lid at = line + sums.line(l);
    if (at >= lines) continue;
    T* const to = out.first + out.at(at);
#pragma unroll
    for (int r = 0; r < rows_a_thread; ++r) {
      T one[sides];
#pragma unroll
      for (int s = 0; s < sides; ++s) one[s] = sums.sum[s][r][l];
      put<T, halves>(panels, one, row + sums.row(r), to, out.step);
    }
  }
}

/// What a fast transform reads: values of an array.
template <class T>
struct ArrayLines {
  Lines<const T> in;
  struct Line {
    const T* first;
    Size step;
    __device__ T operator()(Lid place) const { return __ldg(first + place * step); }
  };
  __device__ Line line(Lid l) const { return {in.first + in.at(l), in.step}; }
};
/// Between the transforms of solve_by_modes: one thread per mode, columns fastest.
template <class T>
__global__ void divide_modes_kernel(Lines<T> columns, const T* along, const T* lambdas, Lid count, Lid rows) {
  cuda::wait_for_earlier_work();
  const Size i = Size{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= Size{count} * rows) return;
  const Lid k = static_cast<Lid>(i / count), c = static_cast<Lid>(i % count);
  T& value = columns.first[columns.at(c) + k * columns.step];
  value = solved_mode(value, __ldg(lambdas + c), __ldg(along + k));
}

/// Or div u* / dt along x, of rows from plane `begin` on.
template <class T>
struct DivergenceLines {
  DivergenceRows<T> rows;
  Lid per_plane, begin;
  struct Line {
    const T *u, *v, *w, *x;
    Lid row, plane;
    T width, y, z, factor;
    bool equal_x;
    __device__ T operator()(Lid i) const {
      return DivideDivergence<T>::value(__ldg(u + i) - __ldg(u + i - 1), __ldg(v + i) - __ldg(v + i - row),
                                        __ldg(w + i) - __ldg(w + i - plane), equal_x ? width : __ldg(x + i), y, z,
                                        factor);
    }
  };
  __device__ Line line(Lid l) const {
    const DivideDivergence<T>& pass = rows.pass;
    const GridView<T>& g = pass.g;
    Lid at[3];
    rows.first_cell(begin + l / per_plane, l % per_plane, at);
    const Lid n = g.array.at(at[0], at[1], at[2]);
    const T* const x = g.line[0].inverse_width + (at[0] - g.line[0].first);
    const T y = g.line[1].width(at[1]), z = g.line[2].width(at[2]);
    return {pass.u[0] + n,   pass.u[1] + n, pass.u[2] + n, x, g.stride(1), g.stride(2), __ldg(x), y, z,
            pass.inverse_dt, rows.equal_x};
  }
};

/// Numbers of points for which the kernel is compiled by itself: it has no divisions then, and its passes are unrolled.
/// Lines of 96, 160, 192, 320, 384, 640 and 768 cells; powers of two have kernels of their own.
using FrequentPoints = std::integer_sequence<Lid, 48, 80, 96, 160, 192, 320, 384>;

/// A group of lines a block, its two arrays of points in shared memory: each value is read and written once. `points`:
/// of the plan, or 0.
template <class T, LineAxis axis, Lid points, class In>
__global__ void __launch_bounds__(block_threads)
    fast_transform_kernel(FastLineView<T> plan, const __grid_constant__ In in, Lines<T> out, Lid lines, int exponent) {
  cuda::wait_for_earlier_work();
  if constexpr (points > 0) {
    plan.points = points;
    constexpr Radices radices = radices_of(points);
    plan.radices = radices;
    exponent = fast_lines_exponent<T>(points);
  }
  extern __shared__ __align__(16) char memory[];
  T* const values = reinterpret_cast<T*>(memory);
  const Lid first = static_cast<Lid>(blockIdx.x) << exponent;
  const FastGroup<T> work{plan, values, min(1 << exponent, static_cast<int>(lines - first)), exponent};
  const int me = static_cast<int>(threadIdx.x);
  // Threads side by side read what lies side by side: along x points of a line, along y lines.
  work.load(me, block_threads, axis == LineAxis::x, [&](int line) { return in.line(first + line); });
  __syncthreads();
  Lid before = 1, twiddles = 0;
#pragma unroll
  for (int pass = 0; pass < plan.radices.count; ++pass) {
    work.pass(me, block_threads, pass, before, twiddles);
    __syncthreads();
  }
  work.store(me, block_threads, axis == LineAxis::x, [&](int line) {
    return [to = out.first + out.at(first + line), step = out.step](Lid place, T value) { to[place * step] = value; };
  });
}

inline constexpr int turn_tile = 32, turn_rows = 8;  // a block's squares, and the rows of one that it moves at once
/// Planes that change places with rows: value i of row j of plane k, at from[i + j * from_row + k * from_plane], to
/// to[k + j * to_row + i * to_plane].
template <class T>
struct Turn {
  const T* from;
  Size from_row, from_plane;
  T* to;
  Size to_row, to_plane;
  Lid sizes[3];  ///< of i, j, k
};
/// Blocks: squares along i, fastest, times squares along k, times rows.
template <class T>
__global__ void __launch_bounds__(turn_tile* turn_rows) turn_kernel(Turn<T> turn, Lid along_i, Lid along_k) {
  cuda::wait_for_earlier_work();
  __shared__ T square[turn_tile][turn_tile + 1];  // columns in banks of their own
  const Lid block = static_cast<Lid>(blockIdx.x), x = static_cast<Lid>(threadIdx.x), y = static_cast<Lid>(threadIdx.y);
  const Lid i = block % along_i * turn_tile, k = block / along_i % along_k * turn_tile, j = block / along_i / along_k;
#pragma unroll
  for (int r = 0; r < turn_tile; r += turn_rows)
    if (i + x < turn.sizes[0] && k + y + r < turn.sizes[2])
      square[y + r][x] = __ldg(turn.from + (i + x + j * turn.from_row + (k + y + r) * turn.from_plane));
  __syncthreads();
#pragma unroll
  for (int r = 0; r < turn_tile; r += turn_rows)
    if (k + x < turn.sizes[2] && i + y + r < turn.sizes[0])
      turn.to[k + x + j * turn.to_row + (i + y + r) * turn.to_plane] = square[x][y + r];
}

// Loads of so many rows are under way at once: within a column each row waits for the one before.
inline constexpr int rows_at_once = 8;

/// ColumnRows as kernels read them: nothing is asked where no rows are apart, and all addresses are made of one that is
/// known to be of the GPU's memory (of two that are chosen between the compiler forgets it: elimination took 0.83 ms
/// instead of 0.56).
template <class T, bool apart>
struct GpuRows {
  static constexpr bool some_apart = apart;
  T* values;
  Size stride;
  Range rows;         ///< that are apart
  Size offset, step;  ///< from `values` to the first of them, and from one to the next
  GpuRows() = default;
  explicit GpuRows(const ColumnRows<T>& of)
      : values(of.values),
        stride(of.stride),
        rows(of.apart),
        offset((reinterpret_cast<std::intptr_t>(of.apart_values) - reinterpret_cast<std::intptr_t>(of.values)) /
               static_cast<std::intptr_t>(sizeof(T))),
        step(of.apart_stride) {}
  /// Does each row begin at a multiple of 16 bytes?
  bool aligned() const {
    constexpr Size together = 16 / sizeof(T);
    return reinterpret_cast<std::uintptr_t>(values) % 16 == 0 && stride % together == 0 &&
           (!some_apart || (offset % together == 0 && step % together == 0));
  }
  /// use(rows) for rows [from, to), which nearly always lie at one distance: then it is asked once what they are.
  template <class Use>
  __device__ void some(Lid from, Lid to, const Use& use) const {
    if constexpr (apart) {
      const bool inside = from >= rows.begin && to <= rows.end;
      if (!inside && from < rows.end && to > rows.begin) return use(*this);
      GpuRows<T, false> alike;
      alike.values = values + (inside ? offset - rows.begin * step : Size{0});
      alike.stride = inside ? step : stride;
      use(alike);
    } else {
      use(*this);
    }
  }
  __device__ T* row(Lid k) const {
    if constexpr (apart)
      return values + (k >= rows.begin && k < rows.end ? offset + (k - rows.begin) * step : k * stride);
    else
      return values + k * stride;
  }
};

/// What a kernel does with the rows that there are: all of them, or those of a part of the line (LinePart).
enum class Sweep : std::uint8_t { both, up, down };
/// Where a part's rows belong, and what its columns keep between up and down, one value a column.
template <class T>
struct PartColumns {
  bool first = true, last = true;
  const T* lost = nullptr;  ///< as in LinePart
  std::int32_t* settled = nullptr;
  T *even = nullptr, *odd = nullptr;
};

/// As solve_block and solve_cyclic_block, a thread a column. ratios, slacks: `stride` values a row.
template <class T, bool cyclic, bool apart, Sweep sweep>
__global__ void eliminate_kernel(TridiagonalView<T> line, PartColumns<T> part, const T* lambdas,
                                 GpuRows<T, apart> values, T* ratios, T* slacks, Size stride, Range columns,
                                 Lid left_out) {
  cuda::wait_for_earlier_work();
  const Lid column = columns.begin + static_cast<Lid>(blockIdx.x * blockDim.x + threadIdx.x);
  if (column >= columns.end || column == left_out) return;
  const T lambda = lambdas[column];
  values.values += column;
  ratios += column;
  if constexpr (cyclic) slacks += column;
  const Lid rows = cyclic ? line.size - 1 : line.size;
  T lost = part.first ? T(1) : part.lost[column], value = part.first ? T(0) : *values.row(-1), slack = 0;
  for (Lid from = 0; from < rows && sweep != Sweep::down; from += rows_at_once) {
    T f[rows_at_once];
#pragma unroll
    for (int r = 0; r < rows_at_once; ++r) f[r] = from + r < rows ? *values.row(from + r) : T(0);
#pragma unroll
    for (int r = 0; r < rows_at_once; ++r) {
      const Lid k = from + r;
      if (k >= rows) break;
      const T below = line.conductance[k], above = line.conductance[k + 1], h = line.widths[k];
      const EliminatedRow<T> row = eliminate_row(below, above, h, lambda, f[r], value, lost);
      value = row.value;
      *values.row(k) = value;
      ratios[k * stride] = row.ratio;
      if constexpr (cyclic) slacks[k * stride] = slack = eliminate_slack(below, h, lambda, row.inverse, slack);
    }
  }
  if (sweep == Sweep::up) return;
  // Back: value and slack are those of the last eliminated row now, or value is p of the row above.
  if (sweep == Sweep::down) value = *values.row(rows);
  const T value_below_last = value, slack_below_last = slack;
  for (Lid from = sweep == Sweep::down ? rows - 1 : rows - 2; from >= 0; from -= rows_at_once) {
    T v[rows_at_once], ratio[rows_at_once], s[rows_at_once];
#pragma unroll
    for (int r = 0; r < rows_at_once; ++r) {
      const bool there = from - r >= 0;
      v[r] = there ? *values.row(from - r) : T(0);
      ratio[r] = there ? ratios[(from - r) * stride] : T(0);
      if constexpr (cyclic) s[r] = there ? slacks[(from - r) * stride] : T(0);
    }
#pragma unroll
    for (int r = 0; r < rows_at_once; ++r) {
      if (from - r < 0) break;
      *values.row(from - r) = value = std::fma(ratio[r], value, v[r]);
      if constexpr (cyclic) slacks[(from - r) * stride] = slack = std::fma(ratio[r], slack, s[r]);
    }
  }
  if constexpr (cyclic) {
    const Lid last = rows;
    const T p = last_of_cycle(line.conductance[last], line.conductance[last + 1], line.widths[last], lambda,
                              *values.row(last), value, value_below_last, slack, slack_below_last);
    *values.row(last) = p;
    for (Lid from = 0; from < last; from += rows_at_once) {
      T v[rows_at_once], s[rows_at_once];
#pragma unroll
      for (int r = 0; r < rows_at_once; ++r) {
        v[r] = from + r < last ? *values.row(from + r) : T(0);
        s[r] = from + r < last ? slacks[(from + r) * stride] : T(0);
      }
#pragma unroll
      for (int r = 0; r < rows_at_once; ++r)
        if (from + r < last) *values.row(from + r) = std::fma(1 - s[r], p, v[r]);
    }
  }
}

/// Doubles of shared memory that null_column_by_block takes.
TUTTI_HD constexpr Size null_column_room(Lid rows) {
  return 3 * Size{rows} + 4;
}
/// As solve_null_column, bit for bit, by a block: what is a chain is computed by one thread, which finds all that it
/// needs in shared memory, 24 bytes a row, and keeps p there. row(k): its value in row k.
template <class T, class Row>
__device__ inline void null_column_by_block(const TridiagonalView<T>& line, const Row& row, double* memory) {
  constexpr int at_once = 8;
  const Lid n = line.size, me = static_cast<Lid>(threadIdx.x), threads = static_cast<Lid>(blockDim.x);
  double* const common = memory;  // mean of f, then of p
  double *const widths = common + 2, *const distances = widths + n, *const values = distances + n;
  for (Lid k = me; k < n; k += threads) {
    widths[k] = line.exact_widths[k];
    distances[k] = line.distances[k + 1];
    values[k] = static_cast<double>(row(k));
  }
  __syncthreads();
  // use(k, width, distance, value) for all rows, of which some are loaded before they are used.
  const auto each = [&](const auto& use) {
    for (Lid from = 0; from < n; from += at_once) {
      double w[at_once], d[at_once], v[at_once];
#pragma unroll
      for (int r = 0; r < at_once; ++r) {
        const Lid k = min(from + r, n - 1);
        w[r] = widths[k];
        d[r] = distances[k];
        v[r] = values[k];
      }
#pragma unroll
      for (int r = 0; r < at_once; ++r)
        if (from + r < n) use(from + r, w[r], d[r], v[r]);
    }
  };
  double length = 0;
  if (me == 0) {
    double mean = 0;
    each([&](Lid, double width, double, double f) {
      mean = std::fma(width, f, mean);
      length += width;
    });
    common[0] = mean / length;
  }
  __syncthreads();
  for (Lid k = me; k < n; k += threads) values[k] -= common[0];
  __syncthreads();
  if (me == 0) {
    double first_flow = 0;
    if (line.cyclic) {
      double flow = 0, sum = 0, way = 0;
      each([&](Lid, double width, double distance, double f) {
        flow = std::fma(width, f, flow);
        sum = std::fma(distance, flow, sum);
        way += distance;
      });
      first_flow = -sum / way;
    }
    double flow = 0, p = 0, mean = 0;
    each([&](Lid k, double width, double distance, double f) {
      values[k] = p;
      mean = std::fma(width, p, mean);
      flow = std::fma(width, f, flow);
      p = std::fma(distance, first_flow + flow, p);
    });
    common[1] = mean / length;
  }
  __syncthreads();
  for (Lid k = me; k < n; k += threads) row(k) = static_cast<T>(values[k] - common[1]);
}

/// The constant column of `rows`, and those of its rows that are `part` to their places. `fits`: null_column_room() is
/// there; else one thread goes to memory for each value.
template <class T, bool apart>
__global__ void null_column_kernel(TridiagonalView<T> line, GpuRows<T, apart> rows, Lid null, bool fits,
                                   GpuRows<T, apart> to, Lid there, Range part) {
  cuda::wait_for_earlier_work();
  extern __shared__ __align__(16) char memory[];
  const auto row = [&](Lid k) -> T& { return rows.row(k)[null]; };
  if (fits)
    null_column_by_block(line, row, reinterpret_cast<double*>(memory));
  else if (threadIdx.x == 0)
    solve_null_column(line, row);
  __syncthreads();
  for (Lid k = part.begin + static_cast<Lid>(threadIdx.x); k < part.end; k += static_cast<Lid>(blockDim.x))
    to.row(k - part.begin)[there] = row(k);
}

}  // namespace tutti::incompressible::direct
