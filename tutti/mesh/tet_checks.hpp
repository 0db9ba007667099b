// What all readers promise of their meshes: positive volumes, no vertex without use. Inside the mesh floor only.
#pragma once

#include <array>
#include <span>
#include <string>

#include "tutti/mesh/mesh_report.hpp"
#include "tutti/mesh/tet_mesh.hpp"

namespace tutti {

enum class TetDefect { none, vertex_twice, flat };

/// Gives the cell a positive volume by swapping two vertices if it has to and may, which is counted. Vertices must
/// exist.
TetDefect orient_tet(std::span<const Vec3> vertices, std::array<Gid, 4>& cell, MeshReport& report);

inline bool is_finite(Vec3 v) {
  return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
}

/// Drops triangles without a tag, from number `first` on.
void drop_untagged(TetMesh& mesh, std::size_t first = 0);

/// Drops vertices that no cell and no triangle names. Returns how many.
Size drop_unused_vertices(TetMesh& mesh);

/// Drops unused vertices, then warns about everything in the report.
void finish_mesh(TetMesh& mesh, const std::string& name, MeshReport& report);

}  // namespace tutti
