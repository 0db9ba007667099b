// Inviscid flow on straight hexahedra, p = 1, 2, 3, and tetrahedra, p = 3, tuned for GPUs: all products on tensor
// cores, from point values to fluxes to coefficients in registers. A warp works on tiles of 16 faces or elements,
// blocks stay resident and keep the tables in shared memory. The bits are those of FaceFluxes and AdvanceElements,
// which see the same orders of sums.
#pragma once

#include <algorithm>

#include "tutti/device/cuda/launch.hpp"
#include "tutti/models/compressible/kernels/launch.hpp"
#include "tutti/models/compressible/kernels/straight_view.hpp"
#include "tutti/models/compressible/kernels/tensor_cuda.cuh"

namespace tutti::compressible::straight {

/// How a kernel is cut: tiles that a block has at a time, blocks that a multiprocessor shall hold, which limits
/// registers, and warps that share a tile.
template <int tiles_, int resident_, int warps_ = 1>
struct Tuning {
  static constexpr int tiles = tiles_, resident = resident_, warps = warps_, threads = 32 * tiles_ * warps_;
};
template <int P>
using FaceTuning = Tuning<8, P == 3 ? 1 : 2>;
template <class Sizes>
using ElementTuning = Tuning<Sizes::order == 2 ? 12 : 8, Sizes::order == 1 ? 2 : 1>;

/// Where a thread is in its warp's tile: rows `row` and `row + 8`, column `column` of a step.
struct Place {
  int lane, warp, row, column;
  __device__ Place()
      : lane(static_cast<int>(threadIdx.x & 31)),
        warp(static_cast<int>(threadIdx.x >> 5)),
        row(lane >> 2),
        column(lane & 3) {}
};

/// Element rows of a thread's tile.
struct Pair {
  Lid upper, lower;
  __device__ __forceinline__ Lid operator[](int i) const { return i == 0 ? upper : lower; }
};

/// Tables into shared memory. They were copied to the GPU at set-up, so that a kernel loads them before it waits for
/// earlier work.
__device__ __forceinline__ void load_fragments(double* to, const double* from, int fragments) {
  for (int i = static_cast<int>(threadIdx.x); i < fragments * fragment_size / 2; i += static_cast<int>(blockDim.x))
    reinterpret_cast<double2*>(to)[i] = reinterpret_cast<const double2*>(from)[i];
}

using Turns = std::uint8_t[max_turns * tile_rows];
__device__ __forceinline__ void load_turns(Turns& to, const Turns& from) {
  for (unsigned i = threadIdx.x; i < sizeof(Turns); i += blockDim.x) to[i] = from[i];
}

/// Where this thread's entries of the tables of a right side are, which has its own order of the points: `own`.
struct OwnPoints {
  const std::uint8_t* own;
  Place at;
  /// Of a point's place in the two columns that a thread of the sums has of a step, less the step.
  __device__ __forceinline__ int column_of(int q) const { return 4 * (2 * (q % 4)) + at.column; }
  /// In fragments of traces: of column tile n.
  template <class Sizes>
  __device__ __forceinline__ int trace(int n) const {
    const int q = 4 * (2 * n + at.row % 2) + at.row / 2, there = q < Sizes::face_points ? own[q] : q;
    return fragment_size * (there / 8) + column_of(there) + 4 * (there / 4 % 2);
  }
  /// The own point of this thread's column of step `step` of slopes and spreads.
  __device__ __forceinline__ int point(int step) const { return own[4 * step + at.row / 2]; }
  __device__ __forceinline__ int column(int point) const { return column_of(point) + 4 * (at.row % 2); }
  /// In fragments of spreads, less the column: of this thread's row of step k. Padding has rows of zeros.
  __device__ __forceinline__ int spread(int k) const {
    const int q = 4 * k + at.column, there = q > 0 && own[q] == own[0] ? q : own[q];
    return fragment_size * (there / 4) + there % 4 - at.column;
  }
};

/// Grids of as many blocks as run at a time, or fewer where there is less to do; a block works on `at_once` tiles at a
/// time.
template <class Tuning, class Kernel, class... Arguments>
void launch(Stream& stream, Kernel kernel, Lid tiles, int at_once, std::size_t shared_doubles,
            const Arguments&... arguments) {
  if (tiles == 0) return;
  const cuda::CurrentDevice current(stream.device().index());
  int processors = 0;
  TUTTI_CUDA_CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, stream.device().index()));
  const auto bytes = shared_doubles * sizeof(double);
  TUTTI_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
  const Lid blocks = std::min<Lid>((tiles + at_once - 1) / at_once, processors * Tuning::resident);
  cuda::launch(stream, kernel, blocks, 32 * Tuning::warps * at_once, bytes, arguments...);
}

