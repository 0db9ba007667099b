#include "tutti/models/graph/betweenness/lane_batch.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace tutti::graph {
namespace {

constexpr int group = 8;  ///< lanes of a vector: a cache line of doubles
using Vector = double __attribute__((vector_size(64)));
using Bits = std::int64_t __attribute__((vector_size(64)));

/// For each byte of lanes, all bits of those that are set.
struct MaskTable {
  alignas(64) std::array<std::array<std::int64_t, group>, 256> bits{};
  constexpr MaskTable() {
    for (unsigned byte = 0; byte < 256; ++byte)
      for (unsigned k = 0; k < group; ++k) bits[byte][k] = (byte >> k & 1) != 0 ? -1 : 0;
  }
};
constexpr MaskTable masks;

inline Bits mask_of(unsigned byte) {
  Bits mask;
  std::memcpy(&mask, masks.bits[byte].data(), sizeof mask);
  return mask;
}
inline Vector load(const double* from) {
  Vector v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
inline void store(double* to, Vector v) {
  std::memcpy(to, &v, sizeof v);
}
inline Vector only(Vector v, Bits mask) {
  return reinterpret_cast<Vector>(reinterpret_cast<Bits>(v) & mask);
}
inline Vector choose(Bits mask, Vector yes, Vector no) {
  return reinterpret_cast<Vector>((reinterpret_cast<Bits>(yes) & mask) | (reinterpret_cast<Bits>(no) & ~mask));
}

/// body(group number, byte of its lanes) for each group that has any.
template <class Body>
inline void for_groups(Lanes lanes, const Body& body) {
  while (lanes != 0) {
    const int k = std::countr_zero(lanes) / group;
    body(k, static_cast<unsigned>(lanes >> (group * k) & 0xff));
    lanes &= ~(Lanes{0xff} << (group * k));
  }
}

struct Sum {
  Vector part[most_lanes / group] = {};
};

constexpr double most_paths = 0x1p1000;  ///< far from overflow, and 1 / paths far from underflow
constexpr double sparse = 0.05;          ///< part of all arcs that a frontier has at most to be pushed

}  // namespace

LaneBatch::LaneBatch(const Graph& graph, int width)
    : graph_(graph),
      width_(width),
      values_(static_cast<std::size_t>(graph.vertices) * static_cast<std::size_t>(width)),
      reached_(static_cast<std::size_t>(graph.vertices)),
      frontier_(static_cast<std::size_t>(graph.vertices)),
      found_(static_cast<std::size_t>(graph.vertices)) {}

Size LaneBatch::bytes(const Graph& graph, int width) {
  // A vertex stands in about six levels of a batch.
  constexpr Size levels = 6 * static_cast<Size>(sizeof(Entry));
  return static_cast<Size>(graph.vertices) * (8 * width + 3 * static_cast<Size>(sizeof(Lanes)) + levels);
}

/// The sum over the columns of row v whose frontier shares lanes with `wanted`; those lanes.
template <class Row>
Lanes LaneBatch::sum_row(const Csr<Vertex>& rows, Vertex v, Lanes wanted, Row& sum) const {
  struct Hit {
    const double* values;
    Lanes lanes;
  };
  std::array<Hit, piece_arcs> hits;
  const Size first = rows.offsets[v];
  const Size arcs = rows.offsets[v + 1] - first;
  const Size pieces = pieces_of(arcs);
  Lanes all = 0;
  for (Size k = 0; k < pieces; ++k) {
    // First what is to be read, asked for ahead, then the sums: else each sum waits for the memory.
    std::size_t count = 0;
    const Vertex* end = rows.columns.data() + first + piece_begin(arcs, k + 1);
    for (const Vertex* u = rows.columns.data() + first + piece_begin(arcs, k); u < end; ++u) {
      const Lanes lanes = frontier_[*u] & wanted;
      const double* values = values_.data() + static_cast<std::size_t>(*u) * static_cast<std::size_t>(width_);
      hits[count] = {values, lanes};
      if (lanes == 0) continue;
      ++count;
      all |= lanes;
      for_groups(lanes, [&](int g, unsigned) { __builtin_prefetch(values + group * g); });
    }
    Row piece;
    Row& to = pieces == 1 ? sum : piece;
    for (std::size_t i = 0; i < count; ++i)
      for_groups(hits[i].lanes,
                 [&](int g, unsigned byte) { to.part[g] += only(load(hits[i].values + group * g), mask_of(byte)); });
    if (pieces > 1)
      for (int g = 0; g < width_ / group; ++g) sum.part[g] += piece.part[g];
  }
  return all;
}

/// Path counts of v for lanes that reach it from the frontier; those lanes.
Lanes LaneBatch::pull_paths(Vertex v, Lanes wanted) {
  Sum sum;
  const Lanes got = sum_row(graph_.incoming(), v, wanted, sum);
  double* values = row(v);
  for_groups(got, [&](int g, unsigned byte) {
    const Vector paths = sum.part[g];
    store(values + group * g, choose(mask_of(byte), paths, load(values + group * g)));
    const Bits many = paths > most_paths;
    for (int k = 0; k < group; ++k) too_many_paths_ |= many[k] != 0;
  });
  return got;
}

void LaneBatch::push(const std::vector<Entry>& level) {
  for (const Entry& e : level)
    for (const Vertex w : graph_.out.row(e.vertex)) {
      const Lanes lanes = e.lanes & ~reached_[w];
      if (lanes == 0) continue;
      Lanes& found = found_[w];
      if (found == 0) touched_.push_back(w);
      found |= lanes;
    }
}

void LaneBatch::scan_unreached(Lanes all, std::vector<Entry>& next) {
  for (Vertex v = 0; v < graph_.vertices; ++v) {
    const Lanes wanted = all & ~reached_[v];
    if (wanted == 0) continue;
    const Lanes got = pull_paths(v, wanted);
    if (got != 0) next.push_back({v, got});
  }
}

bool LaneBatch::sweep_out(std::span<const Vertex> sources) {
  std::fill(reached_.begin(), reached_.end(), 0);
  std::fill(frontier_.begin(), frontier_.end(), 0);
  too_many_paths_ = false;
  const Lanes all = sources.size() == most_lanes ? ~Lanes{0} : (Lanes{1} << sources.size()) - 1;
  const auto level = [&](std::size_t depth) -> std::vector<Entry>& {
    if (levels_.size() <= depth) levels_.resize(depth + 1);
    levels_[depth].clear();
    return levels_[depth];
  };
  auto* now = &level(0);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto s = static_cast<std::size_t>(sources[i]);
    now->push_back({sources[i], Lanes{1} << i});
    reached_[s] |= Lanes{1} << i;
    frontier_[s] |= Lanes{1} << i;
    row(sources[i])[i] = 1;
  }
  for (std::size_t depth = 0;; ++depth) {
    auto& next = level(depth + 1);
    now = &levels_[depth];
    Size arcs = 0;
    for (const Entry& e : *now) arcs += graph_.out_degree(e.vertex);
    if (static_cast<double>(arcs) < sparse * static_cast<double>(graph_.arcs())) {
      touched_.clear();
      push(*now);
      for (const Vertex w : touched_) {
        Lanes& found = found_[w];
        next.push_back({w, pull_paths(w, found)});
        found = 0;
      }
    } else {
      scan_unreached(all, next);
    }
    for (const Entry& e : *now) frontier_[e.vertex] = 0;
    if (next.empty() || too_many_paths_) {
      level_count_ = depth + 1;
      return !too_many_paths_;
    }
    for (const Entry& e : next) {
      frontier_[e.vertex] = e.lanes;
      reached_[e.vertex] |= e.lanes;
    }
  }
}

