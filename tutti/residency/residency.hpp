// A large read-only array of doubles, and where its rows live while kernels on one device read them.
//
//   Residency coefficients(stream, {"coefficients", rows, width, fill}, options);
//   for_each_chunk(coefficients, [&](Range rows, const auto& access) {
//     for_each(stream, rows, Kernel{access, u, out});   // reads access.row(r) for r in rows only
//   });
//
// (docs/explanation/memory.md, docs/adr/0021-residency.md)
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tutti/base/parallel.hpp"
#include "tutti/base/raw_vector.hpp"
#include "tutti/device/buffer.hpp"
#include "tutti/device/device.hpp"
#include "tutti/residency/managed_memory.hpp"
#include "tutti/residency/placement.hpp"
#include "tutti/residency/row_access.hpp"
#include "tutti/residency/row_codec.hpp"

namespace tutti {

/// Where the values come from: `fill` writes rows [begin, end), `width` values each. It is called for pieces of the
/// array, in order, once when it is set up; "auto" calls it once a candidate. The array need never be in memory as a
/// whole.
struct RowSource {
  std::string name;  ///< in messages
  Lid rows = 0;
  int width = 0;
  std::function<void(Range rows, std::span<double> values)> fill;
};

/// A source of rows that lie in memory one after the other; they must be there while an array is set up.
RowSource row_source(const std::string& name, int width, std::span<const double> values);

struct ResidencyOptions {
  Policy policy = Policy::resident;
  /// How rows are stored. compressed wants another format than doubles; automatic chooses it.
  ValueFormat format = ValueFormat::doubles;
  int rate = 32;                      ///< zfp: bits a value, 4 to 64
  int group = 0;                      ///< int32, int16: so many values share a scale (a multiple of 4); 0: a row
  Size chunk_bytes = Size{64} << 20;  ///< one buffer at most
  Size leave_bytes = 0;               ///< of the device's budget, for others
  /// Rows that stay on the host lie in pinned memory, or else in ordinary memory, from where they go through two pinned
  /// buffers: half the rate or less, but nothing that the system could not use for others.
  bool pinned = true;
  /// Each pass begins with no chunk on the device and waits for nothing from before it: it can be captured and
  /// repeated (not with managed memory, whose passes are as ever).
  bool self_contained = false;
  /// automatic: formats that lose more than this (relative L2 norm of the array) are not taken; 0: doubles only.
  double tolerance = 0;
  ParallelFor parallel;  ///< for set-up
};

/// What was done since the start.
struct ResidencyCounts {
  Size passes = 0;
  Size chunks = 0;       ///< that were brought to the device
  Size chunks_kept = 0;  ///< that were still there from the pass before
  Size bytes_brought = 0;
  Size bytes_dropped = 0;  ///< managed: copies of pages that made room for others
};

/// The array on the device of one stream, which must outlive it.
class Residency {
 public:
  /// Error(resource): it does not fit (place_rows), or the machine has no memory; Error(numerical): a value that the
  /// format cannot hold; Error(peer): the device was lost. options.policy is not automatic (choose.hpp).
  Residency(Stream& stream, const RowSource& source, const ResidencyOptions& options);
  ~Residency();  ///< waits for its stream; work on others must be done
  Residency(const Residency&) = delete;
  Residency& operator=(const Residency&) = delete;

  const RowLayout& layout() const { return layout_; }
  const Placement& placement() const { return placement_; }
  /// Relative L2 norm of what the format lost; 0 for doubles.
  double loss() const { return loss_.relative(); }
  const ResidencyCounts& counts() const { return counts_; }
  Stream& stream() const { return stream_; }
  /// May a pass be captured (Stream::begin_capture)?
  bool can_be_captured() const {
    return placement_.fits() || (options_.self_contained && options_.pinned && !managed_);
  }

  /// Rows that a kernel can read once work of the pass's stream comes to it.
  struct Chunk {
    Range rows;
    StoredRows stored;
    int buffer = -1;
  };
  // The steps of a pass over some rows; for_each_chunk calls them. One pass at a time, from one thread.
  void begin_pass(Stream& stream, Range rows);
  Chunk resident_rows() const;
  Lid steps() const { return pass_.last - pass_.first; }
  /// So many of the first steps find their chunk on the device. They go before the resident rows, so that their buffers
  /// are filled again while those are worked on.
  Lid kept_steps() const { return pass_.kept; }
  /// A pass begins at that end of its chunks that is still there.
  Chunk bring(Lid step);
  void release(const Chunk& chunk);

 private:
  struct Window;
  void load(const RowSource& source);
  void keep(Range rows, std::span<const std::byte> bytes);
  StoredRows stored(const std::byte* data, Lid first) const;
  Lid chunk_of(Lid step) const { return pass_.backwards ? pass_.last - 1 - step : pass_.first + step; }
  Window& window_for(Lid chunk);
  bool is_held(Lid chunk) const;
  void fill_window(Window& window, Range rows);
  void move_pages(Window& window, Range rows);
  /// Where copies of this pass are enqueued.
  Stream& copies() { return own_stream_ ? *own_stream_ : *pass_.stream; }
  std::byte* host_rows();
  Size host_offset(Lid row) const { return layout_.bytes(row - placement_.resident); }

  Stream& stream_;
  ResidencyOptions options_;
  RowLayout layout_;
  Placement placement_;
  SquaredLoss loss_;
  ResidencyCounts counts_;
  Buffer<std::uint16_t> table_;
  Buffer<std::byte> resident_;
  Buffer<std::byte> pinned_;
  RawVector<std::byte> pageable_;
  std::unique_ptr<ManagedMemory> managed_;
  std::vector<Window> windows_;
  /// Of copies, unless they are overlaid. After the memory that its work uses: it ends first.
  std::unique_ptr<Stream> own_stream_;
  std::unique_ptr<Event> mark_;
  struct {
    Stream* stream = nullptr;
    Range rows;
    Lid first = 0, last = 0;  ///< chunks
    bool backwards = false;
    Lid kept = 0;
  } pass_;
};

/// One pass over some rows, on any stream of the device: f(rows, accessor) for ranges that cover them, in an order that
/// is not fixed. f launches kernels on that stream; they read these rows only. `kinds`: the accessors that f is made
/// for.
template <class Kinds = AllRows, class F>
void for_each_chunk(Residency& array, Stream& stream, Range rows, const F& f, Kinds kinds = {}) {
  const auto call = [&](const Residency::Chunk& chunk) {
    with_rows(kinds, array.layout().format, chunk.stored, [&](const auto& access) { f(chunk.rows, access); });
  };
  const auto bring = [&](Lid begin, Lid end) {
    for (Lid step = begin; step < end; ++step) {
      const Residency::Chunk chunk = array.bring(step);
      call(chunk);
      array.release(chunk);
    }
  };
  array.begin_pass(stream, rows);
  bring(0, array.kept_steps());
  if (const Residency::Chunk chunk = array.resident_rows(); !chunk.rows.empty()) call(chunk);
  bring(array.kept_steps(), array.steps());
}

/// One pass over all rows, on the array's stream.
template <class Kinds = AllRows, class F>
void for_each_chunk(Residency& array, const F& f, Kinds kinds = {}) {
  for_each_chunk(array, array.stream(), {0, array.placement().rows}, f, kinds);
}

}  // namespace tutti
