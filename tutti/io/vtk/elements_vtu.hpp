// Results on elements of any type and order for ParaView.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "tutti/io/vtk/vtu.hpp"
#include "tutti/mesh/elements/element_mesh.hpp"

namespace tutti {

/// How elements are written: as Lagrange cells, which ParaView (5.11 or later) draws curved, or cut into linear cells,
/// which every program reads.
enum class ElementCells { lagrange, linear };

/// Elements of a part as a grid: each with its own points, so that fields may jump between elements.
class ElementVtuGrid {
 public:
  /// `points`: the Lagrange points of `order` of each element, one element after the other (sample_points()). Point
  /// arrays of write_vtu() have one value for each of them in the same order.
  ElementVtuGrid(std::span<const ElementType> types, int order, std::span<const Vec3> points,
                 ElementCells cells = ElementCells::lagrange, const VtkOptions& options = {});

  const VtuGrid& grid() const { return grid_; }
  /// Values of elements, `components` each, for every cell of the grid: elements may have been cut.
  template <class T>
  std::vector<T> cell_values(std::span<const T> of_elements, int components = 1) const {
    std::vector<T> values;
    const auto width = static_cast<std::size_t>(components);
    for (const Lid e : element_of_cell_)
      for (std::size_t c = 0; c < width; ++c) values.push_back(of_elements[static_cast<std::size_t>(e) * width + c]);
    return values;
  }

 private:
  std::vector<Lid> element_of_cell_;
  VtuGrid grid_;
};

}  // namespace tutti
