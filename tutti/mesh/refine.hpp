// Meshes of any size from small ones: every tetrahedron is cut into eight.
#pragma once

#include "tutti/base/parallel.hpp"
#include "tutti/mesh/tet_mesh.hpp"

namespace tutti {

/// Levels that refine takes at most.
inline constexpr int max_refinements = 10;

/// Cuts every tetrahedron into eight, `times` times: four at its corners, and the octahedron between them in four
/// around its shortest diagonal, which keeps them in shape ("red" refinement: Bey, Computing 55, 1995; Zhang, Houston
/// J. Math. 21, 1995). A boundary triangle becomes four. Regions, tags, names and cell data are inherited; a curved
/// surface stays the facets that it is. The result conforms. Cell c becomes the cells 8 c to 8 c + 7, triangle t the
/// triangles 4 t to 4 t + 3; old vertices keep their numbers, then come the middles of the edges by (lower, higher)
/// vertex. The mesh is one as readers and generators make it; `times` in [0, max_refinements]. Errors: resource (too
/// large for the memory), input (a boundary triangle has an edge that no cell has).
TetMesh refine(TetMesh mesh, int times, const ParallelFor& parallel = {});

}  // namespace tutti
