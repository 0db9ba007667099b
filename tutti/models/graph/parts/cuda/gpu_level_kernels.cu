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
  LevelReaders readers;
  const Lanes* from;
  Lanes* to;
  int depth;
};

/// Stores what is found into the arrays of other devices: a vertex's numbers on the ways on which they read it, its
/// lanes once, on the way out.
class PartReaders {
 public:
  __device__ PartReaders(const LevelReaders& readers, bool back) : all_(readers), back_(back) {}
  /// For the lane's vertex: where the only reader has it, which is asked for before it is needed. Of several there is
  /// no room for that.
  __device__ void ask(Vertex v) {
    if (all_.count == 1) only_ = __ldg(all_.places + v);
  }
  /// Of vertex k of the item. Behind those without arcs out nothing follows: their rows are those of the way back.
  __device__ void tell_row(const Item& item, int k, int lane, Lanes lanes, double2 row) const {
    if (all_.count == 0) return;
    const std::uint32_t way = back_ || (item.last >> k & 1) != 0 ? 2 : 1;
    std::uint32_t places = only_;  // of reader r in lane r
    if (all_.count > 1)
      places = lane < all_.count ? __ldg(all_.places + static_cast<Size>(item.first + k) * all_.count + lane) : 0;
    for (int r = 0; r < all_.count; ++r) {
      const std::uint32_t place = __shfl_sync(all_threads, places, all_.count == 1 ? k : r);
      if ((place & way) == 0) continue;
      store_row(reinterpret_cast<double2*>(all_.reader[r].values), static_cast<Vertex>(place >> 2), lane, lanes, row);
    }
  }
  /// By one lane: of vertex v.
  __device__ void tell_lanes(Vertex v, Lanes lanes) const {
    for (int r = 0; r < all_.count; ++r) {
      const std::uint32_t place = __ldg(all_.places + static_cast<Size>(v) * all_.count + r);
      if (place != 0) all_.reader[r].level[place >> 2] = lanes;
    }
  }

 private:
  const LevelReaders& all_;
  bool back_;
  std::uint32_t only_ = 0;
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
           arguments.batch.failed, PartReaders(arguments.readers, false));
}
__global__ void __launch_bounds__(block_size, blocks_at_once)
    back_level(const __grid_constant__ LevelArguments arguments) {
  enter(arguments);
  pull_back(arguments.from, arguments.to, arguments.batch.counts + level_counts * arguments.depth + 3,
            PartReaders(arguments.readers, true));
}

}  // namespace gpu

namespace {

class GpuLevelKernels final : public LevelKernels {
 public:
  GpuLevelKernels(Stream& stream, const GraphPart& part, const PartRowsView& rows, int batches)
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
    pieces_ = std::max({out_.pieces, in_.pieces, 1});
    hubs_ = std::max({out_.hubs.size(), in_.hubs.size(), Size{1}});
    piece_sums_ = Buffer<double2>(device, Size{32} * pieces_ * batches, "sums of hubs' pieces");
    piece_lanes_ = Buffer<Lanes>(device, Size{1} * pieces_ * batches, "sources of hubs' pieces");
    const std::vector<unsigned> none(static_cast<std::size_t>(hubs_ * batches), 0);
    arrived_ = make_buffer(stream, std::span<const unsigned>(none), "pieces of hubs done");
    gpu::BatchArguments& a = arguments_.batch;
    a.out = out_.view(rows.out);
    a.in = (directed ? in_ : out_).view(rows.in);
    a.vertices = rows.owned;
    a.arcs = rows.arcs;
    a.teams = 1;
    a.levels = 1;
    a.sparse = gpu::sparse_part;
    a.most_pieces = static_cast<std::int32_t>(pieces_);
    a.most_hubs = static_cast<std::int32_t>(hubs_);
    // Ghosts are numbered behind the owned vertices: so are their offsets.
    arguments_.ghosts = ghosts_.view({ghost_rows_.offsets.data() - rows.owned, ghost_rows_.columns.data()});
  }

  bool tell_readers() const override { return true; }
  void out(Stream& stream, const LevelArrays& arrays, const Lanes* from, Lanes* to, int depth,
           const LevelReaders& readers) override {
    gpu::LevelArguments a = of_level(arrays, from, to, depth, readers);
    launch(stream, reinterpret_cast<const void*>(gpu::push_level), a);
    launch(stream, reinterpret_cast<const void*>(gpu::pull_level), a);
  }
  void back(Stream& stream, const LevelArrays& arrays, const Lanes* below, const Lanes* level, int depth,
            const LevelReaders& readers) override {
    gpu::LevelArguments a = of_level(arrays, below, const_cast<Lanes*>(level), depth, readers);
    launch(stream, reinterpret_cast<const void*>(gpu::back_level), a);
  }

 private:
  gpu::LevelArguments of_level(const LevelArrays& arrays, const Lanes* from, Lanes* to, int depth,
                               const LevelReaders& readers) {
    gpu::LevelArguments level = arguments_;
    gpu::BatchArguments& a = level.batch;
    a.values = reinterpret_cast<double2*>(arrays.values);
    a.reached = arrays.reached;
    a.piece_sums = piece_sums_.data() + Size{32} * pieces_ * arrays.number;
    a.piece_lanes = piece_lanes_.data() + Size{1} * pieces_ * arrays.number;
    a.arrived = arrived_.data() + hubs_ * arrays.number;
    a.counts = reinterpret_cast<unsigned long long*>(arrays.counts);
    a.failed = reinterpret_cast<unsigned*>(arrays.batch_counts);
    a.sums = arrays.sums;
    level.readers = readers;
    level.from = from;
    level.to = to;
    level.depth = depth;
    return level;
  }
  void launch(Stream& stream, const void* kernel, gpu::LevelArguments& level) {
    const cuda::CurrentDevice current(stream.device().index());
    void* arguments[] = {&level};
    TUTTI_CUDA_CHECK(cudaLaunchKernel(kernel, dim3(blocks_), dim3(gpu::block_size), arguments, 0,
                                      static_cast<cudaStream_t>(stream.native())));
    stream.device().counts().launches += 1;
  }

  DeviceRows ghost_rows_;
  DeviceWork out_, in_, ghosts_;
  std::int32_t pieces_ = 1;
  Size hubs_ = 1;
  Buffer<double2> piece_sums_;
  Buffer<Lanes> piece_lanes_;
  Buffer<unsigned> arrived_;
  unsigned blocks_ = 1;
  gpu::LevelArguments arguments_{};
};

}  // namespace

std::unique_ptr<LevelKernels> make_gpu_level_kernels(Stream& stream, const GraphPart& part, const PartRowsView& rows,
                                                     int batches) {
  return std::make_unique<GpuLevelKernels>(stream, part, rows, batches);
}

}  // namespace tutti::graph