/// As many tiles at a time as a kernel is cut for, or fewer, where there is less shared memory for what each has.
inline int tiles_with_room(const Stream& stream, int tables, int of_each, int most) {
  int memory = 0;
  TUTTI_CUDA_CHECK(cudaDeviceGetAttribute(&memory, cudaDevAttrMaxSharedMemoryPerBlockOptin, stream.device().index()));
  const int room = (memory - static_cast<int>(sizeof(Turns))) / static_cast<int>(sizeof(double)) - tables;
  return std::clamp(room / of_each, 1, most);  // one fits: has_room_for_tuned_kernels()
}

/// The face of row `lane` of a tile, and its left element, of the second 16 rows its right one.
struct SideOfLane {
  Lid face, element;
  __device__ __forceinline__ SideOfLane(const StraightView& tuned, Lid tile, int lane) {
    const StraightFace& of = tuned.faces[Size{tile_rows} * tile + lane % tile_rows];
    face = __ldg(&of.face);
    element = lane < tile_rows ? __ldg(&of.left) : __ldg(&of.right);
  }
};

/// Doubles of a warp's tile of faces in shared memory: normals, and coefficients of both sides, which are fetched while
/// fluxes of the tile before are calculated. At order 2 it is faster to read them through L1.
template <int P>
struct InviscidFaceTile {
  static constexpr bool fetched = P != 2;
  static constexpr int rows = 2 * tile_rows, row = P == 2 ? 52 : FaceSizes<P>::values, of_rows = 3 * tile_rows,
                       doubles = of_rows + (fetched ? rows * row : 0);
};

