// Tables of hexahedra that are summed over their lines: kernels/hexahedra.hpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tutti/mesh/elements/element_mesh.hpp"
#include "tutti/models/compressible/kernels/hexahedra.hpp"

namespace tutti::compressible {

/// Whether an element's kernels sum over lines.
constexpr bool is_factored(ElementType type, bool affine, int order) {
  return type == ElementType::hexahedron && affine && order >= hexahedra::lowest_order;
}
/// Writes Lines::size values.
void make_line_tables(int order, double* to);
/// FaceRecord::plane of a hexahedron's face.
std::int32_t plane_of(int face);
/// Where points of the face (reference coordinates) are in the grid of its plane: max_face_points of them, those
/// without a point 0.
std::vector<std::uint8_t> places_in_plane(int order, int face, std::span<const Vec3> points);

}  // namespace tutti::compressible
