// What a mesh is like: counts, sizes, quality, defects a solver should know of.
#pragma once

#include <map>
#include <string>

#include "tutti/mesh/tet_mesh.hpp"

namespace tutti {

struct MeshInfo {
  /// Cells and volume of a region, or faces and area of a boundary tag.
  struct Group {
    std::string name;  ///< empty where the file gives none
    Size count = 0;
    double measure = 0;
  };
  Gid cells = 0, vertices = 0;
  Vec3 lower, upper;  ///< bounding box of the vertices
  double volume = 0;  ///< in the mesh's unit of length, cubed
  double min_volume = 0, max_volume = 0;
  double min_dihedral_degrees = 0;                         ///< smallest angle between two faces of a cell
  double min_aspect = 0, mean_aspect = 0, max_aspect = 0;  ///< longest edge / (2 sqrt(6) inscribed radius); regular: 1
  std::map<std::int32_t, Group> regions;
  std::map<std::int32_t, Group> boundary;         ///< by tag, tagged boundary faces only
  Group untagged;                                 ///< boundary faces without a tag
  Size interior_triangles = 0;                    ///< tagged triangles between two cells: no boundary
  Size boundary_faces = 0;                        ///< with and without a tag
  std::array<Size, 5> cells_by_boundary_faces{};  ///< how many cells have 0, 1, 2, 3, 4 boundary faces
  Size components = 0;                            ///< pieces connected through faces
};

/// `neighbours` as find_face_neighbours gives it. An empty mesh gives zeros.
MeshInfo inspect(const TetMesh& mesh, const FaceNeighbours& neighbours);

/// Several lines for people.
std::string describe(const MeshInfo& info);

}  // namespace tutti
