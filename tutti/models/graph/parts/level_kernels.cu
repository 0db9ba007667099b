// Compiles as plain C++ without CUDA.
#include "tutti/models/graph/parts/level_kernels.hpp"

#include "tutti/device/atomics.hpp"
#include "tutti/device/for_each.hpp"

namespace tutti::graph {
namespace {

constexpr double most_paths = 0x1p1000;  ///< far from overflow, and 1 / paths far from underflow

/// The number of one source, of a column that has its bit.
struct OfLane {
  const double* values;
  const Lanes* from;
  int bit;
  TUTTI_HD void operator()(Vertex u, double& sum) const {
    if ((from[u] >> bit & 1) != 0) sum += values[static_cast<Size>(u) * most_lanes + source_of_bit(bit)];
  }
};

struct LevelOut {
  LevelArrays a;
  const Lanes* from;
  Lanes* to;
  std::int64_t* counts;
  TUTTI_HD void operator()(Lid v) const {
    Lanes found = 0;
    for (Size e = a.in.offsets[v]; e < a.in.offsets[v + 1]; ++e) found |= from[a.in.columns[e]];
    found &= ~a.reached[v];
    if (found == 0) return;
    bool too_many = false;
    for (int bit = 0; bit < most_lanes; ++bit) {
      if ((found >> bit & 1) == 0) continue;
      const double paths = sum_over_row<double>(a.in, v, OfLane{a.values, from, bit});
      a.values[static_cast<Size>(v) * most_lanes + source_of_bit(bit)] = paths;
      too_many = too_many || paths > most_paths;
    }
    to[v] = found;
    a.reached[v] |= found;
    add_atomic(counts[0], 1);
    if (too_many) add_atomic(a.batch_counts[0], 1);
  }
};

struct LevelBack {
  LevelArrays a;
  const Lanes *below, *level;
  TUTTI_HD void operator()(Lid v) const {
    const Lanes lanes = level[v];
    for (int bit = 0; bit < most_lanes; ++bit) {
      if ((lanes >> bit & 1) == 0) continue;
      double& value = a.values[static_cast<Size>(v) * most_lanes + source_of_bit(bit)];
      const double sum = sum_over_row<double>(a.out, v, OfLane{a.values, below, bit});
      if (sum != 0) a.sums[v].add(split_delta(value * sum));
      value = 1.0 / value + sum;
    }
  }
};

class PortableLevelKernels final : public LevelKernels {
 public:
  explicit PortableLevelKernels(const LevelArrays& arrays) : a_(arrays) {}
  void out(Stream& stream, const Lanes* from, Lanes* to, int depth) override {
    for_each(stream, {0, a_.owned}, LevelOut{a_, from, to, a_.counts + Size{level_counts} * depth});
  }
  void back(Stream& stream, const Lanes* below, const Lanes* level, int) override {
    for_each(stream, {0, a_.owned}, LevelBack{a_, below, level});
  }

 private:
  LevelArrays a_;
};

}  // namespace

std::unique_ptr<LevelKernels> make_portable_level_kernels(const LevelArrays& arrays) {
  return std::make_unique<PortableLevelKernels>(arrays);
}

Size bytes_of_level_kernels(const GraphPart& part) {
  // Of GPUs: rows from ghosts, and items of rows: one for 32 vertices or 256 arcs, and the sums of hubs' pieces.
  const Size arcs = part.out.entries() + part.in.entries() + part.from_ghosts.entries();
  return 12 * static_cast<Size>(part.map.ghosts()) + 4 * part.from_ghosts.entries() +
         2 * (static_cast<Size>(part.map.local()) + part.map.owned) + (48 + 520) * (arcs / piece_arcs + 2);
}

}  // namespace tutti::graph
