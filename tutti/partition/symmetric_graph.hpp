// The undirected graph that partitioners and orders work on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tutti/base/csr.hpp"
#include "tutti/base/types.hpp"

namespace tutti {

/// Undirected graph without loops or double edges, in the 32-bit numbers METIS and Scotch read. The neighbours of row
/// i, ascending, are columns[offsets[i] .. offsets[i+1]); (i, j) is there exactly when (j, i) is.
struct SymmetricGraph {
  std::vector<std::int32_t> offsets{0};
  std::vector<std::int32_t> columns;

  std::int32_t rows() const { return static_cast<std::int32_t>(offsets.size()) - 1; }
  std::int32_t degree(std::int32_t i) const { return offsets[i + 1] - offsets[i]; }
  std::span<const std::int32_t> row(std::int32_t i) const {
    return {columns.data() + offsets[i], static_cast<std::size_t>(degree(i))};
  }
};

/// Error(resource) when a graph of that size does not fit 32-bit numbers; `entries` counts both directions.
void check_graph_size(Gid rows, Size entries);

/// i and j are neighbours when i reads j or j reads i. Loops go; a column >= rows (a ghost of a part) goes too.
/// O(entries) for rows of bounded length. Errors: resource (see check_graph_size).
SymmetricGraph symmetrise(const Csr<Gid>& graph);
SymmetricGraph symmetrise(const Csr<Lid>& graph);

/// The graph of the rows `chosen` (distinct) and the edges among them, renumbered 0, 1, ... in the order of `chosen`.
/// `scratch` has graph.rows() entries of -1, before and after: it saves the caller an O(rows) fill a call.
SymmetricGraph induced_graph(const SymmetricGraph& graph, std::span<const std::int32_t> chosen,
                             std::vector<std::int32_t>& scratch);

}  // namespace tutti
