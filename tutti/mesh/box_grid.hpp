// A box of cells with planes between them: uniform, or denser at the walls.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tutti/base/types.hpp"
#include "tutti/base/vec3.hpp"

namespace tutti {

/// The planes between cells along one direction, and lengths that follow from them.
struct GridLine {
  std::vector<double> faces;  ///< cells + 1, ascending
  bool periodic = false;
  /// Of all cells, or 0 where they differ. Differences of faces would not be equal to the last bit, which kernels for
  /// equal cells need.
  double equal_width = 0;

  Lid cells() const { return static_cast<Lid>(faces.size()) - 1; }
  double length() const { return faces.back() - faces.front(); }
  /// Cell i may be -1 or `cells()`, beyond an end: a mirror image, or with a period the cell at the other end.
  double width(Lid i) const;
  double centre(Lid i) const;
  /// The cell in which x lies: on a plane between two the upper one, beyond an end the one there.
  Lid cell_at(double x) const;
  /// From the centre of cell i to that of cell i + 1; i from -1 to cells() - 1.
  double distance(Lid i) const { return 0.5 * (width(i) + width(i + 1)); }
};

/// `cells` equal cells in [lower, upper], or with stretch > 0 cells that get smaller towards both ends:
/// x = lower + (upper - lower) (1 + tanh(stretch (2 i/cells - 1)) / tanh(stretch)) / 2.
GridLine make_grid_line(Lid cells, double lower, double upper, double stretch, bool periodic);

struct BoxGrid {
  std::array<GridLine, 3> lines;

  std::array<Lid, 3> cells() const { return {lines[0].cells(), lines[1].cells(), lines[2].cells()}; }
  Gid cell_count() const { return Gid{lines[0].cells()} * lines[1].cells() * lines[2].cells(); }
  std::array<bool, 3> periodic() const { return {lines[0].periodic, lines[1].periodic, lines[2].periodic}; }
  bool uniform(int d) const { return lines[d].equal_width > 0; }
  double smallest_width(int d) const;
  /// Of the directions with more than one cell, in which something can change; of all where there is none.
  double smallest_width() const;
  Vec3 centre(Lid i, Lid j, Lid k) const { return {lines[0].centre(i), lines[1].centre(j), lines[2].centre(k)}; }
  double volume(Lid i, Lid j, Lid k) const { return lines[0].width(i) * lines[1].width(j) * lines[2].width(k); }
  std::uint64_t checksum() const;  ///< of planes and periods
};

}  // namespace tutti
