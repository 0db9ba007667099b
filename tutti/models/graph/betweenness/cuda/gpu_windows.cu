#include <algorithm>
#include <vector>

#include "tutti/device/cuda/check.hpp"
#include "tutti/device/for_each.hpp"
#include "tutti/models/graph/betweenness/cuda/window_kernel.cuh"
#include "tutti/models/graph/betweenness/device_sources.hpp"

namespace tutti::graph {
namespace {

constexpr Size most_sources = 1 << 15;      ///< of a launch: digits of sums do not overflow before they carry
constexpr Size three_byte_names = 1 << 23;  ///< fewer vertices

struct PackRow {
  RowsView rows;
  Vertex* columns;
  int width;
  TUTTI_HD void operator()(Lid v) const {
    const Size first = rows.offsets[v], arcs = rows.offsets[v + 1] - first;
    Vertex* const row = columns + static_cast<Size>(v) * width;
    for (int j = 0; j < width; ++j) row[j] = j < arcs ? rows.columns[first + j] : gpu::no_column;
    if (arcs > width) row[0] = gpu::long_row;
  }
};

/// Columns of a packed row: nineteen rows of twenty fit.
int width_for(const Graph& graph) {
  Size longer = 0;
  for (const Csr<Vertex>* rows : {&graph.out, &graph.incoming()})
    for (Vertex v = 0; v < graph.vertices; ++v) longer += rows->offsets[v + 1] - rows->offsets[v] > 4 ? 1 : 0;
  return longer * 10 <= graph.vertices ? 4 : 8;
}

/// Blocks at once, threads of each and places of its tables: as many blocks as there are sources for, and as have room
/// for levels twice as wide as the widest that is known. None fits: no blocks.
struct Shape {
  Size blocks = 0, threads = 0, places = 0;
};
Shape shape_for(Size widest, Size sources, int device) {
  const auto attribute = [&](cudaDeviceAttr which) {
    int value = 0;
    TUTTI_CUDA_CHECK(cudaDeviceGetAttribute(&value, which, device));
    return static_cast<Size>(value);
  };
  const Size of_processor = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  const Size reserved = attribute(cudaDevAttrReservedSharedMemoryPerBlock);
  const Size most_of_block = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  const Size processors = attribute(cudaDevAttrMultiProcessorCount);
  constexpr Size fixed = 128;  // static shared memory
  for (const Size blocks : {32, 24, 16, 12, 8, 6, 4, 3, 2, 1}) {
    if (blocks > 1 && blocks > (sources + processors - 1) / processors) continue;
    const Size each = std::min(of_processor / blocks - reserved, most_of_block);
    // Small tables are emptied sooner.
    const Size places = std::min((each - fixed) / gpu::bytes_of_windows(1) / 4 * 4, std::max<Size>(512, widest * 8));
    if (places * 3 / 4 < (blocks == 1 ? widest * 3 / 2 : widest * 2)) continue;
    const Size most = gpu::most_window_block / blocks / 32 * 32, enough = (widest * 2 + 31) / 32 * 32;
    return {blocks * processors, std::clamp<Size>(enough, 32, most), places};
  }
  return {};
}

template <int width>
class GpuWindows final : public DeviceSources {
 public:
  GpuWindows(Stream& stream, const DeviceGraph& graph, const Shape& shape, Size blocks)
      : n_(graph.vertices),
        shape_(shape),
        blocks_(blocks),
        directed_(!graph.in.offsets.empty()),
        wide_names_(n_ >= three_byte_names) {
    Device& device = stream.device();
    out_ = Buffer<Vertex>(device, n_ * width, "arcs side by side");
    for_each(stream, {0, graph.vertices}, PackRow{graph.outgoing(), out_.data(), width});
    if (directed_) {
      in_ = Buffer<Vertex>(device, n_ * width, "arcs against their direction, side by side");
      for_each(stream, {0, graph.vertices}, PackRow{graph.incoming(), in_.data(), width});
      seen_ = Buffer<unsigned>(device, (n_ + 31) / 32 * blocks_, "vertices seen");
    }
    paths_ = Buffer<std::uint64_t>(device, n_ * blocks_, "path counts of sources");
    found_low_ = Buffer<std::uint16_t>(device, n_ * blocks_, "queues of sources");
    found_high_ = Buffer<std::uint8_t>(device, n_ * blocks_ * (wide_names_ ? 2 : 1), "queues of sources");
    counts_ = Buffer<unsigned>(device, 2, "next source");
    reached_arcs_ = Buffer<unsigned long long>(device, 1, "arcs reached");
    sources_ = Buffer<Vertex>(device, most_sources, "sources");
    left_ = Buffer<Vertex>(device, most_sources, "sources left");
    stream.synchronize();  // what follows may fail, and then the rows go
  }
  /// Bytes of the graph, and of a source.
  static Size fixed_bytes(const Graph& graph) {
    return graph.vertices * (graph.directed ? 2 : 1) * width * static_cast<Size>(sizeof(Vertex)) +
           2 * most_sources * static_cast<Size>(sizeof(Vertex)) + 4096;
  }
  static Size source_bytes(const Graph& graph) {
    return graph.vertices * (graph.vertices >= three_byte_names ? 12 : 11) + (graph.directed ? graph.vertices / 8 : 0) +
           256;
  }
  Size most() const override { return most_sources; }

