#include "tutti/models/graph/subgraphs.hpp"

#include <algorithm>

#include "tutti/base/error.hpp"

namespace tutti::graph {
namespace {

Subgraph subgraph_around(const Graph& graph, Arc around, int levels, std::vector<char>& seen) {
  Subgraph result;
  result.around = around;
  result.vertices = {around.to};
  seen[static_cast<std::size_t>(around.to)] = 1;
  std::size_t begin = 0;
  for (int level = 0; level < levels; ++level) {
    const std::size_t end = result.vertices.size();
    for (std::size_t i = begin; i < end; ++i)
      for (const Vertex w : graph.out.row(result.vertices[i])) {
        ++result.arcs;
        if (seen[static_cast<std::size_t>(w)] != 0) continue;
        seen[static_cast<std::size_t>(w)] = 1;
        result.vertices.push_back(w);
      }
    begin = end;
  }
  if (seen[static_cast<std::size_t>(around.from)] == 0) result.vertices.push_back(around.from);
  for (const Vertex v : result.vertices) seen[static_cast<std::size_t>(v)] = 0;
  return result;
}

}  // namespace

std::vector<Arc> heaviest_arcs(const Graph& graph, const ParallelFor& parallel) {
  require(graph.weights.size() == graph.out.columns.size(), "heaviest_arcs of a graph without weights");
  const Blocks blocks(graph.vertices, 4096);
  struct Found {
    double weight = 0;
    std::vector<Arc> arcs;
  };
  std::vector<Found> found(static_cast<std::size_t>(blocks.number));
  blocks.run(parallel, [&](Size b, Size begin, Size end) {
    Found& mine = found[static_cast<std::size_t>(b)];
    for (Size v = begin; v < end; ++v)
      for (Size e = graph.out.offsets[static_cast<std::size_t>(v)];
           e < graph.out.offsets[static_cast<std::size_t>(v) + 1]; ++e) {
        const double weight = graph.weights[static_cast<std::size_t>(e)];
        if (!mine.arcs.empty() && weight < mine.weight) continue;
        if (mine.arcs.empty() || weight > mine.weight) {
          mine.weight = weight;
          mine.arcs.clear();
        }
        mine.arcs.push_back({static_cast<Vertex>(v), graph.out.columns[static_cast<std::size_t>(e)]});
      }
  });
  Found all;
  for (const Found& f : found) {
    if (f.arcs.empty() || (!all.arcs.empty() && f.weight < all.weight)) continue;
    if (all.arcs.empty() || f.weight > all.weight) all = {f.weight, {}};
    all.arcs.insert(all.arcs.end(), f.arcs.begin(), f.arcs.end());
  }
  return all.arcs;
}

std::vector<Subgraph> subgraphs_around(const Graph& graph, const std::vector<Arc>& around, int levels,
                                       const ParallelFor& parallel) {
  std::vector<Subgraph> result(around.size());
  Blocks(static_cast<Size>(around.size()), 1).run(parallel, [&](Size, Size begin, Size end) {
    std::vector<char> seen(static_cast<std::size_t>(graph.vertices), 0);
    for (Size i = begin; i < end; ++i)
      result[static_cast<std::size_t>(i)] = subgraph_around(graph, around[static_cast<std::size_t>(i)], levels, seen);
  });
  return result;
}

}  // namespace tutti::graph
