#include "tutti/models/graph/build_graph.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tutti/base/error.hpp"
#include "tutti/base/system/machine_limits.hpp"
#include "tutti/base/units.hpp"
#include "tutti/models/graph/strands.hpp"

namespace tutti::graph {
namespace {

struct Plain {
  std::uint64_t key;  ///< row, column
  bool operator<(const Plain& other) const { return key < other.key; }
};
struct Weighted {
  std::uint64_t key;
  double weight;
  bool operator<(const Weighted& other) const { return key < other.key || (key == other.key && weight < other.weight); }
};

std::uint64_t key_of(Vertex row, Vertex column) {
  return static_cast<std::uint64_t>(row) << 32 | static_cast<std::uint32_t>(column);
}

/// Rows of consecutive numbers share a bucket, which one thread sorts in its caches.
struct Buckets {
  int shift = 0;
  std::size_t number = 1;
  Buckets(Vertex vertices, Size arcs) {
    const Size wanted = std::clamp<Size>(arcs >> 13, 1, 2048);
    while ((static_cast<Size>(vertices) >> shift) > wanted) ++shift;
    number = static_cast<std::size_t>(vertices >> shift) + 1;
  }
  std::size_t of(Vertex row) const { return static_cast<std::size_t>(row >> shift); }
};

/// Exact, and many times as fast as std::fmod.
bool divisible_by_8(double weight) {
  return weight - 8 * std::floor(weight * 0.125) == 0;
}

struct Rules {
  bool mirror, filter, simple, swap;
};

/// put(row, column, arc) for all entries that arcs [begin, end) make.
template <class Put>
void entries_of(const ArcList& list, const Rules& rules, Size begin, Size end, BuildCounts& counts, const Put& put) {
  for (Size i = begin; i < end; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Arc arc = list.arcs[at];
    if (arc.from == arc.to) {
      ++counts.loops;
      continue;
    }
    if (rules.filter && divisible_by_8(list.weights[at])) {
      ++counts.filtered;
      continue;
    }
    if (!rules.swap) put(arc.from, arc.to, at);
    if (rules.swap || rules.mirror) put(arc.to, arc.from, at);
  }
}

/// The entries of the list as a sorted array, bucket after bucket: entry [first[b], first[b + 1]) is bucket b's.
template <class Entry>
struct Sorted {
  RawVector<Entry> entries;
  std::vector<Size> first;
};

template <class Entry>
Sorted<Entry> distribute(const ArcList& list, const Rules& rules, const Buckets& buckets, const ParallelFor& parallel,
                         BuildCounts& counts) {
  const Blocks blocks(list.size(), 1 << 15);
  const auto number = static_cast<std::size_t>(blocks.number);
  // place[block][bucket]: first how many, then where the next one goes.
  std::vector<std::vector<Size>> place(number, std::vector<Size>(buckets.number));
  std::vector<BuildCounts> found(number);
  blocks.run(parallel, [&](Size b, Size begin, Size end) {
    auto& mine = place[b];
    entries_of(list, rules, begin, end, found[b], [&](Vertex row, Vertex, std::size_t) { ++mine[buckets.of(row)]; });
  });
  for (const BuildCounts& c : found) {
    counts.loops += c.loops;
    counts.filtered += c.filtered;
  }
  Sorted<Entry> result;
  result.first.assign(buckets.number + 1, 0);
  Size total = 0;
  for (std::size_t k = 0; k < buckets.number; ++k) {
    result.first[k] = total;
    for (auto& mine : place) {
      const Size here = mine[k];
      mine[k] = total;
      total += here;
    }
  }
  result.first.back() = total;
  result.entries.resize(total);
  blocks.run(parallel, [&](Size b, Size begin, Size end) {
    auto& mine = place[b];
    BuildCounts ignored;
    entries_of(list, rules, begin, end, ignored, [&](Vertex row, Vertex column, std::size_t arc) {
      Entry& entry = result.entries[mine[buckets.of(row)]++];
      entry.key = key_of(row, column);
      if constexpr (std::is_same_v<Entry, Weighted>) entry.weight = list.weights[arc];
    });
  });
  return result;
}

template <class Entry>
void make_rows(const ArcList& list, const Rules& rules, const ParallelFor& parallel, BuildCounts& counts,
               Csr<Vertex>& rows, std::vector<double>* weights) {
  const Buckets buckets(list.vertices, list.size() * (rules.mirror ? 2 : 1));
  Sorted<Entry> sorted = distribute<Entry>(list, rules, buckets, parallel, counts);
  rows.offsets.assign(static_cast<std::size_t>(list.vertices) + 1, 0);
  std::vector<Size> kept(buckets.number + 1, 0);
  for_strands(parallel, static_cast<Size>(buckets.number), [&](Size bucket) {
    const auto k = static_cast<std::size_t>(bucket);
    const auto begin = sorted.entries.begin() + sorted.first[k];
    auto end = sorted.entries.begin() + sorted.first[k + 1];
    std::sort(begin, end);
    if (rules.simple) end = std::unique(begin, end, [](const Entry& a, const Entry& b) { return a.key == b.key; });
    kept[k + 1] = end - begin;
    for (auto e = begin; e != end; ++e) ++rows.offsets[static_cast<std::size_t>(e->key >> 32) + 1];
  });
  for (std::size_t k = 0; k < buckets.number; ++k) kept[k + 1] += kept[k];
  counts.doubles += static_cast<Size>(sorted.entries.size()) - kept.back();
  for (std::size_t v = 1; v < rows.offsets.size(); ++v) rows.offsets[v] += rows.offsets[v - 1];
  rows.columns.resize(kept.back());
  if (weights != nullptr) weights->resize(rows.columns.size());
  for_strands(parallel, static_cast<Size>(buckets.number), [&](Size bucket) {
    const auto k = static_cast<std::size_t>(bucket);
    for (Size i = kept[k]; i < kept[k + 1]; ++i) {
      const Entry& entry = sorted.entries[sorted.first[k] + i - kept[k]];
      rows.columns[i] = static_cast<Vertex>(entry.key & 0xffffffffu);
      if constexpr (std::is_same_v<Entry, Weighted>)
        if (weights != nullptr) (*weights)[i] = entry.weight;
    }
  });
}

void check_weights(const ArcList& list) {
  if (list.weights.empty() && list.size() > 0)
    fail(ErrorKind::usage, "the graph has no weights; choose a graph with weights, or leave the filter out");
}

}  // namespace

Vertex VertexNames::find(Gid name, Vertex vertices) const {
  if (ids.empty()) return name >= first && name - first < vertices ? static_cast<Vertex>(name - first) : no_lid;
  const auto at = std::lower_bound(ids.begin(), ids.end(), name);
  return at != ids.end() && *at == name ? static_cast<Vertex>(at - ids.begin()) : no_lid;
}

void check_room(Vertex vertices, Size entries, Size there) {
  // Rows in both directions, degrees, names, sums; and what is sorted.
  const Size bytes = Size{100} * vertices + 16 * entries;
  if (bytes > there)
    fail(ErrorKind::resource,
         "the graph's {} vertices and {} arcs take about {} of memory, and {} are left; use more memory",
         format_count(vertices), format_count(entries), format_bytes(static_cast<double>(bytes)),
         format_bytes(static_cast<double>(there)));
}

void leave_out_eighths(ArcList& list) {
  check_weights(list);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < list.weights.size(); ++i)
    if (!divisible_by_8(list.weights[i])) list.arcs[kept++] = list.arcs[i];
  list.arcs.resize(kept);
  list.weights.clear();
}

