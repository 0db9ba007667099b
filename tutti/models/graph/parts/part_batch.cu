// Compiles as plain C++ without CUDA.
#include "tutti/models/graph/parts/part_batch.hpp"

#include <bit>

#include "tutti/base/log.hpp"
#include "tutti/device/atomics.hpp"
#include "tutti/device/for_each.hpp"

namespace tutti::graph {
namespace {

constexpr int first_levels = 12;      ///< that there is room for at once
constexpr Lid reached_block = 32;     ///< vertices that report together
constexpr Size most_uncarried = 256;  ///< batches: digits have room for eight times as many

TUTTI_HD inline int count_lanes(Lanes lanes) {
#ifdef __CUDA_ARCH__
  return __popcll(lanes);
#else
  return std::popcount(lanes);
#endif
}

template <class T>
struct SetZero {
  T* values;
  TUTTI_HD void operator()(Lid i) const { values[i] = T{}; }
};

struct SetReached {
  Lanes* reached;
  Lid owned;
  Lanes none;
  TUTTI_HD void operator()(Lid v) const { reached[v] = v < owned ? none : ~Lanes{0}; }
};

/// A thread a source. They travel with the launch.
struct SetSources {
  Vertex sources[most_lanes];
  int count;
  Lanes *level, *reached;
  double* values;
  TUTTI_HD void operator()(Lid k) const {
    const Vertex s = sources[k];
    if (s < 0) return;
    Lanes lanes = 0;  // a vertex may be a source more than once
    for (int i = 0; i < count; ++i)
      if (sources[i] == s) lanes |= lane_of_source(i);
    level[s] = lanes;
    reached[s] |= lanes;
    values[static_cast<Size>(s) * most_lanes + k] = 1;
  }
};

struct AddReached {
  RowsView out;
  const Lanes* reached;
  Lanes none;
  Lid owned;
  std::int64_t* count;
  TUTTI_HD void operator()(Lid b) const {
    Size sum = 0;
    const Lid end = owned - b * reached_block < reached_block ? owned : (b + 1) * reached_block;
    for (Lid v = b * reached_block; v < end; ++v)
      sum += count_lanes(reached[v] & ~none) * (out.offsets[v + 1] - out.offsets[v]);
    if (sum > 0) add_atomic(*count, sum);
  }
};

struct MoveSums {
  DeltaSum *from, *to;
  TUTTI_HD void operator()(Lid v) const {
    to[v].add(from[v]);
    from[v] = DeltaSum{};
  }
};
struct MoveCount {
  std::int64_t *from, *to;
  TUTTI_HD void operator()(Lid) const {
    *to += *from;
    *from = 0;
  }
};

struct CarryDigits {
  DeltaSum* sums;
  TUTTI_HD void operator()(Lid v) const { sums[v].carry(); }
};

}  // namespace

PartBatch::PartBatch(DevicePart& part, int number)
    : part_(part), stream_(part.device().make_stream("batch of a part")), found_(most_levels) {
  Device& device = part.device();
  const Size local = this->part().map.local(), owned = this->part().map.owned;
  values_ = Buffer<double>(device, local * most_lanes, "path counts of a batch");
  reached_ = Buffer<Lanes>(device, local, "vertices reached");
  sums_ = Buffer<DeltaSum>(device, owned, "sums of betweenness");
  const Size counts = level_counts * Size{most_levels + 1};
  counts_ = Buffer<std::int64_t>(device, counts, "sizes of levels");
  answer_ = Buffer<std::int64_t>(device, counts, "sizes of levels on the host", Memory::pinned);
  if (number == 0) host_sums_ = Buffer<DeltaSum>(device, owned, "sums of betweenness on their way", Memory::pinned);
  arrays_.number = number;
  arrays_.values = values_.data();
  arrays_.reached = reached_.data();
  arrays_.sums = sums_.data();
  arrays_.batch_counts = counts_.data();
  arrays_.counts = counts_.data() + level_counts;
  for_each(*stream_, this->part().map.owned_rows(), SetZero<DeltaSum>{sums_.data()});
  for_each(*stream_, {0, static_cast<Lid>(counts)}, SetZero<std::int64_t>{counts_.data()});
  make_room(first_levels);
  stream_->synchronize();
}

void PartBatch::rest() noexcept {
  try {
    stream_->synchronize();
  } catch (const std::exception& error) {
    verbose("{}", error.what());
  }
}

Size PartBatch::bytes(const GraphPart& part) {
  return static_cast<Size>(part.map.local()) * 8 * most_lanes + bytes_of_levels(part, first_levels + 2) +
         static_cast<Size>(part.map.owned) * static_cast<Size>(sizeof(DeltaSum)) + bytes_of_level_batch(part) +
         32 * (most_levels + 1);
}

bool PartBatch::make_room(int level) {
  if (level >= most_levels) return false;
  Device& device = stream_->device();
  const Size local = part().map.local();
  while (static_cast<int>(levels_.size()) <= level) {
    if (device.budget().capacity() - device.budget().used() < local * static_cast<Size>(sizeof(Lanes))) return false;
    levels_.emplace_back(device, local, "a level of a batch");
    clear(static_cast<int>(levels_.size()) - 1);
  }
  return true;
}

void PartBatch::clear(int level) {
  for_each(*stream_, {0, part().map.local()}, SetZero<Lanes>{this->level(level)});
}

void PartBatch::begin(std::span<const Vertex> sources) {
  for (int k = 0; k < used_; ++k) clear(k);
  used_ = 1;
  depth_ = 0;
  SetSources set{};
  set.count = static_cast<int>(sources.size());
  none_ = 0;
  for (int k = 0; k < most_lanes; ++k) {
    if (k < set.count)
      set.sources[k] = sources[static_cast<std::size_t>(k)];
    else
      none_ |= lane_of_source(k);
  }
  // What was counted of arcs stays.
  for_each(*stream_, {0, 1}, SetZero<std::int64_t>{arrays_.batch_counts});
  for_each(*stream_, {0, level_counts * most_levels}, SetZero<std::int64_t>{arrays_.counts});
  for_each(*stream_, {0, part().map.local()}, SetReached{reached_.data(), part().map.owned, none_});
  set.level = level(0);
  set.reached = reached_.data();
  set.values = values_.data();
  for_each(*stream_, {0, set.count}, set);
}

LevelReaders PartBatch::readers(int level) {
  LevelReaders all;
  all.places = part_.places();
  for (PartBatch* reader : readers_) all.reader[all.count++] = {reader->values(), reader->level(level)};
  return all;
}

void PartBatch::step_out(int depth) {
  part_.kernels().out(*stream_, arrays_, level(depth), level(depth + 1), depth, readers(depth + 1));
  used_ = depth + 2;
  depth_ = depth + 1;
}

void PartBatch::step_back(int depth) {
  // Nobody asks for the first level's.
  part_.kernels().back(*stream_, arrays_, level(depth + 1), level(depth), depth,
                       depth > 1 ? readers(depth) : LevelReaders{});
}

void PartBatch::count_reached() {
  const Lid blocks = (part().map.owned + reached_block - 1) / reached_block;
  for_each(*stream_, {0, blocks},
           AddReached{part_.rows().out, reached_.data(), none_, part().map.owned, arrays_.batch_counts + 1});
  if (++batches_ < most_uncarried) return;
  for_each(*stream_, part().map.owned_rows(), CarryDigits{sums_.data()});
  batches_ = 0;
}

void PartBatch::ask() {
  stream_->copy(answer_.data(), counts_.data(), static_cast<std::size_t>(counts_.bytes()), CopyDirection::to_host);
}

PartBatch::Answer PartBatch::answer() {
  stream_->synchronize();
  const std::span<const std::int64_t> counts = answer_.span();
  for (std::size_t d = 0; d < static_cast<std::size_t>(depth_); ++d) found_[d] = counts[level_counts * (d + 1)];
  return {counts[0] != 0, std::span<const std::int64_t>(found_).first(static_cast<std::size_t>(depth_))};
}

void PartBatch::move_sums_to(PartBatch& other) {
  for_each(*stream_, part().map.owned_rows(), MoveSums{sums_.data(), other.sums_.data()});
  for_each(*stream_, {0, 1}, MoveCount{arrays_.batch_counts + 1, other.arrays_.batch_counts + 1});
  batches_ = 0;
  stream_->synchronize();
}

void PartBatch::collect(const ParallelFor& parallel, std::span<DeltaSum> sums, Size& reached) {
  download(*stream_, host_sums_.span(), sums_);
  const std::span<const DeltaSum> mine = host_sums_.span();
  for_ranges(parallel, std::ssize(mine), [&](Size begin, Size end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
      sums[static_cast<std::size_t>(part().map.global[i])].add(mine[i]);
  });
  ask();
  answer();
  reached += answer_.span()[1];
  for_each(*stream_, part().map.owned_rows(), SetZero<DeltaSum>{sums_.data()});
  for_each(*stream_, {0, 1}, SetZero<std::int64_t>{arrays_.batch_counts + 1});
  batches_ = 0;
  stream_->synchronize();
}

}  // namespace tutti::graph
