// Viscous flow on faces of straight tetrahedra and hexahedra and in hexahedra, p = 1, 2, 3, tuned for GPUs as inviscid
// flow is (straight_cuda.cuh); in tetrahedra: straight_slopes_cuda.cuh. The bits are those of ViscousFaceFluxes and
// AdvanceViscousElements, which see the same orders of sums.
//
// A warp works on a tile of faces, four points at a time: more gradients find no room in its registers. A tile of
// elements has five warps, one for each variable, which keep the coefficients of its gradient in registers and meet
// where fluxes at points take all variables.
#pragma once

#include "tutti/models/compressible/flux/viscous_flux.hpp"
#include "tutti/models/compressible/kernels/rhs.hpp"
#include "tutti/models/compressible/kernels/straight_cuda.cuh"

namespace tutti::compressible::straight {

// As many warps as there are registers for: where they spill, kernels take two to three times as long.
template <int P>
using ViscousFaceTuning = Tuning<8, 1>;
inline constexpr int viscous_tiles[] = {0, 4, 3, 2};  ///< of elements at a time, of order p
template <int P>
using ViscousElementTuning = Tuning<viscous_tiles[P], 1, variables>;

/// What a warp has of its tile of faces in shared memory: geometry, and up to p = 2 the coefficients of both sides,
/// which are fetched while it works on the tile before. Rows: 16 left sides, 16 right ones.
template <int P>
struct FaceTile {
  using Sizes = FaceSizes<P>;
  static constexpr int sides = 2 * tile_rows;
  static constexpr int buffers = P == 1 ? 2 : P == 2 ? 1 : 0;  ///< of coefficients
  static constexpr int row = P == 2 ? 52 : Sizes::values;      ///< padded against bank conflicts
  static constexpr int of_normals = 9 * sides, of_scales = of_normals + 3 * tile_rows, of_rows = of_scales + sides,
                       doubles = of_rows + buffers * sides * row;
  double* memory;

  /// Of row `side`.
  __device__ __forceinline__ double* metric(int side) const { return memory + 9 * side; }
  __device__ __forceinline__ double* normal(int face) const { return memory + of_normals + 3 * face; }
  __device__ __forceinline__ double* scale(int side) const { return memory + of_scales + side; }
  __device__ __forceinline__ double* rows(int buffer) const { return memory + of_rows + buffer * sides * row; }

  static __device__ __forceinline__ double read(const double* from) { return buffers > 0 ? *from : __ldg(from); }

  __device__ __forceinline__ void fetch_rows(const Place& at, const double* u, Lid element, int buffer) const {
    copy_rows_ahead<Sizes::values / 2, sides, row, 1>(
        rows(buffer), at.lane, [&](int i) { return u + Size{Sizes::values} * __shfl_sync(~0U, element, i); });
  }
  __device__ __forceinline__ void fetch_geometry(const Place& at, const PartView& view, const SideOfLane& of) const {
    const double* from = view.metric + Size{9} * of.element;
#pragma unroll
    for (int i = 0; i < 9; ++i) copy_one_ahead(metric(at.lane) + i, from + i);
    if (at.lane < tile_rows)
      for (int d = 0; d < 3; ++d) copy_one_ahead(normal(at.lane) + d, view.normals + Size{3} * of.face + d);
    copy_one_ahead(scale(at.lane), &view.faces[of.face].scale[at.lane / tile_rows]);
  }
};

/// The viscous flux along the normal of what a side has at a point: the state, its slopes in reference coordinates and
/// the spread of the jump. As ViscousFaceFluxes::gradient_at().
struct SideFlux {
  const Gas& gas;
  const double* metric;
  Vec3 normal;
  double factor;  ///< of the spread: eta times the scale of the side's lift

