// The radial functions against series in long double, explicit sums, and differences on the sphere.
#include "tutti/models/transport/stencils/rbf.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "tutti/models/transport/paper_parameters.hpp"

namespace tutti::transport {
namespace {

using Real = long double;

Real factorial(int n) {
  return n < 2 ? 1 : n * factorial(n - 1);
}

/// L_k(s) by its explicit sum.
Real laguerre(int k, Real s) {
  Real sum = 0, power = 1;
  for (int i = 0; i <= k; ++i, power *= -s)
    sum += factorial(k) / (factorial(i) * factorial(k - i)) / factorial(i) * power;
  return sum;
}

/// Delta^k of exp(-(eps r)^2) in the plane: term by term of its series, as Delta r^(2j) = (2j)^2 r^(2j-2).
Real delta_by_series(int k, Real epsilon, Real r2) {
  Real sum = 0;
  for (int j = k; j < 90; ++j) {
    Real term = 1;
    for (int i = 1; i <= j; ++i) term *= -epsilon * epsilon / i;
    for (int i = 0; i < k; ++i) term *= Real{4} * (j - i) * (j - i);
    for (int i = k; i < j; ++i) term *= r2;
    sum += term;
  }
  return sum;
}

TEST(Gaussian, PolynomialsOfDeltaAreLaguerres) {
  for (int k = 0; k <= 10; ++k)
    for (const double s : {0.0, 0.01, 0.3, 1.0, 2.7, 6.0}) {
      Real scale = factorial(k);
      for (int i = 0; i < k; ++i) scale *= -4;
      // Near a zero the sum's largest terms, of the size of exp(s/2) times L_k(0), decide what is lost.
      EXPECT_NEAR(static_cast<double>(rbf::delta_polynomial(k, s) / scale), static_cast<double>(laguerre(k, s)),
                  1e-14 * (k + 1) * std::exp(s))
          << "k = " << k << ", s = " << s;
    }
  EXPECT_EQ(rbf::delta_polynomial(0, 3.5), 1);
  EXPECT_EQ(rbf::delta_polynomial(1, 3.5), 10);                          // 4 (s - 1)
  EXPECT_EQ(rbf::delta_polynomial(2, 3.5), 16 * (3.5 * 3.5 - 14) + 32);  // 16 (s^2 - 4 s + 2)
}

TEST(Gaussian, DeltaIsThatOfItsSeries) {
  for (const double epsilon : {0.5, 2.0, 7.0})
    for (int k = 0; k <= 8; ++k)
      for (const double s : {0.0, 0.04, 0.5, 1.0, 3.0, 5.0}) {
        const double r2 = s / (epsilon * epsilon);
        const rbf::Gaussian phi{epsilon};
        const Real expected = delta_by_series(k, epsilon, r2);
        const Real scale = std::abs(delta_by_series(k, epsilon, 0));
        EXPECT_NEAR(static_cast<double>(phi.delta(k, r2, phi.value(r2)) / scale), static_cast<double>(expected / scale),
                    1e-13)
            << "eps = " << epsilon << ", k = " << k << ", s = " << s;
      }
}

struct Point {
  Real x, y, z;
};

/// At angle t from c towards the tangent.
Point along(Vec3 c, Vec3 tangent, Real t) {
  const Real cosine = std::cos(t), sine = std::sin(t);
  return {cosine * c.x + sine * tangent.x, cosine * c.y + sine * tangent.y, cosine * c.z + sine * tangent.z};
}

struct Place {
  Vec3 centre, first, second, node;
};

Vec3 unit(Vec3 v) {
  return (1 / norm(v)) * v;
}

std::array<Place, 3> places() {
  const auto make = [](Vec3 c, Vec3 x) {
    const Vec3 t = unit(cross(c, Vec3{0.3, -0.5, 0.81}));
    return Place{c, t, cross(c, t), x};
  };
  return {make(unit({0.2, 0.5, -0.7}), unit({0.25, 0.4, -0.75})), make({0, 0, 1}, unit({0.1, 0.3, 1})),
          make(unit({-1, 1, 0.1}), unit({-1, 0.4, 0.6}))};
}

TEST(Gaussian, GradientAndLaplacianAreThoseOfTheSphere) {
  const double epsilon = 2.5;
  const rbf::Gaussian phi{epsilon};
  for (const Place& p : places()) {
    const auto value = [&](Vec3 tangent, Real t) {
      const Point q = along(p.centre, tangent, t);
      const Real dx = q.x - p.node.x, dy = q.y - p.node.y, dz = q.z - p.node.z;
      return std::exp(-Real{epsilon} * epsilon * (dx * dx + dy * dy + dz * dz));
    };
    const double r2 = rbf::distance_squared(p.centre, p.node), at_centre = phi.value(r2);
    const Vec3 gradient = phi.gradient(p.centre, p.node, at_centre);
    EXPECT_NEAR(dot(gradient, p.centre), 0, 1e-15);
    // Along two great circles at right angles: second derivatives add up to Laplace and Beltrami's operator.
    const Real h = 1e-4L;
    Real laplacian = 0;
    for (const Vec3 t : {p.first, p.second}) {
      const Real first = (8 * (value(t, h) - value(t, -h)) - (value(t, 2 * h) - value(t, -2 * h))) / (12 * h);
      EXPECT_NEAR(dot(gradient, t), static_cast<double>(first), 1e-12);
      laplacian +=
          (16 * (value(t, h) + value(t, -h)) - (value(t, 2 * h) + value(t, -2 * h)) - 30 * value(t, 0)) / (12 * h * h);
    }
    EXPECT_NEAR(phi.laplacian(r2, at_centre), static_cast<double>(laplacian), 1e-8);
  }
}

TEST(Polyharmonic, DerivativesInThePlane) {
  const double x = 0.37, y = -0.62, r2 = x * x + y * y, r = std::sqrt(r2);
  for (const int m : {3, 5, 7, 9}) {
    const rbf::Polyharmonic phi{m};
    EXPECT_NEAR(phi.value(r2), std::pow(r, m), 1e-15);
    const auto value = [&](Real a, Real b) { return std::pow(a * a + b * b, m / Real{2}); };
    const Real h = 1e-4L;
    EXPECT_NEAR(phi.gradient_factor(r2) * x, static_cast<double>((value(x + h, y) - value(x - h, y)) / (2 * h)), 1e-6);
    const Real laplacian =
        (value(x + h, y) + value(x - h, y) + value(x, y + h) + value(x, y - h) - 4 * value(x, y)) / (h * h);
    EXPECT_NEAR(phi.laplacian(r2), static_cast<double>(laplacian), 2e-5);
  }
  // Delta r^m = m^2 r^(m-2), again and again.
  EXPECT_NEAR(rbf::Polyharmonic{7}.delta(3, r2), 49 * 25 * 9 * r, 1e-11);
  EXPECT_NEAR(rbf::Polyharmonic{9}.delta(2, r2), 81 * 49 * std::pow(r, 5), 1e-11);
  EXPECT_EQ(rbf::Polyharmonic{7}.delta(3, 0), 0);
}

/// Delta of polynomials by the coefficients: an entry for each (a, b).
TEST(Monomial, DeltaAtTheOrigin) {
  constexpr int top = 12;
  int number = 0;
  for (int degree = 0; degree <= top; ++degree)
    for (int b = 0; b <= degree; ++b, ++number) {
      const rbf::Monomial m = rbf::Monomial::number(number);
      ASSERT_EQ(m.a, degree - b);
      ASSERT_EQ(m.b, b);
      std::array<std::array<double, top + 1>, top + 1> coefficients{};
      coefficients[m.a][m.b] = 1;
      for (int k = 0; k <= top / 2; ++k) {
        EXPECT_EQ(m.delta(k), coefficients[0][0]) << "x^" << m.a << " y^" << m.b << ", k = " << k;
        std::array<std::array<double, top + 1>, top + 1> next{};
        for (int i = 0; i <= top; ++i)
          for (int j = 0; j <= top; ++j) {
            if (i >= 2) next[i - 2][j] += i * (i - 1) * coefficients[i][j];
            if (j >= 2) next[i][j - 2] += j * (j - 1) * coefficients[i][j];
          }
        coefficients = next;
      }
    }
  EXPECT_DOUBLE_EQ((rbf::Monomial{3, 2}.value(2, 5)), 200);
}

TEST(PaperParameters, TablesTwoAndThree) {
  ASSERT_NE(find_parameters(vortex_parameters, 101), nullptr);
  EXPECT_EQ(find_parameters(vortex_parameters, 57), nullptr);
  // Figure 8: N = 4096, n = 101 stands beside eps = 3.5.
  EXPECT_NEAR(find_parameters(vortex_parameters, 101)->epsilon(4096), 3.552, 1e-12);
  // All k of the tables are even: the factor damps when it is negative.
  for (const auto& table : {vortex_parameters, bell_parameters})
    for (const PaperParameters& entry : table) EXPECT_LT(entry.hyper_factor(10201), 0);
  EXPECT_DOUBLE_EQ(find_parameters(vortex_parameters, 17)->hyper_factor(100), -8e-4);
  EXPECT_NEAR(bell_time_unit, 165012, 0.5);
}

}  // namespace
}  // namespace tutti::transport
