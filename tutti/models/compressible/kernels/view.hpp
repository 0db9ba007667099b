// What kernels see of a part: operators of elements and faces, as offsets into one array of tables.
//
// State: element after element, variable after variable, the basis' coefficients: U[(e 5 + v) N_b + l].
//
// Tables (k rows of a fixed number of columns, padded to a multiple of 4 columns, so that columns are vectors):
//   values      [l][q]                phi_l at the volume's points
//   projection  [(chunk, d, q)][l]    1/V w_q |J_q| d_d phi_l; chunks of 8 points (the last may have 4): for each,
//   three
//                                     directions, for each its points. Affine elements: in reference coordinates.
//   derivative  [l][d][m]             d_d phi_l = sum_m D phi_m
//   slopes      [l][d][q]             of tetrahedra that have_slopes(), in place of it: d_d phi_l at the volume's
//                                     points, in reference coordinates
//               and then [f][k][q]    what half the jump out of the element at point k of face f, in the face's own
//                                     order, adds there to the derivatives along the face's reference normal
//   trace       [l][q]                phi_l at a face's points
//   slope       [l][(d, q)]           of viscous flow and affine sides: d_d phi_l there, in reference coordinates
//               and then [k][q]       the spread: what a jump at point k is at q, when it is lifted and traced
//   lift        [q][l]                1/V w_q |A_q| phi_l. Affine elements: of the face's share w_q only, times
//   `scale`.
// A memory policy may keep what elements share with no others elsewhere (own_tables.hpp), all but derivatives and
// weights: a row an element has its values, its projection, and for each of its sides the lift and, for the limiter,
// the trace; a row a face has the traces of both sides and, of viscous flow, their lifts.
// Elements that are recomputed have a matrix and places instead (recomputed.hpp).
// Padding points repeat the first point, and have zeros in projection and lift.
//
// Points of a face are those of its left element. Where the rule is symmetric, an affine right element lifts as left
// ones do, in its own order of the points: a local face has one table, whoever is beyond it.
#pragma once

#include "tutti/base/types.hpp"
#include "tutti/models/compressible/elements/monomials.hpp"
#include "tutti/models/compressible/flux/gas.hpp"
#include "tutti/models/compressible/flux/numerical_flux.hpp"
#include "tutti/models/compressible/kernels/team.hpp"

namespace tutti {
class Residency;
}