  __device__ __forceinline__ void operator()(const double (&state)[variables], const double (&slope)[3][variables],
                                             const double (&spread)[variables], double (&along)[variables]) const {
    double g[3][variables];
    const double n[3] = {normal.x, normal.y, normal.z};
#pragma unroll
    for (int d = 0; d < 3; ++d) {
      const double m[3] = {metric[d], metric[3 + d], metric[6 + d]}, share = factor * n[d];
#pragma unroll
      for (int v = 0; v < variables; ++v)
        g[d][v] = fused(share, spread[v], fused(m[2], slope[2][v], fused(m[1], slope[1][v], m[0] * slope[0][v])));
    }
    viscous_flux_along(gas, state, inverse_of(state[0]), g, normal, along);
  }
};

/// Where a side's coefficients are, of this thread's rows, and its tables.
struct TileSide {
  const double *upper, *lower, *fragments;
};

/// Half the jumps at the points of a tile of faces, as rows of the next product: [step][variable][upper, lower].
template <int P>
__device__ __forceinline__ void face_jumps(const Place& at, const TileSide (&sides)[2], const OwnPoints& points,
                                           double (&jump)[FaceSizes<P>::face_steps][variables][2]) {
  using Sizes = FaceSizes<P>;
  using Tile = FaceTile<P>;
  double states[2][Sizes::face_tiles][variables][4] = {};
#pragma unroll
  for (int side = 0; side < 2; ++side) {
    int place[Sizes::face_tiles];
#pragma unroll
    for (int n = 0; n < Sizes::face_tiles; ++n)
      place[n] = side == 0 ? fragment_size * n + at.lane : points.trace<Sizes>(n);
#pragma unroll
    for (int k = 0; k < Sizes::base_steps; ++k) {
      const int l = 4 * k + at.column;
      const bool valid = 4 * k + 3 < Sizes::bases || l < Sizes::bases;
#pragma unroll
      for (int v = 0; v < variables; ++v) {
        const double a = valid ? Tile::read(sides[side].upper + v * Sizes::bases + l) : 0,
                     b = valid ? Tile::read(sides[side].lower + v * Sizes::bases + l) : 0;
#pragma unroll
        for (int n = 0; n < Sizes::face_tiles; ++n)
          add_step(states[side][n][v], a, b, sides[side].fragments[fragment_size * Sizes::face_tiles * k + place[n]]);
      }
    }
  }
#pragma unroll
  for (int step = 0; step < Sizes::face_steps; ++step)
#pragma unroll
    for (int v = 0; v < variables; ++v)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int i = 2 * half + step % 2;
        jump[step][v][half] = 0.5 * (states[1][step / 2][v][i] - states[0][step / 2][v][i]);
      }
}