/// Fluxes at the points of inner faces: tiles [first, end).
template <int P, FluxKind kind>
__global__ void __launch_bounds__(FaceTuning<P>::threads, FaceTuning<P>::resident)
    face_kernel(Range tiles, StraightView tuned, const double* normals, Gas gas, const double* __restrict__ u,
                double* flux) {
  using Sizes = FaceSizes<P>;
  using Tile = InviscidFaceTile<P>;
  extern __shared__ __align__(16) double shared[];
  __shared__ Turns own;
  load_fragments(shared, tuned.trace_fragments, tuned.traces * Sizes::trace_fragments);
  load_turns(own, tuned.own);
  u = cuda::wait_for_earlier_work(u);
  __syncthreads();
  const Place at;
  double* const normals_here = shared + fragment_size * tuned.traces * Sizes::trace_fragments + at.warp * Tile::doubles;
  double* const rows_here = normals_here + Tile::of_rows;
  const Lid at_once = static_cast<Lid>(blockDim.x) / 32, step_of_tiles = static_cast<Lid>(gridDim.x) * at_once;
  Lid tile = tiles.begin + static_cast<Lid>(blockIdx.x) * at_once + at.warp;
  if (tile >= tiles.end) return;
  // Behind the last tile, that is fetched once more.
  const auto side_of = [&](Lid t) { return SideOfLane(tuned, t < tiles.end ? t : tile, at.lane); };
  const auto fetch_rows = [&](const SideOfLane& of) {
    copy_rows_ahead<Sizes::values / 2, Tile::rows, Tile::row, 1>(
        rows_here, at.lane, [&](int i) { return u + Size{Sizes::values} * __shfl_sync(~0U, of.element, i); });
  };
  SideOfLane of = side_of(tile);
  if (Tile::fetched) fetch_rows(of);
  for (; tile < tiles.end; tile += step_of_tiles) {
    const TileSides sides = TileSides::of(__ldg(tuned.tables + tile));
    const OwnPoints points{own + tile_rows * sides.turn, at};
    const SideOfLane next = side_of(tile + step_of_tiles);
    const Lid faces[2] = {__shfl_sync(~0U, of.face, at.row), __shfl_sync(~0U, of.face, at.row + 8)};
    if (Tile::fetched) wait_for_copies();
    __syncwarp();
    if (at.lane < tile_rows)
#pragma unroll
      for (int d = 0; d < 3; ++d) copy_one_ahead(normals_here + 3 * at.lane + d, normals + Size{3} * of.face + d);
    double states[2][Sizes::face_tiles][variables][4];
#pragma unroll
    for (int side = 0; side < 2; ++side) {
      const double* fragments =
          shared + fragment_size * Sizes::trace_fragments * (side == 0 ? sides.left : sides.right);
      int place[Sizes::face_tiles];
#pragma unroll
      for (int n = 0; n < Sizes::face_tiles; ++n)
        place[n] = side == 0 ? fragment_size * n + at.lane : points.trace<Sizes>(n);
      const auto row = [&](int i) {
        const int k = tile_rows * side + at.row + i;
        return Tile::fetched ? rows_here + Tile::row * k : u + Size{Sizes::values} * __shfl_sync(~0U, of.element, k);
      };
      const auto read = [](const double* from) { return Tile::fetched ? *from : __ldg(from); };
      const double *x = row(0), *y = row(8);
#pragma unroll
      for (int n = 0; n < Sizes::face_tiles; ++n)
#pragma unroll
        for (int v = 0; v < variables; ++v)
#pragma unroll
          for (int i = 0; i < 4; ++i) states[side][n][v][i] = 0;
#pragma unroll
      for (int k = 0; k < Sizes::base_steps; ++k) {
        const int l = 4 * k + at.column;
        const bool valid = 4 * k + 3 < Sizes::bases || l < Sizes::bases;
#pragma unroll
        for (int v = 0; v < variables; ++v) {
          const double a = valid ? read(x + v * Sizes::bases + l) : 0, b = valid ? read(y + v * Sizes::bases + l) : 0;
#pragma unroll
          for (int n = 0; n < Sizes::face_tiles; ++n)
            add_step(states[side][n][v], a, b, fragments[fragment_size * Sizes::face_tiles * k + place[n]]);
        }
      }
    }
    wait_for_copies();
    __syncwarp();
    if (Tile::fetched) fetch_rows(next);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const double* n = normals_here + 3 * (at.row + 8 * half);
      const Vec3 normal{n[0], n[1], n[2]};
      double* to = flux + Size{Sizes::face_values} * faces[half] + at.column;
#pragma unroll
      for (int step = 0; step < Sizes::face_steps; ++step) {
        double l[variables], r[variables], f[variables];
#pragma unroll
        for (int v = 0; v < variables; ++v) {
          l[v] = states[0][step / 2][v][2 * half + step % 2];
          r[v] = states[1][step / 2][v][2 * half + step % 2];
        }
        numerical_flux(kind, gas, l, r, normal, f);
#pragma unroll
        for (int v = 0; v < variables; ++v) to[v * Sizes::face_points + 4 * step] = f[v];
      }
    }
    of = next;
  }
  wait_for_copies();
}

/// Doubles of a warp's tile in shared memory: coefficients, rows padded against bank conflicts, metric, and twice what
/// tells of faces: scales of lifts, and sides.
template <class Sizes>
struct ElementTile {
  static constexpr int row = Sizes::order == 2 ? 52 : Sizes::values, metric = tile_rows * row,
                       at_faces = metric + tile_rows * 9, of_faces = tile_rows * Sizes::faces,
                       doubles = at_faces + 3 * of_faces;
};

/// What a tile's elements are told of their faces.
template <class Sizes>
struct TileFaces {
  double* scales;
  std::int32_t* sides;

  __device__ __forceinline__ TileFaces(double* tile, int buffer)
      : scales(tile + ElementTile<Sizes>::at_faces + buffer * (ElementTile<Sizes>::of_faces * 3 / 2)),
        sides(reinterpret_cast<std::int32_t*>(scales + ElementTile<Sizes>::of_faces)) {}
  /// Copies it; row(i): of the tile's i-th element.
  template <class Row>
  __device__ __forceinline__ void fetch(const StraightView& tuned, int lane, const Row& row) const {
    constexpr int each = Sizes::faces;
#pragma unroll 1
    for (int i = lane; i < tile_rows * each; i += 32)
      copy_one_ahead(scales + i, tuned.scales + Size{each} * row(i / each) + i % each);
    for (int i = 2 * lane; i < tile_rows * each; i += 64)
      copy_one_ahead(reinterpret_cast<double*>(sides + i),  // two of an element
                     reinterpret_cast<const double*>(tuned.sides + Size{each} * row(i / each) + i % each));
  }
};

/// The new coefficients of a tile, in the layout of sums.
template <class Sizes>
struct Sums {
  double value[Sizes::base_tiles][variables][4];

