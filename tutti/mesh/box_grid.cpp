#include "tutti/mesh/box_grid.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tutti/base/hash.hpp"

namespace tutti {
namespace {

/// The cell inside the grid that cell i is an image of.
Lid image(Lid i, Lid cells, bool periodic) {
  if (i < 0) return periodic ? i + cells : -1 - i;
  if (i >= cells) return periodic ? i - cells : 2 * cells - 1 - i;
  return i;
}

}  // namespace

double GridLine::width(Lid i) const {
  if (equal_width > 0) return equal_width;
  const auto inside = static_cast<std::size_t>(image(i, cells(), periodic));
  return faces[inside + 1] - faces[inside];
}

double GridLine::centre(Lid i) const {
  if (i < 0) return faces.front() - 0.5 * width(i);
  if (i >= cells()) return faces.back() + 0.5 * width(i);
  return 0.5 * (faces[i] + faces[i + 1]);
}

Lid GridLine::cell_at(double x) const {
  const auto above = std::upper_bound(faces.begin(), faces.end(), x) - faces.begin();
  return std::clamp(static_cast<Lid>(above) - 1, Lid{0}, cells() - 1);
}

GridLine make_grid_line(Lid cells, double lower, double upper, double stretch, bool periodic) {
  GridLine line;
  line.periodic = periodic;
  for (Lid i = 0; i <= cells; ++i) {
    const double part = static_cast<double>(i) / cells;
    const double at = stretch > 0 ? 0.5 * (1 + std::tanh(stretch * (2 * part - 1)) / std::tanh(stretch)) : part;
    line.faces.push_back(lower + (upper - lower) * at);
  }
  line.faces.front() = lower;
  line.faces.back() = upper;
  if (!(stretch > 0)) line.equal_width = (upper - lower) / cells;
  return line;
}

double BoxGrid::smallest_width(int d) const {
  const GridLine& line = lines[d];
  double least = line.width(0);
  for (Lid i = 1; i < line.cells(); ++i) least = std::min(least, line.width(i));
  return least;
}

double BoxGrid::smallest_width() const {
  double least = std::numeric_limits<double>::infinity();
  for (int d = 0; d < 3; ++d)
    if (lines[d].cells() > 1 || cell_count() == 1) least = std::min(least, smallest_width(d));
  return least;
}

std::uint64_t BoxGrid::checksum() const {
  Hasher hash;
  for (const GridLine& line : lines) {
    hash.add({reinterpret_cast<const char*>(line.faces.data()), line.faces.size() * sizeof(double)});
    const char periodic = line.periodic ? 1 : 0;
    hash.add({&periodic, 1});
  }
  return hash.digest();
}

}  // namespace tutti
