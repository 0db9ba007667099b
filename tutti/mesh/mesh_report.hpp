// What a reader of mesh files tells besides the mesh.
#pragma once

#include <string>
#include <vector>

#include "tutti/base/types.hpp"

namespace tutti {

/// What reading changed or left out; each also gives a warning.
struct MeshReport {
  bool keep_inverted = false;             ///< set before reading: tetrahedra of negative volume stay as they are
  bool take_surface = false;              ///< set before reading: a mesh may consist of triangles only, tagged or not
  Size inverted_cells = 0;                ///< tetrahedra of negative volume, turned by swapping two vertices
  Size unused_vertices = 0;               ///< nodes of no tetrahedron and no tagged triangle, dropped
  Size extra_groups = 0;                  ///< volumes and surfaces in several physical groups: the first one counts
  Size negative_markers = 0;              ///< faces whose marker is below 0 and does not count
  std::vector<std::string> skipped_data;  ///< data that are not numbers on tetrahedra, 1, 3 or 9 components each
};

}  // namespace tutti
