// A part's share of a batch of 64 sources on its device. Work is enqueued; nothing waits unless it says so.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tutti/device/buffer.hpp"
#include "tutti/models/graph/parts/device_part.hpp"

namespace tutti::graph {

/// Levels of a batch there may be; graphs of more are swept with less memory a level (make_device_sweep).
inline constexpr int most_levels = 64;

class PartBatch {
 public:
  /// `number`: among the batches at the same time. The part outlives it. Error(resource): the device has no room.
  PartBatch(DevicePart& part, int number);
  ~PartBatch() { rest(); }
  PartBatch(const PartBatch&) = delete;
  PartBatch& operator=(const PartBatch&) = delete;
  static Size bytes(const GraphPart& part);
  static Size bytes_of_levels(const GraphPart& part, int levels) {
    return static_cast<Size>(part.map.local()) * static_cast<Size>(sizeof(Lanes)) * levels;
  }

  const GraphPart& part() const { return part_.part(); }
  DevicePart& device_part() { return part_; }
  Stream& stream() { return *stream_; }
  /// The same batch on the devices that the part's kernels tell, in their order.
  void set_readers(std::vector<PartBatch*> readers) { readers_ = std::move(readers); }
  /// Of each source its local number, or no_lid. Nothing else is reached.
  void begin(std::span<const Vertex> sources);
  /// Waits for all work. What fails is not told: another error is on its way already.
  void rest() noexcept;
  int levels() const { return static_cast<int>(levels_.size()); }
  /// Room for the lanes of levels 0 to `level`, which is cleared when the stream comes to it. False: there is none.
  bool make_room(int level);
  /// Owned vertices that depth + 1 reaches first, and their numbers of paths. The readers have room.
  void step_out(int depth);
  /// Dependencies of the owned vertices of a depth are added to the sums; (1 + delta) / sigma takes the place of sigma.
  void step_back(int depth);
  /// After a batch: arcs that begin at vertices reached.
  void count_reached();
  /// Asks for the counts of the batch. answer() waits for them.
  void ask();
  struct Answer {
    bool failed;                          ///< more paths than doubles count
    std::span<const std::int64_t> found;  ///< of each depth so far: vertices that depth + 1 reaches first
  };
  Answer answer();

  Lanes* level(int depth) { return levels_[static_cast<std::size_t>(depth)].data(); }  ///< [local]
  double* values() { return values_.data(); }                                          ///< [local][64]

  /// Adds the sums and arcs reached to those of another batch of the part; they are zero afterwards. Waits.
  void move_sums_to(PartBatch& other);
  /// Adds the sums to `sums` (global numbers) and arcs reached to `reached`; they are zero afterwards. Waits.
  void collect(const ParallelFor& parallel, std::span<DeltaSum> sums, Size& reached);

 private:
  void clear(int level);
  LevelReaders readers(int level);

  DevicePart& part_;
  std::unique_ptr<Stream> stream_;
  Buffer<double> values_;
  Buffer<Lanes> reached_;
  Buffer<DeltaSum> sums_, host_sums_;     ///< host: pinned, of those that collect
  Buffer<std::int64_t> counts_, answer_;  ///< of the batch, then of its levels; answer: of the levels, packed, pinned
  std::vector<Buffer<Lanes>> levels_;
  LevelArrays arrays_;
  std::vector<PartBatch*> readers_;
  Lanes none_ = 0;    ///< lanes without a source
  int used_ = 0;      ///< levels that are not zero
  int depth_ = 0;     ///< steps out of the batch
  Size batches_ = 0;  ///< since digits carried
  std::vector<std::int64_t> found_;
};

}  // namespace tutti::graph