/// Fluxes and jumps at the points of inner faces, as ViscousFaceFluxes::inner_fluxes(): tiles [first, end).
template <int P, FluxKind kind>
__global__ void __launch_bounds__(ViscousFaceTuning<P>::threads, ViscousFaceTuning<P>::resident)
    viscous_face_kernel(Range tiles, PartView view, StraightView tuned, double eta, const double* __restrict__ u,
                        FaceArrays to) {
  using Sizes = FaceSizes<P>;
  using Cut = ViscousFaceTuning<P>;
  using Tile = FaceTile<P>;
  extern __shared__ __align__(16) double shared[];
  __shared__ Turns own;
  const int tables = tuned.traces * Sizes::viscous_trace_fragments * fragment_size;
  load_fragments(shared, tuned.trace_fragments, tuned.traces * Sizes::viscous_trace_fragments);
  load_turns(own, tuned.own);
  u = cuda::wait_for_earlier_work(u);
  __syncthreads();
  const Place at;
  const Tile here{shared + tables + at.warp * Tile::doubles};
  const Lid step_of_tiles = static_cast<Lid>(gridDim.x) * Cut::tiles;
  Lid tile = tiles.begin + static_cast<Lid>(blockIdx.x) * Cut::tiles + at.warp;
  if (tile >= tiles.end) return;
  // Behind the last tile, that is fetched once more.
  const auto side_of = [&](Lid t) { return SideOfLane(tuned, t < tiles.end ? t : tile, at.lane); };
  SideOfLane of = side_of(tile);
  if (Tile::buffers > 0) here.fetch_rows(at, u, of.element, 0);
  SideOfLane next = side_of(tile + step_of_tiles);
  int buffer = 0;
  for (; tile < tiles.end; tile += step_of_tiles) {
    const TileSides codes = TileSides::of(__ldg(tuned.tables + tile));
    const SideOfLane behind_next = side_of(tile + 2 * step_of_tiles);
    const OwnPoints points{own + tile_rows * codes.turn, at};
    const Lid faces[2] = {__shfl_sync(~0U, of.face, at.row), __shfl_sync(~0U, of.face, at.row + 8)};
    if (Tile::buffers > 0) {
      wait_for_copies();
      __syncwarp();
    }
    here.fetch_geometry(at, view, of);
    end_copies();
    if (Tile::buffers == 2) here.fetch_rows(at, u, next.element, 1 - buffer);
    end_copies();
    TileSide sides[2];
#pragma unroll
    for (int side = 0; side < 2; ++side) {
      const auto row = [&](int i) {
        const int k = tile_rows * side + at.row + i;
        return Tile::buffers > 0 ? here.rows(buffer) + Tile::row * k
                                 : u + Size{Sizes::values} * __shfl_sync(~0U, of.element, k);
      };
      sides[side] = {row(0), row(8),
                     shared + fragment_size * Sizes::viscous_trace_fragments * (side == 0 ? codes.left : codes.right)};
    }
    double jump[Sizes::face_steps][variables][2];
    face_jumps<P>(at, sides, points, jump);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      double* jumps = to.jump + Size{Sizes::face_values} * faces[half] + at.column;
#pragma unroll
      for (int step = 0; step < Sizes::face_steps; ++step)
#pragma unroll
        for (int v = 0; v < variables; ++v) jumps[v * Sizes::face_points + 4 * step] = jump[step][v][half];
    }
    wait_for_groups<1>();
    __syncwarp();
#pragma unroll 1
    for (int step = 0; step < Sizes::face_steps; ++step) {
      double left[2][variables], total[2][variables];
      const int point = points.point(step), column = points.column(point);
#pragma unroll
      for (int side = 0; side < 2; ++side) {
        const int there = side == 0 ? step : point / 4, place = side == 0 ? at.lane : column;
        const double* spreads =
            sides[side].fragments + fragment_size * (Sizes::of_spread + there * Sizes::face_steps) + place;
        const double* slopes =
            sides[side].fragments + fragment_size * (Sizes::of_slopes + 2 * there * Sizes::base_steps) + place;
        double spread[variables][4] = {}, first[variables][4] = {}, second[variables][4] = {};
#pragma unroll
        for (int k = 0; k < Sizes::face_steps; ++k) {
          const double table = spreads[side == 0 ? fragment_size * k : points.spread(k)];
#pragma unroll
          for (int v = 0; v < variables; ++v) add_step(spread[v], jump[k][v][0], jump[k][v][1], table);
        }
#pragma unroll
        for (int k = 0; k < Sizes::base_steps; ++k) {
          const int l = 4 * k + at.column;
          const bool valid = 4 * k + 3 < Sizes::bases || l < Sizes::bases;
#pragma unroll
          for (int v = 0; v < variables; ++v) {
            const double a = valid ? Tile::read(sides[side].upper + v * Sizes::bases + l) : 0,
                         b = valid ? Tile::read(sides[side].lower + v * Sizes::bases + l) : 0;
            add_step(first[v], a, b, slopes[fragment_size * 2 * k]);
            add_step(second[v], a, b, slopes[fragment_size * (2 * k + 1)]);
          }
        }
        if (Tile::buffers == 1 && side == 1 && step + 1 == Sizes::face_steps) {
          __syncwarp();
          here.fetch_rows(at, u, next.element, 0);
        }
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int row = at.row + 8 * half;
          const double* n = here.normal(row);
          const Vec3 normal{n[0], n[1], n[2]};
          const SideFlux flux{view.gas, here.metric(tile_rows * side + row), normal,
                              eta * *here.scale(tile_rows * side + row)};
          double state[variables], slope[3][variables], jumps[variables], along[variables];
#pragma unroll
          for (int v = 0; v < variables; ++v) {
            state[v] = first[v][2 * half];
            slope[0][v] = first[v][2 * half + 1];
            slope[1][v] = second[v][2 * half];
            slope[2][v] = second[v][2 * half + 1];
            jumps[v] = spread[v][2 * half];
          }
          flux(state, slope, jumps, along);
          if (side == 0) {
#pragma unroll
            for (int v = 0; v < variables; ++v) {
              left[half][v] = state[v];
              total[half][v] = along[v];
            }
            continue;
          }
          double f[variables];
          numerical_flux(kind, view.gas, left[half], state, normal, f);
          double* fluxes = to.flux + Size{Sizes::face_values} * faces[half] + at.column + 4 * step;
#pragma unroll
          for (int v = 0; v < variables; ++v) fluxes[v * Sizes::face_points] = f[v] - 0.5 * (total[half][v] + along[v]);
        }
      }
    }
    __syncwarp();
    of = next;
    next = behind_next;
    if (Tile::buffers == 2) buffer = 1 - buffer;
  }
  wait_for_copies();
}

