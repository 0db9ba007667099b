#include "tutti/io/vtk/elements_vtu.hpp"

#include <array>
#include <limits>

#include "tutti/base/error.hpp"
#include "tutti/mesh/elements/lagrange.hpp"

namespace tutti {
namespace {

/// Cells of an element of each type, by its own points.
std::array<std::vector<LinearCell>, 4> linear_patterns(int order) {
  std::array<std::vector<LinearCell>, 4> patterns;
  for (std::size_t t = 0; t < 4; ++t) patterns[t] = linear_cells(static_cast<ElementType>(t), order);
  return patterns;
}

VtuGrid make_grid(std::span<const ElementType> types, int order, std::span<const Vec3> points, ElementCells cells,
                  const VtkOptions& options, std::vector<Lid>& element_of_cell) {
  std::array<std::size_t, 4> counts;
  for (std::size_t t = 0; t < 4; ++t) counts[t] = lagrange_lattice(static_cast<ElementType>(t), order).size();
  if (points.size() > static_cast<std::size_t>(std::numeric_limits<Lid>::max()))
    fail(ErrorKind::resource, "output: {} points of elements do not fit one file; use more parts or a lower order",
         points.size());
  const auto patterns = cells == ElementCells::linear ? linear_patterns(order) : decltype(linear_patterns(order)){};
  std::vector<Lid> connectivity;
  std::vector<Size> ends;
  std::vector<std::uint8_t> cell_types;
  std::size_t first = 0;
  const auto close = [&](std::uint8_t type, std::size_t element) {
    ends.push_back(static_cast<Size>(connectivity.size()));
    cell_types.push_back(type);
    element_of_cell.push_back(static_cast<Lid>(element));
  };
  for (std::size_t e = 0; e < types.size(); ++e) {
    const auto t = static_cast<std::size_t>(types[e]);
    if (cells == ElementCells::lagrange) {
      for (std::size_t n = 0; n < counts[t]; ++n) connectivity.push_back(static_cast<Lid>(first + n));
      close(static_cast<std::uint8_t>(lagrange_cell_type(types[e])), e);
    }
    for (const LinearCell& cell : patterns[t]) {
      for (std::size_t n = 0; n < cell.count; ++n) connectivity.push_back(static_cast<Lid>(first) + cell.points[n]);
      close(cell.vtk_type, e);
    }
    first += counts[t];
  }
  require(first == points.size(), "{} points for elements that have {}", points.size(), first);
  return VtuGrid::of_cells(points, connectivity, ends, cell_types, options);
}

}  // namespace

ElementVtuGrid::ElementVtuGrid(std::span<const ElementType> types, int order, std::span<const Vec3> points,
                               ElementCells cells, const VtkOptions& options)
    : grid_(make_grid(types, order, points, cells, options, element_of_cell_)) {}

}  // namespace tutti
