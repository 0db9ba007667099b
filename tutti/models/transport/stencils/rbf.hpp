// Radial functions of RBF-FD and what operators make of them, written once for CPUs and GPUs.
//
// r is the length of the chord between two nodes, in units of the sphere's radius. Nothing here but + - * / and square
// roots, and portable::exp: the values have the same bits on every processor.
#pragma once

#include <cmath>

#include "tutti/base/portable_math.hpp"
#include "tutti/base/vec3.hpp"

namespace tutti::transport::rbf {

TUTTI_HD inline double distance_squared(Vec3 a, Vec3 b) {
  const Vec3 d = a - b;
  return dot(d, d);
}

/// x^k, k >= 0, as k products from the left.
TUTTI_HD inline double power(double x, int k) {
  double product = 1;
  for (int i = 0; i < k; ++i) product *= x;
  return product;
}

/// p_k(s) of Delta^k phi = eps^2k p_k(s) phi for the Gaussian in the plane, s = (eps r)^2 [Bollig 2012, eq. 4; the
/// recursion is that of Fornberg and Lehto, J. Comput. Phys. 230 (2011), section 3.2]; p_k = (-4)^k k! L_k(s).
TUTTI_HD inline double delta_polynomial(int k, double s) {
  double before = 0, p = 1;
  for (int i = 0; i < k; ++i) {
    const double next = 4 * (s - (2 * i + 1)) * p - 16.0 * i * i * before;
    before = p;
    p = next;
  }
  return p;
}

/// phi(r) = exp(-(eps r)^2) around a node of the unit sphere. What operators make of it takes the value `phi`, too: it
/// stands in the matrix already, and costs more than the rest.
struct Gaussian {
  double epsilon;

  TUTTI_HD double value(double r2) const { return portable::exp(-(epsilon * epsilon * r2)); }
  /// At c, of phi around x: the part of the gradient in the tangent plane of c, -2 eps^2 phi [c (c.x) - x].
  TUTTI_HD Vec3 gradient(Vec3 c, Vec3 x, double phi) const {
    return (-2 * epsilon * epsilon * phi) * (dot(c, x) * c - x);
  }
  /// Laplace and Beltrami's operator on the sphere: eps^2 [4 (s - 1) + (2 - s) r^2] phi; the second term is curvature.
  TUTTI_HD double laplacian(double r2, double phi) const {
    const double e2 = epsilon * epsilon, s = e2 * r2;
    return e2 * (4 * (s - 1) + (2 - s) * r2) * phi;
  }
  /// Delta^k of the plane, as the paper has it: a stencil is nearly flat.
  TUTTI_HD double delta(int k, double r2, double phi) const {
    const double e2 = epsilon * epsilon;
    return power(e2, k) * delta_polynomial(k, e2 * r2) * phi;
  }
};

/// phi(r) = r^m, m odd, in a plane.
struct Polyharmonic {
  int exponent;

  /// r^m, m odd and positive.
  TUTTI_HD static double odd_power(int m, double r2) { return power(r2, (m - 1) / 2) * std::sqrt(r2); }
  TUTTI_HD double value(double r2) const { return odd_power(exponent, r2); }
  /// What the vector (c - x) is to be multiplied by to give the gradient at c of phi around x; exponent >= 3.
  TUTTI_HD double gradient_factor(double r2) const { return exponent * odd_power(exponent - 2, r2); }
  /// Delta^k r^m = m^2 (m-2)^2 ... (m-2k+2)^2 r^(m-2k), 2 k < m.
  TUTTI_HD double delta(int k, double r2) const {
    double factor = 1;
    for (int i = 0; i < k; ++i) factor *= static_cast<double>(exponent - 2 * i) * (exponent - 2 * i);
    return factor * odd_power(exponent - 2 * k, r2);
  }
  TUTTI_HD double laplacian(double r2) const { return delta(1, r2); }
};

/// x^a y^b.
struct Monomial {
  int a, b;

  /// The i-th, by degree: 1, x, y, x^2, x y, y^2, ...
  TUTTI_HD static Monomial number(int i) {
    int degree = 0, first = 0;
    while (first + degree + 1 <= i) first += ++degree;
    return {degree - (i - first), i - first};
  }
  TUTTI_HD double value(double x, double y) const { return power(x, a) * power(y, b); }
  /// Delta^k at the origin: (k over a/2) a! b! where a and b are even and a + b = 2k, else 0.
  TUTTI_HD double delta(int k) const {
    if (a % 2 != 0 || b % 2 != 0 || a + b != 2 * k) return 0;
    double result = 1;
    const int half = a / 2;
    for (int i = 1; i <= half; ++i) result = result * (k - half + i) / i;
    for (int i = 2; i <= a; ++i) result *= i;
    for (int i = 2; i <= b; ++i) result *= i;
    return result;
  }
};

}  // namespace tutti::transport::rbf
