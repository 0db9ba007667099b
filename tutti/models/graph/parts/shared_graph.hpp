// A graph that no rank has as a whole: each generates, sorts and keeps the rows of its own vertices.
#pragma once

#include <algorithm>
#include <vector>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/device/device_list.hpp"
#include "tutti/models/graph/betweenness/ordered_graph.hpp"
#include "tutti/models/graph/generate.hpp"
#include "tutti/models/graph/parts/graph_part.hpp"
#include "tutti/models/graph/subgraphs.hpp"

namespace tutti::graph {

/// Who has which vertices. They are dealt out one by one, which balances the arcs of vertices with random names, or in
/// blocks of consecutive numbers, which keep neighbours together where names do.
struct VertexOwners {
  std::vector<std::int32_t> parts;  ///< those that take part
  std::vector<int> rank_of_part;
  std::vector<Vertex> ends;  ///< of each one's block, ascending; empty: dealt out
  std::int32_t part(Vertex v) const {
    if (ends.empty()) return parts[static_cast<std::size_t>(v) % parts.size()];
    return parts[static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), v) - ends.begin())];
  }
  int rank(Vertex v) const { return rank_of_part[static_cast<std::size_t>(part(v))]; }
};

/// All devices with the weights of weights_of_parts, dealt out. Collective.
VertexOwners deal_out(const Comm& comm, const DeviceSet& devices);
/// The same in blocks of equal numbers of vertices and ends of arcs. Collective; `piece` of each rank.
VertexOwners share_blocks(const Comm& comm, const DeviceSet& devices, const ArcList& piece);

/// The arcs that come from this rank's vertices, and those that lead to them.
struct ArcShare {
  ArcList outgoing, incoming;
};

/// Each rank brings any piece of a list. Arcs of an undirected graph stand in both directions afterwards, and in
/// `outgoing` only. Collective. Takes 8 bytes an arc for each of the three lists, 16 with weights.
ArcShare share_arcs(const Comm& comm, const ArcList& piece, const VertexOwners& owners, bool directed,
                    const ParallelFor& parallel = {});

/// A graph that is ordered by degree and cut into parts, as a DistributedSweep takes it.
struct CutGraph {
  std::vector<GraphPart> parts;  ///< of this rank
  std::vector<Vertex> new_name;
};
/// `share`: rows of this rank's vertices; they are gone afterwards. `sources` get their new names and are grouped.
/// Collective.
CutGraph order_and_cut(const Comm& comm, Graph share, const VertexOwners& owners, const ParallelFor& parallel,
                       std::vector<Vertex>& sources);

/// Kernel 2 of SSCA#2, as heaviest_arcs of the whole graph; `share`: rows of this rank's vertices. Collective.
std::vector<Arc> heaviest_arcs(const Comm& comm, const Graph& share, const ParallelFor& parallel);

/// Kernel 3, counted as subgraphs_around finds them. Collective.
SubgraphCounts count_subgraphs(const Comm& comm, const Graph& share, const VertexOwners& owners,
                               const std::vector<Arc>& around, int levels = 3);

/// All vertices of which some rank says that they are, ascending: of `mine` of each rank. Collective.
std::vector<Vertex> all_of(const Comm& comm, const std::vector<Vertex>& mine);

/// Distances of all vertices to vertices 0 to `hubs` - 1: [hub][vertex], 255: far. Collective.
std::vector<std::vector<std::uint8_t>> distances_to_hubs(const Comm& comm, const Graph& share, std::size_t hubs,
                                                         const ParallelFor& parallel = {});

}  // namespace tutti::graph
