// How good the shape of one tetrahedron is.
#pragma once

#include <array>

#include "tutti/base/vec3.hpp"

namespace tutti {

/// Measures of a tetrahedron. The regular one has mean ratio, radius ratio and aspect ratio 1 and dihedral angles of
/// 70.53 degrees.
struct TetQuality {
  double volume = 0;                    ///< signed: not positive where the cell is inverted or flat
  double mean_ratio = 0;                ///< 12 (3 V)^(2/3) / sum of squared edges, <= 1; with the sign of the volume
  double radius_ratio = 0;              ///< 3 r_in / R_circumscribed, in [0, 1]; with the sign of the volume
  double aspect = 0;                    ///< longest edge / (2 sqrt(6) r_in), >= 1; infinite where flat
  std::array<double, 6> dihedral = {};  ///< angles between faces f < g, degrees: (0,1) (0,2) (0,3) (1,2) (1,3) (2,3)
  bool inverted() const { return !(volume > 0); }
};

/// Of the tetrahedron a, b, c, d, whose volume is (b - a) x (c - a) . (d - a) / 6. (Liu and Joe, "Relationship between
/// tetrahedron shape measures", BIT 34, 1994.)
TetQuality tet_quality(Vec3 a, Vec3 b, Vec3 c, Vec3 d);

/// The same measures of a triangle in space; `volume` is its area, negative where the triangle's normal is against
/// `normal`; `dihedral` holds its three inner
/// angles (60 degrees where it is equilateral) and no others. Mean ratio 4 sqrt(3) A / sum of squared edges, radius
/// ratio 2 r_in / R, aspect longest edge / (2 sqrt(3) r_in).
TetQuality triangle_quality(Vec3 a, Vec3 b, Vec3 c, Vec3 normal = {});

}  // namespace tutti
