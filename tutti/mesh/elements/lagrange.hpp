// Elements as VTK's Lagrange cells of any order, and as linear cells.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tutti/mesh/elements/element_mesh.hpp"

namespace tutti {

/// Orders that lagrange_points() and linear_cells() know.
inline constexpr int max_lagrange_order = 10;

/// VTK's cell type: VTK_LAGRANGE_TETRAHEDRON, _HEXAHEDRON or _WEDGE. A pyramid becomes a hexahedron whose upper side is
/// the apex (VTK has no Lagrange pyramid): exact, as pyramids are polynomials in these coordinates
/// (element_geometry.hpp).
int lagrange_cell_type(ElementType type);

/// Points of an element of `order` 1 to max_lagrange_order as multiples of 1 / order, in VTK's order (of files of
/// version 2.1 or later): in reference coordinates, of a pyramid in those of the hexahedron that it becomes. Error:
/// order, a broken promise.
std::vector<std::array<int, 3>> lagrange_lattice(ElementType type, int order);
/// Their reference coordinates, also of pyramids.
std::vector<Vec3> lagrange_points(ElementType type, int order);

/// A linear cell among an element's Lagrange points.
struct LinearCell {
  std::uint8_t vtk_type = 0;
  std::uint8_t count = 0;
  std::array<std::int32_t, 8> points{};
};
/// The element cut into linear cells at its Lagrange points, all of positive volume: order^3 tetrahedra, hexahedra or
/// prisms; a pyramid becomes pyramids at its apex and hexahedra below.
std::vector<LinearCell> linear_cells(ElementType type, int order);

/// Points of the elements [begin, end), each with the Lagrange points of `order`, one element after the other.
std::vector<Vec3> sample_points(const ElementMesh& mesh, int order, Gid begin, Gid end);

}  // namespace tutti
