// Batches of sources in the loops that every device runs: one vertex or one source a thread. What the kernels made for
// GPUs are held to.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "tutti/device/buffer.hpp"
#include "tutti/models/graph/betweenness/lane_batch.hpp"
#include "tutti/models/graph/betweenness/one_source.hpp"

namespace tutti::graph {

/// A copy of the rows on a device.
struct DeviceRows {
  Buffer<Size> offsets;
  Buffer<Vertex> columns;
  DeviceRows() = default;
  DeviceRows(Stream& stream, const Csr<Vertex>& rows, const char* name);
  RowsView view() const { return {offsets.data(), columns.data()}; }
};

/// A graph on a device, and the sums of what was done there.
struct DeviceGraph {
  Vertex vertices;
  Size arcs;
  DeviceRows out, in;  ///< in: empty when the graph is undirected
  Buffer<DeltaSum> sums;
  DeviceGraph(Stream& stream, const Graph& graph);
  RowsView outgoing() const { return out.view(); }
  RowsView incoming() const { return in.offsets.empty() ? out.view() : in.view(); }
};

/// Zeroes the sums.
void clear_sums(Stream& stream, DeviceGraph& graph);

/// Vertices that report together.
inline constexpr Lid count_block = 1024;

/// A thread a block of vertices: arcs that begin at those reached, over all lanes.
struct CountReached {
  RowsView out;
  const Lanes* reached;
  Size* counts;
  Lid vertices;
  TUTTI_HD void operator()(Lid b) const {
    Size count = 0;
    const Lid end = vertices - b * count_block < count_block ? vertices : (b + 1) * count_block;
    for (Lid v = b * count_block; v < end; ++v)
      for (Lanes lanes = reached[v]; lanes != 0; lanes &= lanes - 1) count += out.offsets[v + 1] - out.offsets[v];
    counts[b] = count;
  }
};

/// Adds to the sums of the graph; stream-ordered work that is done when a call returns.
class DeviceSources {
 public:
  virtual ~DeviceSources() = default;
  virtual Size most() const = 0;
  /// Up to most() sources. Those with more paths than double counts, or more levels than there is room for, add nothing
  /// and go to `left`.
  virtual void add(Stream& stream, DeviceGraph& graph, std::span<const Vertex> sources, Size& reached,
                   std::vector<Vertex>& left) = 0;
};

/// Levels that a batch has room for, where the vertex of the highest degree sees `depth` of them. In an undirected
/// graph nobody sees more than twice as many; in a directed one few see many more (SSCA#2, scale 20: 10 from that
/// vertex, 12 to 17 from most).
inline Size levels_for(Size depth, bool directed) {
  return std::min<Size>(directed ? depth + 12 : 2 * depth + 3, 128);
}

/// `levels`: room for so many. `room`: how many bytes they may take; Error(resource) as the budget says when there is
/// no room for the smallest batch.
std::unique_ptr<DeviceSources> make_portable_batches(Stream& stream, const DeviceGraph& graph, Size levels,
                                                     Size sources, Size room);
std::unique_ptr<DeviceSources> make_portable_one_by_one(Stream& stream, const DeviceGraph& graph, Size sources,
                                                        Size room);

#if defined(TUTTI_HAVE_CUDA)
// Kernels for GPUs (cuda/), with the same results, bit for bit.
std::unique_ptr<DeviceSources> make_gpu_batches(Stream& stream, const Graph& graph, Size levels, Size sources,
                                                Size room);
std::unique_ptr<DeviceSources> make_gpu_one_by_one(Stream& stream, const DeviceGraph& graph,
                                                   const OrderedGraph& ordered, Size sources, Size room);
/// One by one with levels in shared memory. None: levels are too wide for it, or there is no room.
std::unique_ptr<DeviceSources> make_gpu_windows(Stream& stream, const DeviceGraph& graph, const OrderedGraph& ordered,
                                                Size sources, Size room);
#endif

}  // namespace tutti::graph
