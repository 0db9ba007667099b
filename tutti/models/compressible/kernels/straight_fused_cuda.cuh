// Inviscid flow on straight tetrahedra, p = 1, 2, in one kernel: a warp's 16 elements compute the fluxes at their faces
// themselves, twice per face, rather than one kernel writing them for the next to read. What limited the two was
// memory. One table serves for the traces of neighbours, whichever face they have there (tetrahedron_symmetry.hpp).
#pragma once

#include "tutti/base/error.hpp"
#include "tutti/models/compressible/elements/tetrahedron_symmetry.hpp"
#include "tutti/models/compressible/kernels/straight_cuda.cuh"

namespace tutti::compressible::straight {

template <class Sizes>
using FusedTuning = Tuning<Sizes::order == 1 ? 12 : 8, 1>;

/// Doubles of a warp's tile in shared memory: own coefficients, those beyond one face, metric, normals of all faces, a
/// list of the neighbours' rows, and twice what tells of faces: scales of lifts, sides, what is beyond.
template <class Sizes>
struct FusedTile {
  static constexpr int row = ElementTile<Sizes>::row, rows = tile_rows * row, beyond = rows, metric = beyond + rows,
                       normals = metric + 9 * tile_rows, of_faces = tile_rows * Sizes::faces,
                       list = normals + 3 * of_faces, at_faces = list + of_faces / 2,
                       doubles = at_faces + 2 * 2 * of_faces;
};

/// What a tile's elements are told of their faces.
template <class Sizes>
struct FusedFaces {
  static constexpr int each = Sizes::faces;
  double* scales;
  std::int32_t *sides, *beyond;

