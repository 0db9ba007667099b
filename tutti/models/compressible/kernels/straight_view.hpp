// What the kernels tuned for straight tetrahedra and hexahedra see of a part besides its view: faces sorted into tiles
// whose two sides have the same tables, or what is beyond each side of an element, and for GPUs tables as tensor cores
// want them.
#pragma once

#include <array>
#include <limits>

#include "tutti/models/compressible/kernels/lane_products.hpp"
#include "tutti/models/compressible/kernels/view.hpp"

namespace tutti::compressible {

/// Elements or faces that a warp works on together: rows of a product on tensor cores. Faces have as many points at
/// most.
inline constexpr int tile_rows = 16;
/// Orders p = 1, 2, 3 have tuned kernels.
inline constexpr int lowest_tuned_order = 1, highest_tuned_order = 3;

/// Sizes of order p. A step of a product takes four points or basis functions, a column tile eight. The counts of
/// points are those of the rules (padded), which are checked where tables are made: faces of both shapes have as many.
template <int P>
struct FaceSizes {
  static constexpr int order = P;
  static constexpr int bases = basis_size(P), face_points = 4 * P;
  static constexpr int values = variables * bases, face_values = variables * face_points;
  static constexpr int base_steps = (bases + 3) / 4, base_tiles = (bases + 7) / 8;
  static constexpr int face_steps = face_points / 4, face_tiles = (face_steps + 1) / 2;
  static constexpr int trace_fragments = base_steps * face_tiles;  ///< of one table
  /// Of viscous flow, behind a table of traces, for each step of points: slopes, two a step of bases, the first with
  /// the trace itself, and the spread of jumps.
  static constexpr int of_slopes = trace_fragments, of_spread = of_slopes + 2 * face_steps * base_steps,
                       viscous_trace_fragments = of_spread + face_steps * face_steps;
};
/// And of elements of a shape, with `points_` in their volume.
template <int P, int faces_, int points_>
struct StraightSizes : FaceSizes<P> {
  using Faces = FaceSizes<P>;
  static constexpr int faces = faces_, points = points_;
  static constexpr int point_steps = points / 4, point_tiles = (point_steps + 1) / 2;
  /// Tetrahedra: gradients are made at points (ElementRecord::slopes).
  static constexpr bool slopes = faces_ == 4;
  /// Fragments of an element's tables: values, projection, lift of its faces; of viscous flow behind them slopes and
  /// what jumps add to them, or derivatives.
  static constexpr int of_values = 0, of_projection = Faces::base_steps * point_tiles,
                       of_lift = of_projection + 3 * point_steps * Faces::base_tiles,
                       element_fragments = of_lift + faces * Faces::face_steps * Faces::base_tiles,
                       of_slopes_at_points = element_fragments,
                       of_jumps = of_slopes_at_points + 3 * Faces::base_steps * point_tiles,
                       of_derivative = element_fragments,
                       viscous_element_fragments = slopes ? of_jumps + faces * Faces::face_steps * point_tiles
                                                          : of_derivative + 3 * Faces::base_steps * Faces::base_tiles;
};
template <int P>
using TetSizes = StraightSizes<P, 4,
                               P == 1   ? 4
                               : P == 2 ? 16
                                        : 24>;
template <int P>
using HexSizes = StraightSizes<P, 6,
                               P == 1   ? 8
                               : P == 2 ? 16
                                        : 36>;

/// Tetrahedra whose fluxes are computed with their elements: a step of lifts and traces takes the three points of a
/// face that symmetry makes of one, and nothing.
inline constexpr int fused_points = 3;
/// Fragments behind those of the element: traces on its faces. That on face 0 serves for neighbours, too.
template <class Sizes>
inline constexpr int fused_fragments = Sizes::element_fragments + 4 * Sizes::base_steps;
/// What is beyond a side of an element: the row, its face, and how the points of both go together (Reflections).
struct Beyond {
  Lid row = 0;
  int face = 0, match = 0;
  static constexpr Lid most_rows = (Lid{1} << 27) - 1;
  TUTTI_HD static Beyond of(std::int32_t code) { return {code >> 4, code >> 2 & 3, code & 3}; }
  std::int32_t code() const { return row << 4 | face << 2 | match; }
  static constexpr std::int32_t none = std::numeric_limits<std::int32_t>::min();  ///< the side is at the boundary
};
/// By match and step of points: point t of a side goes with point c - t modulo 3 of the face beyond, when that has been
/// turned to face 0.
struct Reflections {
  static constexpr int matches = 4, steps = 2;
  std::uint32_t all = 0;
  TUTTI_HD int of(int match, int step) const { return static_cast<int>(all >> (4 * match + 2 * step) & 3U); }
  void set(int match, int step, int c) { all |= static_cast<std::uint32_t>(c) << (4 * match + 2 * step); }
};

/// A fragment is what the 32 threads of a warp hold of a step's table: thread 4 i + j has row j, column i.
inline constexpr int fragment_size = 32;
/// Orders of a face's points: as they are, and in eight orientations of a quadrangle.
inline constexpr int max_turns = 16;
/// What the two sides of a tile's faces are, for GPUs: a table each, and the right side's turn.
struct TileSides {
  int left = 0, right = 0, turn = 0;
  static constexpr int tables = 8;
  TUTTI_HD static TileSides of(std::int32_t code) {
    return {code % tables, code / tables % tables, code / (tables * tables)};
  }
  std::int32_t code() const { return left + tables * (right + tables * turn); }
};

/// And for CPUs: a class each, of the sides that have the same trace.
struct SideClasses {
  int left = 0, right = 0;
  static constexpr int most = 256;
  static SideClasses of(std::int32_t code) { return {code % most, code / most}; }
  std::int32_t code() const { return left + most * right; }
};

struct StraightFace {
  Lid face = 0, left = 0, right = 0;
};
/// Tiles come in four sets: faces inside a part and at its separators, of each first those that have two sides.
enum FaceSet : int { interior_inner, interior_boundary, separator_inner, separator_boundary };
struct StraightView {
  int order = 0;                              ///< 0: there are no tuned kernels for this part
  int faces_each = 0;                         ///< of an element: 4 or 6
  int face_points = 0;                        ///< padded
  int actual_points = 0;                      ///< of a face, without padding
  int points = 0;                             ///< of an element on CPUs, without padding
  std::array<Size, max_faces> lifts{};        ///< tables of an element's faces
  bool viscous = false;                       ///< tables are those of viscous flow
  int traces = 0;                             ///< tables of sides: each in its own order of the points
  const double* element_fragments = nullptr;  ///< of GPUs, as those below
  const double* trace_fragments = nullptr;
  const StraightFace* faces = nullptr;   ///< tile_rows a tile; the last of a class may come several times
  const std::int32_t* tables = nullptr;  ///< TileSides of each tile; on CPUs SideClasses
  bool fused = false;                    ///< elements compute the fluxes at inner faces, which no tile has
  const std::int32_t* beyond = nullptr;  ///< of each element's faces, then: Beyond
  Reflections reflections;
  const std::int32_t* sides = nullptr;             ///< of each element's faces: max_turns face + turn
  const double* scales = nullptr;                  ///< the same: of lift, below 0 where the element is left
  const double* face_scales = nullptr;             ///< of CPUs and viscous flow: each tile's [side][face]
  const LaneProducts* products = nullptr;          ///< of CPUs
  const Lid* flux_rows = nullptr;                  ///< of CPUs: rows of the faces in `faces`; null: their numbers are
  const std::int32_t* side_rows = nullptr;         ///< likewise as `sides`
  std::array<Lid, 5> ends{};                       ///< of tiles: see FaceSet
  std::uint8_t turns[max_turns * tile_rows] = {};  ///< orders of a face's points: which one a side's own point is
  std::uint8_t own[max_turns * tile_rows] = {};    ///< the other way: a side's own point; of padding that of the first

  bool tuned() const { return order > 0; }
  /// The tiles of a set.
  Range tiles(int set) const { return {ends[set], ends[set + 1]}; }
};

}  // namespace tutti::compressible