/// Waits for the warps that share a tile.
__device__ __forceinline__ void meet_at(int tile) {
  asm volatile("bar.sync %0,%1;" ::"r"(tile + 1), "n"(32 * variables) : "memory");
}

/// What the five warps of a tile of elements give each other for eight points: four quantities a variable (the state
/// and its gradient, which fluxes replace), four points a thread: step 0 and 1 of the upper row, and of the lower one.
struct Exchanged {
  static constexpr int doubles = 4 * variables * 4 * 32;
  double* of_thread;
  __device__ __forceinline__ double& operator()(int quantity, int v, int point) const {
    return of_thread[32 * (4 * (quantity * variables + v) + point)];
  }
};

/// Fluxes at a point in the directions of the projection, in place of gradients.
__device__ __forceinline__ void viscous_point_fluxes(const PartView& view, Lid e, double factor, const Exchanged& at,
                                                     int point) {
  double state[variables], g[3][variables], f[3][variables], h[3][variables], m[9];
#pragma unroll
  for (int v = 0; v < variables; ++v) {
    state[v] = at(0, v, point);
#pragma unroll
    for (int d = 0; d < 3; ++d) g[d][v] = at(1 + d, v, point);
  }
#pragma unroll
  for (int i = 0; i < 9; ++i) m[i] = factor * __ldg(view.metric + Size{9} * e + i);
  const double inverse = inverse_of(state[0]), p = pressure(view.gas, state, inverse);
  if (!(state[0] > 0 && p > 0)) watch(view, e, state);
  euler_flux(state, inverse, p, f);
  viscous_flux(view.gas, state, inverse, g, 1, h);
#pragma unroll
  for (int d = 0; d < 3; ++d)
#pragma unroll
    for (int v = 0; v < variables; ++v) f[d][v] = f[d][v] - h[d][v];
  turn_flux(true, m, f);
#pragma unroll
  for (int d = 0; d < 3; ++d)
#pragma unroll
    for (int v = 0; v < variables; ++v) at(1 + d, v, point) = f[d][v];
}

/// Coefficients of one variable in the layout of sums: thread (i, j) has functions 8 n + j and 8 n + 4 + j of row i,
/// then of row i + 8.
template <class Sizes>
struct Coefficients {
  double value[Sizes::base_tiles][4];

