// From the elements of a file, whatever its format, to an ElementMesh. Inside the mesh floor only.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tutti/mesh/elements/element_mesh.hpp"
#include "tutti/mesh/mesh_report.hpp"

namespace tutti {

/// What a file's element is. `nodes`: how many the file gives; surfaces are known by their corners, which come first.
struct FileElementKind {
  ElementType type = ElementType::tetrahedron;  ///< of a volume
  int nodes = 0;
  int corners = 0;  ///< of a surface, 3 or 4; 0 for a volume
};

/// The number of the node in Gmsh's element that is node `node` in VTK's.
int gmsh_node(ElementType type, int node);

/// Gmsh's element types of volumes and surfaces of first and second order; null for others.
const FileElementKind* gmsh_element_kind(Size type);
/// VTK's cell types, for Lagrange cells by their number of points; null for others.
const FileElementKind* vtk_element_kind(Size type, Size points);

/// Points of one surface and what they are on another.
struct PeriodicLink {
  std::string name;                         ///< for warnings
  std::vector<std::pair<Gid, Gid>> points;  ///< of the one, of the other
};
/// Makes periodic pairs of the boundary faces whose corners are all in a link. A link that is no translation is left
/// out with a warning. Errors (input): a face without a partner.
void pair_links(ElementMesh& mesh, const std::string& name, std::vector<PeriodicLink> links);

class ElementCollector {
 public:
  /// Nodes are positions in `points`, in VTK's order; tag 0: none. A surface without a tag is left out.
  void add_volume(const FileElementKind& kind, std::span<const Gid> nodes, std::int32_t region) {
    mesh.add_element(kind.type, nodes, region);
  }
  void add_surface(const FileElementKind& kind, std::span<const Gid> nodes, std::int32_t tag);

  /// Completes second-order elements, turns those of negative volume, drops points that nothing uses, and checks
  /// (check_elements). Warns about what was changed.
  ElementMesh finish(const std::string& name, MeshReport& report);

  ElementMesh mesh;  ///< also of 20, 15, 13 nodes an element until finish()
  std::vector<PeriodicLink> links;
};

}  // namespace tutti
