#include "tutti/models/compressible/elements/element_map.hpp"

#include <algorithm>

namespace tutti::compressible {
namespace {

bool is_affine(ElementType type, std::span<const Vec3> nodes) {
  if (type == ElementType::tetrahedron && nodes.size() == 4) return true;
  // The affine map through corner 0 and the ends of r, s and t.
  const Vec3 origin = nodes[0];
  std::array<Vec3, 3> ends{};
  double size = 0;
  for (int n = 0; n < corner_count(type); ++n) {
    const Vec3 at = node_reference(type, n), x = nodes[n] - origin;
    size = std::max(size, norm(x));
    for (int d = 0; d < 3; ++d)
      if (at[d] == 1 && at[(d + 1) % 3] == 0 && at[(d + 2) % 3] == 0) ends[d] = x;
  }
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const Vec3 at = node_reference(type, static_cast<int>(n));
    const Vec3 should = origin + at.x * ends[0] + at.y * ends[1] + at.z * ends[2];
    if (!(norm(nodes[n] - should) <= 1e-12 * size)) return false;
  }
  return true;
}

}  // namespace

ElementMap::ElementMap(ElementType type, std::span<const Vec3> nodes)
    : type_(type), nodes_(nodes.begin(), nodes.end()), affine_(is_affine(type, nodes)) {}

Jacobian ElementMap::jacobian(Vec3 reference) const {
  const MappedPoint p = map_point(type_, nodes_, reference);
  return {p.dr, p.ds, p.dt};
}

Vec3 ElementMap::centre() const {
  switch (type_) {
    case ElementType::tetrahedron:
      return {0.25, 0.25, 0.25};
    case ElementType::hexahedron:
      return {0.5, 0.5, 0.5};
    case ElementType::prism:
      return {1.0 / 3, 1.0 / 3, 0.5};
    case ElementType::pyramid:
      break;
  }
  return {0.4, 0.4, 0.2};
}

Vec3 ElementMap::area_vector(int face, double u, double v) const {
  return FaceAreas(type_, face).at(map_point(type_, nodes_, face_reference(type_, face, u, v)));
}

}  // namespace tutti::compressible
