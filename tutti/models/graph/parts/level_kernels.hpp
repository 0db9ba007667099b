// The levels of a batch over a part on a device, in plain doubles.
#pragma once

#include <memory>

#include "tutti/device/device.hpp"
#include "tutti/models/graph/betweenness/lane_batch.hpp"
#include "tutti/models/graph/betweenness/one_source.hpp"
#include "tutti/models/graph/parts/graph_part.hpp"

namespace tutti::graph {

/// Source k of a batch has this bit: a thread of a warp has two neighbours of the list, whose bits are 32 apart.
TUTTI_HD inline Lanes lane_of_source(int k) {
  return Lanes{1} << (k / 2 + k % 2 * 32);
}
TUTTI_HD inline int source_of_bit(int bit) {
  return bit < 32 ? 2 * bit : 2 * (bit - 32) + 1;
}

/// Counts of a level (or of the batch, before those of the levels).
inline constexpr int level_counts = 4;

/// A part and a batch on its device, as kernels see them. Local numbers: owned vertices, then ghosts.
struct LevelArrays {
  RowsView out{nullptr, nullptr}, in{nullptr, nullptr};  ///< of owned vertices
  Lid owned = 0, local = 0;
  Size arcs = 0;                         ///< of `out`
  double* values = nullptr;              ///< [local][64]: numbers of paths, on the way back (1 + delta) / sigma
  Lanes* reached = nullptr;              ///< [local]; ghosts: all, others look after them
  DeltaSum* sums = nullptr;              ///< [owned]; digits carry later
  std::int64_t* batch_counts = nullptr;  ///< [4]: failed (there are more paths than doubles count), arcs reached
  std::int64_t* counts = nullptr;        ///< [level][4]: vertices found; the others are the kernels' own
};

class LevelKernels {
 public:
  virtual ~LevelKernels() = default;
  /// Owned vertices that depth + 1 reaches first from those in `from` go to `to`, with their numbers of paths.
  virtual void out(Stream& stream, const Lanes* from, Lanes* to, int depth) = 0;
  /// (1 + delta) / sigma of the owned vertices in `level`, which is that of a depth, and their sums.
  virtual void back(Stream& stream, const Lanes* below, const Lanes* level, int depth) = 0;
};

/// In loops that every device runs: what the kernels made for GPUs are held to.
std::unique_ptr<LevelKernels> make_portable_level_kernels(const LevelArrays& arrays);
#if defined(TUTTI_HAVE_CUDA)
std::unique_ptr<LevelKernels> make_gpu_level_kernels(Stream& stream, const GraphPart& part, const LevelArrays& arrays);
#endif
/// Bytes that the kernels take besides the arrays.
Size bytes_of_level_kernels(const GraphPart& part);

}  // namespace tutti::graph
