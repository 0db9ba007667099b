// Quadrature of the reference elements by products of Gauss rules. Inside the mesh floor only: checks and volumes.
#pragma once

#include <array>
#include <vector>

#include "tutti/mesh/elements/element_geometry.hpp"
#include "tutti/mesh/elements/element_mesh.hpp"

namespace tutti {

struct ReferencePoint {
  Vec3 r;
  double weight = 0;
};

/// `n` Gauss points a direction, 2 to 4, on the unit cube, collapsed onto the element: exact for polynomials of degree
/// 2 n - 3 on tetrahedra and pyramids, 2 n - 2 on prisms, 2 n - 1 in each direction on hexahedra.
std::vector<ReferencePoint> collapsed_gauss(ElementType type, int n);

/// Volumes of elements, with the shape functions at the rule's points made once.
class VolumeRule {
 public:
  VolumeRule();
  double volume(const ElementMesh& mesh, Gid element) const;

 private:
  struct Rule {
    std::vector<double> weights;
    ShapeTable table;
  };
  std::array<std::array<Rule, 2>, 4> rules_;  ///< by type and order
};

}  // namespace tutti
