// Betweenness centrality on all cores and GPUs of all ranks (Brandes 2001), directed or not.
#pragma once

#include <span>
#include <vector>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/device/device_list.hpp"
#include "tutti/models/graph/betweenness/delta_sum.hpp"
#include "tutti/models/graph/betweenness/ordered_graph.hpp"
#include "tutti/models/graph/betweenness/source_queue.hpp"
#include "tutti/models/graph/betweenness/source_worker.hpp"
#include "tutti/models/graph/parts/distributed_sweep.hpp"

namespace tutti::graph {

/// How far a computation is: all that is needed to go on with it on any other ranks and devices.
struct BetweennessState {
  std::vector<DeltaSum> sums;  ///< one a vertex, new names; the same on every rank
  Size done = 0;               ///< of the list of sources
  Size reached = 0;            ///< arcs that began at reached vertices, over all sources so far
};

/// Where the graph is: a copy on every device, or its vertices in parts.
enum class Placement : std::uint8_t { automatic, copies, parts };
/// "auto", "copies", "parts". Error(usage) for another word.
Placement parse_placement(const std::string& name);

/// With copies, sources are shared out to devices and ranks by their measured rates; with parts, all devices sweep the
/// same sources. The sums are the same bits for any placement, ranks, devices, threads and portions of the list.
class Betweenness {
 public:
  /// Collective. `sources`: how many there are likely to be in a call of add. The graph and the devices outlive it.
  /// `automatic` takes parts where some device has no room for a copy. Error(resource): a device has no memory for the
  /// graph, or its part, and the smallest batch.
  Betweenness(const OrderedGraph& graph, DeviceSet& devices, const Comm& comm, Size sources,
              Sweep sweep = Sweep::automatic, Placement placement = Placement::automatic);
  /// Of a graph that was cut, whose parts are there; one a device of this rank. In parts. Collective.
  Betweenness(std::vector<GraphPart> parts, Vertex vertices, DeviceSet& devices, const Comm& comm, Size sources);
  bool in_parts() const { return parts_ != nullptr; }
  /// By parts, to those of other ranks; and the seconds that all exchanges took.
  Size bytes_sent() const { return parts_ ? parts_->bytes_sent() : 0; }
  double exchange_seconds() const { return parts_ ? parts_->exchange_seconds() : 0; }

  /// Adds sources [state.done, until) of the list, the same on every rank, to the state. Collective.
  void add(std::span<const Vertex> sources, Size until, BetweennessState& state);
  /// The same, but what they add stays with the workers until it is collected: state.sums and state.reached are as
  /// they were. Collective.
  void advance(std::span<const Vertex> sources, Size until, BetweennessState& state);
  void collect(BetweennessState& state);
  /// Sources that all workers of all ranks take at once. Collective.
  Size batches() const;

  BetweennessState begin() const { return {std::vector<DeltaSum>(vertices_), 0, 0}; }

 private:
  void add_here(std::span<const Vertex> sources, SourceRange range);
  double rate_here() const;

  Vertex vertices_;
  DeviceSet& devices_;
  const Comm& comm_;
  std::vector<std::unique_ptr<SourceWorker>> workers_;  ///< devices first, then the threads
  std::size_t device_workers_ = 0;
  std::vector<WorkerRate> rates_;
  std::unique_ptr<DistributedSweep> parts_;  ///< instead of workers
};

/// The values in the numbers of the graph before it was ordered.
std::vector<double> values_of(const BetweennessState& state, std::span<const Vertex> new_name);
std::vector<double> values_of(const BetweennessState& state, const OrderedGraph& graph);

}  // namespace tutti::graph
