// Betweenness in long doubles: slow and obvious.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tutti/models/graph/build_graph.hpp"

namespace tutti::graph {

/// Brandes' recursion as in the paper: a queue, lists of predecessors, long doubles. Multi-edges stand in the rows as
/// often as they count.
inline std::vector<double> slow_betweenness(const Graph& graph, const std::vector<Vertex>& sources) {
  const auto n = static_cast<std::size_t>(graph.vertices);
  std::vector<long double> sum(n, 0);
  for (const Vertex s : sources) {
    std::vector<long double> paths(n, 0), delta(n, 0);
    std::vector<int> distance(n, -1);
    std::vector<std::vector<std::size_t>> predecessors(n);
    std::vector<std::size_t> order{static_cast<std::size_t>(s)};
    paths[order[0]] = 1;
    distance[order[0]] = 0;
    for (std::size_t i = 0; i < order.size(); ++i)
      for (const Vertex column : graph.out.row(static_cast<Vertex>(order[i]))) {
        const auto w = static_cast<std::size_t>(column), v = order[i];
        if (distance[w] < 0) {
          distance[w] = distance[v] + 1;
          order.push_back(w);
        }
        if (distance[w] != distance[v] + 1) continue;
        paths[w] += paths[v];
        predecessors[w].push_back(v);
      }
    for (std::size_t i = order.size(); i-- > 1;) {
      const std::size_t w = order[i];
      for (const std::size_t v : predecessors[w]) delta[v] += paths[v] / paths[w] * (1 + delta[w]);
      sum[w] += delta[w];
    }
  }
  return {sum.begin(), sum.end()};
}

inline std::vector<Vertex> all_vertices(const Graph& graph) {
  std::vector<Vertex> all;
  for (Vertex v = 0; v < graph.vertices; ++v) all.push_back(v);
  return all;
}

/// The greatest relative difference of two values of a vertex.
inline double difference(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = 0;
  for (std::size_t v = 0; v < a.size(); ++v) {
    const double scale = std::max(std::abs(a[v]), std::abs(b[v]));
    if (scale > 0) worst = std::max(worst, std::abs(a[v] - b[v]) / scale);
    if (a[v] != a[v] || b[v] != b[v]) return std::numeric_limits<double>::infinity();
  }
  return worst;
}

}  // namespace tutti::graph
