// Transmission of one face: what gradients and fluxes share.
#pragma once

#include <algorithm>

#include "tutti/mesh/face_shape.hpp"
#include "tutti/models/diffusion/scheme/scheme.hpp"

namespace tutti::diffusion::scheme_faces {

inline std::size_t at(Lid i) {
  return static_cast<std::size_t>(i);
}

/// Does this cell need a gradient: is it owned, or a ghost that touches an owned cell?
inline bool is_active(const LocalTetMesh& mesh, Lid cell) {
  if (cell < mesh.owned) return true;
  for (const Lid n : mesh.neighbours[at(cell)])
    if (n >= 0 && n < mesh.owned) return true;
  return false;
}

/// A face between two cells, seen from the one with the lower global number (lo) to the other (hi). All quantities
/// carry the face's area. With n the unit normal from lo to hi, delta the distances of the centroids to the face's
/// plane and lambda = n . K n, the harmonic averaging point needs only the resistances delta / lambda.
struct InteriorFace {
  double alpha = 0;       ///< transmission 1 / (resistance of lo + resistance of hi) = (n . K n) / (n . d)
  Vec3 d;                 ///< centroid of hi - centroid of lo
  Vec3 flow_lo, flow_hi;  ///< K n of the cells
  double resistance_lo = 0, resistance_hi = 0;
  double contact = 0;    ///< resistance of the face itself
  double weight_lo = 0;  ///< share of lo in the gradient at the face: by distance, 1 - weight_hi
  double weight_hi = 0;
};

inline InteriorFace interior_face(const Scheme& scheme, Lid lo, int face, Lid hi) {
  const LocalTetMesh& mesh = *scheme.mesh;
  const std::span<const Sym3> K = scheme.K;
  const FaceShape shape = face_shape(mesh, lo, face);
  const Vec3 x_lo = mesh.centroid(lo), x_hi = mesh.centroid(hi);
  InteriorFace out;
  out.d = x_hi - x_lo;
  out.flow_lo = K[at(lo)] * shape.area;
  out.flow_hi = K[at(hi)] * shape.area;
  const double distance_lo = dot(shape.area, shape.centroid - x_lo);
  const double distance_hi = dot(shape.area, x_hi - shape.centroid);
  out.resistance_lo = distance_lo / dot(shape.area, out.flow_lo);
  out.resistance_hi = distance_hi / dot(shape.area, out.flow_hi);
  if (scheme.options.resistance) {
    const auto [one, other] = std::minmax(mesh.regions[at(lo)], mesh.regions[at(hi)]);
    if (one != other) out.contact = scheme.options.resistance(one, other, shape.centroid) / norm(shape.area);
  }
  out.alpha = 1.0 / (out.resistance_lo + out.resistance_hi + out.contact);
  const double inverse = 1.0 / (distance_lo + distance_hi);
  out.weight_lo = distance_hi * inverse;
  out.weight_hi = distance_lo * inverse;
  return out;
}

/// The interior face f of a cell with the neighbour behind it, in its one direction.
inline InteriorFace interior_face_of(const Scheme& scheme, Lid cell, int face, Lid neighbour) {
  const LocalTetMesh& mesh = *scheme.mesh;
  if (mesh.global[at(cell)] < mesh.global[at(neighbour)]) return interior_face(scheme, cell, face, neighbour);
  return interior_face(scheme, neighbour, face_towards(mesh, neighbour, cell), cell);
}

/// row . grad u = u_hi - u_lo for the gradient of the one cell (`of_lo`) or the other, where u is linear on both sides.
/// Across the face the normal derivative jumps with K, and u by what the face itself resists: the harmonic averaging
/// point, written for u of the cell behind.
inline Vec3 row_of(const InteriorFace& f, bool of_lo) {
  const Vec3 jump = f.flow_lo - f.flow_hi;
  return of_lo ? f.d + f.resistance_hi * jump + f.contact * f.flow_lo
               : f.d - f.resistance_lo * jump + f.contact * f.flow_hi;
}

/// What flows into a cell through an interior face: alpha (u_j - u_i) + own . grad u_i + other . grad u_j.
struct InteriorFlux {
  InteriorFace face;
  Vec3 own, other;
};
InteriorFlux interior_flux(const Scheme& scheme, Lid cell, int face, Lid neighbour);

/// The number of boundary face f of a cell in scheme.boundary_faces.
inline Lid boundary_face_number(const Scheme& scheme, Lid cell, int face) {
  Lid number = scheme.first_boundary_face[at(cell)];
  for (int f = 0; f < face; ++f) {
    const Lid n = scheme.mesh->neighbours[at(cell)][at(f)];
    if (n < 0 && n != LocalTetMesh::outside_halo) ++number;
  }
  return number;
}

/// A boundary face that gives u: at its centroid x_f (Dirichlet), or behind a film (Robin). With r = x_f - x_i, linear
/// functions fulfil (r + K n / h) . grad u = g - u_i: a Robin face is a Dirichlet face at x_f + K n / h. Here the row
/// is h |face| times that, so that h may be 0; of a Dirichlet face it is r.
struct GivenFace {
  Vec3 flow;         ///< K n |face|
  Vec3 row;          ///< row . grad u = scale (g - u_i)
  double scale = 1;  ///< h |face|, or 1
  double share = 0;  ///< flow less its tangential part is share times row
  double alpha() const { return share * scale; }
  Vec3 tangential() const { return flow - share * row; }
};
inline GivenFace given_face(const Scheme& scheme, Lid cell, int face, Lid number) {
  const auto shape = face_shape(*scheme.mesh, cell, face);
  GivenFace out;
  out.row = shape.centroid - scheme.mesh->centroid(cell);
  out.flow = scheme.K[at(cell)] * shape.area;
  if (scheme.boundary_kinds[at(number)] == BoundaryKind::robin) {
    out.scale = scheme.transfer[at(number)] * norm(shape.area);
    out.row = out.scale * out.row + out.flow;
  }
  out.share = dot(shape.area, out.flow) / dot(shape.area, out.row);
  return out;
}

/// What multiplies the gradient of the cell in the flux of such a face.
inline Vec3 given_tangential(const Scheme& scheme, Lid cell, int face) {
  const double share = std::min(1.0, scheme.fit_quality[at(cell)] / scheme.options.tangential_limit);
  return share * given_face(scheme, cell, face, boundary_face_number(scheme, cell, face)).tangential();
}

/// Sylvester's criterion; false for NaN.
inline bool positive_definite(const Sym3& a) {
  const double minor = a.xx * a.yy - a.xy * a.xy;
  const double det =
      a.xx * (a.yy * a.zz - a.yz * a.yz) - a.xy * (a.xy * a.zz - a.yz * a.xz) + a.xz * (a.xy * a.yz - a.yy * a.xz);
  return a.xx > 0 && minor > 0 && det > 0;
}

/// for_ranges over local cells.
inline void run(const ParallelFor& parallel, Lid count, const std::function<void(Range)>& body) {
  for_ranges(parallel, count, [&](Size b, Size e) { body({static_cast<Lid>(b), static_cast<Lid>(e)}); });
}

}  // namespace tutti::diffusion::scheme_faces
