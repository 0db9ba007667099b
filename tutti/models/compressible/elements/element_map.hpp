// From reference to physical space: the Lagrange elements of tutti/mesh/elements.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "tutti/base/vec3.hpp"
#include "tutti/mesh/elements/element_mesh.hpp"

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

/// The shape functions of the nodes of a type of element, order 1 or 2. Tetrahedra, hexahedra and prisms have Lagrange
/// polynomials; pyramids the rational functions of Bergot, Cohen and Durufle (J. Sci. Comput. 42, 2010).
class NodalSpace {
 public:
  NodalSpace(ElementType type, int order);
  int size() const { return static_cast<int>(powers_.size()); }
  ElementType type() const { return type_; }
  /// Not at a pyramid's apex.
  std::vector<double> values(Vec3 at) const;
  std::vector<Vec3> gradients(Vec3 at) const;

 private:
  /// r^i s^j t^k (1 - t)^m
  struct Power {
    int i, j, k, m;
  };
  double power(const Power& p, Vec3 at) const;
  Vec3 slope(const Power& p, Vec3 at) const;
  double at_node(const Power& p, int node) const;

  ElementType type_;
  std::vector<Power> powers_;
  std::vector<double> coefficients_;  ///< of node n and power k at [k * size + n]
};
/// The same object each time.
const NodalSpace& nodal_space(ElementType type, int order);

/// One element: its nodes' places, in the order of the mesh.
class ElementMap {
 public:
  ElementMap(ElementType type, std::span<const Vec3> nodes);
  ElementType type() const { return space_->type(); }
  Vec3 point(Vec3 reference) const;
  Jacobian jacobian(Vec3 reference) const;
  /// A reference point in the middle.
  Vec3 centre() const;
  /// The map is affine, within rounding.
  bool affine() const;
  /// Outward normal of a face at face coordinates u, v; its length is the ratio of the areas.
  Vec3 area_vector(int face, double u, double v) const;
  std::span<const Vec3> nodes() const { return nodes_; }

 private:
  const NodalSpace* space_;
  std::vector<Vec3> nodes_;
};

}  // namespace tutti::compressible
