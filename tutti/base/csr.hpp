// Adjacency in compressed rows: "row i reads column j".
#pragma once

#include <span>
#include <vector>

#include "tutti/base/types.hpp"

namespace tutti {

/// Rows of indices: the columns of row i are columns[offsets[i] .. offsets[i+1]).
/// Index is Gid for a whole mesh or graph, Lid inside a part.
template <class Index>
struct Csr {
  std::vector<Size> offsets{0};  ///< rows + 1 entries, first 0, never decreasing
  std::vector<Index> columns;

  Index rows() const { return static_cast<Index>(offsets.size()) - 1; }
  Size entries() const { return static_cast<Size>(columns.size()); }
  std::span<const Index> row(Index i) const {
    return {columns.data() + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
  }
  /// Closes the row that has been pushed to `columns`.
  void close_row() { offsets.push_back(static_cast<Size>(columns.size())); }
};

/// The adjacency of a whole problem, in global numbers.
using Adjacency = Csr<Gid>;

}  // namespace tutti
