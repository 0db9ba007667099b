// One element's map from reference to physical space.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "tutti/mesh/elements/element_geometry.hpp"

namespace tutti::compressible {

/// Columns are dx/dr, dx/ds, dx/dt.
struct Jacobian {
  Vec3 r, s, t;
  double determinant() const { return dot(r, cross(s, t)); }
  /// The rows of its inverse: gradients of r, s and t.
  std::array<Vec3, 3> inverse() const {
    const double d = 1 / determinant();
    return {d * cross(s, t), d * cross(t, r), d * cross(r, s)};
  }
};

class ElementMap {
 public:
  /// `nodes`: places, in the order of the mesh.
  ElementMap(ElementType type, std::span<const Vec3> nodes);
  ElementType type() const { return type_; }
  std::span<const Vec3> nodes() const { return nodes_; }
  /// 1 or 2.
  int geometry_order() const { return tutti::geometry_order(type_, nodes_.size()); }
  Vec3 point(Vec3 reference) const { return map_point(type_, nodes_, reference).x; }
  Jacobian jacobian(Vec3 reference) const;
  /// A reference point in the middle.
  Vec3 centre() const;
  /// The map is affine, within rounding.
  bool affine() const { return affine_; }
  /// Outward normal of a face at face coordinates u, v; its length is the ratio of the areas.
  Vec3 area_vector(int face, double u, double v) const;

 private:
  ElementType type_;
  std::vector<Vec3> nodes_;
  bool affine_;
};

}  // namespace tutti::compressible
