// Least-squares gradients of cells from what lies behind their four faces.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "tutti/models/diffusion/scheme/scheme.hpp"

namespace tutti::diffusion {

/// What one face tells about the gradient g of a cell: row . g = scale * datum, where the datum is u_j - u_i behind an
/// interior face, u_D - u_i at a Dirichlet face, q at a Neumann face.
struct FitRow {
  Vec3 row;
  double scale = 1;
  double weight = 1;  ///< of the row, after its length was made 1
};

struct GradientFit {
  std::array<Vec3, 4> coefficients;  ///< of each datum; all zero if the fit is singular
  double quality = 1;                ///< min(1, smallest eigenvalue / weak), at least singular_fit
  bool singular = false;
};

/// Smallest eigenvalue of a fit that is taken to be singular.
inline constexpr double singular_fit = 1e-4;

/// Fits the gradient to four rows, with weights 1 / (row . K^-1 row). K must be positive definite. A row's length does
/// not matter beyond its scale: only directions weigh.
GradientFit fit_gradient(const Sym3& K, const std::array<FitRow, 4>& rows, double weak);

/// |L^-1 x| with K = L L^T.
double scaled_length(const Sym3& K, Vec3 x);
/// The smallest eigenvalue of the symmetric part of sum_f (L^-1 rows_f) (L^-1 flows_f)^T with K = L L^T.
double smallest_scaled_eigenvalue(const Sym3& K, const std::array<Vec3, 4>& rows, const std::array<Vec3, 4>& flows);

/// Fits the gradients of the owned cells and first ghosts of a scheme: fills gradients, fit_quality and the counts.
void fit_gradients(Scheme& scheme, const ParallelFor& parallel);

/// What lies behind face `face` of a cell, as FitRow says: of boundary faces from g, data of scheme.boundary_faces.
double face_datum(const Scheme& scheme, Lid cell, int face, std::span<const double> u, std::span<const double> g);

/// The gradient of an owned cell, as cell_gradients.
Vec3 cell_gradient(const Scheme& scheme, Lid cell, std::span<const double> u, std::span<const double> g);

/// Gradients of the owned cells, by the same fit as the fluxes (two_point schemes have none). u: local cells, valid on
/// owned cells and first ghosts; g: data of scheme.boundary_faces.
std::vector<Vec3> cell_gradients(const Scheme& scheme, std::span<const double> u, std::span<const double> g);

/// As above for callers that keep no scheme; g in the order of DiffusionRows::boundary_faces.
std::vector<Vec3> cell_gradients(const LocalTetMesh& mesh, std::span<const Sym3> K, const BoundaryKindOf& kind,
                                 std::span<const double> u, std::span<const double> g,
                                 const SchemeOptions& options = {});

}  // namespace tutti::diffusion