namespace tutti::compressible {

inline constexpr int chunk_points = 8;
inline constexpr int max_faces = 6;
constexpr int padded(int n) {
  return (n + 3) / 4 * 4;
}

struct ElementRecord {
  Size values = 0, projection = 0, derivative = 0;
  Size slopes = -1;  ///< -1: the gradient comes from its coefficients, which `derivative` makes
  Size weights = 0;  ///< w_q |J_q| / V of the points, for means
  Size matrix = -1;  ///< of an element that is recomputed: C of its basis, then C^T, rows padded; -1: it has tables
  Size places = -1;  ///< and its points in its own coordinates, [3][q]
  std::int32_t points = 0;
  std::int32_t affine = 0;    ///< its metric is constant, its tables those of the reference element
  std::int32_t factored = 0;  ///< an affine hexahedron, which kernels sum over its lines (hexahedra.hpp)
  double volume = 0;
  double size = 0;  ///< cube root of the volume
};

struct FaceRecord {
  Lid left = 0, right = -1;                  ///< local rows; -1: boundary
  std::int32_t points = 0;                   ///< padded
  std::int32_t normal_step = 0;              ///< 3: a normal a point; 0: one
  Size normals = 0;                          ///< unit normals from left to right
  Size trace[2] = {0, 0}, lift[2] = {0, 0};  ///< of rows: in the face's, in the element's
  Size slope[2] = {-1, -1};                  ///< -1: the side is not affine
  std::int32_t turn = 0;                     ///< of the right's lift: row q is point turns[turn + q]
  double scale[2] = {1, 1};                  ///< of lift
  Size at = 0;                               ///< of its fluxes [v][q], where these are kept
  Size places[2] = {-1, -1};  ///< of a side that is recomputed: points in its element's coordinates, [3][q]
  Size areas = -1;            ///< with such a side: w_q |A_q|
  Size boundary = -1;         ///< of its points among those at the boundary
  std::int32_t condition = -1;
  std::int32_t tag = 0;              ///< of a face at the boundary
  std::int32_t actual = 0;           ///< points without padding
  std::int32_t plane[2] = {-1, -1};  ///< of factored sides: 2 direction of the normal + end
  std::int32_t grid[2] = {0, 0};     ///< of turns: where the face's points are in the side's own grid
};

/// What an element's artificial viscosity follows from: see sensor.hpp.
struct ShockSensor {
  double strength = 0;  ///< of h (|velocity| + a); 0: there is none
  double middle = 0;    ///< of the rise, in decades of the share
  double share_from = 0, share_to = 0;
  int lower_bases = 0;  ///< polynomials of a lower degree than p
  TUTTI_HD bool on() const { return strength > 0; }
};

struct StraightView;

struct PartView {
  const ElementRecord* elements = nullptr;
  const double* metric = nullptr;  ///< 9 an element: grad r, grad s, grad t
  const FaceRecord* faces = nullptr;
  const std::int32_t* face_of = nullptr;  ///< 6 an element: 2 face + side, -1: none
  const double* tables = nullptr;
  const double* normals = nullptr;
  const std::uint8_t* turns = nullptr;  ///< orders of a face's points; from 0 on as they are
  int bases = 0, order = 0;
  int face_points = max_face_points;  ///< the most of a face
  const double* lines = nullptr;      ///< tables of a line; null: no element is factored
  Monomials monomials = {};           ///< n = 0: no element is recomputed
  bool all_recomputed = false;        ///< owned elements
  double* numbers = nullptr;          ///< memory for one of each owned element, where some are recomputed
  Gas gas;
  FluxKind flux = FluxKind::llf;
  ShockSensor sensor;
  std::uint8_t* broken = nullptr;          ///< of owned elements: 0, or see watch()
  const StraightView* straight = nullptr;  ///< of the host; for kernels tuned for a GPU, where there are any
  Residency* volumes = nullptr;            ///< a row an element; null: these are among the tables
  Residency* sides = nullptr;              ///< a row a face, where there are rows of elements

  /// Where tables of a side begin: in the row of its face its lift, in that of its element its trace.
  TUTTI_HD Size lift_in_face(const FaceRecord& face, int side) const {
    return Size{face.points} * (2 * bases + side * padded(bases));
  }
  TUTTI_HD Size trace_in_element(const FaceRecord& face, int side) const {
    return face.lift[side] + Size{face.points} * padded(bases);
  }
  /// In which order a side's lift takes a face's points.
  TUTTI_HD const std::uint8_t* order_of(const FaceRecord& face, int side) const {
    return turns + (side == 0 ? 0 : face.turn);
  }
  TeamNeeds needs() const { return {order, face_points}; }
  /// Right-hand sides need gradients.
  TUTTI_HD bool diffuses() const { return gas.viscous() || sensor.on(); }
};

/// Marks an element when a point of it has no density or no pressure above 0 for the first time: 1: numbers are
/// negative; 2: they are none, which a neighbour may have brought.
TUTTI_HD inline void watch(const PartView& view, Lid e, const double* state) {
  if ((state[0] > 0 && pressure(view.gas, state) > 0) || view.broken[e] != 0) return;
  view.broken[e] = state[0] == state[0] && state[4] == state[4] ? 1 : 2;
}

/// The same of several points, whose values begin at `states`.
template <class Points>
TUTTI_HD inline void watch(const PartView& view, Lid e, const Points& at, const double* states, int stride,
                           NumberOf<Points> density, NumberOf<Points> p) {
  using T = NumberOf<Points>;
  if (at.all(both(density > T(0), p > T(0)))) return;
  for (int i = at.q; i < at.q + at.count(); ++i) {
    double state[variables];
    for (int v = 0; v < variables; ++v) state[v] = states[v * stride + i];
    watch(view, e, state);
  }
}

}  // namespace tutti::compressible
