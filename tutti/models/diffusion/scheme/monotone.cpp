#include "tutti/models/diffusion/scheme/monotone.hpp"

#include <algorithm>

#include "tutti/models/diffusion/scheme/gradient.hpp"
#include "tutti/models/diffusion/scheme/scheme_faces.hpp"

namespace tutti::diffusion {

using scheme_faces::at;

namespace {

/// The tangential flux of a face brings in at most so many times the sum of the cell's alphas times the distance to the
/// largest value beside it. Linear functions need the more, the more K turns fluxes away from the normal.
constexpr double bound = 2;

/// The two-point flux into a cell through a face: alpha times what lies behind it, less u.
struct TwoPoint {
  double alpha = 0;
  double datum = 1;     ///< face_datum() times this lies behind it, less u
  bool carries = true;  ///< a tangential flux, too: it is no Neumann face
};
TwoPoint two_point(const Scheme& scheme, Lid cell, int face) {
  const LocalTetMesh& mesh = *scheme.mesh;
  const Lid neighbour = mesh.neighbours[at(cell)][at(face)];
  if (neighbour >= 0) return {scheme_faces::interior_face_of(scheme, cell, face, neighbour).alpha};
  const Lid number = scheme_faces::boundary_face_number(scheme, cell, face);
  if (gives_u(scheme.boundary_kinds[at(number)])) return {scheme_faces::given_face(scheme, cell, face, number).alpha()};
  const auto shape = face_shape(mesh, cell, face);
  const double alpha =
      dot(shape.area, scheme.K[at(cell)] * shape.area) / dot(shape.area, shape.centroid - mesh.centroid(cell));
  return {alpha, norm(shape.area) / alpha, false};
}

FluxBounds flux_bounds(const Scheme& scheme, Lid cell, std::span<const double> u, std::span<const double> g) {
  FluxBounds bounds;
  double alphas = 0, above = 0, below = 0;
  for (int f = 0; f < 4; ++f) {
    const double datum = face_datum(scheme, cell, f, u, g);
    bounds.gradient = bounds.gradient + datum * scheme.gradients[at(cell)][at(f)];
    const TwoPoint face = two_point(scheme, cell, f);
    const double difference = face.alpha > 0 ? face.datum * datum : 0;  // 0: a film that lets nothing through
    bounds.differences[at(f)] = difference;
    if (face.carries) alphas += face.alpha;
    above = std::max(above, difference);
    below = std::max(below, -difference);
  }
  bounds.above = bound * alphas * above;
  bounds.below = bound * alphas * below;
  return bounds;
}

/// What the tangential flux of a face that is no Neumann face brings into the cell.
double tangential_inflow(const Scheme& scheme, Lid cell, int face) {
  const Lid neighbour = scheme.mesh->neighbours[at(cell)][at(face)];
  const FluxBounds& own = scheme.bounds[at(cell)];
  if (neighbour < 0)
    return std::clamp(dot(scheme_faces::given_tangential(scheme, cell, face), own.gradient), -own.below, own.above);
  const FluxBounds& other = scheme.bounds[at(neighbour)];
  const auto flux = scheme_faces::interior_flux(scheme, cell, face, neighbour);
  return std::clamp(dot(flux.own, own.gradient) + dot(flux.other, other.gradient), -std::min(own.below, other.above),
                    std::min(own.above, other.below));
}

/// Writes `amount` as weights of the differences that have this sign, in proportion to them.
void distribute(double amount, double sign, const std::array<double, 4>& differences, std::array<double, 4>& weights) {
  if (!(amount > 0)) return;
  double largest = 0, squares = 0;
  for (const double d : differences) largest = std::max(largest, sign * d);
  std::array<double, 4> parts;
  for (std::size_t f = 0; f < 4; ++f) {
    parts[f] = std::max(0.0, sign * differences[f]) / largest;
    squares += parts[f] * parts[f];
  }
  for (std::size_t f = 0; f < 4; ++f) weights[f] += amount / largest * (parts[f] / squares);
}

}  // namespace

void set_flux_bounds(Scheme& scheme, std::span<const double> u, std::span<const double> g,
                     const ParallelFor& parallel) {
  scheme.bounds.resize(scheme.mesh->cells.size());
  scheme_faces::run(parallel, scheme.mesh->cell_count(), [&](Range range) {
    for (Lid c = range.begin; c < range.end; ++c)
      if (scheme_faces::is_active(*scheme.mesh, c)) scheme.bounds[at(c)] = flux_bounds(scheme, c, u, g);
  });
}

std::array<double, 4> monotone_weights(const Scheme& scheme, Lid cell) {
  std::array<double, 4> weights, data;
  double in = 0, out = 0;
  for (int f = 0; f < 4; ++f) {
    const TwoPoint face = two_point(scheme, cell, f);
    weights[at(f)] = face.alpha;
    data[at(f)] = face.datum;
    if (scheme.bounds.empty() || !face.carries) continue;
    const double tangential = tangential_inflow(scheme, cell, f);
    (tangential > 0 ? in : out) += std::abs(tangential);
  }
  if (!scheme.bounds.empty()) {
    distribute(in, 1, scheme.bounds[at(cell)].differences, weights);
    distribute(out, -1, scheme.bounds[at(cell)].differences, weights);
  }
  for (std::size_t f = 0; f < 4; ++f) weights[f] *= data[f];
  return weights;
}

double monotone_outflow(const Scheme& scheme, Lid cell) {
  double alphas = 0;
  int faces = 0;
  for (int f = 0; f < 4; ++f)
    if (const TwoPoint face = two_point(scheme, cell, f); face.carries) alphas += face.alpha, ++faces;
  return (1 + bound * faces) * alphas / scheme.mesh->volume(cell);
}

double monotone_inflow(const Scheme& scheme, Lid cell, int face) {
  return two_point(scheme, cell, face).alpha * scheme.bounds[at(cell)].differences[at(face)] +
         tangential_inflow(scheme, cell, face);
}

}  // namespace tutti::diffusion
