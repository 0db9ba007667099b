// How each node of a mesh may move: freely, in its surface, along its edge, or not at all.
#pragma once

#include <vector>

#include "tutti/mesh/tet_mesh.hpp"
#include "tutti/models/smoothing/slide.hpp"

namespace tutti::smoothing {

enum class BoundaryRule : std::uint8_t {
  fixed,  ///< nodes of the boundary and of interfaces stay
  slide,  ///< they move in their surface, along its edges; corners stay
  free,   ///< they move like all others: the shape of the body changes
};

struct NodeFreedom {
  static constexpr Lid free = -1, fixed = -2;
  std::vector<Lid> of_node;  ///< free (where all triangles lie in a plane: in it), fixed, or which of the slides
  std::vector<Slide> slides;
  std::vector<SurfacePiece> pieces;  ///< of the surfaces and edges that are not plane or straight
  std::vector<Lid> near_pieces;      ///< of all slides, one after the other
  Gid on_planes = 0, on_lines = 0, on_surfaces = 0, on_edges = 0, kept = 0;  ///< nodes
};

/// Surfaces are boundary faces, faces between two regions, and tagged triangles. Their edges: where other than two
/// triangles meet, where tags or regions change, or where the surface bends by more than `feature_angle` degrees.
/// Corners: where an edge ends, branches, or bends by more. A surface whose triangles all lie in a plane, or an edge
/// whose parts lie on a line, is kept exactly; nodes of others are put back onto the first mesh's pieces within two
/// rings of where they were. `neighbours` as find_face_neighbours gives it. Of a mesh of triangles all of it is
/// surface; its edges lie where it ends, too. Error(usage): free nodes of triangles.
NodeFreedom find_freedom(const TetMesh& mesh, const FaceNeighbours& neighbours, BoundaryRule rule,
                         double feature_angle);

}  // namespace tutti::smoothing
