// A graph made ready for betweenness: vertices by degree, and what is known of its depth.
#pragma once

#include <array>
#include <span>

#include "tutti/base/parallel.hpp"
#include "tutti/models/graph/graph.hpp"

namespace tutti::graph {

/// Sums over a row of more arcs are made of pieces, each of them summed in order, and then in order of the pieces: a
/// GPU shares out the pieces of a hub, and everything else adds in the same way, for the same bits.
inline constexpr Size piece_arcs = 256;

TUTTI_HD inline Size pieces_of(Size arcs) {
  return arcs <= piece_arcs ? 1 : (arcs + piece_arcs - 1) / piece_arcs;
}
/// First arc of piece k of a row of so many arcs; k = pieces_of(arcs): its end.
TUTTI_HD inline Size piece_begin(Size arcs, Size k) {
  return arcs * k / pieces_of(arcs);
}

struct OrderedGraph {
  Graph graph;                   ///< relabelled: degrees do not increase with the number
  std::vector<Vertex> new_name;  ///< of a vertex of the graph before
  Size depth = 0;                ///< arcs on the longest of all shortest paths from the vertex of the highest degree
  Size widest = 1;               ///< most vertices at the same distance from that one
};

/// The same for any number of threads.
OrderedGraph order_by_degree(const Graph& graph, const ParallelFor& parallel = {});

/// Arcs out and in of each vertex.
std::vector<Size> degrees_of(const Graph& graph);

/// The same of a part of a graph, whose other rows are empty; `degrees`: of all vertices, out and in. No depth.
OrderedGraph order_by_degree(const Graph& graph, std::span<const Size> degrees, const ParallelFor& parallel = {});

/// The sources (new names) so ordered that neighbours in the list have similar distances to the 16 vertices of the
/// highest degrees: they then share the frontiers of a batch, which was 1.6 times faster on R-MAT graphs. Groups of
/// 256 are spread over the list, so that pieces of it take about the same time.
void group_sources(const OrderedGraph& ordered, std::vector<Vertex>& sources, const ParallelFor& parallel = {});

/// Vertices of the highest degrees, by which sources are grouped.
inline constexpr std::size_t most_hubs = 16;
/// The same by distance[hub][vertex].
void group_sources(const std::vector<std::vector<std::uint8_t>>& distance, std::vector<Vertex>& sources);
/// The distances from one source to the hubs.
struct HubDistances {
  std::array<std::uint8_t, most_hubs> of;
};
/// The same by the distances of each source to the first `hubs` of them.
void group_sources(std::span<const HubDistances> distances, std::size_t hubs, std::vector<Vertex>& sources);

/// Of the levels of a search: how many there are besides the source's own, and the vertices of the widest.
struct Levels {
  Size depth = 0, widest = 1;
};
/// Distances along the arcs of `rows` from `source`; 255: 255 or more, or not reached.
Levels distances_from(const Csr<Vertex>& rows, Vertex source, std::vector<std::uint8_t>& distance);

}  // namespace tutti::graph
