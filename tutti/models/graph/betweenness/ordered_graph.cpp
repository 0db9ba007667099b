#include "tutti/models/graph/betweenness/ordered_graph.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <numeric>

#include "tutti/models/graph/betweenness/lane_batch.hpp"
#include "tutti/models/graph/strands.hpp"

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

constexpr std::uint8_t far = 255;  ///< a distance: that or more, or not reached

constexpr Size most_pulled_depth = 48;  ///< of graphs that are worth a pass over all arcs per level

constexpr Vertex block_vertices = 64;
Vertex blocks_of(Vertex vertices) {
  return (vertices + block_vertices - 1) / block_vertices;
}
/// body(block, begin, end): vertices in blocks, shared out so that threads get equal parts of the arcs of vertices
/// ordered by degree.
template <class Body>
void for_blocks(const ParallelFor& parallel, Vertex vertices, const Body& body) {
  for_strands(parallel, blocks_of(vertices), [&](Size block) {
    const auto begin = static_cast<Vertex>(block) * block_vertices;
    body(block, begin, std::min(begin + block_vertices, vertices));
  });
}

Csr<Vertex> relabel(const Csr<Vertex>& rows, const std::vector<Vertex>& old_name, const std::vector<Vertex>& new_name,
                    const ParallelFor& parallel) {
  Csr<Vertex> result;
  const std::size_t n = old_name.size();
  result.offsets.resize(n + 1);
  for_blocks(parallel, static_cast<Vertex>(n), [&](Size, Vertex begin, Vertex end) {
    for (Vertex v = begin; v < end; ++v)
      result.offsets[at(v) + 1] = static_cast<Size>(rows.row(old_name[at(v)]).size());
  });
  for (std::size_t v = 0; v < n; ++v) result.offsets[v + 1] += result.offsets[v];
  result.columns.resize(rows.columns.size());
  for_blocks(parallel, static_cast<Vertex>(n), [&](Size, Vertex begin, Vertex end) {
    for (Vertex v = begin; v < end; ++v) {
      const auto first = result.columns.begin() + result.offsets[at(v)];
      auto to = first;
      for (const Vertex w : rows.row(old_name[at(v)])) *to++ = new_name[at(w)];
      std::sort(first, to);
    }
  });
  return result;
}

/// The levels of a search from vertex 0. Where many vertices are on one level, all threads pull the next one.
Levels levels_from_first(const Graph& graph, const ParallelFor& parallel) {
  constexpr Vertex unseen = -1;
  std::vector<Vertex> depth_of(at(graph.vertices), unseen), level{0}, next;
  depth_of[0] = 0;
  Levels levels;
  for (;; ++levels.depth) {
    const auto depth = static_cast<Vertex>(levels.depth);
    next.clear();
    if (static_cast<Vertex>(level.size()) > graph.vertices / 32) {
      std::vector<std::vector<Vertex>> found(at(blocks_of(graph.vertices)));
      for_blocks(parallel, graph.vertices, [&](Size block, Vertex begin, Vertex end) {
        for (Vertex v = begin; v < end; ++v) {
          if (depth_of[at(v)] != unseen) continue;
          const auto row = graph.incoming().row(v);
          // Others write depth + 1 meanwhile, which is not looked for.
          if (std::any_of(row.begin(), row.end(), [&](Vertex w) {
                return std::atomic_ref(depth_of[at(w)]).load(std::memory_order_relaxed) == depth;
              })) {
            std::atomic_ref(depth_of[at(v)]).store(depth + 1, std::memory_order_relaxed);
            found[at(static_cast<Vertex>(block))].push_back(v);
          }
        }
      });
      for (const auto& some : found) next.insert(next.end(), some.begin(), some.end());
    } else {
      for (const Vertex v : level)
        for (const Vertex w : graph.out.row(v))
          if (depth_of[at(w)] == unseen) {
            depth_of[at(w)] = depth + 1;
            next.push_back(w);
          }
    }
    if (next.empty()) return levels;
    levels.widest = std::max(levels.widest, static_cast<Size>(next.size()));
    level.swap(next);
  }
}

