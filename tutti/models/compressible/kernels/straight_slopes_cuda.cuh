// Elements of viscous flow whose gradients are made at points: straight tetrahedra, p = 1, 2, 3, on GPUs. The bits are
// those of AdvanceViscousElements, which sees the same orders of sums.
//
// A tile of elements has a warp for each eight of the volume's points; there are as many eights of basis functions.
// First each warp makes state, gradient and flux at its eight points, of all variables in registers; then, when all
// fluxes are in shared memory, the sums of its eight functions. So a table's entry serves five products.
#pragma once

#include "tutti/models/compressible/kernels/straight_cuda.cuh"
#include "tutti/models/compressible/kernels/viscous.hpp"

namespace tutti::compressible::straight {

/// Of elements at a time, of order p, or fewer where there is not the memory: no more than eight warps have the
/// registers that this takes.
inline constexpr int slope_tiles[] = {0, 8, 4, 2};
template <int P>
using SlopeTuning = Tuning<slope_tiles[P], 1, (basis_size(P) + 7) / 8>;

/// What the warps of a tile have in shared memory: states, jumps and fluxes, rows padded against bank conflicts, and
/// what sides and elements are. All of it comes while the tile before is worked on: what is read where it is needed
/// keeps warps waiting most of the time.
template <class Sizes>
struct SlopeTile {
  static constexpr int warps = Sizes::base_tiles, threads = 32 * warps, sides = Sizes::faces * tile_rows,
                       codes_each = sides / 32;
  static_assert(Sizes::point_tiles == warps && sides % 32 == 0);
  /// Fluxes do not come in the place of jumps, so that those of the next tile are fetched meanwhile.
  static constexpr bool apart = Sizes::order == 3;
  static constexpr int row = Sizes::order == 2 ? 52 : Sizes::values,
                       jump_row = Sizes::order == 2 ? 44 : Sizes::face_values;
  static constexpr int jumps = sides * jump_row, fluxes = Sizes::point_steps * 3 * variables * 2 * fragment_size;
  static_assert(apart || warps == 1 || fluxes >= jumps);
  static constexpr int of_jumps = tile_rows * row, of_fluxes = warps == 1 || apart ? of_jumps + jumps : of_jumps,
                       of_metric = of_fluxes + (warps > 1 ? fluxes : 0), of_scales = of_metric + 9 * tile_rows,
                       of_codes = of_scales + 2 * sides, doubles = of_codes + sides;
  double* memory;
  int thread, barrier;  ///< of the tile

  __device__ __forceinline__ const double* states(int element) const { return memory + element * row; }
  __device__ __forceinline__ const double* jump(int face, int element) const {
    return memory + of_jumps + (face * tile_rows + element) * jump_row;
  }
  __device__ __forceinline__ const double* metric(int element) const { return memory + of_metric + 9 * element; }
  /// Of the sides of this tile and of the next one.
  __device__ __forceinline__ double* scales(int buffer) const { return memory + of_scales + buffer * sides; }
  __device__ __forceinline__ int* codes(int buffer) const {
    return reinterpret_cast<int*>(memory + of_codes) + buffer * sides;
  }
  /// Of rows `row` and `row + 8` of a thread.
  __device__ __forceinline__ double2& flux(int step, int d, int v, int lane) const {
    return reinterpret_cast<double2*>(memory + of_fluxes)[((step * 3 + d) * variables + v) * fragment_size + lane];
  }
  __device__ __forceinline__ void meet() const {
    if constexpr (warps == 1)
      __syncwarp();
    else
      asm volatile("bar.sync %0,%1;" ::"r"(barrier), "n"(threads) : "memory");
  }