  __device__ __forceinline__ FusedFaces(double* tile, int buffer)
      : scales(tile + FusedTile<Sizes>::at_faces + buffer * 2 * FusedTile<Sizes>::of_faces),
        sides(reinterpret_cast<std::int32_t*>(scales + FusedTile<Sizes>::of_faces)),
        beyond(sides + FusedTile<Sizes>::of_faces) {}
  /// Copies it; row(i): of the tile's i-th element.
  template <class Row>
  __device__ __forceinline__ void fetch(const StraightView& tuned, int lane, const Row& row) const {
    const int i = lane / 2, k = 2 * (lane % 2);  // two faces per lane
    const Size from = Size{each} * row(i) + k;
    copy_ahead(scales + 2 * lane, tuned.scales + from);
    copy_one_ahead(reinterpret_cast<double*>(sides + 2 * lane), reinterpret_cast<const double*>(tuned.sides + from));
    copy_one_ahead(reinterpret_cast<double*>(beyond + 2 * lane), reinterpret_cast<const double*>(tuned.beyond + from));
  }
};

__device__ __forceinline__ double with_sign(double x, unsigned odd) {
  return __hiloint2double(__double2hiint(x) ^ static_cast<int>(odd << 31), __double2loint(x));
}

/// Copies rows of `values` numbers into shared memory, `stride` apart: row(i) is the i-th of 16. All rows are asked for
/// before the first copy, behind which a load would wait.
template <int values, int stride, class Row>
__device__ __forceinline__ void fetch_rows(double* shared, int lane, const double* from, const Row& row) {
  constexpr int pairs = values / 2, at_once = pairs < 32 ? 32 / pairs : 1, turns = (tile_rows + at_once - 1) / at_once;
  static_assert(pairs <= 32);
  const int mine = lane / pairs, c = 2 * (lane - mine * pairs);
  const char* source = reinterpret_cast<const char*>(from + c);
  double* to = shared + stride * mine + c;
  Lid rows[turns];
#pragma unroll
  for (int k = 0; k < turns; ++k) rows[k] = row(at_once * k + mine < tile_rows ? at_once * k + mine : 0);
#pragma unroll
  for (int k = 0; k < turns; ++k)
    if (mine < at_once && at_once * k + mine < tile_rows)
      copy_ahead(to + stride * at_once * k,
                 reinterpret_cast<const double*>(source + Size{rows[k]} * (values * sizeof(double))));
}

/// The same number, from which all is computed again: what the compiler would keep from tile to tile, or through one,
/// it would spill, and the load waits for all copies that began before it.
__device__ __forceinline__ int again(int number) {
  asm volatile("" : "+r"(number));
  return number;
}

/// One of this thread's two elements at a face.
struct FusedSide {
  bool left;
  double factor;  ///< of its lift
  unsigned odd;   ///< functions of what is beyond that change their sign
  Vec3 normal;
  std::int32_t beyond;
};

/// Adds what face f brings, whose neighbours' coefficients are there: traces of both sides, fluxes, and their lift. The
/// sums are those of FaceFluxes and add_faces(). fetch_next() may write where the neighbours' coefficients were.
template <FluxKind kind, class Sizes, class Fetch>
__device__ __forceinline__ void add_fused_face(const Place& at, const PartView& view, const StraightView& tuned, int f,
                                               const FusedFaces<Sizes>& faces, const double* fragments,
                                               const double* tile, const double* boundary_flux, double stage_factor,
                                               const Fetch& fetch_next, Sums<Sizes>& sums) {
  using Tile = FusedTile<Sizes>;
  const double *upper = tile + at.row * Tile::row, *lower = upper + 8 * Tile::row, *beyond = upper + Tile::beyond,
               *normals = tile + Tile::normals, *traces = fragments + fragment_size * Sizes::element_fragments;
  FusedSide sides[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int i = Sizes::faces * (at.row + 8 * half) + f;
    FusedSide& s = sides[half];
    s.beyond = faces.beyond[i];
    const double factor = stage_factor * faces.scales[i];
    s.left = faces.scales[i] < 0;
    s.odd = odd_under_half_turn(Beyond::of(s.beyond).face);
    const double* n = normals + 3 * i;
    if (kind == FluxKind::llf) {
      // Seen from inside, no choice of sides is needed; the factor halves what is twice the flux.
      const unsigned sign = s.left ? 0 : 1;
      s.normal = {with_sign(n[0], sign), with_sign(n[1], sign), with_sign(n[2], sign)};
      s.factor = 0.5 * with_sign(factor, sign);
    } else {
      s.normal = {n[0], n[1], n[2]};
      s.factor = factor;
    }
  }
  double own[variables][4] = {}, other[variables][4] = {};
#pragma unroll
  for (int k = 0; k < Sizes::base_steps; ++k) {
    const int l = 4 * k + at.column;
    const int from = 4 * k + 3 < Sizes::bases || l < Sizes::bases ? l : 0;  // any number: the table has zeros
    const double here = traces[fragment_size * (f * Sizes::base_steps + k)], there = traces[fragment_size * k];
    const unsigned odd[2] = {sides[0].odd >> l & 1U, sides[1].odd >> l & 1U};
#pragma unroll
    for (int v = 0; v < variables; ++v) {
      const int i = v * Sizes::bases + from;
      add_step(own[v], upper[i], lower[i], here);
      add_step(other[v], with_sign(beyond[i], odd[0]), with_sign(beyond[8 * Tile::row + i], odd[1]), there);
    }
  }
  __syncwarp();
  fetch_next();  // while fluxes are computed
  // The same point of what is beyond is with another thread of the row.
#pragma unroll
  for (int half = 0; half < 2; ++half)
#pragma unroll
    for (int step = 0; step < Sizes::face_steps; ++step) {
      const int c = tuned.reflections.of(Beyond::of(sides[half].beyond).match, step) - at.column,
                t = c < 0 ? c + fused_points : c, from = at.column < fused_points ? t : at.column;
#pragma unroll
      for (int v = 0; v < variables; ++v)
        other[v][2 * half + step] = __shfl_sync(~0U, other[v][2 * half + step], 4 * at.row + from);
    }
  const bool at_boundary = __any_sync(~0U, sides[0].beyond < 0 || sides[1].beyond < 0);
#pragma unroll
  for (int step = 0; step < Sizes::face_steps; ++step) {
    double flux[2][variables];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const FusedSide& s = sides[half];
      double l[variables], r[variables];
#pragma unroll
      for (int v = 0; v < variables; ++v) {
        const double mine = own[v][2 * half + step], its = other[v][2 * half + step];
        l[v] = kind == FluxKind::llf || s.left ? mine : its;
        r[v] = kind == FluxKind::llf || s.left ? its : mine;
      }
      if (kind == FluxKind::llf)
        twice_llf_flux(
            view.gas, l, r, s.normal,
            [&s](double mine, double its) { return (s.left ? mine > its : !(its > mine)) ? mine : its; }, flux[half]);
      else
        numerical_flux(kind, view.gas, l, r, s.normal, flux[half]);
    }
    if (at_boundary)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        if (sides[half].beyond >= 0 || at.column >= fused_points) continue;
        const std::int32_t side = faces.sides[Sizes::faces * (at.row + 8 * half) + f];
        const double* from = boundary_flux + view.faces[side / max_turns].at + fused_points * step;
#pragma unroll
        for (int v = 0; v < variables; ++v)
          flux[half][v] = (kind == FluxKind::llf ? 2 : 1) * __ldg(from + at.column + v * Sizes::face_points);
      }
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int v = 0; v < variables; ++v)
        flux[half][v] = at.column < fused_points ? sides[half].factor * flux[half][v] : 0;
#pragma unroll
    for (int n = 0; n < Sizes::base_tiles; ++n) {
      const double table =
          fragments[fragment_size * (Sizes::of_lift + (f * Sizes::face_steps + step) * Sizes::base_tiles + n)];
#pragma unroll
      for (int v = 0; v < variables; ++v) add_step(sums.value[n][v], flux[0][v], flux[1][v], table);
    }
  }
}