  /// f(value, row, function)
  template <class F>
  __device__ __forceinline__ void each(int column, const F& f) {
#pragma unroll
    for (int n = 0; n < Sizes::base_tiles; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int first = 8 * n + 4 * (i % 2), l = first + column;
        if (first < Sizes::bases && (first + 3 < Sizes::bases || l < Sizes::bases)) f(value[n][i], i / 2, l);
      }
  }
};

/// As element_gradient(): the coefficients of one variable's gradient. x: those of the state, as rows of a product.
template <class Sizes>
__device__ __forceinline__ void tile_gradient(const PartView& view, const double* fragments, const Pair& rows,
                                              const double (&x)[Sizes::base_steps][2], Coefficients<Sizes> (&g)[3]) {
#pragma unroll
  for (int k = 0; k < Sizes::base_steps; ++k)
#pragma unroll
    for (int d = 0; d < 3; ++d)
#pragma unroll
      for (int n = 0; n < Sizes::base_tiles; ++n)
        add_step(g[d].value[n], x[k][0], x[k][1],
                 fragments[fragment_size * (Sizes::of_derivative + (3 * k + d) * Sizes::base_tiles + n)]);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    double m[9];
#pragma unroll
    for (int i = 0; i < 9; ++i) m[i] = __ldg(view.metric + Size{9} * rows[half] + i);
#pragma unroll
    for (int n = 0; n < Sizes::base_tiles; ++n)
#pragma unroll
      for (int i = 2 * half; i < 2 * half + 2; ++i) {
        const double r = g[0].value[n][i], s = g[1].value[n][i], t = g[2].value[n][i];
#pragma unroll
        for (int d = 0; d < 3; ++d) g[d].value[n][i] = std::fma(m[6 + d], t, std::fma(m[3 + d], s, m[d] * r));
      }
  }
}

/// As add_faces() and lift_jumps() of one variable: what is at the next face is under way while this one is worked on.
template <class Sizes>
__device__ __forceinline__ void add_viscous_tile_faces(const Place& at, int v, const PartView& view,
                                                       const StraightView& tuned, const double* fragments,
                                                       const std::uint8_t* turns, const FaceArrays& at_faces,
                                                       double factor, const Pair& rows, Coefficients<Sizes>& sums,
                                                       Coefficients<Sizes> (&g)[3]) {
  int codes[2];
  double flux[Sizes::face_steps][2], jump[Sizes::face_steps][2], normal[2][3], scale[2];
  const auto side_of = [&](int f, int half) { return Size{Sizes::faces} * rows[half] + f; };
  const auto fetch = [&](int f) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int code = codes[half];
      scale[half] = __ldg(tuned.scales + side_of(f, half));
      const Size first = Size{Sizes::face_values} * (code / max_turns) + v * Sizes::face_points;
#pragma unroll
      for (int step = 0; step < Sizes::face_steps; ++step) {
        const int q = turns[tile_rows * (code % max_turns) + 4 * step + at.column];
        flux[step][half] = __ldg(at_faces.flux + first + q);
        jump[step][half] = __ldg(at_faces.jump + first + q);
      }
#pragma unroll
      for (int d = 0; d < 3; ++d) normal[half][d] = __ldg(view.normals + Size{3} * (code / max_turns) + d);
      codes[half] = __ldg(tuned.sides + side_of(f + 1 < Sizes::faces ? f + 1 : f, half));
    }
  };
  const auto add = [&](int f, auto more) {
    double through[Sizes::face_steps][2], half_jump[Sizes::face_steps][2], along[2][3];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int step = 0; step < Sizes::face_steps; ++step) {
        through[step][half] = factor * scale[half] * flux[step][half];
        half_jump[step][half] = std::fabs(scale[half]) * jump[step][half];
      }
#pragma unroll
      for (int d = 0; d < 3; ++d) along[half][d] = normal[half][d];
    }
    if constexpr (more()) fetch(f + 1);
    Coefficients<Sizes> lifted = {};
#pragma unroll
    for (int step = 0; step < Sizes::face_steps; ++step)