void LaneBatch::sweep_back(std::span<DeltaSum> sums) {
  // frontier_ is zero everywhere here.
  for (std::size_t depth = level_count_; depth-- > 1;) {
    for (const Entry& e : levels_[depth]) {
      Sum below;
      const bool any = sum_row(graph_.out, e.vertex, e.lanes, below) != 0;
      Vector high{}, middle{}, low{};
      double* values = row(e.vertex);
      for_groups(e.lanes, [&](int g, unsigned byte) {
        const Bits mask = mask_of(byte);
        const Vector old = load(values + group * g);
        const Vector paths = choose(mask, old, Vector{} + 1.0);
        const Vector delta = paths * below.part[g];
        const Vector a = nearest_multiple(delta, high_unit), b = nearest_multiple(delta - a, middle_unit);
        high += a;
        middle += b;
        low += nearest_multiple(delta - a - b, low_unit);
        store(values + group * g, choose(mask, 1.0 / paths + below.part[g], old));
      });
      if (!any) continue;
      DeltaParts parts;
      for (int k = 0; k < group; ++k) {
        parts.high += high[k];
        parts.middle += middle[k];
        parts.low += low[k];
      }
      sums[e.vertex].add(parts);
    }
    if (depth + 1 < level_count_)
      for (const Entry& e : levels_[depth + 1]) frontier_[e.vertex] = 0;
    for (const Entry& e : levels_[depth]) frontier_[e.vertex] = e.lanes;
  }
}

bool LaneBatch::add(std::span<const Vertex> sources, std::span<DeltaSum> sums, Size& reached) {
  if (sources.empty()) return true;
  if (!sweep_out(sources)) return false;
  for (Vertex v = 0; v < graph_.vertices; ++v) reached += std::popcount(reached_[v]) * graph_.out_degree(v);
  sweep_back(sums);
  return true;
}

}  // namespace tutti::graph