template <class Sizes, FluxKind kind>
__global__ void __launch_bounds__(FusedTuning<Sizes>::threads, FusedTuning<Sizes>::resident)
    fused_kernel(Range rows, Lid tiles, PartView view, StraightView tuned, const double* __restrict__ u,
                 const double* boundary_flux, StageArrays stage) {
  using Tile = FusedTile<Sizes>;
  extern __shared__ __align__(16) double shared[];
  load_fragments(shared, tuned.element_fragments, fused_fragments<Sizes>);
  u = cuda::wait_for_earlier_work(u);
  __syncthreads();
  const Place at;
  const double* fragments = shared + at.lane;
  double* states = shared + fragment_size * fused_fragments<Sizes> + at.warp * Tile::doubles;
  double* metric = states + Tile::metric;
  double* normals = states + Tile::normals;
  std::int32_t* list = reinterpret_cast<std::int32_t*>(states + Tile::list);
  // The last tile has its last element several times.
  const Lid last = rows.end - 1, at_once = static_cast<Lid>(blockDim.x) / 32,
            step_of_tiles = static_cast<Lid>(gridDim.x) * at_once;
  const auto rows_of = [&](Lid tile) {
    const Lid first = rows.begin + tile_rows * tile;
    return [first, last](int i) { return first + i < last ? first + i : last; };
  };
  Lid tile = static_cast<Lid>(blockIdx.x) * at_once + at.warp;
  if (tile < tiles) FusedFaces<Sizes>(states, 0).fetch(tuned, at.lane, rows_of(tile));
  for (int buffer = 0; tile < tiles; tile += step_of_tiles, buffer = 1 - buffer) {
    const auto row = rows_of(tile);
    const int lane = again(at.lane);
    const FusedFaces<Sizes> faces(states, buffer);
    wait_for_copies();
    __syncwarp();
    const auto fetch_beyond = [&](int f) {
      fetch_rows<Sizes::values, Tile::row>(states + Tile::beyond, lane, u,
                                           [&](int i) { return list[tile_rows * f + i]; });
    };
    fetch_rows<Sizes::values, Tile::row>(states, lane, u, row);
#pragma unroll
    for (int k = 0; k < Tile::of_faces; k += 32) {
      const int i = k + lane;
      const std::int32_t code = faces.beyond[i];
      list[tile_rows * (i % Sizes::faces) + i / Sizes::faces] = code < 0 ? row(i / Sizes::faces) : Beyond::of(code).row;
      const double* normal = view.normals + Size{3} * (faces.sides[i] / max_turns);
#pragma unroll
      for (int d = 0; d < 3; ++d) copy_one_ahead(normals + 3 * i + d, normal + d);
    }
    __syncwarp();
#pragma unroll
    for (int k = 0; k < tile_rows * 9; k += 32)
      if (const int i = k + lane; i < tile_rows * 9)
        copy_one_ahead(metric + i, view.metric + Size{9} * row(i / 9) + i % 9);
    if (tile + step_of_tiles < tiles)
      FusedFaces<Sizes>(states, 1 - buffer).fetch(tuned, lane, rows_of(tile + step_of_tiles));
    end_copies();
    fetch_beyond(0);
    end_copies();
    Sums<Sizes> sums = {};
    const double* upper = states + at.row * Tile::row;
    const double* lower = upper + 8 * Tile::row;
    sums.begin(at, stage, u, upper, lower, row, [] {
      wait_for_groups<1>();  // for all but the neighbours
      __syncwarp();
    });
#pragma unroll
    for (int k = 0; k < tile_rows * 9; k += 32)
      if (const int i = k + at.lane; i < tile_rows * 9) metric[i] *= stage.factor;

#pragma unroll 1
    for (int f = 0; f < Sizes::faces; ++f) {
      wait_for_copies();
      __syncwarp();
      add_fused_face<kind>(
          at, view, tuned, f, faces, fragments, states, boundary_flux, stage.factor,
          [&] {
            if (f + 1 < Sizes::faces) fetch_beyond(f + 1);
          },
          sums);
    }
    const auto rows_again = rows_of(again(tile));
    const Lid x = rows_again(at.row), y = rows_again(at.row + 8);
    add_tile_volume<Sizes>(at, view, fragments, upper, lower, metric + 9 * at.row, metric + 9 * (at.row + 8), x, y,
                           sums);
    sums.store(at.column, stage, x, y);
  }
}

template <class Sizes>
void advance_fused(Stream& stream, Range rows, const PartView& view, const StraightView& tuned, const double* u,
                   const double* boundary_flux, const StageArrays& stage) {
  using Cut = FusedTuning<Sizes>;
  require(stage.out != u && stage.second != u, "elements that read their neighbours' state would change it");
  constexpr int tables = fused_fragments<Sizes> * fragment_size, of_each = FusedTile<Sizes>::doubles;
  const int at_once = tiles_with_room(stream, tables, of_each, Cut::tiles);
  const Lid tiles = (rows.size() + tile_rows - 1) / tile_rows;
  const auto go = [&](auto kernel) {
    launch<Cut>(stream, kernel, tiles, at_once, static_cast<std::size_t>(tables + at_once * of_each), rows, tiles, view,
                tuned, u, boundary_flux, stage);
  };
  if (view.flux == FluxKind::llf)
    go(fused_kernel<Sizes, FluxKind::llf>);
  else if (view.flux == FluxKind::roe)
    go(fused_kernel<Sizes, FluxKind::roe>);
  else
    go(fused_kernel<Sizes, FluxKind::hllc>);
}

}  // namespace tutti::compressible::straight
