// Puts rows into the form that they are stored in, on the host, and says what is lost.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "tutti/base/parallel.hpp"
#include "tutti/residency/row_layout.hpp"

namespace tutti {

/// Sums of squares over rows: of what was lost, and of the values.
struct SquaredLoss {
  double lost = 0, values = 0;
  /// Relative L2 norm of what was lost; 0 for an array of zeros.
  double relative() const;
};

/// zfp's table of planes, for accessors of rows on the host (StoredRows::table).
const std::uint16_t* host_plane_table();

/// Writes rows first, first + 1, ... into `bytes` and adds to `loss`, in an order that does not depend on threads.
/// `values`: as many rows as bytes holds, width values each. Error(numerical) names array, row and value where a value
/// is not finite, or too large for a float; doubles may hold anything.
void encode_rows(const RowLayout& layout, const std::string& name, Lid first, std::span<const double> values,
                 std::span<std::byte> bytes, SquaredLoss& loss, const ParallelFor& parallel = {});

}  // namespace tutti
