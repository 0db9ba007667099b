// Nodes on a sphere and their stencils, split over all devices of all ranks, numbered and ready for a model.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
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
  std::vector<double> weights;  ///< of all parts, sum 1, as far as there is room
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

/// What a model's arrays take of a device's memory, where nodes are rows.
struct NodeMemory {
  std::function<double(Device& device)> row;  ///< bytes of an owned node, about
  double ghost = 0;                           ///< bytes of a ghost
  /// Bytes of each part of this rank, exact. Called where the estimate is near what a device has.
  std::function<std::vector<Size>(const Comm& comm, const NodeDomain& domain)> parts;
  /// Nodes that all devices together cannot hold are Error(resource); false: parts are as large as they come.
  bool refuse_too_large = true;
};

/// The nodes of [nodes]: a file, or a generator. Errors name the key.
NodeCloud load_nodes(const Case& options, const ParallelFor& parallel = {});

/// Reads, finds each node's `stencil` nearest, partitions, orders and numbers. With `memory` a device that has no room
/// for its part gets a smaller one, and the others what is left, with a line that says so. Collective. Error(input):
/// fewer nodes than a stencil has; Error(resource), before anything is allocated: all devices together have no room.
NodeDomain make_node_domain(const ModelSetup& setup, int stencil, const MeasureRate& rate = {},
                            const std::optional<NodeMemory>& memory = {});

/// What each row of the map is made of when a field keeps `components` values of a node together: row r becomes
/// rows components r ... components r + components - 1.
IndexMap with_components(const IndexMap& map, int components);

}  // namespace tutti
