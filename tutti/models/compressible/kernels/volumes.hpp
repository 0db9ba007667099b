// How kernels read the tables of elements' volumes: where all tables are, or from rows that a memory policy keeps
// (tutti/residency).
#pragma once

#include "tutti/models/compressible/kernels/products.hpp"
#include "tutti/models/compressible/kernels/view.hpp"
#include "tutti/residency/row_access.hpp"

namespace tutti::compressible {

/// Among all tables: the offsets of records count from their beginning.
struct VolumesInPlace {
  static constexpr ValueFormat format = ValueFormat::doubles;
  const double* tables;
  TUTTI_HD DoubleRow row(Lid) const { return {tables}; }
  TUTTI_HD double operator()(Lid, Size i) const { return tables[i]; }
};

/// In rows of any format, told apart at each read: for kernels that are seldom run.
struct AnyVolumes {
  StoredRows stored;
  ValueFormat format;
  TUTTI_HD double operator()(Lid e, Size at) const {
    const int i = static_cast<int>(at);
    switch (format) {
      case ValueFormat::doubles:
        return DoubleRows{stored}(e, i);
      case ValueFormat::floats:
        return FloatRows{stored}(e, i);
      case ValueFormat::int32:
        return Int32Rows{stored}(e, i);
      case ValueFormat::int16:
        return Int16Rows{stored}(e, i);
      default:
        return ZfpRows{stored}(e, i);
    }
  }
};

/// Doubles that a team decodes at a time.
template <class Volumes>
inline constexpr int tile_values = Volumes::format == ValueFormat::doubles ? 0 : 2048;

/// Calls use(table, stride, first, count) for all k_count rows of the table that begins at `offset`, some at a time, of
/// `columns` values (a multiple of 4, as stride and offset are): where they lie, or decoded in `tile`.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable  // one thread alone works on the host only
#endif
template <class Team, class Volumes, class Use>
TUTTI_HD inline void read_table(const Team& team, const Volumes& volumes, Lid e, Size offset, int stride, int k_count,
                                int columns, double* tile, const Use& use) {
  const auto row = volumes.row(e);
  if constexpr (Volumes::format == ValueFormat::doubles) {
    use(row.values + offset, stride, 0, k_count);
  } else {
    const int fours = columns / 4, at_once = tile_values<Volumes> / columns;
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

}  // namespace tutti::compressible