  template <class F>
  __device__ __forceinline__ void each(int column, const F& f) {
#pragma unroll
    for (int n = 0; n < Sizes::base_tiles; ++n)
#pragma unroll
      for (int v = 0; v < variables; ++v) {
        const int l = 8 * n + 2 * column;
        if (8 * n + 7 < Sizes::bases || l < Sizes::bases) f(value[n][v], v * Sizes::bases + l);
      }
  }
  /// Adds weight x; x, y are the rows of this thread.
  __device__ __forceinline__ void add(int column, double weight, bool first, const double* x, const double* y) {
    each(column, [&](double(&sum)[4], int i) {
      const double2 a = *reinterpret_cast<const double2*>(x + i), b = *reinterpret_cast<const double2*>(y + i);
      sum[0] = first ? weight * a.x : std::fma(weight, a.x, sum[0]);
      sum[1] = first ? weight * a.y : std::fma(weight, a.y, sum[1]);
      sum[2] = first ? weight * b.x : std::fma(weight, b.x, sum[2]);
      sum[3] = first ? weight * b.y : std::fma(weight, b.y, sum[3]);
    });
  }
  /// As begin_stage(). Where a term is the state u itself, it is read from shared memory: from `upper` and `lower`,
  /// once arrived() has returned, which is called in any case. row(i): of the tile's i-th element.
  template <class Row, class Arrived>
  __device__ __forceinline__ void begin(const Place& at, const StageArrays& stage, const double* u, const double* upper,
                                        const double* lower, const Row& row, const Arrived& arrived) {
    const auto of = [&](const double* array, int i) { return array + Size{Sizes::values} * row(at.row + i); };
    bool there = false;
#pragma unroll
    for (int k = 0; k <= max_terms; ++k) {
      const bool own = k < max_terms && k < stage.count && stage.x[k] == u;
      if (!there && (own || k == max_terms)) {
        arrived();
        there = true;
      }
      if (k < max_terms && k < stage.count)
        add(at.column, stage.weight[k], k == 0, own ? upper : of(stage.x[k], 0), own ? lower : of(stage.x[k], 8));
    }
    if (stage.source != nullptr) add(at.column, stage.factor, false, of(stage.source, 0), of(stage.source, 8));
  }
  /// As end_stage().
  __device__ __forceinline__ void store(int column, const StageArrays& stage, Lid x, Lid y) {
    each(column, [&](double(&sum)[4], int i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const Size to = Size{Sizes::values} * (half == 0 ? x : y) + i;
        const double2 value_{sum[2 * half], sum[2 * half + 1]};
        *reinterpret_cast<double2*>(stage.out + to) = value_;
        if (stage.second == nullptr) continue;
        const double2 base = *reinterpret_cast<const double2*>(stage.base + to);
        *reinterpret_cast<double2*>(stage.second + to) = {std::fma(stage.second_factor, value_.x, base.x),
                                                          std::fma(stage.second_factor, value_.y, base.y)};
      }
    });
  }
};

/// Fluxes at a face of this thread's two rows.
template <class Sizes>
struct TileFluxes {
  const Place& at;
  const TileFaces<Sizes>& faces;
  const std::uint8_t* turns;
  const double* flux;
  double a[Sizes::face_steps][variables], b[Sizes::face_steps][variables];

  __device__ __forceinline__ void fetch_step(int f, int step) {
    const std::int32_t upper = faces.sides[Sizes::faces * at.row + f],
                       lower = faces.sides[Sizes::faces * (at.row + 8) + f];
    const double *x = from(upper, step), *y = from(lower, step);
#pragma unroll
    for (int v = 0; v < variables; ++v) {
      a[step][v] = __ldg(x + v * Sizes::face_points);
      b[step][v] = __ldg(y + v * Sizes::face_points);
    }
  }
  /// Of the first face.
  __device__ __forceinline__ void fetch() {
#pragma unroll
    for (int step = 0; step < Sizes::face_steps; ++step) fetch_step(0, step);
  }

 private:
  __device__ __forceinline__ const double* from(std::int32_t side, int step) const {
    return flux + Size{Sizes::face_values} * (side / max_turns) +
           turns[tile_rows * (side % max_turns) + 4 * step + at.column];
  }
};

