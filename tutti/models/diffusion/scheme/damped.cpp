#include "tutti/models/diffusion/scheme/damped.hpp"

#include <algorithm>
#include <cmath>

#include "tutti/models/diffusion/scheme/scheme_faces.hpp"

namespace tutti::diffusion {

using scheme_faces::at;

namespace {

enum class Behind : std::uint8_t { cell, given, neumann };

/// One face as a cell sees it; vectors point out of it and carry the face's area.
struct FaceOfCell {
  Behind behind = Behind::neumann;
  Lid neighbour = -1;
  Vec3 row;         ///< row . grad u = u_j - u_i for linear u
  Vec3 flow;        ///< K n
  Vec3 tangential;  ///< what multiplies the gradients in the flux
  double alpha = 0, weight = 1;
  bool firm = false;  ///< what it tells of the gradient is the flux, more or less: its row would outweigh all others
};

/// A film or a contact with a resistance of so many times that of the cells tells the flux.
constexpr double film = 1e3;

FaceOfCell face_of_cell(const Scheme& scheme, Lid cell, int face) {
  const LocalTetMesh& mesh = *scheme.mesh;
  FaceOfCell out;
  out.neighbour = mesh.neighbours[at(cell)][at(face)];
  if (out.neighbour >= 0) {
    const auto f = scheme_faces::interior_face_of(scheme, cell, face, out.neighbour);
    const bool is_lo = mesh.global[at(cell)] < mesh.global[at(out.neighbour)];
    const double sign = is_lo ? 1 : -1;
    out.behind = Behind::cell;
    out.row = sign * scheme_faces::row_of(f, is_lo);
    out.flow = sign * (is_lo ? f.flow_lo : f.flow_hi);
    out.tangential =
        sign * ((f.resistance_lo * f.alpha) * f.flow_lo + (f.resistance_hi * f.alpha) * f.flow_hi - f.alpha * f.d);
    out.alpha = f.alpha;
    out.weight = is_lo ? f.weight_lo : f.weight_hi;
    out.firm = f.contact > film * (f.resistance_lo + f.resistance_hi);
    return out;
  }
  const Lid number = scheme_faces::boundary_face_number(scheme, cell, face);
  const auto shape = face_shape(mesh, cell, face);
  out.row = shape.centroid - mesh.centroid(cell);
  out.flow = scheme.K[at(cell)] * shape.area;
  out.firm = true;
  const BoundaryKind kind = scheme.boundary_kinds[at(number)];
  if (!gives_u(kind)) return out;
  const auto f = scheme_faces::given_face(scheme, cell, face, number);
  if (kind == BoundaryKind::robin && !(dot(shape.area, f.row) < film * f.scale * dot(shape.area, out.row))) return out;
  out.behind = Behind::given;
  out.firm = false;
  out.row = (1 / f.scale) * f.row;
  out.alpha = f.alpha();
  out.tangential = f.tangential();
  return out;
}

/// A symmetric 4 x 4 form, of what lies behind the faces that are no Neumann faces.
using Form = std::array<std::array<double, 4>, 4>;

/// Cholesky's factorisation goes through with all pivots above `least`.
bool positive(Form a, double least) {
  for (std::size_t k = 0; k < 4; ++k) {
    if (!(a[k][k] > least)) return false;
    for (std::size_t i = k + 1; i < 4; ++i) {
      const double factor = a[i][k] / a[k][k];
      for (std::size_t j = k + 1; j <= i; ++j) {
        a[i][j] -= factor * a[j][k];
        a[j][i] = a[i][j];
      }
    }
  }
  return true;
}

}  // namespace

GradientFit fit_damped(const Scheme& scheme, Lid cell, const std::array<FitRow, 4>& rows) {
  const Sym3& K = scheme.K[at(cell)];
  std::array<FaceOfCell, 4> faces;
  double largest = 0;
  for (std::size_t f = 0; f < 4; ++f) faces[f] = face_of_cell(scheme, cell, static_cast<int>(f));
  for (const FaceOfCell& f : faces) largest = std::max(largest, f.alpha * f.weight);
  // What a Neumann face tells of the gradient holds as it is, or nearly so.
  constexpr double firm = 1e4;
  std::array<FitRow, 4> weighted = rows;
  for (std::size_t f = 0; f < 4; ++f) {
    const double length = scaled_length(K, faces[f].row);
    weighted[f].weight = faces[f].firm ? 0 : faces[f].alpha * faces[f].weight * length * length;
  }
  double most = 0;
  for (const FitRow& row : weighted) most = std::max(most, row.weight);
  for (std::size_t f = 0; f < 4; ++f)
    weighted[f].weight = most == 0 ? 1 : faces[f].firm ? firm : weighted[f].weight / most;
  GradientFit fit = fit_gradient(K, weighted, singular_fit);
  std::array<Vec3, 4> row, flow;
  for (std::size_t f = 0; f < 4; ++f) {
    row[f] = faces[f].weight * faces[f].row;
    flow[f] = faces[f].flow;
  }
  constexpr double enough = 0.2;
  const double lambda = smallest_scaled_eigenvalue(K, row, flow) / scheme.mesh->volume(cell);
  fit.quality = std::max(singular_fit * singular_fit, 1 / (1 + std::max(0.0, enough - lambda)));
  return fit;
}

double coercive_share(const Scheme& scheme, Lid cell) {
  // The cell's part of the energy that its faces take: alpha w delta_f^2, the damping of its defects, and the
  // tangential flux that its own gradient carries, each times delta_f; delta = 0 at Neumann faces (homogeneous data).
  std::array<FaceOfCell, 4> faces;
  for (std::size_t f = 0; f < 4; ++f) faces[f] = face_of_cell(scheme, cell, static_cast<int>(f));
  Form damping{}, tangential{};
  std::array<double, 4> scale;
  for (std::size_t f = 0; f < 4; ++f) {
    const double own = faces[f].alpha * faces[f].weight;
    scale[f] = faces[f].behind == Behind::neumann ? 0 : 1 / std::sqrt(own);
  }
  for (std::size_t f = 0; f < 4; ++f) {
    if (faces[f].behind == Behind::neumann) {
      damping[f][f] = 1;
      continue;
    }
    const double own = faces[f].alpha * faces[f].weight;
    double mine = faces[f].weight * scheme.fit_quality[at(cell)];
    if (faces[f].behind == Behind::cell)
      mine /= mine + (1 - faces[f].weight) * scheme.fit_quality[at(faces[f].neighbour)];
    else
      mine = 1;
    damping[f][f] += own * scale[f] * scale[f] * (1 + extra_damping);
    for (std::size_t m = 0; m < 4; ++m) {
      if (faces[m].behind == Behind::neumann) continue;
      const Vec3 g = scheme.gradients[at(cell)][m];
      const double s = 0.5 * scale[f] * scale[m];
      const double defect = s * extra_damping * own * dot(faces[f].row, g);
      const double flux = s * mine * dot(faces[f].tangential, g);
      damping[f][m] -= defect, damping[m][f] -= defect;
      tangential[f][m] += flux, tangential[m][f] += flux;
    }
  }
  constexpr double margin = 0.05;
  const auto coercive = [&](double share) {
    Form form = damping;
    for (std::size_t f = 0; f < 4; ++f)
      for (std::size_t m = 0; m < 4; ++m) form[f][m] += share * tangential[f][m];
    return positive(form, margin);
  };
  if (coercive(1)) return 1;
  double low = 0, high = 1;
  for (int k = 0; k < 10; ++k) {
    const double middle = 0.5 * (low + high);
    (coercive(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace tutti::diffusion