#pragma unroll
      for (int n = 0; n < Sizes::base_tiles; ++n) {
        const double table =
            fragments[fragment_size * (Sizes::of_lift + (f * Sizes::face_steps + step) * Sizes::base_tiles + n)];
        add_step(sums.value[n], through[step][0], through[step][1], table);
        add_step(lifted.value[n], half_jump[step][0], half_jump[step][1], table);
      }
#pragma unroll
    for (int n = 0; n < Sizes::base_tiles; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int d = 0; d < 3; ++d) g[d].value[n][i] = std::fma(along[i / 2][d], lifted.value[n][i], g[d].value[n][i]);
  };
#pragma unroll
  for (int half = 0; half < 2; ++half) codes[half] = __ldg(tuned.sides + side_of(0, half));
  fetch(0);
  // The last by itself: see add_tile_faces().
#pragma unroll 1
  for (int f = 0; f + 1 < Sizes::faces; ++f) add(f, std::true_type());
  add(Sizes::faces - 1, std::false_type());
}

/// As add_viscous_volume() of one variable.
template <class Sizes>
__device__ __forceinline__ void add_viscous_tile_volume(const Place& at, int v, int shared_by, const PartView& view,
                                                        const double* fragments, const Exchanged& exchanged,
                                                        double factor, const Pair& rows,
                                                        const double (&x)[Sizes::base_steps][2],
                                                        const Coefficients<Sizes> (&g)[3], Coefficients<Sizes>& sums) {
#pragma unroll 1
  for (int tile = 0; tile < Sizes::point_tiles; ++tile) {
    double values[4][4] = {};
#pragma unroll
    for (int k = 0; k < Sizes::base_steps; ++k) {
      const double table = fragments[fragment_size * (Sizes::of_values + k * Sizes::point_tiles + tile)];
      add_step(values[0], x[k][0], x[k][1], table);
#pragma unroll
      for (int d = 0; d < 3; ++d)
        add_step(values[1 + d], g[d].value[k / 2][k % 2], g[d].value[k / 2][2 + k % 2], table);
    }
    const auto there = [&](int half) { return Sizes::point_steps % 2 == 0 || 2 * tile + half < Sizes::point_steps; };
#pragma unroll
    for (int quantity = 0; quantity < 4; ++quantity)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if (there(i % 2)) exchanged(quantity, v, i) = values[quantity][i];
    meet_at(shared_by);
    // Four warps do a point a thread; the fifth rests in turn.
    const int point = (v + tile) % variables;
    if (point < 4 && there(point % 2)) viscous_point_fluxes(view, rows[point / 2], factor, exchanged, point);
    meet_at(shared_by);
#pragma unroll
    for (int d = 0; d < 3; ++d)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        if (!there(half)) continue;
        const double a = exchanged(1 + d, v, half), b = exchanged(1 + d, v, 2 + half);
        const int step = 2 * tile + half;
#pragma unroll
        for (int n = 0; n < Sizes::base_tiles; ++n)
          add_step(sums.value[n], a, b,
                   fragments[fragment_size * (Sizes::of_projection + (step * 3 + d) * Sizes::base_tiles + n)]);
      }
  }
}

