// Batches of sources on a graph whose vertices are shared out to the devices of all ranks.
#pragma once

#include <span>
#include <vector>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/device/device_list.hpp"
#include "tutti/models/graph/parts/part_sweep.hpp"

namespace tutti::graph {

/// All devices sweep the same sources, each its part of the vertices; after each level the vertices that other parts
/// read travel, combined per vertex. Both sweeps pull along rows in the order of the whole graph, so that the results
/// have the bits of those of devices with copies of it. Takes time in proportion to levels x vertices.
class DistributedSweep {
 public:
  /// Collective. `sources`: how many there are likely to be. Error(resource): a device has no room for its part and
  /// one source.
  DistributedSweep(const Graph& graph, DeviceSet& devices, const Comm& comm, Size sources);

  /// Sources at a time.
  Size most() const { return width_; }
  /// 1 to most() sources, the same on every rank. Collective.
  void add(std::span<const Vertex> sources);
  /// Adds this rank's sums to `sums` and its reached arcs to `reached`; they are zero afterwards.
  void collect(std::span<DeltaSum> sums, Size& reached);
  /// What this rank has sent to parts of other ranks [bytes].
  Size bytes_sent() const { return bytes_sent_; }
  /// That it took to pack, send and unpack what travels between parts, with waiting for other ranks.
  double exchange_seconds() const { return exchange_seconds_; }

 private:
  void exchange(std::int32_t depth);

  const Comm& comm_;
  std::vector<int> rank_of_part_;
  std::vector<GraphPart> parts_;
  std::vector<Vertex> local_;  ///< [part of this rank * vertices + vertex]; no_lid: not there
  std::vector<PartSweep> sweeps_;
  Vertex vertices_;
  int width_ = 8;
  Size reached_ = 0, bytes_sent_ = 0;
  double exchange_seconds_ = 0;
};

/// Bytes that a device takes at least which has a copy of the graph.
Size bytes_of_copy(const Graph& graph);

}  // namespace tutti::graph
