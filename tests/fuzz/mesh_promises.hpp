// What every mesh reader promises of the mesh it returns.
#pragma once

#include <cmath>

#include "fuzz.hpp"
#include "tutti/mesh/tet_mesh.hpp"

namespace tutti::fuzz {

/// Sizes fit each other, numbers are in range, volumes are not negative; finding the neighbours gives symmetric pairs
/// or an Error(input).
inline void check_mesh(const TetMesh& mesh) {
  check(!mesh.cells.empty(), "a mesh without cells");
  check(mesh.regions.size() == mesh.cells.size(), "regions and cells differ in number");
  check(mesh.boundary_tags.size() == mesh.boundary.size(), "boundary tags and triangles differ in number");
  const auto is_vertex = [&](Gid v) { return v >= 0 && v < mesh.vertex_count(); };
  const auto at = [&](Gid v) { return mesh.vertices[static_cast<std::size_t>(v)]; };
  for (const Vec3& v : mesh.vertices)
    check(std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z), "a vertex is not finite");
  for (const auto& cell : mesh.cells) {
    for (const Gid v : cell) check(is_vertex(v), "a cell names no vertex");
    check(!(tet_volume(at(cell[0]), at(cell[1]), at(cell[2]), at(cell[3])) < 0), "a cell has a negative volume");
  }
  for (const auto& triangle : mesh.boundary)
    for (const Gid v : triangle) check(is_vertex(v), "a triangle names no vertex");
  for (const std::int32_t tag : mesh.boundary_tags) check(tag > 0, "a boundary tag is not positive");
  for (const CellData& data : mesh.cell_data)
    check(data.values.size() == mesh.cells.size() * static_cast<std::size_t>(data.components), "data lack values");
  accepts({ErrorKind::input}, [&] {
    const FaceNeighbours neighbours = find_face_neighbours(mesh);
    for (std::size_t c = 0; c < neighbours.size(); ++c)
      for (const Gid other : neighbours[c]) {
        if (other < 0) continue;
        bool mutual = false;
        for (const Gid back : neighbours[static_cast<std::size_t>(other)])
          mutual = mutual || back == static_cast<Gid>(c);
        check(mutual, "a neighbour does not know its neighbour");
      }
  });
}

}  // namespace tutti::fuzz