/// As add_faces(): fluxes of the first face are there, those of the next are under way while those of this one are
/// multiplied.
template <class Sizes>
__device__ __forceinline__ void add_tile_faces(const double* fragments, double factor, TileFluxes<Sizes>& through,
                                               Sums<Sizes>& sums) {
  const auto add = [&](int f, auto more) {
    const double s = factor * through.faces.scales[Sizes::faces * through.at.row + f],
                 t = factor * through.faces.scales[Sizes::faces * (through.at.row + 8) + f];
#pragma unroll
    for (int step = 0; step < Sizes::face_steps; ++step) {
      double c[variables], d[variables];
#pragma unroll
      for (int v = 0; v < variables; ++v) {
        c[v] = s * through.a[step][v];
        d[v] = t * through.b[step][v];
      }
      if constexpr (more()) through.fetch_step(f + 1, step);
#pragma unroll
      for (int n = 0; n < Sizes::base_tiles; ++n) {
        const double table =
            fragments[fragment_size * (Sizes::of_lift + (f * Sizes::face_steps + step) * Sizes::base_tiles + n)];
#pragma unroll
        for (int v = 0; v < variables; ++v) add_step(sums.value[n][v], c[v], d[v], table);
      }
    }
  };
  // The last face by itself: where a fetch depends on a condition, every iteration waits for its end.
#pragma unroll 1
  for (int f = 0; f < Sizes::faces - 1; ++f) add(f, std::true_type());
  add(Sizes::faces - 1, std::false_type());
}

/// As add_volume(); m, n: the metric of this thread's rows.
template <class Sizes>
__device__ __forceinline__ void add_tile_volume(const Place& at, const PartView& view, const double* fragments,
                                                const double* u, const double* w, const double* m, const double* n,
                                                Lid x, Lid y, Sums<Sizes>& sums) {
#pragma unroll 1
  for (int tile = 0; tile < Sizes::point_tiles; ++tile) {
    double states[variables][4] = {};
#pragma unroll
    for (int k = 0; k < Sizes::base_steps; ++k) {
      const int l = 4 * k + at.column;
      const bool valid = 4 * k + 3 < Sizes::bases || l < Sizes::bases;
      const double table = fragments[fragment_size * (Sizes::of_values + k * Sizes::point_tiles + tile)];
#pragma unroll
      for (int v = 0; v < variables; ++v)
        add_step(states[v], valid ? u[v * Sizes::bases + l] : 0, valid ? w[v * Sizes::bases + l] : 0, table);
    }
    double inverse[4], p[4];
    bool physical = true;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      double state[variables];
#pragma unroll
      for (int v = 0; v < variables; ++v) state[v] = states[v][i];
      inverse[i] = inverse_of(state[0]);
      p[i] = pressure(view.gas, state, inverse[i]);
      physical = physical && state[0] > 0 && p[i] > 0;
    }
    if (!physical) {  // one branch: points are computed side by side
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        double state[variables];
#pragma unroll
        for (int v = 0; v < variables; ++v) state[v] = states[v][i];
        watch(view, i < 2 ? x : y, state);
      }
    }
    // As the projection's rows: direction after direction, both steps of each.
#pragma unroll
    for (int d = 0; d < 3; ++d)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int step = 2 * tile + half;
        if (Sizes::point_steps % 2 == 1 && step >= Sizes::point_steps) continue;
        double state[variables], f[variables], g[variables];
#pragma unroll
        for (int v = 0; v < variables; ++v) state[v] = states[v][half];
        flux_along(state, inverse[half], p[half], m + 3 * d, f);
#pragma unroll
        for (int v = 0; v < variables; ++v) state[v] = states[v][2 + half];
        flux_along(state, inverse[2 + half], p[2 + half], n + 3 * d, g);
#pragma unroll
        for (int k = 0; k < Sizes::base_tiles; ++k) {
          const double table =
              fragments[fragment_size * (Sizes::of_projection + (step * 3 + d) * Sizes::base_tiles + k)];
#pragma unroll
          for (int v = 0; v < variables; ++v) add_step(sums.value[k][v], f[v], g[v], table);
        }
      }
  }
}

