// Graphs to measure and to check with: the same for a seed whatever makes them.
#pragma once

#include "tutti/base/parallel.hpp"
#include "tutti/device/device.hpp"
#include "tutti/models/graph/graph.hpp"

namespace tutti::graph {

/// R-MAT (Chakrabarti, Zhan, Faloutsos 2004): each of `scale` levels puts an arc into a quarter of the matrix with
/// probabilities a, b, c and the rest.
struct RmatSpec {
  int scale = 10;   ///< 2^scale vertices, 1 to 30
  Size degree = 8;  ///< arcs a vertex
  double a = 0.55, b = 0.1, c = 0.1;
  /// Up to so much of each probability is added or taken, level after level; they add up, as in SSCA#2 v2.2.
  double noise = 0.05;
  bool weights = true;      ///< whole numbers, uniform in 1 to 2^scale
  bool undirected = false;  ///< each arc is an edge: it is read in both directions, but stands once
  std::uint64_t seed = 1;
};

/// The graph of SSCA#2 v2.2 (Bader, Madduri 2007): 2^scale vertices, 8 arcs each, directed, with weights, vertices
/// renamed at random. Self-loops and multi-edges stay in the list.
RmatSpec ssca2_spec(int scale, std::uint64_t seed);
/// Graph500's Kronecker graph: .57, .19, .19, 16 edges a vertex, undirected, no noise, no weights.
RmatSpec kronecker_spec(int scale, std::uint64_t seed);

/// Error(usage): the specification makes no graph.
ArcList generate_rmat(const RmatSpec& spec, const ParallelFor& parallel = {});
/// Arcs [first, last) of the same list; 2^scale degree is its length.
ArcList generate_rmat(const RmatSpec& spec, Size first, Size last, const ParallelFor& parallel = {});
/// The same arcs, made on the device and copied. Error(resource) without memory there.
ArcList generate_rmat(const RmatSpec& spec, Device& device);
/// Memory that it takes there; 2^24 arcs at a time are made.
Size bytes_to_generate(const RmatSpec& spec);
/// rows x columns vertices, each joined to those beside it; vertex row * columns + column. Every edge in both
/// directions. A torus goes around; with 1 or 2 rows or columns it has the same neighbour twice. Error(usage): fewer
/// than one row or column, or too many vertices.
ArcList generate_grid(Gid rows, Gid columns, const ParallelFor& parallel = {});
ArcList generate_torus(Gid rows, Gid columns, const ParallelFor& parallel = {});

/// `count` different vertices with arcs that begin there, drawn by the seed; all of them, ascending, where there are no
/// more.
std::vector<Vertex> draw_sources(const Graph& graph, Size count, std::uint64_t seed);
/// The same; `able`: all vertices with arcs that begin there, ascending.
std::vector<Vertex> draw_sources(std::vector<Vertex> able, Size count, std::uint64_t seed);

}  // namespace tutti::graph
