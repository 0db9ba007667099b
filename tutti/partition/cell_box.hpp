// Boxes of cells in a structured grid.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "tutti/base/types.hpp"

namespace tutti {

/// The cells lower <= (i, j, k) < upper of a structured grid, in the whole grid's numbers.
struct CellBox {
  std::array<Lid, 3> lower{}, upper{};

  /// Cells in direction d, 0 or more.
  Lid size(int d) const {
    const auto i = static_cast<std::size_t>(d);
    return std::max<Lid>(upper[i] - lower[i], 0);
  }
  Gid cells() const { return Gid{size(0)} * size(1) * size(2); }
  bool empty() const { return cells() == 0; }
  bool operator==(const CellBox&) const = default;
};

}  // namespace tutti
