// Cell-centred finite volumes for du/dt = div(K grad u) + s on tetrahedra: the rows of the semi-discrete operator.
//
//   du_i/dt = sum_j a_ij (u_j - u_i) + d_i u_i + sum_f b_if g_f(t) + s_i
//
// j runs over the four face neighbours of cell i and their neighbours (4 + 12 cells at most), f over the boundary faces
// of cell i and of its face neighbours. The difference form keeps constants exactly. Fluxes take the tangential part of
// the gradient from least-squares fits, the normal part from the two cells of the face; where K jumps, the face uses
// the harmonic averaging point of Agelas, Eymard and Herbin (C. R. Acad. Sci. Paris, Ser. I 347, 2009).
#pragma once

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "tutti/base/csr.hpp"
#include "tutti/base/parallel.hpp"
#include "tutti/base/raw_vector.hpp"
#include "tutti/base/types.hpp"
#include "tutti/base/vec3.hpp"
#include "tutti/mesh/local_tet_mesh.hpp"

namespace tutti::diffusion {

enum class BoundaryKind : std::uint8_t {
  neumann,    ///< the datum g is q = n . K grad u: what flows into the domain, a unit of area and time
  dirichlet,  ///< the datum g is u
  robin,      ///< n . K grad u = h (g - u), with a coefficient h >= 0 [length/time]: the datum g is the ambient value
};
/// Does the condition say something of u itself, so that rows take the datum less u?
inline bool gives_u(BoundaryKind kind) {
  return kind != BoundaryKind::neumann;
}

/// A boundary face whose datum the rows of a part read. Data are taken at the centroid.
struct BoundaryFaceRef {
  Lid cell = 0;  ///< local cell: owned or first ghost layer
  int face = 0;  ///< 0..3, opposite to that vertex of the cell
  std::int32_t tag = 0;
  Vec3 centroid;
};

/// Says for a physical surface's tag (0: none) which kind of condition holds there. Threads ask at the same time.
using BoundaryKindOf = std::function<BoundaryKind(std::int32_t tag)>;

struct SchemeOptions {
  /// Two-point flux, without gradients: wrong on general meshes; it is there to show that a test can fail.
  bool two_point = false;
  /// Tangential fluxes are bounded by u itself, so that no new extrema arise (monotone.hpp). Rows have the columns of
  /// the two-point flux, and change with u.
  bool monotone = false;
  /// Weak fits. The least-squares matrix of a cell, in coordinates that make K the identity and with unit rows, has the
  /// trace 4; a small smallest eigenvalue e means large coefficients in the gradient and, left alone, growing modes. A
  /// cell with e below `weak_fit` (`weak_boundary_fit` if it has a boundary face) gets the quality q = e / that limit,
  /// others 1; the gradient at a face is the mean of both cells' gradients by distance and quality. Where both
  /// qualities are below `tangential_limit` (at a Dirichlet face: the one), the tangential flux shrinks in proportion.
  /// So linear functions stay exact unless two weak fits meet.
  double weak_fit = 0.1;
  double weak_boundary_fit = 0.2;
  double tangential_limit = 0.2;
  /// Empty, or one a local cell: 0, or 1 + the share of the tangential flux of a damped cell (damped.hpp).
  std::span<const double> damped = {};
  /// h of a Robin face with this tag, by its centroid. Asked for such faces only. As BoundaryKindOf.
  std::function<double(std::int32_t tag, Vec3 x)> transfer = {};
  /// Contact resistance R >= 0 [time/length] of a face between cells of two regions, by its centroid: u jumps by R
  /// times the flux, K n . grad u = (u_2 - u_1) / R. Empty: there is none.
  std::function<double(std::int32_t one, std::int32_t other, Vec3 x)> resistance = {};
};

/// Do rows have only the face neighbours of a cell, and its own boundary faces?
inline bool has_short_rows(const SchemeOptions& options) {
  return options.two_point || options.monotone;
}

/// What u says of the fluxes of an active cell, for monotone.hpp.
struct FluxBounds {
  Vec3 gradient;
  std::array<double, 4> differences{};  ///< what lies behind each face, less u
  double above = 0, below = 0;          ///< the most that the tangential flux of one face may bring in, and take out
};

/// What the rows of a part are made from. Read-only once prepared, so rows can be assembled by many threads at once.
/// Refers to the mesh and to K: both must outlive it. Bytes a cell: 96 (gradients) + 8 + 4.
struct Scheme {
  const LocalTetMesh* mesh = nullptr;
  std::span<const Sym3> K;
  SchemeOptions options;
  std::vector<BoundaryFaceRef> boundary_faces;  ///< of owned cells and first ghosts, by local cell, then face
  std::vector<BoundaryKind> boundary_kinds;     ///< one a boundary face
  std::vector<double> transfer;                 ///< h of each, 0 but for Robin faces
  std::vector<Lid> first_boundary_face;         ///< those of cell c are [first[c], first[c + 1])
  RawVector<std::array<Vec3, 4>> gradients;     ///< grad u = sum_f gradients[c][f] * (datum of face f): gradient.hpp
  std::vector<double> fit_quality;              ///< (0, 1], one a cell: SchemeOptions::weak_fit
  RawVector<FluxBounds> bounds;                 ///< of `monotone`, one a local cell; empty: no tangential fluxes
  Lid weak_fits = 0;                            ///< owned cells with a quality below 1
  Lid flattened = 0;                            ///< owned cells whose fit is singular: their gradient is zero
};

/// K: one tensor a local cell (both ghost layers too), symmetric positive definite, constant in the cell.
/// Errors (input): K of a cell is not positive definite.
Scheme prepare_scheme(const LocalTetMesh& mesh, std::span<const Sym3> K, const BoundaryKindOf& kind,
                      const SchemeOptions& options = {}, const ParallelFor& parallel = {});

inline constexpr int max_row_entries = 16;

/// One row, divided by the cell's volume.
struct SchemeRow {
  std::array<Lid, max_row_entries> columns;    ///< local cells, sorted by global number; the rest is the row itself
  std::array<double, max_row_entries> values;  ///< a_ij [1/time]; the rest is 0
  int count = 0;                               ///< entries used
  double diagonal = 0;                         ///< d_i = -(sum of b_if over Dirichlet and Robin faces f)
  std::array<Lid, max_row_entries> boundary_columns;    ///< in boundary_faces; by global cell, then face
  std::array<double, max_row_entries> boundary_values;  ///< b_if
  int boundary_count = 0;
  double outflow = 0;  ///< sum_j a_ij - d_i = -L_ii; of monotone rows, monotone_outflow()
};

/// What flows in through a boundary face of an owned cell, as the rows have it: n . K grad u times the area. u: local
/// cells, valid on owned cells and first ghosts; g: data of scheme.boundary_faces.
double boundary_inflow(const Scheme& scheme, Lid cell, int face, std::span<const double> u, std::span<const double> g);

/// The row of an owned cell. Its bits do not depend on the part in which it is assembled: a face's flux is computed in
/// the direction from the lower to the higher global cell number, and every sum runs in an order of global numbers or
/// of the cell's own faces.
SchemeRow assemble_row(const Scheme& scheme, Lid cell);

/// All owned rows, in the order of the local mesh.
struct DiffusionRows {
  RawVector<std::array<Lid, max_row_entries>> columns;
  RawVector<std::array<double, max_row_entries>> values;
  std::vector<std::uint8_t> counts;
  std::vector<double> diagonal;
  Csr<Lid> boundary_columns;            ///< columns index boundary_faces
  std::vector<double> boundary_values;  ///< one an entry of boundary_columns
  std::vector<BoundaryFaceRef> boundary_faces;
  std::vector<BoundaryKind> boundary_kinds;
  double max_outflow = 0;  ///< max |L_ii|
  Lid weak_fits = 0;       ///< owned cells whose gradient counts less than its distance says
  Lid flattened = 0;       ///< owned cells whose fit is singular: their gradient is zero
  bool change = false;     ///< others of the same stencil will take their place: they need room for a diagonal
};

/// What takes the place of the diagonal of -L in iterations: -L_ii, but at least half of what stands in a row with any
/// sign, so that no eigenvalue of D^-1 L is beyond 4.
std::vector<double> jacobi_diagonal(const DiffusionRows& rows);

/// All rows of a scheme.
DiffusionRows assemble_rows(Scheme scheme, const ParallelFor& parallel = {});

/// prepare_scheme and all its rows. Takes 108 bytes a local cell besides the result.
DiffusionRows assemble_rows(const LocalTetMesh& mesh, std::span<const Sym3> K, const BoundaryKindOf& kind,
                            const SchemeOptions& options = {}, const ParallelFor& parallel = {});

}  // namespace tutti::diffusion