  /// Of elements [first, last], behind the last one that once more. What sides 32 k + lane are.
  using Codes = std::int32_t[codes_each];
  __device__ __forceinline__ Size side_at(int side, Lid first, Lid last) const {
    return Size{Sizes::faces} * std::min(first + side % tile_rows, last) + side / tile_rows;
  }
  __device__ __forceinline__ void read_codes(const StraightView& tuned, Lid first, Lid last, Codes& to) const {
#pragma unroll
    for (int k = 0; k < codes_each; ++k) to[k] = __ldg(tuned.sides + side_at(32 * k + thread % 32, first, last));
  }
  __device__ __forceinline__ void fetch_metric(const double* from, Lid first, Lid last) const {
    for (int i = thread; i < 9 * tile_rows; i += threads)
      copy_one_ahead(memory + of_metric + i, from + Size{9} * std::min(first + i / 9, last) + i % 9);
  }
  /// States, jumps and sides.
  __device__ __forceinline__ void fetch(const double* u, const FaceArrays& at_faces, const StraightView& tuned,
                                        Lid first, Lid last, const Codes& known, int buffer) const {
    constexpr int unrolled = Sizes::order == 3 ? 1 : 8;  // registers are scarce
    copy_rows_ahead<Sizes::values / 2, tile_rows, row, warps, unrolled>(
        memory, thread, [&](int i) { return u + Size{Sizes::values} * std::min(first + i, last); });
    for (int i = thread; i < sides; i += threads)
      copy_one_ahead(scales(buffer) + i, tuned.scales + side_at(i, first, last));
    if (thread < 32)
#pragma unroll
      for (int k = 0; k < codes_each; ++k) codes(buffer)[32 * k + thread] = known[k];
#pragma unroll
    for (int k = 0; k < codes_each; ++k)
      copy_rows_ahead<Sizes::face_values / 2, 32, jump_row, warps, unrolled>(
          memory + of_jumps + 32 * k * jump_row, thread, [&](int i) {
            return at_faces.jump + Size{Sizes::face_values} * (__shfl_sync(~0U, known[k], i) / max_turns);
          });
  }
};

/// State and gradient in reference coordinates at the points of column tile `tile`: as slopes_at_points().
template <class Sizes>
__device__ __forceinline__ void tile_slopes(const Place& at, const SlopeTile<Sizes>& here, const double* fragments,
                                            const std::uint8_t* turns, int buffer, int tile,
                                            double (&state)[variables][4], double (&slope)[3][variables][4]) {
  const int upper = at.row, lower = at.row + 8;
#pragma unroll
  for (int f = 0; f < Sizes::faces; ++f) {
    const int direction = f == 0 ? 0 : f - 1;
    int turn[2];
    double sign[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int side = tile_rows * f + at.row + 8 * half;
      turn[half] = tile_rows * (here.codes(buffer)[side] % max_turns) + at.column;
      sign[half] = here.scales(buffer)[side] < 0 ? 1 : -1;  // the jump is out of the left element
    }
#pragma unroll
    for (int step = 0; step < Sizes::face_steps; ++step) {
      const double table =
          fragments[fragment_size * (Sizes::of_jumps + (f * Sizes::face_steps + step) * Sizes::point_tiles + tile)];
      const double* a = here.jump(f, upper) + turns[turn[0] + 4 * step];
      const double* b = here.jump(f, lower) + turns[turn[1] + 4 * step];
#pragma unroll
      for (int v = 0; v < variables; ++v)
        add_step(slope[direction][v], sign[0] * a[v * Sizes::face_points], sign[1] * b[v * Sizes::face_points], table);
    }
    if (f > 0) continue;
#pragma unroll
    for (int v = 0; v < variables; ++v)
#pragma unroll
      for (int i = 0; i < 4; ++i) slope[1][v][i] = slope[2][v][i] = slope[0][v][i];
  }
  const double *x = here.states(upper), *y = here.states(lower);
#pragma unroll
  for (int k = 0; k < Sizes::base_steps; ++k) {
    const int l = 4 * k + at.column;
    const bool valid = 4 * k + 3 < Sizes::bases || l < Sizes::bases;
    const auto table = [&](int first) { return fragments[fragment_size * (first + tile)]; };
    const double values = table(Sizes::of_values + k * Sizes::point_tiles);
    double slopes[3];
#pragma unroll
    for (int d = 0; d < 3; ++d) slopes[d] = table(Sizes::of_slopes_at_points + (3 * k + d) * Sizes::point_tiles);
#pragma unroll
    for (int v = 0; v < variables; ++v) {
      const double a = valid ? x[v * Sizes::bases + l] : 0, b = valid ? y[v * Sizes::bases + l] : 0;
      add_step(state[v], a, b, values);
#pragma unroll
      for (int d = 0; d < 3; ++d) add_step(slope[d][v], a, b, slopes[d]);
    }
  }
}

/// Fluxes in the directions of the projection, in place of slopes: of this thread's points of both steps.
template <class Sizes>
__device__ __forceinline__ void tile_fluxes(const Place& at, const PartView& view, const SlopeTile<Sizes>& here,
                                            double factor, const Pair& rows, int tile,
                                            const double (&state)[variables][4], double (&slope)[3][variables][4]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const double* metric = here.metric(at.row + 8 * half);
#pragma unroll
    for (int step = 0; step < 2; ++step) {
      if (Sizes::point_steps % 2 == 1 && 2 * tile + step >= Sizes::point_steps) continue;
      const int i = 2 * half + step;
      double q[variables], g[3][variables], f[3][variables], h[3][variables], scaled[9];
#pragma unroll
      for (int v = 0; v < variables; ++v) {
        q[v] = state[v][i];
#pragma unroll
        for (int d = 0; d < 3; ++d) g[d][v] = slope[d][v][i];
      }
      turn_slopes(metric, g);
      const double inverse = inverse_of(q[0]), p = pressure(view.gas, q, inverse);
      if (!(q[0] > 0 && p > 0)) watch(view, rows[half], q);
      euler_flux(q, inverse, p, f);
      viscous_flux(view.gas, q, inverse, g, 1, h);
      asm volatile("" ::: "memory");  // the metric is read again: kept, it takes registers that there are not
#pragma unroll
      for (int k = 0; k < 9; ++k) scaled[k] = factor * metric[k];
#pragma unroll
      for (int d = 0; d < 3; ++d)
#pragma unroll
        for (int v = 0; v < variables; ++v) f[d][v] = f[d][v] - h[d][v];
      turn_flux(true, scaled, f);
#pragma unroll
      for (int d = 0; d < 3; ++d)
#pragma unroll
        for (int v = 0; v < variables; ++v) slope[d][v][i] = f[d][v];
      asm volatile("" ::: "memory");
    }
  }
}

