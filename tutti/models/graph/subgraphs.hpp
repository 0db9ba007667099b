// Kernels 2 and 3 of SSCA#2 v2.2.
#pragma once

#include "tutti/base/parallel.hpp"
#include "tutti/models/graph/graph.hpp"

namespace tutti::graph {

/// Kernel 2: the arcs of the largest weight, in order of their vertices. A graph with weights.
std::vector<Arc> heaviest_arcs(const Graph& graph, const ParallelFor& parallel = {});

/// What is found around one arc.
struct Subgraph {
  Arc around;
  std::vector<Vertex> vertices;  ///< the head, what is reached, level after level, and the tail if it is not there yet
  Size arcs = 0;                 ///< that were followed
};

/// Kernel 3: for each arc its ends, and all that up to `levels` arcs lead to from its head, whatever their weight.
std::vector<Subgraph> subgraphs_around(const Graph& graph, const std::vector<Arc>& around, int levels = 3,
                                       const ParallelFor& parallel = {});

/// Of all subgraphs together: their vertices, and the arcs that were followed.
struct SubgraphCounts {
  Size vertices = 0, arcs = 0;
};

}  // namespace tutti::graph
