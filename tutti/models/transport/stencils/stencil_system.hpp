// The linear system whose solutions are the weights of one stencil: its entries, one by one, for CPUs and GPUs.
//
//   ( Phi  P ) ( w  )   ( L phi )
//   ( P^T  0 ) ( mu ) = ( L p   )
//
// A Gaussian stands with the constant: P is a column of ones. A polyharmonic spline stands with polynomials in the
// tangent plane of the centre, onto which the nodes are projected at right angles: at the centre, gradient and
// Laplacian of the plane are those of the sphere then. Lengths in the plane are in units of the stencil's radius.
//
// The matrix is symmetric. The gradient is found along two tangents; so its Cartesian components have no part along
// the normal, whatever is rounded.
#pragma once

#include "tutti/base/random.hpp"
#include "tutti/models/transport/stencils/rbf.hpp"
#include "tutti/models/transport/stencils/stencil_basis.hpp"

namespace tutti::transport {

/// Right-hand sides of a system. The last has random signs: its solution shows the smallest singular value.
enum class RightSide : std::uint8_t { first_tangent, second_tangent, laplacian, hyper, probe };
inline constexpr int right_sides = 5;

/// Two tangents at the centre, and the unit of length.
struct StencilFrame {
  Vec3 centre, first, second;
  double radius = 1;
};

/// The tangents: the first is nearest to the axis that the centre is farthest from (the first one of equals).
TUTTI_HD inline StencilFrame make_frame(Vec3 centre) {
  const double x = std::fabs(centre.x), y = std::fabs(centre.y), z = std::fabs(centre.z);
  const Vec3 axis = x <= y && x <= z ? Vec3{1, 0, 0} : y <= z ? Vec3{0, 1, 0} : Vec3{0, 0, 1};
  const Vec3 t = axis - dot(axis, centre) * centre;
  const Vec3 first = (1 / norm(t)) * t;
  return {centre, first, cross(centre, first), 1};
}

/// A node in the tangent plane, in units of the sphere's radius.
TUTTI_HD inline Vec3 project(const StencilFrame& frame, Vec3 point) {
  const Vec3 d = point - frame.centre;
  return {dot(d, frame.first), dot(d, frame.second), 0};
}

/// Entry (i, j) of the matrix. `points`: the nodes for a Gaussian, else their places in the plane.
TUTTI_HD inline double system_entry(const StencilBasis& basis, const Vec3* points, int i, int j) {
  const int n = basis.size;
  if (i >= n && j >= n) return 0;
  if (i >= n || j >= n) {
    if (basis.kind == StencilBasis::Kind::gaussian) return 1;
    const Vec3 x = points[i >= n ? j : i];
    return rbf::Monomial::number((i >= n ? i : j) - n).value(x.x, x.y);
  }
  const double r2 = rbf::distance_squared(points[i], points[j]);
  return basis.kind == StencilBasis::Kind::gaussian ? rbf::Gaussian{basis.epsilon}.value(r2)
                                                    : rbf::Polyharmonic{basis.exponent}.value(r2);
}

TUTTI_HD inline double probe_sign(int i) {
  return (random_bits(1, static_cast<std::uint64_t>(i)) & 1) != 0 ? 1 : -1;
}

TUTTI_HD inline double gaussian_right_side(const StencilBasis& basis, const StencilFrame& frame, Vec3 x, double phi,
                                           RightSide which) {
  const rbf::Gaussian gaussian{basis.epsilon};
  const double r2 = rbf::distance_squared(frame.centre, x);
  switch (which) {
    case RightSide::first_tangent:
      return dot(gaussian.gradient(frame.centre, x, phi), frame.first);
    case RightSide::second_tangent:
      return dot(gaussian.gradient(frame.centre, x, phi), frame.second);
    case RightSide::laplacian:
      return gaussian.laplacian(r2, phi);
    default:
      return gaussian.delta(basis.hyper, r2, phi);
  }
}

TUTTI_HD inline double plane_right_side(const StencilBasis& basis, Vec3 x, RightSide which) {
  const rbf::Polyharmonic phi{basis.exponent};
  const double r2 = x.x * x.x + x.y * x.y;
  switch (which) {
    case RightSide::first_tangent:
      return phi.gradient_factor(r2) * -x.x;
    case RightSide::second_tangent:
      return phi.gradient_factor(r2) * -x.y;
    case RightSide::laplacian:
      return phi.laplacian(r2);
    default:
      return phi.delta(basis.hyper, r2);
  }
}

TUTTI_HD inline double polynomial_right_side(const StencilBasis& basis, int number, RightSide which) {
  switch (which) {
    case RightSide::first_tangent:
      return number == 1 ? 1 : 0;
    case RightSide::second_tangent:
      return number == 2 ? 1 : 0;
    case RightSide::laplacian:
      return rbf::Monomial::number(number).delta(1);
    default:
      return rbf::Monomial::number(number).delta(basis.hyper);
  }
}

/// Entry i of a right-hand side; `phi` is entry (0, i) of the matrix.
TUTTI_HD inline double system_right_side(const StencilBasis& basis, const StencilFrame& frame, const Vec3* points,
                                         double phi, int i, RightSide which) {
  if (which == RightSide::probe) return probe_sign(i);
  const bool gaussian = basis.kind == StencilBasis::Kind::gaussian;
  if (i >= basis.size) return gaussian ? 0 : polynomial_right_side(basis, i - basis.size, which);
  return gaussian ? gaussian_right_side(basis, frame, points[i], phi, which)
                  : plane_right_side(basis, points[i], which);
}

/// A node's weights of all operators, of its places in the solutions.
TUTTI_HD inline void solution_to_weights(const StencilBasis& basis, const StencilFrame& frame,
                                         const double (&solution)[right_sides - 1], double (&weights)[operators]) {
  const double scale = 1 / frame.radius;
  const Vec3 g = scale * (solution[0] * frame.first + solution[1] * frame.second);
  weights[gradient_x] = g.x;
  weights[gradient_y] = g.y;
  weights[gradient_z] = g.z;
  weights[laplacian] = scale * scale * solution[2];
  weights[hyper] = rbf::power(scale * scale, basis.hyper) * solution[3];
}

/// Solutions that are no numbers, or a condition number above this, tell a singular system: nodes that coincide, or
/// that polynomials cannot tell apart. Gaussians as flat as in the paper reach 1e17.
inline constexpr double singular_condition = 1e19;

}  // namespace tutti::transport
