// Quadrature of the reference elements by products of Gauss rules. Inside the mesh floor only: checks and volumes.
#pragma once

#include <vector>

#include "tutti/mesh/elements/element_mesh.hpp"

namespace tutti {

struct ReferencePoint {
  Vec3 r;
  double weight = 0;
};

/// `n` Gauss points a direction, 2 to 4, on the unit cube, collapsed onto the element: exact for polynomials of degree
/// 2 n - 3 on tetrahedra and pyramids, 2 n - 2 on prisms, 2 n - 1 in each direction on hexahedra.
std::vector<ReferencePoint> collapsed_gauss(ElementType type, int n);

}  // namespace tutti
