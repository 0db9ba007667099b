#include "tutti/models/graph/betweenness/lane_batch.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace tutti::graph {
namespace {

constexpr int group = 8;  ///< lanes of a vector: a cache line of doubles
using Vector = double __attribute__((vector_size(64)));
using Bits = std::int64_t __attribute__((vector_size(64)));

inline Bits mask_of(unsigned byte) {
  constexpr Bits bit{1, 2, 4, 8, 16, 32, 64, 128};
  return ((Bits{} + static_cast<std::int64_t>(byte)) & bit) != 0;
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
  return mask ? v : Vector{};
}
inline Vector choose(Bits mask, Vector yes, Vector no) {
  return mask ? yes : no;
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

/// Where a line of eight lanes is, its group, and the lanes of it that count.
inline std::uint64_t line_of(std::size_t place, int g, unsigned byte) {
  return place << 11 | static_cast<std::uint64_t>(g) << 8 | byte;
}

constexpr double most_paths = 0x1p1000;  ///< far from overflow, and 1 / paths far from underflow
constexpr double sparse = 0.05;          ///< part of all arcs that a frontier has at most to be pushed

}  // namespace

struct LaneBatch::Sum {
  Vector part[most_lanes / group] = {};
};

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

/// Notes what the sum over a row reads: the columns whose frontier shares lanes with those of the row.
void LaneBatch::note_lines(const Csr<Vertex>& rows, Entry row) {
  const Size first = rows.offsets[row.vertex], arcs = rows.offsets[row.vertex + 1] - first;
  const Size pieces = pieces_of(arcs);
  const auto groups = static_cast<std::size_t>(width_ / group);
  const Vertex* const last = rows.columns.data() + rows.columns.size() - 1;
  std::size_t count = lines_.size();
  lines_.resize(count + static_cast<std::size_t>(arcs) * groups);
  Lanes found = 0;
  for (Size k = 0; k < pieces; ++k) {
    const Vertex* end = rows.columns.data() + first + piece_begin(arcs, k + 1);
    for (const Vertex* u = rows.columns.data() + first + piece_begin(arcs, k); u < end; ++u) {
      __builtin_prefetch(&frontier_[*std::min(u + 32, last)]);
      const Lanes lanes = frontier_[*u] & row.lanes;
      found |= lanes;
      for_groups(lanes, [&](int g, unsigned byte) {
        lines_[count++] = line_of(static_cast<std::size_t>(*u) * groups + static_cast<std::size_t>(g), g, byte);
      });
    }
    piece_ends_.push_back(count);
  }
  lines_.resize(count);
  rows_.push_back({row, found, piece_ends_.size()});
}

/// The sums over rows: take(row) gives them until it says that there is no more, finish(row, lanes found, sum) gets them
/// in this order. Many rows are looked at before the first one is added, so that what is read can be asked for long
/// before: else each sum waits for the memory.
template <class Take, class Finish>
void LaneBatch::sum_rows(const Csr<Vertex>& rows, const Take& take, const Finish& finish) {
  constexpr std::size_t portion = 1024, ahead = 24;
  const auto at = [&](std::uint64_t line) { return values_.data() + (line >> 11) * group; };
  Entry row{};
  for (bool more = true; more;) {
    rows_.clear();
    piece_ends_.clear();
    lines_.clear();
    while (lines_.size() < portion && rows_.size() < portion && (more = take(row))) note_lines(rows, row);
    const std::size_t count = lines_.size();
    for (std::size_t i = 0; i < std::min(ahead, count); ++i) __builtin_prefetch(at(lines_[i]));
    std::size_t i = 0, p = 0;
    for (const Row& r : rows_) {
      Sum sum;
      const bool one = r.pieces_end - p == 1;
      for (; p < r.pieces_end; ++p) {
        Sum piece;
        Sum& to = one ? sum : piece;
        for (; i < piece_ends_[p]; ++i) {
          __builtin_prefetch(at(lines_[std::min(i + ahead, count - 1)]));
          const std::uint64_t line = lines_[i];
          to.part[line >> 8 & 7] += only(load(at(line)), mask_of(line & 0xff));
        }
        if (!one)
          for (int g = 0; g < width_ / group; ++g) sum.part[g] += piece.part[g];
      }
      finish(r.wanted, r.found, sum);
    }
  }
}

/// Path counts of rows in the lanes that reach them from the frontier.
template <class Take>
void LaneBatch::pull_paths(const Take& take, std::vector<Entry>& next) {
  sum_rows(graph_.incoming(), take, [&](Entry e, Lanes found, const Sum& sum) {
    if (found == 0) return;
    double* values = row(e.vertex);
    for_groups(found, [&](int g, unsigned byte) {
      const Vector paths = sum.part[g];
      store(values + group * g, choose(mask_of(byte), paths, load(values + group * g)));
      const Bits many = paths > most_paths;
      for (int k = 0; k < group; ++k) too_many_paths_ |= many[k] != 0;
    });
    next.push_back({e.vertex, found});
  });
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
      auto w = touched_.begin();
      const auto take = [&](Entry& e) {
        if (w == touched_.end()) return false;
        e = {*w, std::exchange(found_[*w], 0)};
        ++w;
        return true;
      };
      pull_paths(take, next);
    } else {
      Vertex v = 0;
      const auto take = [&](Entry& e) {
        while (v < graph_.vertices && (all & ~reached_[v]) == 0) ++v;
        if (v == graph_.vertices) return false;
        e = {v, all & ~reached_[v]};
        ++v;
        return true;
      };
      pull_paths(take, next);
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

/// The end of a row on the way back: (1 + delta) / sigma takes sigma's place.
void LaneBatch::finish_back(const Entry& e, bool any, const Sum& below, std::span<DeltaSum> sums) {
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
  if (!any) return;
  DeltaParts parts;
  for (int k = 0; k < group; ++k) {
    parts.high += high[k];
    parts.middle += middle[k];
    parts.low += low[k];
  }
  sums[e.vertex].add(parts);
}

void LaneBatch::sweep_back(std::span<DeltaSum> sums) {
  // frontier_ is zero everywhere here.
  for (std::size_t depth = level_count_; depth-- > 1;) {
    auto next = levels_[depth].begin();
    const auto take = [&](Entry& e) {
      if (next == levels_[depth].end()) return false;
      e = *next++;
      return true;
    };
    sum_rows(graph_.out, take, [&](Entry e, Lanes found, const Sum& below) { finish_back(e, found != 0, below, sums); });
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
