// Batches of sources in the loops that every device runs: one vertex or one source a thread. What the kernels made for
// GPUs are held to.
#pragma once

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

/// Adds to the sums of the graph; stream-ordered work that is done when a call returns.
class DeviceSources {
 public:
  virtual ~DeviceSources() = default;
  virtual Size most() const = 0;
  /// False: path counts exceed double, or there are more levels than room. Then nothing was added.
  virtual bool add(Stream& stream, DeviceGraph& graph, std::span<const Vertex> sources, Size& reached) = 0;
};

/// `room` is how many bytes it may take; Error(resource) as the budget says when there is no room for one.
std::unique_ptr<DeviceSources> make_portable_batches(Stream& stream, const DeviceGraph& graph, Size sources, Size room);
std::unique_ptr<DeviceSources> make_portable_one_by_one(Stream& stream, const DeviceGraph& graph, Size sources, Size room);

#if defined(TUTTI_HAVE_CUDA_GRAPH)
/// Kernels for GPUs (device_sources_gpu.cu), with the same results, bit for bit.
std::unique_ptr<DeviceSources> make_gpu_batches(Stream& stream, const DeviceGraph& graph, const Graph& host, Size sources, Size room);
std::unique_ptr<DeviceSources> make_gpu_one_by_one(Stream& stream, const DeviceGraph& graph, Size sources, Size room);
#endif

}  // namespace tutti::graph
