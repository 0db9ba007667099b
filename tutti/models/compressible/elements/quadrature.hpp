// Quadrature rules of the reference elements and faces of tutti/mesh/elements.
#pragma once

#include <vector>

#include "tutti/base/vec3.hpp"
#include "tutti/mesh/elements/element_mesh.hpp"

namespace tutti::compressible {

/// Points and weights of a reference element; faces have z = 0, a line y = z = 0. Exact for polynomials of `degree`:
/// of total degree in the coordinates of a triangle or tetrahedron, else in each coordinate.
struct Quadrature {
  std::vector<Vec3> points;
  std::vector<double> weights;  ///< positive, their sum is the measure of the reference element
  int degree = 0;

  int size() const { return static_cast<int>(points.size()); }
};

/// Gauss-Jacobi points of the weight (1 - x)^alpha on [0, 1], exact to degree 2 n - 1; alpha = 0 is Gauss-Legendre.
/// Golub and Welsch's nodes are found by Newton's method on the Jacobi polynomial.
Quadrature gauss_jacobi(int n, int alpha);

/// The rule of the fewest points that is known here for the degree. Triangles and tetrahedra: symmetric rules up to
/// degree 6 (Dunavant, Int. J. Numer. Meth. Eng. 21, 1985; Keast, Comput. Methods Appl. Mech. Eng. 55, 1986;
/// Walkington, CMU 00-NA-002, 2000), beyond that collapsed cubes (Stroud, Approximate Calculation of Multiple
/// Integrals, 1971).
Quadrature triangle_rule(int degree);
Quadrature tetrahedron_rule(int degree);
/// Of total degree: symmetric rules up to degree 7 (Stroud 1971: C2 5-4 and 7-1, C3 5-1 and 7-3), products of
/// Gauss-Legendre rules where they take no more points, and beyond.
Quadrature parallelogram_rule(int degree);
Quadrature parallelepiped_rule(int degree);
/// Products of Gauss-Legendre rules.
Quadrature quadrangle_rule(int degree);
Quadrature hexahedron_rule(int degree);
/// A triangle's rule times a line's.
Quadrature prism_rule(int triangle_degree, int line_degree);
/// The collapsed cube: x = a (1 - c), y = b (1 - c), z = c; exact to `degree` in each of a, b, c.
Quadrature pyramid_rule(int degree);

}  // namespace tutti::compressible
