// The reader's mesh, cut into parts and sent to the ranks that drive them.
#pragma once

#include <span>
#include <vector>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/base/parallel.hpp"
#include "tutti/mesh/local_tet_mesh.hpp"
#include "tutti/mesh/tet_mesh.hpp"

namespace tutti {

/// A part as it arrives: its own cells in global order, then its ghosts (layers of face neighbours) in global order.
struct DistributedPart {
  std::int32_t part = 0;
  LocalTetMesh mesh;
  std::vector<std::int32_t> ghost_owners;  ///< part of each ghost
};

/// What only the reader (rank 0) holds.
struct WholeMesh {
  TetMesh mesh;
  FaceNeighbours neighbours;
};

/// Sends every part to its rank. Collective; `whole` and `owner` (part of each cell) are looked at on rank 0 only,
/// where `whole` is emptied. `rank_of_part[p]` is known everywhere. A part may be empty; its halo has `layers` layers.
/// Memory on the reader beyond the mesh: its own parts, and one more while it is sent. Error(resource): 2^31 cells in a
/// part.
std::vector<DistributedPart> distribute_mesh(const Comm& comm, WholeMesh&& whole, std::span<const std::int32_t> owner,
                                             std::span<const int> rank_of_part, int layers = 2,
                                             const ParallelFor& parallel = {});

/// The mesh with its cells in another order: cell i of the result is cell order[i] of the argument; order keeps own
/// cells first.
LocalTetMesh reorder_cells(LocalTetMesh&& mesh, std::span<const Lid> order, const ParallelFor& parallel = {});

}  // namespace tutti
