#include <algorithm>
#include <vector>

#include "tutti/device/cuda/check.hpp"
#include "tutti/device/for_each.hpp"
#include "tutti/models/graph/betweenness/cuda/device_sum.cuh"
#include "tutti/models/graph/betweenness/cuda/search_kernel.cuh"
#include "tutti/models/graph/betweenness/device_sources.hpp"

namespace tutti::graph {
namespace {

constexpr Size most_sources = 1 << 15;  ///< of a launch: digits of sums do not overflow before they carry

class GpuRecords final : public DeviceSources {
 public:
  GpuRecords(Stream& stream, const DeviceGraph& graph, Size sources, Size room) : n_(graph.vertices) {
    Device& device = stream.device();
    const cuda::CurrentDevice current(device.index());
    int blocks_of_processor = 0, processors = 0;
    TUTTI_CUDA_CHECK(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_of_processor, gpu::search_sources, gpu::search_block, 0));
    TUTTI_CUDA_CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device.index()));
    const Size each = n_ * static_cast<Size>(sizeof(gpu::Record) + 2 * sizeof(Vertex)) + 64;
    blocks_ = std::clamp<Size>(std::min({room * 9 / 10 / each, sources, Size{1} * blocks_of_processor * processors}), 1,
                               1 << 16);
    records_ = Buffer<gpu::Record>(device, n_ * blocks_, "path counts of sources");
    queues_ = Buffer<Vertex>(device, n_ * blocks_, "queues of sources");
    levels_ = Buffer<Vertex>(device, (n_ + 2) * blocks_, "levels of sources");
    bases_ = Buffer<std::int32_t>(device, blocks_, "depths of sources");
    next_ = Buffer<unsigned>(device, 1, "next source");
    reached_arcs_ = Buffer<unsigned long long>(device, 1, "arcs reached");
    sources_ = Buffer<Vertex>(device, most_sources, "sources");
    TUTTI_CUDA_CHECK(cudaMemsetAsync(records_.data(), 0, static_cast<std::size_t>(records_.bytes()),
                                     static_cast<cudaStream_t>(stream.native())));
    const std::vector<std::int32_t> ones(blocks_, 1);
    upload(stream, bases_, std::span<const std::int32_t>(ones));
  }
  Size most() const override { return most_sources; }

  void add(Stream& stream, DeviceGraph& graph, std::span<const Vertex> sources, Size& reached,
           std::vector<Vertex>&) override {
    const cuda::CurrentDevice current(stream.device().index());
    const auto native = static_cast<cudaStream_t>(stream.native());
    upload(stream, sources_, sources);
    TUTTI_CUDA_CHECK(cudaMemsetAsync(next_.data(), 0, sizeof(unsigned), native));
    TUTTI_CUDA_CHECK(cudaMemsetAsync(reached_arcs_.data(), 0, sizeof(unsigned long long), native));
    const gpu::SearchArguments a{graph.outgoing(),
                                 graph.incoming(),
                                 graph.in.offsets.empty(),
                                 n_,
                                 sources_.data(),
                                 static_cast<std::int32_t>(sources.size()),
                                 records_.data(),
                                 queues_.data(),
                                 levels_.data(),
                                 bases_.data(),
                                 next_.data(),
                                 reached_arcs_.data(),
                                 graph.sums.data()};
    gpu::search_sources<<<static_cast<unsigned>(blocks_), gpu::search_block, 0, native>>>(a);
    TUTTI_CUDA_CHECK(cudaGetLastError());
    stream.device().counts().launches += 1;
    for_each(stream, {0, static_cast<Lid>(n_)}, gpu::CarrySums{graph.sums.data()});
    unsigned long long arcs = 0;
    download(stream, std::span(&arcs, 1), reached_arcs_);
    reached += static_cast<Size>(arcs);
  }

 private:
  Size n_, blocks_ = 1;
  Buffer<gpu::Record> records_;
  Buffer<Vertex> queues_, levels_, sources_;
  Buffer<std::int32_t> bases_;
  Buffer<unsigned> next_;
  Buffer<unsigned long long> reached_arcs_;
};

/// Levels in shared memory, and records in memory for sources of too wide levels or too many paths.
class GpuSearches final : public DeviceSources {
 public:
  GpuSearches(Stream& stream, const DeviceGraph& graph, const OrderedGraph& ordered, Size sources, Size room)
      : sources_(sources), windows_(make_gpu_windows(stream, graph, ordered, sources, room)) {
    if (!windows_) make_records(stream, graph, sources);
  }
  Size most() const override { return most_sources; }

  void add(Stream& stream, DeviceGraph& graph, std::span<const Vertex> sources, Size& reached,
           std::vector<Vertex>& left) override {
    std::vector<Vertex> wide;
    if (windows_) {
      windows_->add(stream, graph, sources, reached, wide);
      if (wide.empty()) return;
      // Where that is so of most, it will be of the next ones, too. The memory may be too small for both ways.
      const Budget& budget = stream.device().budget();
      if (2 * wide.size() > sources.size() || budget.capacity() - budget.used() < 48 * Size{graph.vertices})
        windows_.reset();
      sources = wide;
    }
    if (!records_) make_records(stream, graph, windows_ ? static_cast<Size>(wide.size()) : sources_);
    records_->add(stream, graph, sources, reached, left);
    if (windows_) records_.reset();  // made for as many sources as these
  }

 private:
  void make_records(Stream& stream, const DeviceGraph& graph, Size sources) {
    const Budget& budget = stream.device().budget();
    records_ = std::make_unique<GpuRecords>(stream, graph, sources, budget.capacity() - budget.used());
  }
  Size sources_;
  std::unique_ptr<DeviceSources> windows_, records_;
};

}  // namespace

std::unique_ptr<DeviceSources> make_gpu_one_by_one(Stream& stream, const DeviceGraph& graph,
                                                   const OrderedGraph& ordered, Size sources, Size room) {
  return std::make_unique<GpuSearches>(stream, graph, ordered, sources, room);
}

}  // namespace tutti::graph
