// A graph that no rank has as a whole: each generates, sorts and keeps the rows of its own vertices.
#pragma once

#include <vector>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/models/graph/betweenness/ordered_graph.hpp"
#include "tutti/models/graph/generate.hpp"

namespace tutti::graph {

/// Vertices are dealt out one by one, which balances the arcs of vertices with random names.
struct VertexOwners {
  std::vector<std::int32_t> parts;  ///< those that take part
  std::vector<int> rank_of_part;
  std::int32_t part(Vertex v) const { return parts[static_cast<std::size_t>(v) % parts.size()]; }
  int rank(Vertex v) const { return rank_of_part[static_cast<std::size_t>(part(v))]; }
};

/// The arcs that come from this rank's vertices, and those that lead to them.
struct ArcShare {
  ArcList outgoing, incoming;
};

/// Each rank brings any piece of a list. Collective. Takes 16 bytes an arc for each of the three lists.
ArcShare share_arcs(const Comm& comm, const ArcList& piece, const VertexOwners& owners);

/// Kernel 2 of SSCA#2, as heaviest_arcs of the whole graph; `share`: rows of this rank's vertices. Collective.
std::vector<Arc> heaviest_arcs(const Comm& comm, const Graph& share, const ParallelFor& parallel);

/// Kernel 3: how many vertices all subgraphs have, and arcs that were followed, as subgraphs_around finds them.
struct SubgraphCounts {
  Size vertices = 0, arcs = 0;
};
SubgraphCounts count_subgraphs(const Comm& comm, const Graph& share, const VertexOwners& owners,
                               const std::vector<Arc>& around, int levels = 3);

/// All vertices of which some rank says that they are, ascending: of `mine` of each rank. Collective.
std::vector<Vertex> all_of(const Comm& comm, const std::vector<Vertex>& mine);

/// Distances of all vertices to vertices 0 to `hubs` - 1: [hub][vertex], 255: far. Collective.
std::vector<std::vector<std::uint8_t>> distances_to_hubs(const Comm& comm, const Graph& share, std::size_t hubs);

}  // namespace tutti::graph