template <class Sizes>
__global__ void __launch_bounds__(ViscousElementTuning<Sizes::order>::threads,
                                  ViscousElementTuning<Sizes::order>::resident)
    viscous_element_kernel(Range elements, Lid tiles, PartView view, StraightView tuned, const double* u,
                           FaceArrays at_faces, StageArrays stage) {
  using Cut = ViscousElementTuning<Sizes::order>;
  extern __shared__ __align__(16) double shared[];
  __shared__ Turns turns;
  load_fragments(shared, tuned.element_fragments, Sizes::viscous_element_fragments);
  load_turns(turns, tuned.turns);
  u = cuda::wait_for_earlier_work(u);
  __syncthreads();
  const Place at;
  const int shared_by = at.warp / Cut::warps, v = at.warp % Cut::warps;
  const double* fragments = shared + at.lane;
  const Exchanged exchanged{shared + fragment_size * Sizes::viscous_element_fragments + shared_by * Exchanged::doubles +
                            at.lane};
  for (Lid tile = static_cast<Lid>(blockIdx.x) * Cut::tiles + shared_by; tile < tiles;
       tile += static_cast<Lid>(gridDim.x) * Cut::tiles) {
    // The last tile has its last element several times.
    const Lid first = elements.begin + tile_rows * tile + at.row, last = elements.end - 1;
    const Pair rows{std::min(first, last), std::min(first + 8, last)};
    const auto place = [&](int half, int l) { return Size{Sizes::values} * rows[half] + v * Sizes::bases + l; };
    double x[Sizes::base_steps][2];
#pragma unroll
    for (int k = 0; k < Sizes::base_steps; ++k)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int l = 4 * k + at.column;
        x[k][half] = 4 * k + 3 < Sizes::bases || l < Sizes::bases ? u[place(half, l)] : 0;
      }
    Coefficients<Sizes> g[3] = {}, sums = {};
    tile_gradient<Sizes>(view, fragments, rows, x, g);
    // As begin_stage().
#pragma unroll
    for (int k = 0; k < max_terms; ++k)
      if (k < stage.count)
        sums.each(at.column, [&](double& sum, int half, int l) {
          const double term = stage.x[k][place(half, l)];
          sum = k == 0 ? stage.weight[k] * term : std::fma(stage.weight[k], term, sum);
        });
    if (stage.source != nullptr)
      sums.each(at.column,
                [&](double& sum, int half, int l) { sum = std::fma(stage.factor, stage.source[place(half, l)], sum); });
    add_viscous_tile_faces<Sizes>(at, v, view, tuned, fragments, turns, at_faces, stage.factor, rows, sums, g);
    add_viscous_tile_volume<Sizes>(at, v, shared_by, view, fragments, exchanged, stage.factor, rows, x, g, sums);
    // As end_stage(), each element once.
    sums.each(at.column, [&](double& sum, int half, int l) {
      if (first + 8 * half > last) return;
      const Size to = place(half, l);
      stage.out[to] = sum;
      if (stage.second != nullptr) stage.second[to] = std::fma(stage.second_factor, sum, stage.base[to]);
    });
  }
}

template <int P>
void compute_viscous_fluxes(Stream& stream, Range tiles, const PartView& view, const StraightView& tuned, double eta,
                            const double* u, const FaceArrays& to) {
  using Cut = ViscousFaceTuning<P>;
  const auto doubles = static_cast<std::size_t>(tuned.traces * FaceSizes<P>::viscous_trace_fragments * fragment_size +
                                                Cut::tiles * FaceTile<P>::doubles);
  const auto go = [&](auto kernel) {
    launch<Cut>(stream, kernel, tiles.size(), Cut::tiles, doubles, tiles, view, tuned, eta, u, to);
  };
  if (view.flux == FluxKind::llf)
    go(viscous_face_kernel<P, FluxKind::llf>);
  else if (view.flux == FluxKind::roe)
    go(viscous_face_kernel<P, FluxKind::roe>);
  else
    go(viscous_face_kernel<P, FluxKind::hllc>);
}

template <class Sizes>
void advance_viscous_elements(Stream& stream, Range elements, const PartView& view, const StraightView& tuned,
                              const double* u, const FaceArrays& at_faces, const StageArrays& stage) {
  using Cut = ViscousElementTuning<Sizes::order>;
  constexpr std::size_t doubles = Sizes::viscous_element_fragments * fragment_size + Cut::tiles * Exchanged::doubles;
  const Lid tiles = (elements.size() + tile_rows - 1) / tile_rows;
  launch<Cut>(stream, viscous_element_kernel<Sizes>, tiles, Cut::tiles, doubles, elements, tiles, view, tuned, u,
              at_faces, stage);
}

}  // namespace tutti::compressible::straight