/// The sums of eight functions of all variables, in the layout of products: columns 2 j, 2 j + 1 of two rows.
template <class Sizes>
struct TileSums {
  double value[variables][4];
  int base;  ///< this thread's first function

  /// f(pair of sums, half, place in an element)
  template <class F>
  __device__ __forceinline__ void each(const F& f) {
    if (base >= Sizes::bases) return;
#pragma unroll
    for (int v = 0; v < variables; ++v)
#pragma unroll
      for (int half = 0; half < 2; ++half) f(value[v] + 2 * half, half, v * Sizes::bases + base);
  }
  /// As begin_stage().
  __device__ __forceinline__ void begin(const StageArrays& stage, const Pair& rows) {
    const auto add = [&](const double* x, double weight, bool first) {
      each([&](double* sum, int half, int i) {
        const double2 a = __ldg(reinterpret_cast<const double2*>(x + Size{Sizes::values} * rows[half] + i));
        sum[0] = first ? weight * a.x : std::fma(weight, a.x, sum[0]);
        sum[1] = first ? weight * a.y : std::fma(weight, a.y, sum[1]);
      });
    };
#pragma unroll
    for (int k = 0; k < max_terms; ++k)
      if (k < stage.count) add(stage.x[k], stage.weight[k], k == 0);
    if (stage.source != nullptr) add(stage.source, stage.factor, false);
  }
  /// As end_stage(), rows up to `last` once.
  __device__ __forceinline__ void end(const StageArrays& stage, Lid first, Lid last) {
    each([&](double* sum, int half, int i) {
      if (first + 8 * half > last) return;
      const Size to = Size{Sizes::values} * (first + 8 * half) + i;
      *reinterpret_cast<double2*>(stage.out + to) = {sum[0], sum[1]};
      if (stage.second == nullptr) return;
      const double2 base_ = *reinterpret_cast<const double2*>(stage.base + to);
      *reinterpret_cast<double2*>(stage.second + to) = {std::fma(stage.second_factor, sum[0], base_.x),
                                                        std::fma(stage.second_factor, sum[1], base_.y)};
    });
  }
};

