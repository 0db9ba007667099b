// Faces by number while they are matched: slot 6 e + f is face f of element e. Inside the mesh floor only.
#pragma once

#include <array>
#include <vector>

#include "tutti/base/parallel.hpp"
#include "tutti/mesh/elements/element_mesh.hpp"
#include "tutti/mesh/elements/element_tables.hpp"

namespace tutti {

constexpr std::size_t face_slot(Gid element, int face) {
  return static_cast<std::size_t>(element) * max_element_faces + static_cast<std::size_t>(face);
}
/// What stands for "no element" behind a slot.
constexpr Gid boundary_slot(std::int32_t tag) {
  return -1 - static_cast<Gid>(tag);
}

/// Corners of a face, anticlockwise as seen from outside; the last is -1 for triangles.
inline std::array<Gid, 4> face_points(const ElementMesh& mesh, Gid element, int face) {
  const ElementType type = mesh.type(element);
  const auto nodes = mesh.element_nodes(element);
  std::array<Gid, 4> points = {-1, -1, -1, -1};
  for (int k = 0; k < face_corner_count(type, face); ++k) points[k] = nodes[face_corner(type, face, k)];
  return points;
}

/// Behind each slot the slot of the other element, or boundary_slot(tag). Periodic pairs are not looked at. Errors: see
/// match_faces.
std::vector<Gid> find_face_slots(const ElementMesh& mesh, const ParallelFor& parallel);

/// The faces of periodic pairs by their slot.
struct PeriodicSlots {
  struct Entry {
    Gid slot = 0;
    int orientation = 0;
    Vec3 shift;
  };
  std::vector<Entry> entries;  ///< ascending
  const Entry* find(Gid slot) const;
};
/// Joins the pairs' slots in `behind`; what is found by the smaller slot goes from it to the larger.
PeriodicSlots join_periodic(const ElementMesh& mesh, std::vector<Gid>& behind);

}  // namespace tutti
