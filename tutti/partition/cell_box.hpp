// Boxes of cells of a structured grid, and how a part stores the values of one.
#pragma once

#include <array>

#include "tutti/base/types.hpp"

namespace tutti {

/// Cells of a grid, by number along x, y, z: [lower, upper) in each direction.
struct CellBox {
  std::array<Lid, 3> lower{}, upper{};

  TUTTI_HD Lid size(int d) const { return upper[d] > lower[d] ? upper[d] - lower[d] : 0; }
  TUTTI_HD Gid cells() const { return Gid{size(0)} * size(1) * size(2); }
  TUTTI_HD bool empty() const { return cells() == 0; }
  TUTTI_HD bool contains(Lid i, Lid j, Lid k) const {
    return i >= lower[0] && i < upper[0] && j >= lower[1] && j < upper[1] && k >= lower[2] && k < upper[2];
  }
  friend bool operator==(const CellBox&, const CellBox&) = default;
};

/// The cells in both.
inline CellBox intersection(const CellBox& a, const CellBox& b) {
  CellBox both;
  for (std::size_t d = 0; d < 3; ++d) {
    both.lower[d] = a.lower[d] > b.lower[d] ? a.lower[d] : b.lower[d];
    both.upper[d] = a.upper[d] < b.upper[d] ? a.upper[d] : b.upper[d];
  }
  return both;
}
/// With `layers` more cells on every side; a box without cells stays so.
inline CellBox grown(CellBox box, Lid layers) {
  if (box.empty()) return box;
  for (std::size_t d = 0; d < 3; ++d) {
    box.lower[d] -= layers;
    box.upper[d] += layers;
  }
  return box;
}
inline CellBox shifted(CellBox box, const std::array<Lid, 3>& by) {
  for (std::size_t d = 0; d < 3; ++d) {
    box.lower[d] += by[d];
    box.upper[d] += by[d];
  }
  return box;
}

/// Where an array keeps the value of a cell: all cells of `stored`, x fastest, then y, then z. Global cell numbers.
struct BoxArray {
  CellBox stored;

  TUTTI_HD Lid row() const { return stored.size(0); }
  TUTTI_HD Lid plane() const { return stored.size(0) * stored.size(1); }
  TUTTI_HD Lid stride(int d) const { return d == 0 ? 1 : d == 1 ? row() : plane(); }
  TUTTI_HD Lid at(Lid i, Lid j, Lid k) const {
    return ((k - stored.lower[2]) * stored.size(1) + (j - stored.lower[1])) * stored.size(0) + (i - stored.lower[0]);
  }
  Size values() const { return stored.cells(); }
};

}  // namespace tutti