/// As begin_stage() and add_faces(), of the functions of column tile `n`: fluxes of several faces are on their way at a
/// time, as there is little to do meanwhile at one.
template <class Sizes>
__device__ __forceinline__ void begin_with_faces(const Place& at, const SlopeTile<Sizes>& here, const double* fragments,
                                                 const std::uint8_t* turns, int buffer, const double* flux,
                                                 const StageArrays& stage, const Pair& rows, int n,
                                                 TileSums<Sizes>& sums) {
  constexpr int ahead = Sizes::order == 3 ? 3 : Sizes::faces;
  double x[ahead][Sizes::face_steps][variables][2];
  const auto fetch = [&](int f) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int code = here.codes(buffer)[tile_rows * f + at.row + 8 * half];
      const double* from = flux + Size{Sizes::face_values} * (code / max_turns);
#pragma unroll
      for (int step = 0; step < Sizes::face_steps; ++step) {
        const int q = turns[tile_rows * (code % max_turns) + 4 * step + at.column];
#pragma unroll
        for (int v = 0; v < variables; ++v) x[f % ahead][step][v][half] = __ldg(from + v * Sizes::face_points + q);
      }
    }
  };
#pragma unroll
  for (int f = 0; f < ahead; ++f) fetch(f);
  sums.begin(stage, rows);
#pragma unroll
  for (int f = 0; f < Sizes::faces; ++f) {
    double y[Sizes::face_steps][variables][2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const double scale = stage.factor * here.scales(buffer)[tile_rows * f + at.row + 8 * half];
#pragma unroll
      for (int step = 0; step < Sizes::face_steps; ++step)
#pragma unroll
        for (int v = 0; v < variables; ++v) y[step][v][half] = scale * x[f % ahead][step][v][half];
    }
    if (f + ahead < Sizes::faces) fetch(f + ahead);
#pragma unroll
    for (int step = 0; step < Sizes::face_steps; ++step) {
      const double table =
          fragments[fragment_size * (Sizes::of_lift + (f * Sizes::face_steps + step) * Sizes::base_tiles + n)];
#pragma unroll
      for (int v = 0; v < variables; ++v) add_step(sums.value[v], y[step][v][0], y[step][v][1], table);
    }
  }
}

