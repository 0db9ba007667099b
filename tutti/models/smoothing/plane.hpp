// Two coordinates within the plane that the triangles of a mesh lie in.
#pragma once

#include <array>
#include <cmath>

#include "tutti/base/vec3.hpp"

namespace tutti::smoothing {

/// Orthonormal a, b with a x b = the normal, which has length 1.
inline std::array<Vec3, 2> tangents(Vec3 normal) {
  int least = 0;
  for (int d = 1; d < 3; ++d)
    if (std::abs(normal[d]) < std::abs(normal[least])) least = d;
  Vec3 axis;
  axis[least] = 1;
  const Vec3 across = cross(normal, axis), first = (1 / norm(across)) * across;
  return {first, cross(normal, first)};
}

/// A plane of constant z that is seen from above: its coordinates are x and y.
struct LevelPlane {
  TUTTI_HD static Vec3 inside(Vec3 d) { return {d.x, d.y, 0}; }
  TUTTI_HD static Vec3 in_space(Vec3 d) { return {d.x, d.y, 0}; }
};

/// Any plane, by two tangents with first x second = its normal.
struct Plane {
  Vec3 first{1, 0, 0}, second{0, 1, 0};
  bool level = true;

  /// A difference of points by its two coordinates; z is 0.
  TUTTI_HD Vec3 inside(Vec3 d) const {
    if (level) return LevelPlane::inside(d);
    const auto along = [&](Vec3 t) { return std::fma(t.x, d.x, std::fma(t.y, d.y, t.z * d.z)); };
    return {along(first), along(second), 0};
  }
  /// The other way round.
  TUTTI_HD Vec3 in_space(Vec3 d) const {
    if (level) return LevelPlane::in_space(d);
    const auto sum = [&](double f, double s) { return std::fma(d.x, f, d.y * s); };
    return {sum(first.x, second.x), sum(first.y, second.y), sum(first.z, second.z)};
  }
};

/// `normal`: of length 1, or zero where there is no plane.
inline Plane plane_of(Vec3 normal) {
  if (normal == Vec3{} || normal == Vec3{0, 0, 1}) return {};
  const auto [first, second] = tangents(normal);
  return {first, second, false};
}

}  // namespace tutti::smoothing
