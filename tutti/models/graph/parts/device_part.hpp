// A part's share of a batch of 64 sources on its device. Work is enqueued; nothing waits unless it says so.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tutti/device/buffer.hpp"
#include "tutti/models/graph/betweenness/device_sources.hpp"
#include "tutti/models/graph/parts/level_kernels.hpp"

namespace tutti::graph {

/// Levels of a batch there may be; graphs of more are swept with less memory a level (make_device_sweep).
inline constexpr int most_levels = 64;

class DevicePart {
 public:
  /// The part outlives it. Error(resource): the device has no room.
  DevicePart(const GraphPart& part, Device& device);
  ~DevicePart() { rest(); }
  DevicePart(const DevicePart&) = delete;
  DevicePart& operator=(const DevicePart&) = delete;
  static Size bytes(const GraphPart& part);

  const GraphPart& part() const { return part_; }
  Stream& stream() { return *stream_; }
  /// Of each source its local number, or no_lid. Nothing else is reached.
  void begin(std::span<const Vertex> sources);
  /// Waits for all work. What fails is not told: another error is on its way already.
  void rest() noexcept;
  int levels() const { return static_cast<int>(levels_.size()); }
  /// Room for the lanes of levels 0 to `level`, which is cleared when the stream comes to it. False: there is none.
  bool make_room(int level);
  /// Owned vertices that depth + 1 reaches first, and their numbers of paths.
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
  Size local() const { return part_.map.local(); }

  /// Adds the sums to `sums` (global numbers) and arcs reached to `reached`; they are zero afterwards. Waits.
  void collect(std::span<DeltaSum> sums, Size& reached);

 private:
  void clear(int level);

  const GraphPart& part_;
  std::unique_ptr<Stream> stream_;
  DeviceRows out_, in_;
  Buffer<double> values_;
  Buffer<Lanes> reached_;
  Buffer<DeltaSum> sums_;
  Buffer<std::int64_t> counts_, answer_;  ///< of the batch, then of its levels; answer: of the levels, packed, pinned
  std::vector<Buffer<Lanes>> levels_;
  LevelArrays arrays_;
  std::unique_ptr<LevelKernels> kernels_;
  Lanes none_ = 0;    ///< lanes without a source
  int used_ = 0;      ///< levels that are not zero
  int depth_ = 0;     ///< steps out of the batch
  Size batches_ = 0;  ///< since digits carried
  std::vector<std::int64_t> found_;
};

}  // namespace tutti::graph
