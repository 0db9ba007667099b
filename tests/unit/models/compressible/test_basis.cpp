// Bases are orthonormal and hold all polynomials of their degree, on elements of every type and shape.
#include <gtest/gtest.h>

#include <cmath>

#include "tutti/base/random.hpp"
#include "tutti/mesh/elements/element_tables.hpp"
#include "tutti/models/compressible/elements/operators.hpp"
#include "tutti/models/compressible/elements/tetrahedron_symmetry.hpp"

namespace tutti::compressible {
namespace {

constexpr ElementType all_types[] = {ElementType::tetrahedron, ElementType::hexahedron, ElementType::prism,
                                     ElementType::pyramid};
enum class Shape { affine, bent, curved };

/// An element that is turned and stretched; bent: its corners moved; curved: of second order, all nodes moved.
ElementMap element(ElementType type, Shape shape, double largest_move = 0.06) {
  std::vector<Vec3> nodes;
  const int count = shape == Shape::curved ? quadratic_node_count(type) : corner_count(type);
  for (int n = 0; n < count; ++n) {
    const Vec3 r = node_reference(type, n);
    Vec3 x{1 + 2 * r.x + 0.3 * r.y, 0.2 * r.x + 1.5 * r.y - 0.1 * r.z, -3 + 0.4 * r.y + 0.7 * r.z};
    const double move = shape == Shape::affine ? 0 : largest_move;
    for (int d = 0; d < 3; ++d) x[d] += move * (2 * random_unit(7, static_cast<std::uint64_t>(3 * n + d)) - 1);
    nodes.push_back(x);
  }
  return {type, nodes};
}

double mass_error(const ElementBasis& basis) {
  const Quadrature& rule = basis.rule();
  const std::size_t n = basis.values(rule.points[0]).size();
  std::vector<double> mass(n * n, 0.0);
  double volume = 0;
  for (std::size_t q = 0; q < rule.points.size(); ++q) {
    const double w = rule.weights[q] * basis.map().jacobian(rule.points[q]).determinant();
    const auto phi = basis.values(rule.points[q]);
    volume += w;
    for (std::size_t l = 0; l < n; ++l)
      for (std::size_t m = 0; m < n; ++m) mass[l * n + m] += w * phi[l] * phi[m];
  }
  EXPECT_NEAR(volume, basis.volume(), 1e-13 * volume);
  double worst = 0;
  for (std::size_t l = 0; l < n; ++l)
    for (std::size_t m = 0; m < n; ++m) worst = std::max(worst, std::abs(mass[l * n + m] / volume - (l == m ? 1 : 0)));
  return worst;
}

TEST(Basis, IsOrthonormalOnEveryElement) {
  for (const ElementType type : all_types)
    for (const Shape shape : {Shape::affine, Shape::bent, Shape::curved})
      for (const int order : {0, 1, 2, 3, 6})
        for (const bool stored : {false, true}) {
          const ElementBasis basis(element(type, shape), order, stored);
          EXPECT_EQ(basis.affine(),
                    !stored && (shape == Shape::affine || (shape == Shape::bent && type == ElementType::tetrahedron)));
          EXPECT_LT(mass_error(basis), order <= 3 ? 1e-13 : 1e-12)
              << element_name(type) << ' ' << static_cast<int>(shape) << ' ' << order;
        }
}

// Where one pass of orthonormalization would leave 2e-12 (order 6).
TEST(Basis, IsOrthonormalOnElementsThatAreFarFromTheirReference) {
  for (const ElementType type : all_types)
    for (const Shape shape : {Shape::bent, Shape::curved})
      for (const int order : {3, 4, 5, 6})
        for (const double move : {0.04, 0.09, 0.13}) {
          const ElementBasis basis(element(type, shape, move), order, true);
          if (basis.smallest_jacobian() <= 0) continue;
          EXPECT_LT(mass_error(basis), order == 3  ? 1e-13
                                       : order < 6 ? 3e-13
                                                   : 1e-12)
              << element_name(type) << ' ' << static_cast<int>(shape) << ' ' << order << ' ' << move;
        }
}

/// A polynomial of full degree of physical places, and its derivative along x.
double polynomial(Vec3 x, int order) {
  return std::pow(0.3 * x.x - 0.2 * x.y + 0.5 * x.z + 0.4, order);
}
double slope(Vec3 x, int order) {
  return order == 0 ? 0 : 0.3 * order * std::pow(0.3 * x.x - 0.2 * x.y + 0.5 * x.z + 0.4, order - 1);
}

/// Half turns of a straight tetrahedron change functions in their sign or not at all.
TEST(Basis, OfTetrahedraIsEvenOrOddUnderHalfTurns) {
  for (const int order : {1, 2}) {
    ASSERT_TRUE(has_symmetric_basis(ElementType::tetrahedron, order));
    const ElementBasis basis(element(ElementType::tetrahedron, Shape::affine), order, false);
    for (int f = 0; f < 4; ++f)
      for (std::uint64_t i = 0; i < 20; ++i) {
        const Vec3 at{0.3 * random_unit(1, i), 0.3 * random_unit(2, i), 0.3 * random_unit(3, i)};
        const auto here = basis.values(at), there = basis.values(half_turned(f, at));
        for (std::size_t l = 0; l < here.size(); ++l)
          EXPECT_NEAR(there[l], (odd_under_half_turn(f) >> l & 1U) != 0 ? -here[l] : here[l], 1e-13)
              << "order " << order << ", half turn " << f << ", function " << l;
      }
  }
  // A corner goes to corner 0, whose face is beyond it.
  EXPECT_EQ(half_turned(2, {0, 1, 0}), (Vec3{0, 0, 0}));
}

TEST(Basis, HoldsPolynomialsOfPhysicalSpace) {
  for (const ElementType type : all_types)
    for (const Shape shape : {Shape::affine, Shape::bent, Shape::curved})
      for (const int order : {1, 2, 4}) {
        const ElementBasis basis(element(type, shape), order, false);
        const Quadrature& rule = basis.rule();
        std::vector<double> u(basis_size(order), 0.0);
        for (std::size_t q = 0; q < rule.points.size(); ++q) {
          const double w = rule.weights[q] * basis.map().jacobian(rule.points[q]).determinant() / basis.volume();
          const auto phi = basis.values(rule.points[q]);
          for (std::size_t l = 0; l < u.size(); ++l)
            u[l] += w * polynomial(basis.map().point(rule.points[q]), order) * phi[l];
        }
        for (const Vec3 at : {Vec3{0.2, 0.3, 0.1}, Vec3{0.05, 0.1, 0.6}}) {
          const auto phi = basis.values(at);
          const auto gradients = basis.gradients(at);
          const auto inverse = basis.map().jacobian(at).inverse();
          double value = 0, along_x = 0;
          for (std::size_t l = 0; l < u.size(); ++l) {
            value += u[l] * phi[l];
            const Vec3 g = gradients[l];
            along_x += u[l] * (basis.affine() ? g.x * inverse[0].x + g.y * inverse[1].x + g.z * inverse[2].x : g.x);
          }
          EXPECT_NEAR(value, polynomial(basis.map().point(at), order), 1e-11) << element_name(type);
          EXPECT_NEAR(along_x, slope(basis.map().point(at), order), 1e-10) << element_name(type);
        }
      }
}

}  // namespace
}  // namespace tutti::compressible
