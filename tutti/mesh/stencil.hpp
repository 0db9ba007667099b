// Who reads whom on a tetrahedral mesh, from its face neighbours.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "tutti/base/csr.hpp"
#include "tutti/base/types.hpp"
#include "tutti/base/vec3.hpp"
#include "tutti/mesh/tet_mesh.hpp"

namespace tutti {

/// Row i reads its face neighbours and their face neighbours (up to 4 + 12), without itself, each once, ascending.
/// `neighbours` holds one entry a cell; negative values (boundary faces, cells outside a halo) are skipped. Only the
/// first `rows` cells get a row; their columns may be any cell. Index is Gid for a whole mesh, Lid for one part.
template <class Index>
Csr<Index> tet_stencil(std::span<const std::array<Index, 4>> neighbours, Index rows);

/// Row i reads its face neighbours only, ascending. Symmetric for a whole mesh.
template <class Index>
Csr<Index> face_graph(std::span<const std::array<Index, 4>> neighbours, Index rows);

/// Lengths of the rows of tet_stencil (layers = 2) or face_graph (1).
std::vector<std::uint8_t> stencil_lengths(std::span<const std::array<Lid, 4>> neighbours, Lid rows, int layers,
                                          const ParallelFor& parallel = {});

/// The same for all cells of a mesh.
Adjacency tet_stencil(const FaceNeighbours& neighbours);
Adjacency face_graph(const FaceNeighbours& neighbours);

/// Means of the four vertices, in cell order.
std::vector<Vec3> cell_centroids(const TetMesh& mesh);

}  // namespace tutti
