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

LaneBatch::LaneBatch(const LaneRows& rows, int width)
    : rows_(rows),
      width_(width),
      values_(place(rows.local)),
      reached_(static_cast<std::size_t>(rows.owned)),
      frontier_(static_cast<std::size_t>(rows.local)),
      found_(static_cast<std::size_t>(rows.owned)) {}

Size LaneBatch::bytes(Vertex local, int width) {
  // A vertex stands in about six levels of a batch.
  constexpr Size levels = 6 * static_cast<Size>(sizeof(Entry));
  return static_cast<Size>(local) * (8 * width + 3 * static_cast<Size>(sizeof(Lanes)) + levels);
}

/// Notes what the sum over a row reads: the columns whose frontier shares lanes with those of the row.
void LaneBatch::note_lines(const Csr<Vertex>& rows, Entry row) {
  const Size first = rows.offsets[row.vertex], arcs = rows.offsets[row.vertex + 1] - first;
  const Size pieces = pieces_of(arcs);
  const std::size_t groups = place(1) / group;
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
  waiting_.push_back({row, found, piece_ends_.size()});
}

/// The sums over rows: take(row) gives them until it says that there is no more, finish(row, lanes found, sum) gets
/// them in this order. Many rows are looked at before the first one is added, so that what is read can be asked for
/// long before: else each sum waits for the memory.
template <class Take, class Finish>
void LaneBatch::sum_rows(const Csr<Vertex>& rows, const Take& take, const Finish& finish) {
  constexpr std::size_t portion = 1024, ahead = 24;
  const auto at = [&](std::uint64_t line) { return values_.data() + (line >> 11) * group; };
  Entry row{};
  for (bool more = true; more;) {
    waiting_.clear();
    piece_ends_.clear();
    lines_.clear();
    while (lines_.size() < portion && waiting_.size() < portion && (more = take(row))) note_lines(rows, row);
    const std::size_t count = lines_.size();
    for (std::size_t i = 0; i < std::min(ahead, count); ++i) __builtin_prefetch(at(lines_[i]));
    std::size_t i = 0, p = 0;
    for (const Waiting& w : waiting_) {
      Sum sum;
      const bool one = w.pieces_end - p == 1;
      for (; p < w.pieces_end; ++p) {
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
      finish(w.wanted, w.found, sum);
    }
  }
}

/// Path counts of rows in the lanes that reach them from the frontier.
template <class Take>
void LaneBatch::pull_paths(const Take& take, std::vector<Entry>& next) {
  sum_rows(rows_.in, take, [&](Entry e, Lanes found, const Sum& sum) {
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

/// Marks what the arcs of a level lead to. Row v of `rows` is that of vertex first + v.
void LaneBatch::push(std::span<const Entry> level, const Csr<Vertex>& rows, Vertex first) {
  for (const Entry& e : level)
    for (const Vertex w : rows.row(e.vertex - first)) {
      if (w >= rows_.owned) continue;
      const Lanes lanes = e.lanes & ~reached_[w];
      if (lanes == 0) continue;
      Lanes& found = found_[w];
      if (found == 0) touched_.push_back(w);
      found |= lanes;
    }
}

void LaneBatch::leave_frontier(std::span<const Entry> level) {
  for (const Entry& e : level) frontier_[e.vertex] = 0;
  for (const Entry& e : ghosts_) frontier_[e.vertex] = 0;
  ghosts_.clear();
}

void LaneBatch::put_ghost(Entry ghost, const double* numbers) {
  ghosts_.push_back(ghost);
  frontier_[ghost.vertex] |= ghost.lanes;
  double* to = row(ghost.vertex);
  for (Lanes lanes = ghost.lanes; lanes != 0; lanes &= lanes - 1) to[std::countr_zero(lanes)] = *numbers++;
}

void LaneBatch::begin(std::span<const Vertex> sources) {
  std::fill(reached_.begin(), reached_.end(), 0);
  std::fill(frontier_.begin(), frontier_.end(), 0);
  ghosts_.clear();
  too_many_paths_ = false;
  all_ = sources.size() == most_lanes ? ~Lanes{0} : (Lanes{1} << sources.size()) - 1;
  levels_.resize(std::max<std::size_t>(levels_.size(), 1));
  levels_[0].clear();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const Vertex s = sources[i];
    if (s == no_lid) continue;
    const Lanes lane = Lanes{1} << i;
    row(s)[i] = 1;
    frontier_[s] |= lane;
    (s < rows_.owned ? levels_[0] : ghosts_).push_back({s, lane});
    if (s < rows_.owned) reached_[s] |= lane;
  }
}

bool LaneBatch::step_out(std::size_t depth) {
  levels_.resize(std::max(levels_.size(), depth + 2));
  const std::vector<Entry>& now = levels_[depth];
  std::vector<Entry>& next = levels_[depth + 1];
  next.clear();
  Size arcs = 0;
  for (const Entry& e : now) arcs += rows_.out.offsets[e.vertex + 1] - rows_.out.offsets[e.vertex];
  for (const Entry& e : ghosts_) arcs += static_cast<Size>(rows_.from_ghosts->row(e.vertex - rows_.owned).size());
  if (static_cast<double>(arcs) < sparse * static_cast<double>(rows_.in.entries())) {
    touched_.clear();
    push(now, rows_.out, 0);
    if (!ghosts_.empty()) push(ghosts_, *rows_.from_ghosts, rows_.owned);
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
      while (v < rows_.owned && (all_ & ~reached_[v]) == 0) ++v;
      if (v == rows_.owned) return false;
      e = {v, all_ & ~reached_[v]};
      ++v;
      return true;
    };
    pull_paths(take, next);
  }
  leave_frontier(now);
  for (const Entry& e : next) {
    frontier_[e.vertex] = e.lanes;
    reached_[e.vertex] |= e.lanes;
  }
  return !next.empty();
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

void LaneBatch::step_back(std::size_t depth, std::span<DeltaSum> sums) {
  auto e = levels_[depth].begin();
  const auto take = [&](Entry& row) {
    if (e == levels_[depth].end()) return false;
    row = *e++;
    return true;
  };
  sum_rows(rows_.out, take,
           [&](Entry row, Lanes found, const Sum& below) { finish_back(row, found != 0, below, sums); });
  leave_frontier(levels_[depth + 1]);
  for (const Entry& row : levels_[depth]) frontier_[row.vertex] = row.lanes;
}

Size LaneBatch::count_reached() const {
  Size count = 0;
  for (Vertex v = 0; v < rows_.owned; ++v)
    count += std::popcount(reached_[v]) * (rows_.out.offsets[v + 1] - rows_.out.offsets[v]);
  return count;
}

bool LaneBatch::add(std::span<const Vertex> sources, std::span<DeltaSum> sums, Size& reached) {
  if (sources.empty()) return true;
  begin(sources);
  std::size_t depth = 0;
  for (; step_out(depth); ++depth)
    if (too_many_paths_) return false;
  reached += count_reached();
  for (; depth > 0; --depth) step_back(depth, sums);
  return true;
}

}  // namespace tutti::graph
