// What a list of arcs is like.
#pragma once

#include <string>

#include "tutti/base/parallel.hpp"
#include "tutti/models/graph/graph.hpp"

namespace tutti::graph {

struct GraphInfo {
  Size vertices = 0, arcs = 0, loops = 0, doubles = 0;
  Size without_successors = 0, isolated = 0;
  Size most_successors = 0, most_predecessors = 0;
  Size components = 0, largest_component = 0;  ///< whatever the direction of the arcs
  bool both_ways = false;                      ///< every arc has one in the other direction
  bool weighted = false;
  double least_weight = 0, largest_weight = 0;
};

GraphInfo inspect(const ArcList& list, const ParallelFor& parallel = {});
std::string describe(const GraphInfo& info);

}  // namespace tutti::graph
