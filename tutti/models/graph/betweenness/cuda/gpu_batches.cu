#include <algorithm>
#include <vector>

#include "tutti/device/cuda/check.hpp"
#include "tutti/device/for_each.hpp"
#include "tutti/models/graph/betweenness/cuda/batch_sweep.cuh"
#include "tutti/models/graph/betweenness/cuda/device_sum.cuh"
#include "tutti/models/graph/betweenness/cuda/row_work.cuh"
#include "tutti/models/graph/betweenness/device_sources.hpp"

namespace tutti::graph {
namespace {

constexpr Size most_batches = 64;  ///< of a launch

class GpuBatches final : public DeviceSources {
 public:
  GpuBatches(Stream& stream, const Graph& graph, Size levels, Size sources, Size room)
      : n_(graph.vertices), levels_(levels), out_(stream, RowWork(graph.out, graph.out)) {
    if (graph.directed) in_ = DeviceWork(stream, RowWork(graph.in, graph.out));
    Device& device = stream.device();
    const cuda::CurrentDevice current(device.index());
    int blocks_of_processor = 0, processors = 0;
    TUTTI_CUDA_CHECK(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_of_processor, gpu::sweep_batches, gpu::block_size, 0));
    TUTTI_CUDA_CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device.index()));
    pieces_ = std::max({out_.pieces, in_.pieces, 1});
    hubs_ = static_cast<std::int32_t>(std::max({out_.hubs.size(), in_.hubs.size(), Size{1}}));
    const Size each = n_ * (512 + 8 * (levels + 1)) + pieces_ * Size{520};
    // Small graphs leave a GPU idle at their barriers: several teams then work on a batch each.
    const Size useful = n_ <= 1 << 17 ? 8 : n_ <= 1 << 19 ? 4 : n_ <= 1 << 21 ? 2 : 1;
    teams_ = static_cast<int>(std::clamp<Size>(std::min({useful, (sources + 63) / 64, room * 9 / 10 / each}), 1, 8));
    blocks_ = blocks_of_processor * processors / teams_ * teams_;
    values_ = Buffer<double2>(device, n_ * 32 * teams_, "path counts of batches");
    level_ = Buffer<Lanes>(device, n_ * levels * teams_, "levels of batches");
    reached_ = Buffer<Lanes>(device, n_ * teams_, "vertices reached");
    piece_sums_ = Buffer<double2>(device, Size{32} * pieces_ * teams_, "sums of hubs' pieces");
    piece_lanes_ = Buffer<Lanes>(device, Size{1} * pieces_ * teams_, "sources of hubs' pieces");
    arrived_ = Buffer<unsigned>(device, Size{1} * hubs_ * teams_, "pieces of hubs done");
    barrier_ = Buffer<unsigned>(device, 32 * teams_, "barriers of teams");
    counts_ = Buffer<unsigned long long>(device, 4 * levels * teams_, "sizes of levels");
    failed_ = Buffer<unsigned>(device, most_batches, "batches that failed");
    reached_arcs_ = Buffer<unsigned long long>(device, 1, "arcs reached");
    sources_ = Buffer<Vertex>(device, 64 * most_batches, "sources");
    clear(stream, arrived_);
    clear(stream, level_);
  }
  Size most() const override { return 64 * most_batches; }

  void add(Stream& stream, DeviceGraph& graph, std::span<const Vertex> sources, Size& reached,
           std::vector<Vertex>& left) override {
    const cuda::CurrentDevice current(stream.device().index());
    upload(stream, sources_, sources);
    clear(stream, barrier_);
    clear(stream, failed_);
    clear(stream, reached_arcs_);
    gpu::BatchArguments a{};
    a.out = out_.view(graph.outgoing());
    a.in = (graph.in.offsets.empty() ? out_ : in_).view(graph.incoming());
    a.vertices = static_cast<Vertex>(n_);
    a.arcs = graph.arcs;
    a.sources = sources_.data();
    a.source_count = static_cast<std::int32_t>(sources.size());
    a.batches = (a.source_count + 63) / 64;
    a.teams = teams_;
    a.levels = static_cast<std::int32_t>(levels_);
    a.sparse = gpu::sparse_part;
    a.values = values_.data();
    a.level = level_.data();
    a.reached = reached_.data();
    a.piece_sums = piece_sums_.data();
    a.piece_lanes = piece_lanes_.data();
    a.arrived = arrived_.data();
    a.most_pieces = pieces_;
    a.most_hubs = hubs_;
    a.barrier = barrier_.data();
    a.counts = counts_.data();
    a.failed = failed_.data();
    a.reached_arcs = reached_arcs_.data();
    a.sums = graph.sums.data();
    void* arguments[] = {&a};
    TUTTI_CUDA_CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(gpu::sweep_batches),
                                                 dim3(static_cast<unsigned>(blocks_)), dim3(gpu::block_size), arguments,
                                                 0, static_cast<cudaStream_t>(stream.native())));
    stream.device().counts().launches += 1;
    for_each(stream, {0, a.vertices}, gpu::CarrySums{graph.sums.data()});
    unsigned long long arcs = 0;
    download(stream, std::span(&arcs, 1), reached_arcs_);
    reached += static_cast<Size>(arcs);
    std::vector<unsigned> failed(a.batches);
    download(stream, std::span(failed), failed_);
    for (std::size_t b = 0; b < failed.size(); ++b)
      if (failed[b] != 0) {
        const auto batch = sources.subspan(64 * b, std::min<std::size_t>(64, sources.size() - 64 * b));
        left.insert(left.end(), batch.begin(), batch.end());
      }
  }

 private:
  template <class T>
  static void clear(Stream& stream, Buffer<T>& buffer) {
    if (!buffer.empty())
      TUTTI_CUDA_CHECK(cudaMemsetAsync(buffer.data(), 0, static_cast<std::size_t>(buffer.bytes()),
                                       static_cast<cudaStream_t>(stream.native())));
  }

  Size n_, levels_;
  DeviceWork out_, in_;
  int teams_ = 1, blocks_ = 1;
  std::int32_t pieces_ = 1, hubs_ = 1;
  Buffer<double2> values_, piece_sums_;
  Buffer<Lanes> level_, reached_, piece_lanes_;
  Buffer<unsigned> arrived_, barrier_, failed_;
  Buffer<unsigned long long> counts_, reached_arcs_;
  Buffer<Vertex> sources_;
};

}  // namespace

std::unique_ptr<DeviceSources> make_gpu_batches(Stream& stream, const Graph& graph, Size levels, Size sources,
                                                Size room) {
  return std::make_unique<GpuBatches>(stream, graph, levels, sources, room);
}

}  // namespace tutti::graph
