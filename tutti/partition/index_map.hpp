// One part's numbering: interior rows, then separators, then ghosts.
#pragma once

#include <span>
#include <vector>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/base/parallel.hpp"
#include "tutti/base/types.hpp"

namespace tutti {

/// What a part owns and what it reads of others, before it is numbered.
struct PartRows {
  std::int32_t part = 0;
  std::vector<Gid> owned;                  ///< in the order the interior shall have
  std::vector<Gid> ghosts;                 ///< rows of other parts that this part reads; distinct, any order
  std::vector<std::int32_t> ghost_owners;  ///< the part that owns each ghost
};

/// What a part has to do with one other part. Either side may be empty: reading need not be mutual.
struct Link {
  std::int32_t part = 0;       ///< the other part
  int rank = 0;                ///< the rank that drives it
  std::vector<Lid> send_rows;  ///< owned rows the other part reads, ascending
  Range ghosts;                ///< local rows that the other part owns, in the order of its send_rows

  /// True when send_rows is one run of consecutive rows: then it can be sent without packing.
  bool contiguous() const {
    return !send_rows.empty() && send_rows.back() - send_rows.front() + 1 == static_cast<Lid>(send_rows.size());
  }
};

/// Numbering of one part. Rows [0, interior) are read by no other part; rows [interior, owned) are separators, grouped
/// by the set of parts that read them, those read by another rank first; rows [owned, local) are ghosts, grouped by
/// owner.
///
/// Rows [0, independent) read no ghost, either: they are what a step can compute while messages travel. Where reading
/// is mutual (cells by faces) that is the whole interior. Where it is not (the nearest nodes), rows [independent,
/// interior) are read by nobody else, but read ghosts [Bollig 2012, eq. 6: B without O].
struct IndexMap {
  std::int32_t part = 0;
  Lid independent = 0;
  Lid interior = 0;
  Lid owned = 0;
  std::vector<Gid> global;  ///< global number of every local row
  std::vector<Link> links;  ///< ascending in `part`

  Lid local() const { return static_cast<Lid>(global.size()); }
  Lid ghosts() const { return local() - owned; }
  Range independent_rows() const { return {0, independent}; }
  Range interior_rows() const { return {0, interior}; }
  Range separator_rows() const { return {interior, owned}; }
  Range owned_rows() const { return {0, owned}; }
};

/// Numbers all parts of all ranks. Collective. `mine` are the parts of this rank; `rank_of_part[p]` is known on all
/// ranks. A ghost that its named owner does not own is an internal error.
std::vector<IndexMap> number_parts(const Comm& comm, std::span<const PartRows> mine, std::span<const int> rank_of_part,
                                   const ParallelFor& parallel = {});

/// What each row of the map is made of when a field keeps `components` values of a row together: row r becomes rows
/// components r ... components r + components - 1.
IndexMap with_components(const IndexMap& map, int components);

}  // namespace tutti
