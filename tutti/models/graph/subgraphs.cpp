#include "tutti/models/graph/subgraphs.hpp"

#include <algorithm>

#include "tutti/base/error.hpp"

namespace tutti::graph {
namespace {

Subgraph subgraph_around(const Graph& graph, Arc around, int levels, std::vector<char>& seen) {
  Subgraph result;
  result.around = around;
  result.vertices = {around.to};
  seen[around.to] = 1;
  std::size_t begin = 0;
  for (int level = 0; level < levels; ++level) {
    const std::size_t end = result.vertices.size();
    for (std::size_t i = begin; i < end; ++i)
      for (const Vertex w : graph.out.row(result.vertices[i])) {
        ++result.arcs;
        if (seen[w] != 0) continue;
        seen[w] = 1;
        result.vertices.push_back(w);
      }
    begin = end;
  }
  if (seen[around.from] == 0) result.vertices.push_back(around.from);
  for (const Vertex v : result.vertices) seen[v] = 0;
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
  std::vector<Found> found(blocks.number);
  blocks.run(parallel, [&](Size b, Size begin, Size end) {
    Found& mine = found[b];
    for (Size v = begin; v < end; ++v)
      for (Size e = graph.out.offsets[v]; e < graph.out.offsets[v + 1]; ++e) {
        const double weight = graph.weights[e];
        if (!mine.arcs.empty() && weight < mine.weight) continue;
        if (mine.arcs.empty() || weight > mine.weight) {
          mine.weight = weight;
          mine.arcs.clear();
        }
        mine.arcs.push_back({static_cast<Vertex>(v), graph.out.columns[e]});
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
    std::vector<char> seen(graph.vertices, 0);
    for (Size i = begin; i < end; ++i) result[i] = subgraph_around(graph, around[i], levels, seen);
  });
  return result;
}

}  // namespace tutti::graph