template <class Sizes>
__global__ void __launch_bounds__(ElementTuning<Sizes>::threads, ElementTuning<Sizes>::resident)
    element_kernel(Range rows, Lid tiles, PartView view, StraightView tuned, const double* u, const double* flux,
                   StageArrays stage) {
  using Tile = ElementTile<Sizes>;
  extern __shared__ __align__(16) double shared[];
  __shared__ Turns turns;
  load_fragments(shared, tuned.element_fragments, Sizes::element_fragments);
  load_turns(turns, tuned.turns);
  u = cuda::wait_for_earlier_work(u);
  __syncthreads();
  const Place at;
  const double* fragments = shared + at.lane;
  double* states = shared + fragment_size * Sizes::element_fragments + at.warp * Tile::doubles;
  double* metric = states + Tile::metric;
  // The last tile has its last element several times.
  const Lid last = rows.end - 1, at_once = static_cast<Lid>(blockDim.x) / 32,
            step_of_tiles = static_cast<Lid>(gridDim.x) * at_once;
  const auto rows_of = [&](Lid tile) {
    const Lid first = rows.begin + tile_rows * tile;
    return [first, last](int i) { return first + i < last ? first + i : last; };
  };
  Lid tile = static_cast<Lid>(blockIdx.x) * at_once + at.warp;
  if (tile < tiles) TileFaces<Sizes>(states, 0).fetch(tuned, at.lane, rows_of(tile));
  for (int buffer = 0; tile < tiles; tile += step_of_tiles, buffer = 1 - buffer) {
    const auto row = rows_of(tile);
    wait_for_copies();
    __syncwarp();
    copy_rows_ahead<Sizes::values / 2, tile_rows, Tile::row, 1>(
        states, at.lane, [&](int i) { return u + Size{Sizes::values} * row(i); });
#pragma unroll 1
    for (int i = at.lane; i < tile_rows * 9; i += 32)
      copy_one_ahead(metric + i, view.metric + Size{9} * row(i / 9) + i % 9);
    if (tile + step_of_tiles < tiles)
      TileFaces<Sizes>(states, 1 - buffer).fetch(tuned, at.lane, rows_of(tile + step_of_tiles));
    const Lid x = row(at.row), y = row(at.row + 8);
    const TileFaces<Sizes> faces(states, buffer);
    TileFluxes<Sizes> through{at, faces, turns, flux, {}, {}};
    through.fetch();
    Sums<Sizes> sums = {};
    const double* upper = states + at.row * Tile::row;
    const double* lower = upper + 8 * Tile::row;
    sums.begin(at, stage, u, upper, lower, row, [] {
      wait_for_copies();
      __syncwarp();
    });
#pragma unroll 1
    for (int i = at.lane; i < tile_rows * 9; i += 32) metric[i] *= stage.factor;
    __syncwarp();
    add_tile_faces<Sizes>(fragments, stage.factor, through, sums);
    add_tile_volume<Sizes>(at, view, fragments, upper, lower, metric + 9 * at.row, metric + 9 * (at.row + 8), x, y,
                           sums);
    sums.store(at.column, stage, x, y);
  }
}

template <int P>
void compute_fluxes(Stream& stream, Range tiles, const PartView& view, const StraightView& tuned, const double* u,
                    double* flux) {
  const int tables = tuned.traces * FaceSizes<P>::trace_fragments * fragment_size;
  constexpr int of_each = InviscidFaceTile<P>::doubles;
  const int at_once = tiles_with_room(stream, tables, of_each, FaceTuning<P>::tiles);
  const auto go = [&](auto kernel) {
    launch<FaceTuning<P>>(stream, kernel, tiles.size(), at_once, static_cast<std::size_t>(tables + at_once * of_each),
                          tiles, tuned, view.normals, view.gas, u, flux);
  };
  if (view.flux == FluxKind::llf)
    go(face_kernel<P, FluxKind::llf>);
  else if (view.flux == FluxKind::roe)
    go(face_kernel<P, FluxKind::roe>);
  else
    go(face_kernel<P, FluxKind::hllc>);
}

template <class Sizes>
void advance_elements(Stream& stream, Range rows, const PartView& view, const StraightView& tuned, const double* u,
                      const double* flux, const StageArrays& stage) {
  using Cut = ElementTuning<Sizes>;
  constexpr int tables = Sizes::element_fragments * fragment_size, of_each = ElementTile<Sizes>::doubles;
  const int at_once = tiles_with_room(stream, tables, of_each, Cut::tiles);
  const Lid tiles = (rows.size() + tile_rows - 1) / tile_rows;
  launch<Cut>(stream, element_kernel<Sizes>, tiles, at_once, static_cast<std::size_t>(tables + at_once * of_each), rows,
              tiles, view, tuned, u, flux, stage);
}

}  // namespace tutti::compressible::straight
