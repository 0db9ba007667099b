// Compiles as plain C++ without CUDA.
#include "tutti/models/graph/parts/device_part.hpp"

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

struct CarryDigits {
  DeltaSum* sums;
  TUTTI_HD void operator()(Lid v) const { sums[v].carry(); }
};

}  // namespace

DevicePart::DevicePart(const GraphPart& part, Device& device)
    : part_(part), stream_(device.make_stream("part of a graph")), found_(most_levels) {
  const Size local = part.map.local(), owned = part.map.owned;
  out_ = DeviceRows(*stream_, part.out, "arcs");
  if (part.in.offsets.size() > 1) in_ = DeviceRows(*stream_, part.in, "arcs against their direction");
  values_ = Buffer<double>(device, local * most_lanes, "path counts of a batch");
  reached_ = Buffer<Lanes>(device, local, "vertices reached");
  sums_ = Buffer<DeltaSum>(device, owned, "sums of betweenness");
  const Size counts = level_counts * Size{most_levels + 1};
  counts_ = Buffer<std::int64_t>(device, counts, "sizes of levels");
  answer_ = Buffer<std::int64_t>(device, counts, "sizes of levels on the host", Memory::pinned);
  arrays_.out = out_.view();
  arrays_.in = (in_.offsets.empty() ? out_ : in_).view();
  arrays_.owned = part.map.owned;
  arrays_.local = part.map.local();
  arrays_.arcs = part.out.entries();
  arrays_.values = values_.data();
  arrays_.reached = reached_.data();
  arrays_.sums = sums_.data();
  arrays_.batch_counts = counts_.data();
  arrays_.counts = counts_.data() + level_counts;
#if defined(TUTTI_HAVE_CUDA)
  if (device.kind() == DeviceKind::cuda) kernels_ = make_gpu_level_kernels(*stream_, part, arrays_);
#endif
  if (!kernels_) kernels_ = make_portable_level_kernels(arrays_);
  for_each(*stream_, part.map.owned_rows(), SetZero<DeltaSum>{sums_.data()});
  for_each(*stream_, {0, static_cast<Lid>(counts)}, SetZero<std::int64_t>{counts_.data()});
  make_room(first_levels);
  stream_->synchronize();
}

void DevicePart::rest() noexcept {
  try {
    stream_->synchronize();
  } catch (const std::exception& error) {
    verbose("{}", error.what());
  }
}

Size DevicePart::bytes(const GraphPart& part) {
  const auto rows = [](const Csr<Vertex>& r) { return 8 * static_cast<Size>(r.offsets.size()) + 4 * r.entries(); };
  return static_cast<Size>(part.map.local()) * (8 * most_lanes + 8 * (first_levels + 2)) +
         static_cast<Size>(part.map.owned) * static_cast<Size>(sizeof(DeltaSum)) + rows(part.out) + rows(part.in) +
         bytes_of_level_kernels(part) + 32 * (most_levels + 1);
}

bool DevicePart::make_room(int level) {
  if (level >= most_levels) return false;
  Device& device = stream_->device();
  while (static_cast<int>(levels_.size()) <= level) {
    if (device.budget().capacity() - device.budget().used() < local() * static_cast<Size>(sizeof(Lanes))) return false;
    levels_.emplace_back(device, local(), "a level of a batch");
    clear(static_cast<int>(levels_.size()) - 1);
  }
  return true;
}

void DevicePart::clear(int level) {
  for_each(*stream_, {0, part_.map.local()}, SetZero<Lanes>{this->level(level)});
}

void DevicePart::begin(std::span<const Vertex> sources) {
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
  for_each(*stream_, {0, part_.map.local()}, SetReached{reached_.data(), part_.map.owned, none_});
  set.level = level(0);
  set.reached = reached_.data();
  set.values = values_.data();
  for_each(*stream_, {0, set.count}, set);
}

void DevicePart::step_out(int depth) {
  kernels_->out(*stream_, level(depth), level(depth + 1), depth);
  used_ = depth + 2;
  depth_ = depth + 1;
}

void DevicePart::step_back(int depth) {
  kernels_->back(*stream_, level(depth + 1), level(depth), depth);
}

void DevicePart::count_reached() {
  const Lid blocks = (part_.map.owned + reached_block - 1) / reached_block;
  for_each(*stream_, {0, blocks},
           AddReached{arrays_.out, reached_.data(), none_, part_.map.owned, arrays_.batch_counts + 1});
  if (++batches_ < most_uncarried) return;
  for_each(*stream_, part_.map.owned_rows(), CarryDigits{sums_.data()});
  batches_ = 0;
}

void DevicePart::ask() {
  stream_->copy(answer_.data(), counts_.data(), static_cast<std::size_t>(counts_.bytes()), CopyDirection::to_host);
}

DevicePart::Answer DevicePart::answer() {
  stream_->synchronize();
  const std::span<const std::int64_t> counts = answer_.span();
  for (std::size_t d = 0; d < static_cast<std::size_t>(depth_); ++d) found_[d] = counts[level_counts * (d + 1)];
  return {counts[0] != 0, std::span<const std::int64_t>(found_).first(static_cast<std::size_t>(depth_))};
}

void DevicePart::collect(std::span<DeltaSum> sums, Size& reached) {
  std::vector<DeltaSum> mine(static_cast<std::size_t>(part_.map.owned));
  download(*stream_, std::span(mine), sums_);
  for (std::size_t i = 0; i < mine.size(); ++i) sums[static_cast<std::size_t>(part_.map.global[i])].add(mine[i]);
  ask();
  answer();
  reached += answer_.span()[1];
  for_each(*stream_, part_.map.owned_rows(), SetZero<DeltaSum>{sums_.data()});
  for_each(*stream_, {0, 1}, SetZero<std::int64_t>{arrays_.batch_counts + 1});
  batches_ = 0;
  stream_->synchronize();
}

}  // namespace tutti::graph
