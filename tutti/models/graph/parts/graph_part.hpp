// A graph cut into parts: what a part owns, and the vertices of other parts that its arcs join it with.
#pragma once

#include <span>
#include <vector>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/base/parallel.hpp"
#include "tutti/models/graph/betweenness/ordered_graph.hpp"
#include "tutti/partition/index_map.hpp"

namespace tutti::graph {

/// Global numbers are the names of the ordered graph.
struct GraphPart {
  IndexMap map;
  /// Rows of the vertices that the part owns, in local numbers. A row is in the order of the global ones, so that sums
  /// over it round as those of the whole graph do. `in` of an undirected graph is empty: it is `out`.
  Csr<Vertex> out, in;
  Csr<Vertex> from_ghosts;  ///< of each ghost, in order: the rows that its arcs lead to
  /// Of each link and each of its send_rows: whether the other part reads it on the way out (bit 0) and back (bit 1).
  std::vector<std::vector<std::uint8_t>> readers;
  const Csr<Vertex>& incoming() const { return in.offsets.size() > 1 ? in : out; }
};

/// Of its incoming rows: what each ghost's arcs lead to.
Csr<Vertex> rows_from_ghosts(const Csr<Vertex>& incoming, const IndexMap& map);

/// The part of each vertex. METIS, with parts of these weights; where the arcs are too many for it, vertices are dealt
/// out one by one, which balances the arcs of a graph that is ordered by degree. Deterministic.
std::vector<std::int32_t> choose_owners(const Graph& graph, std::span<const double> weights);

/// The parts of this rank. Collective.
std::vector<GraphPart> cut_graph(const Comm& comm, const Graph& graph, std::span<const std::int32_t> owner,
                                 std::span<const int> rank_of_part, const ParallelFor& parallel = {});

}  // namespace tutti::graph
