// Compiles as plain C++ without CUDA.
#include "tutti/models/graph/parts/level_kernels.hpp"

#include <algorithm>

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
  PartRowsView rows;
  LevelArrays a;
  const Lanes* from;
  Lanes* to;
  std::int64_t* counts;
  TUTTI_HD void operator()(Lid v) const {
    Lanes found = 0;
    for (Size e = rows.in.offsets[v]; e < rows.in.offsets[v + 1]; ++e) found |= from[rows.in.columns[e]];
    found &= ~a.reached[v];
    if (found == 0) return;
    bool too_many = false;
    for (int bit = 0; bit < most_lanes; ++bit) {
      if ((found >> bit & 1) == 0) continue;
      const double paths = sum_over_row<double>(rows.in, v, OfLane{a.values, from, bit});
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
  RowsView out;
  LevelArrays a;
  const Lanes *below, *level;
  TUTTI_HD void operator()(Lid v) const {
    const Lanes lanes = level[v];
    for (int bit = 0; bit < most_lanes; ++bit) {
      if ((lanes >> bit & 1) == 0) continue;
      double& value = a.values[static_cast<Size>(v) * most_lanes + source_of_bit(bit)];
      const double sum = sum_over_row<double>(out, v, OfLane{a.values, below, bit});
      if (sum != 0) a.sums[v].add(split_delta(value * sum));
      value = 1.0 / value + sum;
    }
  }
};

class PortableLevelKernels final : public LevelKernels {
 public:
  explicit PortableLevelKernels(const PartRowsView& rows) : rows_(rows) {}
  bool tell_readers() const override { return false; }
  void out(Stream& stream, const LevelArrays& arrays, const Lanes* from, Lanes* to, int depth,
           const LevelReaders&) override {
    for_each(stream, {0, rows_.owned}, LevelOut{rows_, arrays, from, to, arrays.counts + Size{level_counts} * depth});
  }
  void back(Stream& stream, const LevelArrays& arrays, const Lanes* below, const Lanes* level, int,
            const LevelReaders&) override {
    for_each(stream, {0, rows_.owned}, LevelBack{rows_.out, arrays, below, level});
  }

 private:
  PartRowsView rows_;
};

/// Of GPUs: one for 32 vertices or 256 arcs.
Size items_of(const GraphPart& part) {
  const Size arcs = part.out.entries() + part.in.entries() + part.from_ghosts.entries();
  return arcs / piece_arcs + 2 + (static_cast<Size>(part.map.local()) + part.map.owned) / 32;
}

}  // namespace

std::unique_ptr<LevelKernels> make_portable_level_kernels(const PartRowsView& rows) {
  return std::make_unique<PortableLevelKernels>(rows);
}

Size bytes_of_level_kernels(const GraphPart& part) {
  // Of GPUs: rows from ghosts, items of rows, and where other devices keep owned vertices.
  return 12 * static_cast<Size>(part.map.ghosts()) + 4 * part.from_ghosts.entries() + 48 * items_of(part) +
         4 * static_cast<Size>(part.map.owned) * std::min<Size>(std::ssize(part.map.links), most_readers);
}

Size bytes_of_level_batch(const GraphPart& part) {
  return 520 * ((part.out.entries() + part.in.entries()) / piece_arcs + 2);  // sums of hubs' pieces
}

}  // namespace tutti::graph
