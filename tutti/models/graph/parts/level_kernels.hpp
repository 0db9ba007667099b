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

/// A part on its device, as kernels see it: rows of owned vertices, in local numbers (owned vertices, then ghosts).
struct PartRowsView {
  RowsView out{nullptr, nullptr}, in{nullptr, nullptr};
  Lid owned = 0;
  Size arcs = 0;  ///< of `out`
};

/// A batch on the device of a part.
struct LevelArrays {
  int number = 0;                        ///< among the batches at the same time
  double* values = nullptr;              ///< [local][64]: numbers of paths, on the way back (1 + delta) / sigma
  Lanes* reached = nullptr;              ///< [local]; ghosts: all, others look after them
  DeltaSum* sums = nullptr;              ///< [owned]; digits carry later
  std::int64_t* batch_counts = nullptr;  ///< [4]: failed (there are more paths than doubles count), arcs reached
  std::int64_t* counts = nullptr;        ///< [level][4]: vertices found; the others are the kernels' own
};

/// Where owned vertices are ghosts of other devices of the rank, whose memory this one reaches.
inline constexpr int most_readers = 15;
struct LevelReaders {
  /// Of the vertex at [vertex * count + reader]: its local number there, times 4; bit 0: it is read on the way out, bit
  /// 1: on the way back. 0: it is not.
  const std::uint32_t* places = nullptr;
  int count = 0;
  struct {
    double* values;
    Lanes* level;  ///< which the step writes
  } reader[most_readers] = {};
};

class LevelKernels {
 public:
  virtual ~LevelKernels() = default;
  /// out() and back() store what they find into the readers' arrays, too. Else they ignore them.
  virtual bool tell_readers() const = 0;
  /// Owned vertices that depth + 1 reaches first from those in `from` go to `to`, with their numbers of paths.
  virtual void out(Stream& stream, const LevelArrays& arrays, const Lanes* from, Lanes* to, int depth,
                   const LevelReaders& readers) = 0;
  /// (1 + delta) / sigma of the owned vertices in `level`, which is that of a depth, and their sums.
  virtual void back(Stream& stream, const LevelArrays& arrays, const Lanes* below, const Lanes* level, int depth,
                    const LevelReaders& readers) = 0;
};

/// In loops that every device runs: what the kernels made for GPUs are held to.
std::unique_ptr<LevelKernels> make_portable_level_kernels(const PartRowsView& rows);
#if defined(TUTTI_HAVE_CUDA)
/// For so many batches at the same time.
std::unique_ptr<LevelKernels> make_gpu_level_kernels(Stream& stream, const GraphPart& part, const PartRowsView& rows,
                                                     int batches);
#endif
/// Bytes that the kernels take besides the arrays: of a part, and of each batch.
Size bytes_of_level_kernels(const GraphPart& part);
Size bytes_of_level_batch(const GraphPart& part);

}  // namespace tutti::graph
