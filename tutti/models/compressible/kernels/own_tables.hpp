// How kernels read the tables of elements that share them with no others: where all tables are, or from rows that a
// memory policy keeps (tutti/residency): a row an element, and a row a face.
#pragma once

#include "tutti/models/compressible/kernels/products.hpp"
#include "tutti/models/compressible/kernels/view.hpp"
#include "tutti/residency/row_access.hpp"

namespace tutti::compressible {

/// Among all tables: the offsets of records count from their beginning.
struct TablesInPlace {
  static constexpr ValueFormat format = ValueFormat::doubles;
  const double* tables;
  TUTTI_HD DoubleRow row(Lid) const { return {tables}; }
  TUTTI_HD double operator()(Lid, Size i) const { return tables[i]; }
};

/// The same where some elements are recomputed.
struct TablesOrMatrices : TablesInPlace {};

/// In rows of any format, told apart at each read: for kernels that are seldom run.
struct AnyRows {
  StoredRows stored;
  ValueFormat format;
  TUTTI_HD double operator()(Lid r, Size at) const {
    const int i = static_cast<int>(at);
    switch (format) {
      case ValueFormat::doubles:
        return DoubleRows{stored}(r, i);
      case ValueFormat::floats:
        return FloatRows{stored}(r, i);
      case ValueFormat::int32:
        return Int32Rows{stored}(r, i);
      case ValueFormat::int16:
        return Int16Rows{stored}(r, i);
      default:
        return ZfpRows{stored}(r, i);
    }
  }
};

template <class Rows>
inline constexpr bool in_place = std::is_base_of_v<TablesInPlace, Rows>;
template <class Rows>
inline constexpr bool with_matrices = std::is_same_v<Rows, TablesOrMatrices>;

/// Doubles that a team decodes at a time.
template <class Rows>
inline constexpr int tile_values = Rows::format == ValueFormat::doubles ? 0 : 2048;

/// Calls use(table, stride, first, count) for all k_count rows of the table that begins at `offset` of row r, some at a
/// time, of `columns` values (a multiple of 4, as stride and offset are): where they lie, or decoded in `tile`.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable  // one thread alone works on the host only
#endif
template <class Team, class Rows, class Use>
TUTTI_HD inline void read_table(const Team& team, const Rows& rows, Lid r, Size offset, int stride, int k_count,
                                int columns, double* tile, const Use& use) {
  const auto row = rows.row(r);
  if constexpr (Rows::format == ValueFormat::doubles) {
    use(row.values + offset, stride, 0, k_count);
  } else {
    const int fours = columns / 4, at_once = tile_values<Rows> / columns;
    for (int first = 0; first < k_count; first += at_once) {
      const int count = k_count - first < at_once ? k_count - first : at_once;
      for (int n = team.first(); n < count * fours; n += team.step()) {
        const int k = n / fours, i = 4 * (n % fours);
        row.load4(static_cast<int>(offset) + (first + k) * stride + i, tile + k * columns + i);
      }
      team.meet();
      use(static_cast<const double*>(tile), columns, first, count);
      team.meet();
    }
  }
}

/// The same of a side of a face, whose element is e: tables that elements share are never in rows.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
template <class Team, class Rows, class Use>
TUTTI_HD inline void read_side_table(const Team& team, const PartView& view, const Rows& rows, Lid r, Lid e,
                                     Size offset, int k_count, int columns, double* tile, const Use& use) {
  if constexpr (!in_place<Rows>) {
    if (view.elements[e].affine != 0) return use(view.tables + offset, columns, 0, k_count);
  }
  read_table(team, rows, r, offset, columns, k_count, columns, tile, use);
}

}  // namespace tutti::compressible
