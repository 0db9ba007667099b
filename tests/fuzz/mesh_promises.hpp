// What every mesh reader promises of the mesh it returns.
#pragma once

#include <cmath>

#include "fuzz.hpp"
#include "tutti/mesh/elements/element_checks.hpp"
#include "tutti/mesh/elements/element_tables.hpp"
#include "tutti/mesh/tet_mesh.hpp"

namespace tutti::fuzz {

/// Sizes fit each other, numbers are in range, volumes are not negative; finding the neighbours gives symmetric pairs
/// or an Error(input).
inline void check_mesh(const TetMesh& mesh) {
  check(!mesh.cells.empty(), "a mesh without cells");
  check(mesh.regions.size() == mesh.cells.size(), "regions and cells differ in number");
  check(mesh.boundary_tags.size() == mesh.boundary.size(), "boundary tags and triangles differ in number");
  const auto is_vertex = [&](Gid v) { return v >= 0 && v < mesh.vertex_count(); };
  const auto at = [&](Gid v) { return mesh.vertices[v]; };
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
        for (const Gid back : neighbours[other]) mutual = mutual || back == static_cast<Gid>(c);
        check(mutual, "a neighbour does not know its neighbour");
      }
  });
}

/// The same of meshes of any element: each is sound, and faces, if they match, name each other's corners.
inline void check_elements_mesh(const ElementMesh& mesh) {
  check(!mesh.types.empty(), "a mesh without elements");
  check(mesh.node_offsets.size() == mesh.types.size() + 1, "nodes and elements differ in number");
  check(mesh.regions.size() == mesh.types.size(), "regions and elements differ in number");
  check(mesh.boundary_tags.size() == mesh.boundary.size(), "boundary tags and faces differ in number");
  const auto is_point = [&](Gid v) { return v >= 0 && v < mesh.point_count(); };
  for (Gid e = 0; e < mesh.element_count(); ++e) {
    const auto nodes = mesh.element_nodes(e);
    check(geometry_order(mesh.type(e), nodes.size()) > 0, "an element has another number of nodes");
    for (const Gid v : nodes) check(is_point(v), "an element names no point");
  }
  for (const auto& face : mesh.boundary)
    for (std::size_t k = 0; k < 4; ++k) check(is_point(face[k]) || (k == 3 && face[k] == -1), "a face names no point");
  for (const std::int32_t tag : mesh.boundary_tags) check(tag > 0, "a boundary tag is not positive");
  check(count_inverted(mesh) == 0, "an element is turned over");
  for (const double volume : element_measures(mesh).volumes) check(volume > 0, "an element has no volume");
  accepts({ErrorKind::input}, [&] {
    for (const ElementFace& f : match_faces_checked(mesh, "a.msh")) {
      check(f.left >= 0 && f.left < mesh.element_count() && f.right < mesh.element_count(), "a face names no element");
      if (f.right < 0) continue;
      const int corners = face_corner_count(mesh.type(f.left), f.left_face);
      check(corners == face_corner_count(mesh.type(f.right), f.right_face), "the sides of a face differ");
      check(f.orientation >= 0 && f.orientation < corners, "a face's orientation is none of its corners");
    }
  });
}

}  // namespace tutti::fuzz
