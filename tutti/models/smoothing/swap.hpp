// Other cells between the same nodes, where they are better.
#pragma once

#include "tutti/mesh/tet_mesh.hpp"

namespace tutti::smoothing {

struct SwapCounts {
  Gid two_to_three = 0;  ///< a face between two cells becomes an edge
  Gid three_to_two = 0;  ///< an edge with three cells becomes a face
  Gid four_to_four = 0;  ///< an edge with four cells becomes another one
  Gid all() const { return two_to_three + three_to_two + four_to_four; }
};

/// Swaps around the cells whose mean ratio is below `below`, the worst first, as long as that helps: a swap is made
/// only where the worst of the new cells is better than the worst of the old ones, so that no mesh gets worse. Nodes,
/// the boundary, interfaces of regions and tagged triangles stay. New cells take the number, the region and the data of
/// an old one; a third cell comes last; where one goes, those behind it move up (Freitag and Ollivier-Gooch,
/// "Tetrahedral mesh improvement using swapping and smoothing", IJNME 40, 1997). Cells must have positive volumes.
SwapCounts swap_cells(TetMesh& mesh, double below = 0.8);

}  // namespace tutti::smoothing