Graph build_graph(const ArcList& list, const BuildOptions& options, const ParallelFor& parallel, BuildCounts* counts) {
  return build_graph(list, list, options, parallel, counts);
}

Graph build_graph(const ArcList& outgoing, const ArcList& incoming, const BuildOptions& options,
                  const ParallelFor& parallel, BuildCounts* counts) {
  if (options.keep_weights || options.leave_out_eighths) check_weights(outgoing);
  check_room(outgoing.vertices, outgoing.size(), read_machine_limits().available);
  BuildCounts mine, ignored;
  Graph graph;
  graph.vertices = outgoing.vertices;
  graph.directed = options.directed;
  graph.names = outgoing.names;
  const Rules rules{!options.directed && !outgoing.both_ways, options.leave_out_eighths,
                    options.multi_edges == MultiEdges::simple, false};
  if (options.keep_weights)
    make_rows<Weighted>(outgoing, rules, parallel, mine, graph.out, &graph.weights);
  else
    make_rows<Plain>(outgoing, rules, parallel, mine, graph.out, nullptr);
  if (options.directed)
    make_rows<Plain>(incoming, {false, rules.filter, rules.simple, true}, parallel, ignored, graph.in, nullptr);
  if (counts != nullptr) *counts = mine;
  return graph;
}

}  // namespace tutti::graph
