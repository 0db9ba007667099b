// Batches of sources on a graph whose vertices are shared out to the devices of all ranks.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/device/device_list.hpp"
#include "tutti/models/graph/parts/device_parts.hpp"
#include "tutti/models/graph/parts/part_sweep.hpp"

namespace tutti::graph {

/// All devices sweep the same sources, each its part of the vertices; after each level the vertices that other parts
/// read travel, combined per vertex. Both sweeps pull along rows in the order of the whole graph, so that the results
/// have the bits of those of devices with copies of it. Where all devices are CPUs, each of their threads has a batch
/// of sources, and what all batches send travels together. Else all devices that are not CPUs sweep (DeviceParts).
class DistributedSweep {
 public:
  /// Collective. Cuts the graph, which all ranks have. `sources`: how many there are likely to be. Error(resource): a
  /// device has no room for its part and one source.
  DistributedSweep(const Graph& graph, DeviceSet& devices, const Comm& comm, Size sources);
  /// The same with parts that are there; one a device of this rank.
  DistributedSweep(std::vector<GraphPart> parts, Vertex vertices, DeviceSet& devices, const Comm& comm, Size sources);

  /// Sources at a time.
  Size most() const { return device_parts_ ? device_parts_->most() : width_ * batches_; }
  /// 1 to most() sources, the same on every rank. Collective.
  void add(std::span<const Vertex> sources);
  /// Adds this rank's sums to `sums` and its reached arcs to `reached`; they are zero afterwards.
  void collect(const ParallelFor& parallel, std::span<DeltaSum> sums, Size& reached);
  /// What this rank has sent to parts of other ranks [bytes].
  Size bytes_sent() const { return bytes_sent_ + (device_parts_ ? device_parts_->bytes_sent() : 0); }
  /// That it took to send what travels between parts, with waiting for other ranks; not what devices do meanwhile.
  double exchange_seconds() const {
    return exchange_seconds_ + (device_parts_ ? device_parts_->exchange_seconds() : 0);
  }

 private:
  /// The part's share of each batch.
  using Batch = std::vector<std::unique_ptr<PartSweep>>;
  void make_sweeps(Size sources);
  void collect_sweeps(const ParallelFor& parallel, std::span<DeltaSum> sums, Size& reached);
  bool try_add(std::span<const Vertex> sources);
  std::vector<Vertex> local_numbers(std::size_t part, std::span<const Vertex> sources) const;
  void for_batches(const std::function<void(std::size_t)>& body);
  void unpack(std::size_t batch, std::int32_t depth);
  void step(bool back, std::int32_t came, std::int32_t goes, const std::function<void(std::size_t)>& body);
  void exchange();

  const Comm& comm_;
  DeviceSet& devices_;
  std::vector<int> rank_of_part_;
  std::vector<GraphPart> parts_;
  std::vector<Vertex> local_;                           ///< [part of this rank * vertices + vertex]; no_lid: not there
  std::vector<Batch> sweeps_;                           ///< [batch][part of this rank]
  std::unique_ptr<DeviceParts> device_parts_;           ///< instead of sweeps, where devices have room
  std::vector<std::vector<char>> outgoing_, incoming_;  ///< of each rank, at the present level
  Vertex vertices_;
  std::vector<DeltaSum> earlier_;  ///< of sweeps that are gone
  bool on_threads_ = false;        ///< else on devices, one batch
  bool wide_ = false;              ///< path counts beyond double, or too many levels: numbers that do not overflow
  int width_ = 8;
  Size batches_ = 1;
  Size reached_ = 0, bytes_sent_ = 0;
  double exchange_seconds_ = 0;
};

/// Owners by weights: CPUs take part only where there is nothing else. The same on all ranks; collective.
std::vector<double> weights_of_parts(const Comm& comm, const DeviceSet& devices);
/// The rank of each part: of each device of each rank. Collective.
std::vector<int> ranks_of_parts(const Comm& comm, const DeviceSet& devices);

/// Bytes that a device takes at least which has a copy of the graph.
Size bytes_of_copy(Size vertices, Size arcs, bool directed);
Size bytes_of_copy(const Graph& graph);
/// Some device has no room for so many. Collective.
bool needs_parts(Size bytes_of_copy, const DeviceSet& devices, const Comm& comm);

}  // namespace tutti::graph
