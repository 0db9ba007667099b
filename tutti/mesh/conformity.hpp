// Do the cells of a mesh fit together? Faces that lie at the same place and share no vertices are a crack, through
// which nothing flows; a vertex inside of a neighbour's face or edge is a hanging node, whose faces have no neighbour.
#pragma once

#include "tutti/mesh/tet_mesh.hpp"

namespace tutti {

struct Misfits {
  Size cracks = 0;                           ///< pairs of faces at the same place
  std::array<Gid, 2> crack_cells{};          ///< of the first
  Vec3 crack_place;                          ///< centroid of its face
  Size hanging = 0;                          ///< vertices
  Gid hanging_vertex = 0, hanging_cell = 0;  ///< the lowest such vertex, and a cell in whose face or edge it lies
  Vec3 hanging_place;
  bool any() const { return cracks > 0 || hanging > 0; }
};

/// Looks at faces without a neighbour only. Places are the same within a millionth of the shortest edge there.
/// `neighbours` as find_face_neighbours gives them.
Misfits find_misfits(const TetMesh& mesh, const FaceNeighbours& neighbours);

/// Makes vertices of faces without a neighbour one where they lie at the same place: closes cracks. The lower number
/// stays; vertices are numbered anew. Returns how many are gone.
Size merge_vertices(TetMesh& mesh, const FaceNeighbours& neighbours);

}  // namespace tutti
