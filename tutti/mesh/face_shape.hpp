// Geometry of one face of a tetrahedron.
#pragma once

#include "tutti/base/error.hpp"
#include "tutti/base/vec3.hpp"
#include "tutti/mesh/local_tet_mesh.hpp"

namespace tutti {

struct FaceShape {
  Vec3 area;  ///< normal out of the cell times the area
  Vec3 centroid;
};

/// Face `face` of a cell, from the cell's own corners.
inline FaceShape face_shape(const LocalTetMesh& mesh, Lid cell, int face) {
  const auto& corners = mesh.cells[cell];
  const auto& local = tet_faces[face];
  const auto corner = [&](std::size_t k) { return mesh.vertices[corners[local[k]]]; };
  const Vec3 a = corner(0), b = corner(1), c = corner(2);
  return {0.5 * cross(b - a, c - a), (1.0 / 3.0) * (a + b + c)};
}

/// The face of `cell` behind which `neighbour` lies.
inline int face_towards(const LocalTetMesh& mesh, Lid cell, Lid neighbour) {
  const auto& n = mesh.neighbours[cell];
  for (int f = 0; f < 4; ++f)
    if (n[f] == neighbour) return f;
  require(false, "cell {} does not know its neighbour {}", mesh.global[cell], mesh.global[neighbour]);
  return -1;
}

/// Face `face` of a cell, with the same bits (but for the sign of the area) from both of its sides, also when these are
/// in different parts: so what leaves one cell is exactly what enters the other. The neighbour behind it, if there is
/// one, must be in the halo.
inline FaceShape shared_face_shape(const LocalTetMesh& mesh, Lid cell, int face) {
  const Lid behind = mesh.neighbours[cell][face];
  // Computed from the side of the lower global number.
  if (behind < 0 || mesh.global[cell] < mesh.global[behind]) return face_shape(mesh, cell, face);
  const FaceShape other = face_shape(mesh, behind, face_towards(mesh, behind, cell));
  return {-1.0 * other.area, other.centroid};
}

}  // namespace tutti
