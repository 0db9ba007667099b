#include "tutti/models/graph/graph_info.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tutti/base/units.hpp"
#include "tutti/models/graph/build_graph.hpp"
#include "tutti/models/graph/measure.hpp"

namespace tutti::graph {

GraphInfo inspect(const ArcList& list, const ParallelFor& parallel) {
  BuildCounts counts;
  const Graph graph = build_graph(list, {}, parallel, &counts);
  GraphInfo info;
  info.vertices = list.vertices;
  info.arcs = list.size();
  info.loops = counts.loops;
  info.doubles = counts.doubles;
  info.both_ways = graph.out.offsets == graph.in.offsets && graph.out.columns == graph.in.columns;
  std::vector<Size> size(graph.vertices, 0);
  for (const Vertex c : components(graph)) ++size[c];
  for (Vertex v = 0; v < graph.vertices; ++v) {
    const auto successors = static_cast<Size>(graph.out.row(v).size()),
               predecessors = static_cast<Size>(graph.in.row(v).size());
    info.without_successors += successors == 0;
    info.isolated += successors + predecessors == 0;
    info.most_successors = std::max(info.most_successors, successors);
    info.most_predecessors = std::max(info.most_predecessors, predecessors);
    info.components += size[v] > 0;
    info.largest_component = std::max(info.largest_component, size[v]);
  }
  info.weighted = !list.weights.empty();
  if (info.weighted) {
    const auto [least, largest] = std::minmax_element(list.weights.begin(), list.weights.end());
    info.least_weight = *least;
    info.largest_weight = *largest;
  }
  return info;
}

std::string describe(const GraphInfo& i) {
  std::string text = fmt::format("vertices            {:>16}\n", format_count(i.vertices));
  text += fmt::format("arcs                {:>16}  {} self-loops, {} more than once\n", format_count(i.arcs),
                      format_count(i.loops), format_count(i.doubles));
  text += fmt::format("both directions     {:>16}\n", i.both_ways ? "yes" : "no");
  if (i.weighted)
    text += fmt::format("weights             {:>16}\n", fmt::format("{} to {}", i.least_weight, i.largest_weight));
  text += fmt::format("most successors     {:>16}\n", format_count(i.most_successors));
  text += fmt::format("most predecessors   {:>16}\n", format_count(i.most_predecessors));
  text += fmt::format("without successors  {:>16}\n", format_count(i.without_successors));
  text += fmt::format("isolated            {:>16}\n", format_count(i.isolated));
  text += fmt::format("components          {:>16}  the largest has {} vertices", format_count(i.components),
                      format_count(i.largest_component));
  return text;
}

}  // namespace tutti::graph
