#include "tutti/models/graph/betweenness/ordered_graph.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace tutti::graph {
namespace {

std::size_t at(Vertex v) {
  return static_cast<std::size_t>(v);
}

/// Vertices in order of descending degree, equal ones in order of their numbers.
std::vector<Vertex> by_degree(std::span<const Size> degrees) {
  const auto degree = [&](Vertex v) { return static_cast<std::size_t>(std::min<Size>(degrees[at(v)], 1 << 20)); };
  const auto vertices = static_cast<Vertex>(degrees.size());
  std::vector<Size> place(2, 0);
  for (Vertex v = 0; v < vertices; ++v) {
    if (degree(v) + 2 > place.size()) place.resize(degree(v) + 2, 0);
    ++place[degree(v)];
  }
  // place[d]: where the first vertex of degree d goes.
  Size total = 0;
  for (std::size_t d = place.size(); d-- > 0;) {
    const Size here = place[d];
    place[d] = total;
    total += here;
  }
  std::vector<Vertex> order(at(vertices));
  for (Vertex v = 0; v < vertices; ++v) order[place[degree(v)]++] = v;
  return order;
}

Csr<Vertex> relabel(const Csr<Vertex>& rows, const std::vector<Vertex>& old_name, const std::vector<Vertex>& new_name,
                    const ParallelFor& parallel) {
  Csr<Vertex> result;
  const std::size_t n = old_name.size();
  result.offsets.resize(n + 1);
  for (std::size_t v = 0; v < n; ++v)
    result.offsets[v + 1] = result.offsets[v] + static_cast<Size>(rows.row(old_name[v]).size());
  result.columns.resize(rows.columns.size());
  Blocks(static_cast<Size>(n), 256).run(parallel, [&](Size, Size begin, Size end) {
    for (Size v = begin; v < end; ++v) {
      const auto first = result.columns.begin() + result.offsets[v];
      auto to = first;
      for (const Vertex w : rows.row(old_name[v])) *to++ = new_name[at(w)];
      std::sort(first, to);
    }
  });
  return result;
}

}  // namespace

Levels distances_from(const Csr<Vertex>& rows, Vertex source, std::vector<std::uint8_t>& distance) {
  constexpr std::uint8_t far = 255;
  distance.assign(rows.offsets.size() - 1, far);
  std::vector<char> seen(distance.size(), 0);
  std::vector<Vertex> level{source}, next;
  distance[at(source)] = 0;
  seen[at(source)] = 1;
  Levels levels;
  for (;; ++levels.depth) {
    next.clear();
    for (const Vertex v : level)
      for (const Vertex w : rows.row(v))
        if (seen[at(w)] == 0) {
          seen[at(w)] = 1;
          distance[at(w)] = static_cast<std::uint8_t>(std::min<Size>(levels.depth + 1, far));
          next.push_back(w);
        }
    if (next.empty()) return levels;
    levels.widest = std::max(levels.widest, static_cast<Size>(next.size()));
    level.swap(next);
  }
}

std::vector<Size> degrees_of(const Graph& graph) {
  std::vector<Size> degrees(at(graph.vertices));
  const Csr<Vertex>& in = graph.incoming();
  for (std::size_t v = 0; v < degrees.size(); ++v)
    degrees[v] = graph.out.offsets[v + 1] - graph.out.offsets[v] + in.offsets[v + 1] - in.offsets[v];
  return degrees;
}

OrderedGraph order_by_degree(const Graph& graph, const ParallelFor& parallel) {
  OrderedGraph result = order_by_degree(graph, degrees_of(graph), parallel);
  std::vector<std::uint8_t> ignored;
  if (graph.vertices > 0) {
    const Levels levels = distances_from(result.graph.out, 0, ignored);
    result.depth = levels.depth;
    result.widest = levels.widest;
  }
  return result;
}

OrderedGraph order_by_degree(const Graph& graph, std::span<const Size> degrees, const ParallelFor& parallel) {
  OrderedGraph result;
  const std::vector<Vertex> old_name = by_degree(degrees);
  result.new_name.resize(old_name.size());
  for (std::size_t v = 0; v < old_name.size(); ++v) result.new_name[at(old_name[v])] = static_cast<Vertex>(v);
  result.graph.vertices = graph.vertices;
  result.graph.directed = graph.directed;
  result.graph.out = relabel(graph.out, old_name, result.new_name, parallel);
  if (graph.directed) result.graph.in = relabel(graph.in, old_name, result.new_name, parallel);
  return result;
}

void group_sources(const OrderedGraph& ordered, std::vector<Vertex>& sources, const ParallelFor& parallel) {
  const auto hubs = std::min(most_hubs, at(ordered.graph.vertices));
  std::vector<std::vector<std::uint8_t>> distance(hubs);
  for_ranges(parallel, static_cast<Size>(hubs), [&](Size begin, Size end) {
    for (Size h = begin; h < end; ++h) distances_from(ordered.graph.incoming(), static_cast<Vertex>(h), distance[h]);
  });
  group_sources(distance, sources);
}

void group_sources(const std::vector<std::vector<std::uint8_t>>& distance, std::vector<Vertex>& sources) {
  const std::size_t hubs = distance.size();
  // First their mean, in halves, then each of them.
  using Key = std::array<std::uint8_t, most_hubs + 1>;
  std::vector<std::pair<Key, Vertex>> keyed;
  for (const Vertex s : sources) {
    Key key{};
    unsigned sum = 0;
    for (std::size_t h = 0; h < hubs; ++h) {
      key[h + 1] = distance[h][at(s)];
      sum += key[h + 1];
    }
    key[0] = static_cast<std::uint8_t>(std::min<std::size_t>(255, sum * 2 / std::max<std::size_t>(hubs, 1)));
    keyed.emplace_back(key, s);
  }
  std::sort(keyed.begin(), keyed.end());
  for (std::size_t i = 0; i < sources.size(); ++i) sources[i] = keyed[i].second;
}

}  // namespace tutti::graph
