// Compressed rows of a list of arcs: kernel 1 of SSCA#2.
#pragma once

#include "tutti/base/parallel.hpp"
#include "tutti/models/graph/graph.hpp"

namespace tutti::graph {

struct BuildOptions {
  bool directed = true;  ///< else each arc is an edge both ways, unless the list has both already
  MultiEdges multi_edges = MultiEdges::simple;
  /// Of several arcs of a simple graph the smallest weight is kept.
  bool keep_weights = false;
  /// Arcs whose weight is divisible by 8 are left out, as kernel 4 of SSCA#2 v2.2 does.
  bool leave_out_eighths = false;
};

struct BuildCounts {
  Size loops = 0;     ///< arcs from a vertex to itself, which were left out
  Size filtered = 0;  ///< arcs left out by their weight, loops not counted again
  Size doubles = 0;   ///< arcs that a simple graph does not need
};

/// Error(resource): so many vertices and entries of rows have no room in `there` bytes. The system would promise more
/// than it has, and kill the program that takes it.
void check_room(Vertex vertices, Size entries, Size there);

/// The graph of a list. The same for any number of threads. Error(usage): leave_out_eighths or keep_weights of a list
/// without weights. Error(resource). Takes 8 bytes an arc (16 with weights) besides the result.
Graph build_graph(const ArcList& list, const BuildOptions& options, const ParallelFor& parallel = {},
                  BuildCounts* counts = nullptr);

/// A part of it: the rows of the vertices that the arcs of `outgoing` come from, and of those that the arcs of
/// `incoming` lead to; rows of others are empty. `counts` are those of `outgoing`.
Graph build_graph(const ArcList& outgoing, const ArcList& incoming, const BuildOptions& options,
                  const ParallelFor& parallel = {}, BuildCounts* counts = nullptr);

/// The same filter for a list, which has no weights afterwards. Error(usage) without weights.
void leave_out_eighths(ArcList& list);

}  // namespace tutti::graph