template <class Sizes>
__global__ void __launch_bounds__(SlopeTuning<Sizes::order>::threads, SlopeTuning<Sizes::order>::resident)
    slope_element_kernel(Range elements, Lid tiles, PartView view, StraightView tuned, const double* u,
                         FaceArrays at_faces, StageArrays stage) {
  using Cut = SlopeTuning<Sizes::order>;
  using Tile = SlopeTile<Sizes>;
  extern __shared__ __align__(16) double shared[];
  __shared__ Turns turns;
  load_fragments(shared, tuned.element_fragments, Sizes::viscous_element_fragments);
  load_turns(turns, tuned.turns);
  u = cuda::wait_for_earlier_work(u);
  __syncthreads();
  const Place at;
  const int shared_by = at.warp / Cut::warps, part = at.warp % Cut::warps;
  const double* fragments = shared + at.lane;
  const Tile here{shared + fragment_size * Sizes::viscous_element_fragments + shared_by * Tile::doubles,
                  static_cast<int>(threadIdx.x) % Tile::threads, shared_by + 1};
  const Lid last = elements.end - 1, at_once = static_cast<Lid>(blockDim.x) / Tile::threads,
            step_of_tiles = static_cast<Lid>(gridDim.x) * at_once;
  const auto first_of = [&](Lid t) { return elements.begin + tile_rows * std::min(t, tiles - 1); };
  Lid tile = static_cast<Lid>(blockIdx.x) * at_once + shared_by;
  if (tile >= tiles) return;
  typename Tile::Codes codes;
  here.read_codes(tuned, first_of(tile), last, codes);
  here.fetch(u, at_faces, tuned, first_of(tile), last, codes, 0);
  here.fetch_metric(view.metric, first_of(tile), last);
  for (int buffer = 0; tile < tiles; tile += step_of_tiles, buffer = 1 - buffer) {
    // Behind the last tile, that is fetched once more.
    const Lid next = first_of(tile + step_of_tiles);
    const Lid first = elements.begin + tile_rows * tile + at.row;
    const Pair rows{std::min(first, last), std::min(first + 8, last)};
    here.read_codes(tuned, next, last, codes);
    double state[variables][4] = {}, slope[3][variables][4] = {};
    wait_for_copies();
    here.meet();
    tile_slopes<Sizes>(at, here, fragments, turns, buffer, part, state, slope);
    here.meet();  // states and jumps are no longer needed
    constexpr bool early = Cut::warps == 1 || Tile::apart;
    if (early) here.fetch(u, at_faces, tuned, next, last, codes, 1 - buffer);
    tile_fluxes<Sizes>(at, view, here, stage.factor, rows, part, state, slope);
    if (Cut::warps > 1) {
#pragma unroll
      for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int d = 0; d < 3; ++d)
#pragma unroll
          for (int v = 0; v < variables; ++v)
            here.flux(2 * part + half, d, v, at.lane) = {slope[d][v][half], slope[d][v][2 + half]};
    }
    TileSums<Sizes> sums = {{}, 8 * part + 2 * at.column};
    begin_with_faces<Sizes>(at, here, fragments, turns, buffer, at_faces.flux, stage, rows, part, sums);
    here.meet();
    here.fetch_metric(view.metric, next, last);
    // As the projection's rows: eight points at a time, direction after direction.
#pragma unroll(Cut::warps > 1 ? 1 : Sizes::point_tiles)
    for (int points = 0; points < Sizes::point_tiles; ++points)
#pragma unroll
      for (int d = 0; d < 3; ++d)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int step = 2 * points + half;
          if (Sizes::point_steps % 2 == 1 && step >= Sizes::point_steps) continue;
          const double table =
              fragments[fragment_size * (Sizes::of_projection + (step * 3 + d) * Sizes::base_tiles + part)];
#pragma unroll
          for (int v = 0; v < variables; ++v) {
            const double2 f =
                Cut::warps > 1 ? here.flux(step, d, v, at.lane) : double2{slope[d][v][half], slope[d][v][2 + half]};
            add_step(sums.value[v], f.x, f.y, table);
          }
        }
    if (!early) {
      here.meet();  // nor are fluxes
      here.fetch(u, at_faces, tuned, next, last, codes, 1 - buffer);
    }
    sums.end(stage, first, last);
  }
  wait_for_copies();
}

template <class Sizes>
void advance_by_slopes(Stream& stream, Range elements, const PartView& view, const StraightView& tuned, const double* u,
                       const FaceArrays& at_faces, const StageArrays& stage) {
  using Cut = SlopeTuning<Sizes::order>;
  constexpr int tables = Sizes::viscous_element_fragments * fragment_size, each = SlopeTile<Sizes>::doubles;
  const int at_once = tiles_with_room(stream, tables, each, Cut::tiles);
  const Lid tiles = (elements.size() + tile_rows - 1) / tile_rows;
  launch<Cut>(stream, slope_element_kernel<Sizes>, tiles, at_once, static_cast<std::size_t>(tables + at_once * each),
              elements, tiles, view, tuned, u, at_faces, stage);
}

}  // namespace tutti::compressible::straight
