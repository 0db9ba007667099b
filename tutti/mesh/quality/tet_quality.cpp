#include "tutti/mesh/quality/tet_quality.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "tutti/mesh/tet_mesh.hpp"

namespace tutti {

TetQuality tet_quality(Vec3 a, Vec3 b, Vec3 c, Vec3 d) {
  const std::array<Vec3, 4> p = {a, b, c, d};
  TetQuality q;
  q.volume = tet_volume(a, b, c, d);
  const double size = std::abs(q.volume), sign = q.volume > 0 ? 1 : -1;

  double squares = 0, longest = 0;
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = i + 1; j < 4; ++j) {
      const Vec3 e = p[j] - p[i];
      squares += dot(e, e);
      longest = std::max(longest, dot(e, e));
    }
  if (squares > 0) q.mean_ratio = sign * 12 * std::cbrt(9 * size * size) / squares;

  // Outward normals of a positive cell, twice the faces' areas long; those of an inverted one all point inwards, and
  // the angles between them are the same.
  std::array<Vec3, 4> normal;
  std::array<double, 4> length;
  double surface = 0;
  for (std::size_t f = 0; f < 4; ++f) {
    const auto face = tet_faces[f];
    const Vec3 at = p[face[0]];
    normal[f] = cross(p[face[1]] - at, p[face[2]] - at);
    length[f] = norm(normal[f]);
    surface += 0.5 * length[f];
  }
  for (std::size_t f = 0, k = 0; f < 4; ++f)
    for (std::size_t g = f + 1; g < 4; ++g, ++k) {
      const double both = length[f] * length[g];
      const double cosine = both > 0 ? -dot(normal[f], normal[g]) / both : 1;
      q.dihedral[k] = std::acos(std::clamp(cosine, -1.0, 1.0)) * 180 / std::numbers::pi;
    }

  // r_in = 3 V / surface; R = |a^2 (b x c) + b^2 (c x a) + c^2 (a x b)| / (12 V), edges from the first corner.
  const Vec3 u = b - a, v = c - a, w = d - a;
  const double circle = norm(dot(u, u) * cross(v, w) + dot(v, v) * cross(w, u) + dot(w, w) * cross(u, v));
  if (circle > 0 && surface > 0) q.radius_ratio = sign * 108 * size * size / (surface * circle);
  q.aspect =
      size > 0 ? std::sqrt(longest) * surface / (6 * std::sqrt(6.0) * size) : std::numeric_limits<double>::infinity();
  return q;
}

}  // namespace tutti
