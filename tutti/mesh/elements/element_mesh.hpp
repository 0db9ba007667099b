// A mesh of tetrahedra, hexahedra, prisms and pyramids as plain data: what readers and generators make.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tutti/base/types.hpp"
#include "tutti/base/vec3.hpp"

namespace tutti {

enum class ElementType : std::uint8_t { tetrahedron, hexahedron, prism, pyramid };

/// Two faces of the mesh that a translation lays onto each other: a point x of face `face` of `element` is the point
/// x + shift of face `other_face` of `other`.
struct PeriodicPair {
  Gid element = 0, other = 0;
  int face = 0, other_face = 0;
  Vec3 shift;
};

/// A whole mesh in global numbers. Elements are numbered in file order; that order is the mesh's identity: results and
/// reductions refer to it.
struct ElementMesh {
  std::vector<Vec3> points;  ///< coordinates, in the file's unit of length
  std::vector<ElementType> types;
  std::vector<Gid> node_offsets{0};          ///< nodes of element e: nodes[node_offsets[e] .. node_offsets[e + 1])
  std::vector<Gid> nodes;                    ///< point numbers in VTK's order (element_tables.hpp); corners come first
  std::vector<std::int32_t> regions;         ///< one an element: the physical volume's tag, 0 where the file gives none
  std::vector<std::array<Gid, 4>> boundary;  ///< corners of faces that carry a tag; the last is -1 for triangles
  std::vector<std::int32_t> boundary_tags;   ///< one a boundary face: the physical surface's tag (> 0)
  std::map<std::int32_t, std::string> region_names;    ///< physical names of volumes
  std::map<std::int32_t, std::string> boundary_names;  ///< physical names of surfaces
  std::vector<PeriodicPair> periodic;

  Gid element_count() const { return static_cast<Gid>(types.size()); }
  Gid point_count() const { return static_cast<Gid>(points.size()); }
  ElementType type(Gid e) const { return types[e]; }
  /// The element's points: its corners, and where it is of second order, what lies between them.
  std::span<const Gid> element_nodes(Gid e) const {
    const Gid begin = node_offsets[e];
    return {nodes.data() + begin, static_cast<std::size_t>(node_offsets[e + 1] - begin)};
  }
  void add_element(ElementType type, std::span<const Gid> its_nodes, std::int32_t region) {
    types.push_back(type);
    nodes.insert(nodes.end(), its_nodes.begin(), its_nodes.end());
    node_offsets.push_back(static_cast<Gid>(nodes.size()));
    regions.push_back(region);
  }
};

}  // namespace tutti
