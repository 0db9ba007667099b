// The graph of SSCA#2 in the memory of a device: generator, kernels 1 to 3, and kernel 4's graph made ready.
#pragma once

#include <memory>
#include <vector>

#include "tutti/device/device.hpp"
#include "tutti/models/graph/betweenness/ordered_graph.hpp"
#include "tutti/models/graph/build_graph.hpp"
#include "tutti/models/graph/generate.hpp"
#include "tutti/models/graph/subgraphs.hpp"

namespace tutti::graph {

/// All results are those of generate_rmat, build_graph, heaviest_arcs, subgraphs_around, order_by_degree and
/// group_sources. In the order of its members; each waits for its work. Error(resource): no room on the device.
class DeviceSsca2 {
 public:
  /// Device memory that it takes at most; no device has so much where there are 2^31 arcs or more.
  static Size bytes(const RmatSpec& spec);

  /// The generator; the graph is directed and has weights. The device outlives it.
  DeviceSsca2(const RmatSpec& spec, Device& device);
  ~DeviceSsca2();
  DeviceSsca2(const DeviceSsca2&) = delete;
  DeviceSsca2& operator=(const DeviceSsca2&) = delete;

  /// Kernel 1: rows in both directions, with all multi-edges. Returns the self-loops left out.
  Size build();
  Size arcs() const;  ///< of these rows
  std::vector<Vertex> with_successors() const;
  /// Kernel 2.
  std::vector<Arc> heaviest_arcs() const;
  /// Kernel 3.
  SubgraphCounts count_subgraphs(const std::vector<Arc>& around, int levels = 3);

  /// Kernel 4's graph: without arcs whose weight is divisible by 8; sources get their new names and, if there are more
  /// than 64, are grouped. What was there before is gone.
  OrderedGraph order(MultiEdges multi_edges, std::vector<Vertex>& sources, BuildCounts& counts);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tutti::graph
