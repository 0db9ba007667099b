// A mesh's nodes, split over all devices of all ranks: numbered colour by colour, with one layer of ghosts.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/exchange/exchange.hpp"
#include "tutti/models/smoothing/boundary.hpp"
#include "tutti/models/smoothing/node_cells.hpp"
#include "tutti/models/smoothing/sweep.hpp"

namespace tutti::smoothing {

/// What a part keeps on its device. Its points are the levels' rows, one level after the other, then the nodes that do
/// not move.
struct MeshPart {
  Buffer<Point> points, moved;
  Buffer<Size> star_offsets;
  Buffer<StarCell> star_cells;
  Buffer<Size> neighbour_offsets;  ///< this and the next two: after find_neighbours(), see StarView
  Buffer<Lid> neighbours;
  Buffer<std::uint32_t> corners;
  Buffer<Size> ring_begins;  ///< of triangles instead
  Buffer<Lid> rings;
  Buffer<Lid> slide_of;  ///< empty where no node of the part slides
  Buffer<Slide> slides;
  Buffer<SurfacePiece> pieces;
  Buffer<Lid> near_pieces;
  Buffer<CellRows> cells;  ///< those whose first node is the part's
  Buffer<std::uint8_t> bad;
  Lid rows = 0;
  Lid cell_count = 0;
  StarView stars() const;
};

/// Nodes that move at the same time: those of a colour. Vectors have one entry a part of this rank.
struct Level {
  std::vector<IndexMap> maps;
  std::vector<IndexMap> wide;  ///< four values a row, as points travel
  std::vector<Size> first_row, first_star;
  Plan plan;
  std::unique_ptr<Exchange<double>> exchange;
};

class MeshParts {
 public:
  /// `owner`: part of every node; `colours` from colour_nodes, or all 0 of those that move. All ranks have the same
  /// mesh, freedom, owner and colours. `triangles`: it is from with_apex(). Collective. Error(resource): no room on a
  /// device. `sizes`: of Point; empty: 0.
  MeshParts(const Comm& comm, const TetMesh& mesh, const Adjacency& cells_of, const NodeFreedom& freedom,
            std::span<const std::int32_t> colours, std::span<const std::int32_t> owner,
            std::span<const int> rank_of_part, std::span<PartStreams> streams, bool triangles = false,
            std::span<const double> sizes = {}, const ParallelFor& parallel = {});

  /// Of the parts on GPUs: what the kernels made for these move nodes by.
  void find_neighbours(bool triangles);

  std::vector<MeshPart> parts;                 ///< of this rank
  std::vector<std::unique_ptr<Level>> levels;  ///< the last one does not move
  std::size_t moving() const { return levels.size() - 1; }
  /// Every node's place, on all ranks. Collective.
  std::vector<Vec3> gather(std::size_t nodes) const;

 private:
  void number(const TetMesh& mesh, const Adjacency& cells_of, std::span<const std::int32_t> colours,
              std::span<const std::int32_t> owner, std::span<const int> rank_of_part, const ParallelFor& parallel);
  void fill(std::size_t p, const TetMesh& mesh, const Adjacency& cells_of, const NodeFreedom& freedom, bool triangles,
            std::span<const double> sizes);

  const Comm& comm_;
  std::span<PartStreams> streams_;
};

}  // namespace tutti::smoothing
