// From an adjacency to "which part owns which row".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tutti/base/csr.hpp"
#include "tutti/base/parallel.hpp"
#include "tutti/base/types.hpp"
#include "tutti/base/vec3.hpp"

namespace tutti {

class Device;

enum class Partitioner { metis, scotch, hilbert, slabs, voronoi };

/// What a partitioner sees. `points` may be empty for metis and scotch; `graph` may be null for hilbert, slabs and
/// voronoi, which refines its boundaries by a graph where there is one.
struct PartitionInput {
  const Adjacency* graph = nullptr;  ///< symmetric or not: it is made symmetric where the library needs it
  std::span<const Vec3> points;      ///< one a row, e.g. cell centroids
  Gid rows = 0;
  ParallelFor parallel = {};  ///< threads for voronoi
  Device* device = nullptr;   ///< on which voronoi may pass over the points; it changes no owner
};

/// Owner of every row: result[row] in [0, targets.size()). `targets` are relative weights >= 0, any sum > 0; a part
/// with target 0 gets no row. Hilbert and slabs meet every target within one row, METIS and Scotch within 0.5 %,
/// Voronoi within 1 % (or one row); a part whose share is one row or more is never empty. The graph may be directed,
/// hold loops and be disconnected. Deterministic. Errors: usage (bad targets), input (a point is not finite), resource
/// (the graph overflows 32-bit numbers; a library is out of memory; Scotch is not built in).
std::vector<std::int32_t> partition_rows(const PartitionInput& input, std::span<const double> targets,
                                         Partitioner method);

/// Tiers: first over nodes, then over the devices of each node. targets[n] are the weights of node n's devices; parts
/// are numbered node after node.
std::vector<std::int32_t> partition_tiers(const PartitionInput& input, const std::vector<std::vector<double>>& targets,
                                          Partitioner method);

/// "metis" -> Partitioner::metis; Error(usage) names the nearest.
Partitioner parse_partitioner(const std::string& name);
/// Names of the partitioners this build has.
std::vector<std::string> partitioner_names();

enum class Ordering { native, hilbert, metis_blocks, rcm, random };

/// An order of the rows: result[k] is the row that comes k-th. `block` is the size of a METIS block (paper: 512 on a
/// CPU, 64 on a GPU) and only used by metis_blocks: exactly `block` rows each, the last one fewer, in Hilbert order
/// outside and inside. Columns >= graph.rows() (ghosts) are left out. Random, native and hilbert need no graph, the
/// others no points. Deterministic. Errors: as partition_rows; usage (block < 1).
std::vector<Lid> order_rows(Ordering ordering, std::span<const Vec3> points, const Csr<Lid>& graph, Lid block = 512,
                            const ParallelFor& parallel = {});
Ordering parse_ordering(const std::string& name);
std::vector<std::string> ordering_names();

/// Quality of a partition of a stencil ("row i reads column j").
struct PartitionQuality {
  Size cut = 0;                 ///< entries (i, j) with different owners
  std::vector<Gid> rows;        ///< owned rows a part
  std::vector<Gid> ghosts;      ///< distinct foreign columns a part reads
  std::vector<int> neighbours;  ///< parts it reads from or sends to
  std::vector<int> components;  ///< connected pieces of its own rows
  double imbalance = 1.0;       ///< max over parts of rows / (target share * total); parts of target 0 left out
};
PartitionQuality assess_partition(const Adjacency& stencil, std::span<const std::int32_t> owner,
                                  std::span<const double> targets);

}  // namespace tutti
