#include <algorithm>

#include "tutti/device/cuda/check.hpp"
#include "tutti/models/graph/betweenness/cuda/batch_kernel.cuh"
#include "tutti/models/graph/betweenness/cuda/row_work.cuh"
#include "tutti/models/graph/betweenness/device_sources.hpp"
#include "tutti/models/graph/parts/level_kernels.hpp"

namespace tutti::graph {
namespace gpu {

/// A level of a part: one team of all blocks.
struct LevelArguments {
  BatchArguments batch;
  Rows ghosts;  ///< of the ghosts, by their local numbers: the owned vertices that their arcs lead to
  const Lanes* from;
  Lanes* to;
  int depth;
};

__device__ inline void enter(const LevelArguments& arguments) {
  if (threadIdx.x == 0) {
    block.arguments = arguments.batch;
    block.team = team_of(arguments.batch, 0, static_cast<int>(gridDim.x));
  }
  __syncthreads();
}

/// Whether the frontier of the part's own vertices is so large that all of them look for it. Ghosts are as many, most
/// likely; it changes no result.
__device__ inline bool is_dense(const LevelArguments& arguments) {
  if (arguments.depth == 0) return false;
  const unsigned long long arcs = __ldcg(&arguments.batch.counts[level_counts * (arguments.depth - 1) + 1]);
  return static_cast<double>(arcs) >= arguments.batch.sparse * static_cast<double>(arguments.batch.arcs);
}

__global__ void __launch_bounds__(block_size, blocks_at_once)
    push_level(const __grid_constant__ LevelArguments arguments) {
  if (is_dense(arguments)) return;
  enter(arguments);
  push(block.arguments.out, arguments.from, arguments.to);
  if (arguments.ghosts.item_count > 0) push(arguments.ghosts, arguments.from, arguments.to);
}
__global__ void __launch_bounds__(block_size, blocks_at_once)
    pull_level(const __grid_constant__ LevelArguments arguments) {
  const bool dense = is_dense(arguments);
  enter(arguments);
  pull_out(arguments.from, arguments.to, dense, arguments.batch.counts + level_counts * arguments.depth,
           arguments.batch.failed);
}
__global__ void __launch_bounds__(block_size, blocks_at_once)
    back_level(const __grid_constant__ LevelArguments arguments) {
  enter(arguments);
  pull_back(arguments.from, arguments.to, arguments.batch.counts + level_counts * arguments.depth + 3);
}

}  // namespace gpu

namespace {

class GpuLevelKernels final : public LevelKernels {
 public:
  GpuLevelKernels(Stream& stream, const GraphPart& part, const LevelArrays& arrays)
      : ghost_rows_(stream, part.from_ghosts, "arcs from ghosts"),
        out_(stream, RowWork(part.out, part.out)),
        ghosts_(stream, RowWork(part.from_ghosts, part.from_ghosts, part.map.owned)) {
    const bool directed = part.in.offsets.size() > 1;
    if (directed) in_ = DeviceWork(stream, RowWork(part.in, part.out));
    Device& device = stream.device();
    const cuda::CurrentDevice current(device.index());
    int each = 0, processors = 0;
    TUTTI_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, gpu::pull_level, gpu::block_size, 0));
    TUTTI_CUDA_CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device.index()));
    blocks_ = static_cast<unsigned>(each * processors);
    const std::int32_t pieces = std::max({out_.pieces, in_.pieces, 1});
    const Size hubs = std::max({out_.hubs.size(), in_.hubs.size(), Size{1}});
    piece_sums_ = Buffer<double2>(device, Size{32} * pieces, "sums of hubs' pieces");
    piece_lanes_ = Buffer<Lanes>(device, Size{1} * pieces, "sources of hubs' pieces");
    const std::vector<unsigned> none(static_cast<std::size_t>(hubs), 0);
    arrived_ = make_buffer(stream, std::span<const unsigned>(none), "pieces of hubs done");
    gpu::BatchArguments& a = arguments_.batch;
    a.out = out_.view(arrays.out);
    a.in = (directed ? in_ : out_).view(arrays.in);
    a.vertices = arrays.owned;
    a.arcs = arrays.arcs;
    a.teams = 1;
    a.levels = 1;
    a.sparse = gpu::sparse_part;
    a.values = reinterpret_cast<double2*>(arrays.values);
    a.reached = arrays.reached;
    a.piece_sums = piece_sums_.data();
    a.piece_lanes = piece_lanes_.data();
    a.arrived = arrived_.data();
    a.most_pieces = pieces;
    a.most_hubs = static_cast<std::int32_t>(hubs);
    a.counts = reinterpret_cast<unsigned long long*>(arrays.counts);
    a.failed = reinterpret_cast<unsigned*>(arrays.batch_counts);
    a.sums = arrays.sums;
    // Ghosts are numbered behind the owned vertices: so are their offsets.
    arguments_.ghosts = ghosts_.view({ghost_rows_.offsets.data() - arrays.owned, ghost_rows_.columns.data()});
  }

  void out(Stream& stream, const Lanes* from, Lanes* to, int depth) override {
    launch(stream, reinterpret_cast<const void*>(gpu::push_level), from, to, depth);
    launch(stream, reinterpret_cast<const void*>(gpu::pull_level), from, to, depth);
  }
  void back(Stream& stream, const Lanes* below, const Lanes* level, int depth) override {
    launch(stream, reinterpret_cast<const void*>(gpu::back_level), below, const_cast<Lanes*>(level), depth);
  }

 private:
  void launch(Stream& stream, const void* kernel, const Lanes* from, Lanes* to, int depth) {
    arguments_.from = from;
    arguments_.to = to;
    arguments_.depth = depth;
    const cuda::CurrentDevice current(stream.device().index());
    void* arguments[] = {&arguments_};
    TUTTI_CUDA_CHECK(cudaLaunchKernel(kernel, dim3(blocks_), dim3(gpu::block_size), arguments, 0,
                                      static_cast<cudaStream_t>(stream.native())));
    stream.device().counts().launches += 1;
  }

  DeviceRows ghost_rows_;
  DeviceWork out_, in_, ghosts_;
  Buffer<double2> piece_sums_;
  Buffer<Lanes> piece_lanes_;
  Buffer<unsigned> arrived_;
  unsigned blocks_ = 1;
  gpu::LevelArguments arguments_{};
};

}  // namespace

std::unique_ptr<LevelKernels> make_gpu_level_kernels(Stream& stream, const GraphPart& part, const LevelArrays& arrays) {
  return std::make_unique<GpuLevelKernels>(stream, part, arrays);
}

}  // namespace tutti::graph