  void add(Stream& stream, DeviceGraph& graph, std::span<const Vertex> sources, Size& reached,
           std::vector<Vertex>& left) override {
    const cuda::CurrentDevice current(stream.device().index());
    const auto native = static_cast<cudaStream_t>(stream.native());
    upload(stream, sources_, sources);
    TUTTI_CUDA_CHECK(cudaMemsetAsync(counts_.data(), 0, static_cast<std::size_t>(counts_.bytes()), native));
    TUTTI_CUDA_CHECK(cudaMemsetAsync(reached_arcs_.data(), 0, sizeof(unsigned long long), native));
    const gpu::WindowArguments<width> a{{out_.data(), graph.outgoing()},
                                        {in_.data(), graph.incoming()},
                                        n_,
                                        sources_.data(),
                                        static_cast<std::int32_t>(sources.size()),
                                        static_cast<std::int32_t>(shape_.places),
                                        paths_.data(),
                                        found_low_.data(),
                                        found_high_.data(),
                                        seen_.data(),
                                        counts_.data(),
                                        counts_.data() + 1,
                                        left_.data(),
                                        reached_arcs_.data(),
                                        graph.sums.data()};
    const auto launch = [&](auto kernel) {
      const auto bytes = static_cast<std::size_t>(gpu::bytes_of_windows(shape_.places));
      TUTTI_CUDA_CHECK(
          cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
      kernel<<<static_cast<unsigned>(blocks_), static_cast<unsigned>(shape_.threads), bytes, native>>>(a);
      TUTTI_CUDA_CHECK(cudaGetLastError());
    };
    if (directed_)
      wide_names_ ? launch(gpu::search_windows<width, true, std::uint16_t>)
                  : launch(gpu::search_windows<width, true, std::uint8_t>);
    else
      wide_names_ ? launch(gpu::search_windows<width, false, std::uint16_t>)
                  : launch(gpu::search_windows<width, false, std::uint8_t>);
    stream.device().counts().launches += 1;
    for_each(stream, {0, static_cast<Lid>(n_)}, gpu::CarrySums{graph.sums.data()});
    unsigned long long arcs = 0;
    std::vector<unsigned> counts(2);
    download(stream, std::span(&arcs, 1), reached_arcs_);
    download(stream, std::span(counts), counts_);
    reached += static_cast<Size>(arcs);
    std::vector<Vertex> failed(most_sources);
    if (counts[1] > 0) download(stream, std::span(failed), left_);
    left.insert(left.end(), failed.begin(), failed.begin() + counts[1]);
  }

 private:
  Size n_;
  Shape shape_;
  Size blocks_;
  bool directed_, wide_names_;
  Buffer<Vertex> out_, in_, sources_, left_;
  Buffer<std::uint64_t> paths_;
  Buffer<std::uint16_t> found_low_;
  Buffer<std::uint8_t> found_high_;
  Buffer<unsigned> seen_, counts_;
  Buffer<unsigned long long> reached_arcs_;
};

template <int width>
std::unique_ptr<DeviceSources> make(Stream& stream, const DeviceGraph& graph, const Graph& host, const Shape& shape,
                                    Size sources, Size room) {
  const Size fits = (room * 9 / 10 - GpuWindows<width>::fixed_bytes(host)) / GpuWindows<width>::source_bytes(host);
  const Size blocks = std::min({fits, sources, shape.blocks});
  if (blocks < 1) return nullptr;
  return std::make_unique<GpuWindows<width>>(stream, graph, shape, blocks);
}

}  // namespace

std::unique_ptr<DeviceSources> make_gpu_windows(Stream& stream, const DeviceGraph& graph, const OrderedGraph& ordered,
                                                Size sources, Size room) {
  const int index = stream.device().index();
  const cuda::CurrentDevice current(index);
  const Shape shape = shape_for(ordered.widest, sources, index);
  if (shape.blocks == 0) return nullptr;
  return width_for(ordered.graph) == 4 ? make<4>(stream, graph, ordered.graph, shape, sources, room)
                                       : make<8>(stream, graph, ordered.graph, shape, sources, room);
}

}  // namespace tutti::graph
