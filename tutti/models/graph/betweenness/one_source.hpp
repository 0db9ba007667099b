// Dependencies of one source at a time (Brandes 2001, algorithm 1), by one thread: for graphs of many levels, and for
// path counts beyond double.
#pragma once

#include "tutti/models/graph/betweenness/delta_sum.hpp"
#include "tutti/models/graph/betweenness/ordered_graph.hpp"
#include "tutti/models/graph/betweenness/wide_number.hpp"

namespace tutti::graph {

/// Rows where kernels read them.
struct RowsView {
  const Size* offsets;
  const Vertex* columns;
  RowsView(const Size* o, const Vertex* c) : offsets(o), columns(c) {}
  explicit RowsView(const Csr<Vertex>& rows) : offsets(rows.offsets.data()), columns(rows.columns.data()) {}
};

/// What is known of a vertex in the present search: its number of shortest paths, on the way back (1 + delta) / sigma.
/// A depth below the search's `base` is of an earlier one: nothing is reset in between.
struct PathRecord {
  double mantissa;
  std::int32_t exponent;
  std::int32_t depth;
};

struct OneSourceScratch {
  PathRecord* records;  ///< one a vertex; depth 0 before the first search
  Vertex* queue;        ///< one a vertex
};

TUTTI_HD inline void add_to(double& sum, double value) {
  sum += value;
}
TUTTI_HD inline void add_to(WideNumber& sum, const WideNumber& value) {
  sum = sum.plus(value);
}

/// The sum over row v, piece by piece: add(column, sum) adds what a column gives.
template <class Number, class Add>
TUTTI_HD inline Number sum_over_row(const RowsView& rows, Vertex v, const Add& add) {
  const Size first = rows.offsets[v], arcs = rows.offsets[v + 1] - first;
  const Size pieces = pieces_of(arcs);
  Number sum{};
  for (Size k = 0; k < pieces; ++k) {
    Number piece{};
    const Size end = first + piece_begin(arcs, k + 1);
    for (Size e = first + piece_begin(arcs, k); e < end; ++e) add(rows.columns[e], piece);
    if (pieces == 1) return piece;
    add_to(sum, piece);
  }
  return sum;
}

/// The sum of the records of depth `wanted` over a row.
TUTTI_HD inline WideNumber sum_of_records(const RowsView& rows, const PathRecord* records, Vertex v,
                                          std::int32_t wanted) {
  return sum_over_row<WideNumber>(rows, v, [=](Vertex u, WideNumber& sum) {
    const PathRecord& r = records[u];
    if (r.depth == wanted) sum = sum.plus({r.mantissa, r.exponent});
  });
}

/// add(v, delta) for every vertex that lies inside a shortest path from `source`. `base` >= 1 is above all depths
/// before; returns the base of the next search. `reached`: arcs that begin at reached vertices are added to it.
template <class Add>
TUTTI_HD std::int32_t search_from(const RowsView& out, const RowsView& in, const OneSourceScratch& scratch,
                                  Vertex source, std::int32_t base, Size& reached, const Add& add) {
  PathRecord* records = scratch.records;
  Vertex* queue = scratch.queue;
  Size length = 1;
  queue[0] = source;
  records[source] = {1.0, 0, base};
  for (Size i = 0; i < length; ++i) {
    const Vertex v = queue[i];
    const std::int32_t depth = records[v].depth;
    for (Size e = out.offsets[v]; e < out.offsets[v + 1]; ++e) {
      const Vertex w = out.columns[e];
      if (records[w].depth >= base) continue;
      records[w].depth = depth + 1;
      queue[length++] = w;
    }
    reached += out.offsets[v + 1] - out.offsets[v];
    if (i == 0) continue;
    const WideNumber paths = sum_of_records(in, records, v, depth - 1);
    records[v].mantissa = paths.mantissa;
    records[v].exponent = paths.exponent;
  }
  const std::int32_t next_base = records[queue[length - 1]].depth + 2;
  for (Size i = length - 1; i > 0; --i) {
    const Vertex v = queue[i];
    const WideNumber below = sum_of_records(out, records, v, records[v].depth + 1);
    const WideNumber paths{records[v].mantissa, records[v].exponent};
    if (below.mantissa != 0) add(v, paths.times(below).value());
    const WideNumber back = paths.reciprocal().plus(below);
    records[v].mantissa = back.mantissa;
    records[v].exponent = back.exponent;
  }
  return next_base;
}

/// A base above this: reset the depths and begin at 1 again.
inline constexpr std::int32_t last_base = 0x3fffffff;

}  // namespace tutti::graph