/// Distances along the arcs of the incoming rows from each of the first vertices, all at once: of all vertices those
/// that do not know all of them yet look along their outgoing rows, a pass over the graph per level. False: there are
/// more levels than `most`.
bool pull_distances(const Graph& graph, Size most, std::vector<std::vector<std::uint8_t>>& distance,
                    const ParallelFor& parallel) {
  using Hubs = std::uint16_t;  // a bit for each
  static_assert(most_hubs <= 16);
  const auto all = static_cast<Hubs>((1u << distance.size()) - 1);
  std::vector<Hubs> seen(at(graph.vertices)), level(seen), next(seen);
  for (std::size_t h = 0; h < distance.size(); ++h) {
    distance[h].assign(at(graph.vertices), far);
    distance[h][h] = 0;
    seen[h] = level[h] = static_cast<Hubs>(1u << h);
  }
  std::vector<char> found(at(blocks_of(graph.vertices)));
  for (Size depth = 1; depth <= most; ++depth) {
    for_blocks(parallel, graph.vertices, [&](Size block, Vertex begin, Vertex end) {
      char any = 0;
      for (Vertex v = begin; v < end; ++v) {
        const auto missing = static_cast<Hubs>(all & ~seen[at(v)]);
        Hubs here = 0;
        if (missing != 0)
          for (const Vertex w : graph.out.row(v)) {
            here = static_cast<Hubs>(here | (level[at(w)] & missing));
            if (here == missing) break;
          }
        next[at(v)] = here;
        seen[at(v)] = static_cast<Hubs>(seen[at(v)] | here);
        for (unsigned rest = here; rest != 0; rest &= rest - 1)
          distance[static_cast<std::size_t>(std::countr_zero(rest))][at(v)] = static_cast<std::uint8_t>(depth);
        any = static_cast<char>(any | (here != 0 ? 1 : 0));
      }
      found[at(static_cast<Vertex>(block))] = any;
    });
    if (std::find(found.begin(), found.end(), 1) == found.end()) return true;
    level.swap(next);
  }
  return false;
}

}  // namespace

Levels distances_from(const Csr<Vertex>& rows, Vertex source, std::vector<std::uint8_t>& distance) {
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
  if (graph.vertices > 0) {
    const Levels levels = levels_from_first(result.graph, parallel);
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
  // Few see many more levels than the vertex of the highest degree.
  if (ordered.depth <= most_pulled_depth && pull_distances(ordered.graph, 2 * ordered.depth + 8, distance, parallel)) {
    group_sources(distance, sources);
    return;
  }
  for_ranges(parallel, static_cast<Size>(hubs), [&](Size begin, Size end) {
    for (Size h = begin; h < end; ++h) distances_from(ordered.graph.incoming(), static_cast<Vertex>(h), distance[h]);
  });
  group_sources(distance, sources);
}

void group_sources(const std::vector<std::vector<std::uint8_t>>& distance, std::vector<Vertex>& sources) {
  std::vector<HubDistances> distances(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i)
    for (std::size_t h = 0; h < distance.size(); ++h) distances[i].of[h] = distance[h][at(sources[i])];
  group_sources(distances, distance.size(), sources);
}

void group_sources(std::span<const HubDistances> distances, std::size_t hubs, std::vector<Vertex>& sources) {
  // First their mean, in halves, then each of them.
  using Key = std::array<std::uint8_t, most_hubs + 1>;
  std::vector<std::pair<Key, Vertex>> keyed;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    Key key{};
    unsigned sum = 0;
    for (std::size_t h = 0; h < hubs; ++h) {
      key[h + 1] = distances[i].of[h];
      sum += key[h + 1];
    }
    key[0] = static_cast<std::uint8_t>(std::min<std::size_t>(255, sum * 2 / std::max<std::size_t>(hubs, 1)));
    keyed.emplace_back(key, sources[i]);
  }
  std::sort(keyed.begin(), keyed.end());
  // Four batches stay neighbours, which teams of a GPU take at the same time. Such groups are in the order of their
  // numbers' bits, reversed: those far from hubs, which see more levels, are spread over the list, so that pieces of
  // it, which devices take, cost about the same. What is no full group stays the last.
  constexpr std::size_t size = std::size_t{4} * most_lanes;
  const std::size_t full = sources.size() / size;
  unsigned bits = 0;
  while (std::size_t{1} << bits < full) ++bits;
  std::size_t to = 0;
  for (std::size_t i = 0; i < std::size_t{1} << bits; ++i) {
    std::size_t group = 0;
    for (unsigned b = 0; b < bits; ++b) group |= (i >> b & 1) << (bits - 1 - b);
    if (group >= full) continue;
    for (std::size_t k = 0; k < size; ++k) sources[to++] = keyed[group * size + k].second;
  }
  for (; to < sources.size(); ++to) sources[to] = keyed[to].second;
}

}  // namespace tutti::graph
