// Three half turns map a regular tetrahedron onto itself: number f exchanges corners 0 and f, and the two others, so
// that face f, which is opposite corner f, comes to lie on face 0. In coordinates along their axes a half turn changes
// nothing but signs. Polynomials made orthonormal in these coordinates are even or odd under each of them, so the trace
// on face f is that on face 0 with some signs changed: one table is enough, whichever face a neighbour has.
#pragma once

#include <array>
#include <span>

#include "tutti/models/compressible/elements/basis.hpp"

namespace tutti::compressible {

/// Straight tetrahedra have such a basis for p = 1, 2. From p = 3 on it would leave fewer zeros in the derivatives.
constexpr bool has_symmetric_basis(ElementType type, int order) {
  return type == ElementType::tetrahedron && (order == 1 || order == 2);
}

/// Rows of G: the coordinates along the axes are G (r - centre).
inline constexpr std::array<Vec3, 3> symmetric_axes{Vec3{0, 1, 1}, Vec3{1, 0, 1}, Vec3{1, 1, 0}};

/// Basis functions that change their sign under half turn f: bit l of function l, p <= 2. The functions are in the
/// order of their last monomial: 1; x, y, z; x^2, xy, xz, y^2, yz, z^2.
TUTTI_HD constexpr unsigned odd_under_half_turn(int f) {
  constexpr unsigned about_x = 1U << 2 | 1U << 3 | 1U << 5 | 1U << 6, about_y = 1U << 1 | 1U << 3 | 1U << 5 | 1U << 8,
                     about_z = 1U << 1 | 1U << 2 | 1U << 6 | 1U << 8;
  return f == 0 ? 0 : f == 1 ? about_x : f == 2 ? about_y : about_z;
}

/// Where half turn f takes a place in reference coordinates.
inline Vec3 half_turned(int f, Vec3 at) {
  const double first = 1 - at.x - at.y - at.z;  // the barycentric coordinate of corner 0
  if (f == 1) return {first, at.z, at.y};
  if (f == 2) return {at.z, first, at.x};
  if (f == 3) return {at.y, at.x, first};
  return at;
}

/// phi_l at places of face f, [l][q]: to the bit those of face 0, of whose places `on_face_0` these are half turns,
/// with signs changed.
void make_symmetric_trace(const Basis& basis, int f, std::span<const Vec3> on_face_0, std::span<const Vec3> places,
                          double* to);

}  // namespace tutti::compressible
