// The rows of a whole mesh, to be cut for devices that are not here.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "tutti/base/csr.hpp"
#include "tutti/partition/partition.hpp"

namespace tutti {

/// What a partitioner is given of a mesh: a graph, or points.
struct RowsToCut {
  Partitioner method = Partitioner::metis;
  Gid rows = 0;
  Adjacency graph = {};
  std::vector<Vec3> points = {};

  PartitionInput input(const ParallelFor& parallel = {}, Device* device = nullptr) const {
    return {&graph, points, rows, parallel, device};
  }
};

struct WholeRows {
  Adjacency reads = {};  ///< whom a row reads; it may be listed itself
  /// Owner of each row, on so many nodes whose devices have these weights (sum 1): parts are numbered node after node.
  /// Empty: nobody knows how.
  std::function<std::vector<std::int32_t>(int nodes, std::span<const double> weights)> cut = {};
};

inline WholeRows whole_rows(Adjacency reads, RowsToCut rows) {
  const auto shared = std::make_shared<const RowsToCut>(std::move(rows));
  return {std::move(reads), [shared](int nodes, std::span<const double> weights) {
            const std::vector<double> node(weights.begin(), weights.end());
            return partition_tiers(shared->input(), std::vector<std::vector<double>>(nodes, node), shared->method);
          }};
}

}  // namespace tutti
