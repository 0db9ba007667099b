// Nodes on a sphere and their stencils, split over all devices of all ranks, numbered and ready for a model.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tutti/exchange/part_streams.hpp"
#include "tutti/exchange/transport.hpp"
#include "tutti/mesh/node_cloud.hpp"
#include "tutti/partition/index_map.hpp"
#include "tutti/schedule/balance.hpp"
#include "tutti/simulation/model_kind.hpp"

namespace tutti {

/// What every model on nodes starts from. Vectors named `mine` have one entry a part of this rank.
struct NodeDomain {
  NodeCloud cloud;             ///< all nodes, on every rank
  std::uint64_t checksum = 0;  ///< of their coordinates, in order
  int stencil = 0;             ///< nodes that a node reads, itself the first
  std::vector<int> rank_of_part;
  std::vector<double> weights;  ///< of all parts, sum 1
  BalanceSummary balance;
  std::vector<IndexMap> maps;              ///< mine
  std::vector<std::vector<Lid>> stencils;  ///< mine: local numbers, `stencil` an owned node
  /// Mine: rows [0, quiet) are read by no other part and read none of another part. Reading is not mutual: rows
  /// [quiet, interior) are read by nobody else, but read ghosts [Bollig 2012, eq. 6: B without O].
  std::vector<Lid> quiet;
  std::vector<PartStreams> streams;  ///< mine
  Transport transport;

  std::size_t mine() const { return maps.size(); }
  Vec3 point(std::size_t p, Lid row) const {
    return cloud.points[static_cast<std::size_t>(maps[p].global[static_cast<std::size_t>(row)])];
  }
  /// Of the owned nodes of a part, in its order.
  std::vector<Vec3> owned_points(std::size_t p) const;
};

/// The nodes of [nodes]: a file, or a generator. Errors name the key.
NodeCloud load_nodes(const Case& options, const ParallelFor& parallel = {});

/// Reads, finds each node's `stencil` nearest, partitions, orders and numbers. Collective. Error(input): fewer nodes
/// than a stencil has.
NodeDomain make_node_domain(const ModelSetup& setup, int stencil, const MeasureRate& rate = {});

/// What each row of the map is made of when a field keeps `components` values of a node together: row r becomes
/// rows components r ... components r + components - 1.
IndexMap with_components(const IndexMap& map, int components);

}  // namespace tutti
