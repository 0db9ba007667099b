// Every rule integrates every monomial up to its degree, and not beyond by far.
#include <gtest/gtest.h>

#include <cmath>

#include "tutti/models/compressible/elements/quadrature.hpp"

namespace tutti::compressible {
namespace {

double factorial(int n) {
  return n <= 1 ? 1.0 : n * factorial(n - 1);
}
double power(double x, int n) {
  double y = 1;
  for (int k = 0; k < n; ++k) y *= x;
  return y;
}
double integrate(const Quadrature& rule, int a, int b, int c) {
  double sum = 0;
  for (std::size_t q = 0; q < rule.points.size(); ++q) {
    const Vec3 p = rule.points[q];
    sum += rule.weights[q] * power(p.x, a) * power(p.y, b) * power(p.z, c);
  }
  return sum;
}
double on_simplex(int a, int b, int c, int dimension) {
  return factorial(a) * factorial(b) * factorial(c) / factorial(a + b + c + dimension);
}
double on_line(int a) {
  return 1.0 / (a + 1);
}
void expect_positive(const Quadrature& rule) {
  for (const double w : rule.weights) EXPECT_GT(w, 0);
}

TEST(Quadrature, GaussJacobiOfEveryWeight) {
  for (int alpha = 0; alpha <= 2; ++alpha)
    for (int n = 1; n <= 12; ++n) {
      const Quadrature rule = gauss_jacobi(n, alpha);
      expect_positive(rule);
      for (int a = 0; a <= 2 * n - 1; ++a)  // the beta function
        EXPECT_NEAR(integrate(rule, a, 0, 0), factorial(a) * factorial(alpha) / factorial(a + alpha + 1), 5e-15);
      const int beyond = 2 * n;
      EXPECT_GT(std::abs(integrate(rule, beyond, 0, 0) /
                             (factorial(beyond) * factorial(alpha) / factorial(beyond + alpha + 1)) -
                         1),
                1e-13);
    }
}

TEST(Quadrature, TrianglesToTheirDegree) {
  const int points[] = {1, 1, 3, 6, 6, 12, 12};
  for (int degree = 0; degree <= 16; ++degree) {
    const Quadrature rule = triangle_rule(degree);
    expect_positive(rule);
    if (degree <= 6) {
      EXPECT_EQ(rule.size(), points[degree]);
    }
    ASSERT_GE(rule.degree, degree);
    for (int a = 0; a <= rule.degree; ++a)
      for (int b = 0; a + b <= rule.degree; ++b)
        EXPECT_NEAR(integrate(rule, a, b, 0), on_simplex(a, b, 0, 2), 5e-15) << degree << ": " << a << b;
  }
}

TEST(Quadrature, TetrahedraToTheirDegree) {
  const int points[] = {1, 1, 4, 14, 14, 14, 24};
  for (int degree = 0; degree <= 14; ++degree) {
    const Quadrature rule = tetrahedron_rule(degree);
    expect_positive(rule);
    if (degree <= 6) {
      EXPECT_EQ(rule.size(), points[degree]);
    }
    ASSERT_GE(rule.degree, degree);
    for (int a = 0; a <= rule.degree; ++a)
      for (int b = 0; a + b <= rule.degree; ++b)
        for (int c = 0; a + b + c <= rule.degree; ++c)
          EXPECT_NEAR(integrate(rule, a, b, c), on_simplex(a, b, c, 3), 5e-15) << degree << ": " << a << b << c;
  }
}

TEST(Quadrature, QuadranglesAndHexahedraToTheirDegree) {
  for (int degree = 0; degree <= 15; degree += 3) {
    const Quadrature face = quadrangle_rule(degree), volume = hexahedron_rule(degree);
    expect_positive(volume);
    for (int a = 0; a <= face.degree; ++a)
      for (int b = 0; b <= face.degree; ++b) {
        EXPECT_NEAR(integrate(face, a, b, 0), on_line(a) * on_line(b), 5e-15);
        for (int c = 0; c <= volume.degree; ++c)
          EXPECT_NEAR(integrate(volume, a, b, c), on_line(a) * on_line(b) * on_line(c), 5e-15);
      }
  }
}

TEST(Quadrature, ParallelogramsAndParallelepipedsToTheirTotalDegree) {
  const std::array<int, 8> face_points = {1, 1, 4, 4, 8, 8, 12, 12}, volume_points = {1, 1, 8, 8, 14, 14, 34, 34};
  for (int degree = 0; degree <= 12; ++degree) {
    const Quadrature face = parallelogram_rule(degree), volume = parallelepiped_rule(degree);
    expect_positive(face);
    expect_positive(volume);
    if (degree <= 7) {
      EXPECT_EQ(face.size(), face_points[degree]);
      EXPECT_EQ(volume.size(), volume_points[degree]);
    }
    ASSERT_GE(face.degree, degree);
    ASSERT_GE(volume.degree, degree);
    for (int a = 0; a <= face.degree; ++a)
      for (int b = 0; a + b <= face.degree; ++b) {
        EXPECT_NEAR(integrate(face, a, b, 0), on_line(a) * on_line(b), 5e-15) << degree << ": " << a << b;
        for (int c = 0; a + b + c <= volume.degree; ++c)
          EXPECT_NEAR(integrate(volume, a, b, c), on_line(a) * on_line(b) * on_line(c), 5e-15)
              << degree << ": " << a << b << c;
      }
  }
}

TEST(Quadrature, PrismsToTheDegreesOfBoth) {
  for (int degree = 0; degree <= 12; degree += 2) {
    const Quadrature rule = prism_rule(degree, degree + 3);
    expect_positive(rule);
    for (int a = 0; a <= degree; ++a)
      for (int b = 0; a + b <= degree; ++b)
        for (int c = 0; c <= degree + 3; ++c)
          EXPECT_NEAR(integrate(rule, a, b, c), on_simplex(a, b, 0, 2) * on_line(c), 5e-15);
  }
}

// x^a y^b z^c of a pyramid is A^a B^b (1 - C)^(a + b) C^c of the cube, with the weight (1 - C)^2.
TEST(Quadrature, PyramidsToTheirDegree) {
  for (int degree = 0; degree <= 15; degree += 3) {
    const Quadrature rule = pyramid_rule(degree);
    expect_positive(rule);
    for (int a = 0; a <= rule.degree; ++a)
      for (int b = 0; a + b <= rule.degree; ++b)
        for (int c = 0; a + b + c <= rule.degree; ++c)
          EXPECT_NEAR(integrate(rule, a, b, c),
                      on_line(a) * on_line(b) * factorial(a + b + 2) * factorial(c) / factorial(a + b + c + 3), 5e-15);
  }
}

}  // namespace
}  // namespace tutti::compressible
