// A graph: arcs as a file or a generator gives them, and compressed rows in both directions.
#pragma once

#include <vector>

#include "tutti/base/csr.hpp"
#include "tutti/base/raw_vector.hpp"
#include "tutti/base/types.hpp"

namespace tutti::graph {

/// Vertices are numbered densely from 0. A graph has fewer than 2^31 of them; arcs are counted by 64 bits.
using Vertex = Lid;
inline constexpr Gid most_vertices = Gid{0x7ffffffe};

/// What the vertices are called outside: `first`, first + 1, ... or any numbers, ascending.
struct VertexNames {
  Gid first = 0;
  std::vector<Gid> ids;  ///< empty: first + v
  Gid of(Vertex v) const { return ids.empty() ? first + v : ids[v]; }
  /// The vertex of a name; no_lid where there is none among `vertices`.
  Vertex find(Gid name, Vertex vertices) const;
};

struct Arc {
  Vertex from, to;
  friend bool operator==(const Arc&, const Arc&) = default;
};

/// Arcs in any order, with multi-edges and self-loops.
struct ArcList {
  Vertex vertices = 0;
  RawVector<Arc> arcs;
  RawVector<double> weights;  ///< empty, or one an arc
  VertexNames names;
  bool both_ways = false;  ///< every edge stands here in both directions: nothing is to be mirrored
  Size size() const { return static_cast<Size>(arcs.size()); }
};

/// What several arcs between the same vertices are: one edge, or so many different paths.
enum class MultiEdges : std::uint8_t { simple, paths };

/// Rows of a vertex are ascending. No self-loops: they are on no shortest path.
struct Graph {
  Vertex vertices = 0;
  bool directed = true;
  Csr<Vertex> out;
  Csr<Vertex> in;               ///< of a directed graph; else empty: it is `out`
  std::vector<double> weights;  ///< of the arcs of `out`; empty: none
  VertexNames names;

  const Csr<Vertex>& incoming() const { return directed ? in : out; }
  Size arcs() const { return out.entries(); }
  Size out_degree(Vertex v) const { return out.offsets[v + 1] - out.offsets[v]; }
};

}  // namespace tutti::graph
