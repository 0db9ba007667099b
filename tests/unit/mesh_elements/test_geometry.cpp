// Shape functions, maps and faces of the reference elements.
#include <gtest/gtest.h>

#include <cmath>

#include "tutti/base/random.hpp"
#include "tutti/mesh/elements/element_checks.hpp"
#include "tutti/mesh/elements/element_geometry.hpp"
#include "tutti/mesh/elements/reference_rules.hpp"

namespace tutti {
namespace {

class EveryElement : public testing::TestWithParam<std::tuple<ElementType, int>> {
 protected:
  ElementType type = std::get<0>(GetParam());
  int order = std::get<1>(GetParam());
  int count = order == 1 ? corner_count(type) : quadratic_node_count(type);

  element_geometry::Shape shape(int node, Vec3 r) const {
    const auto& l = node_lattice(type)[node];
    return shape_function(type, order, l[0], l[1], l[2], r);
  }
  /// Nodes of a strongly bent element.
  std::vector<Vec3> bent() const {
    std::vector<Vec3> nodes;
    for (int n = 0; n < count; ++n) {
      const Vec3 r = node_reference(type, n);
      nodes.push_back({r.x + 0.1 * r.y * r.z, 2 * r.y + 0.2 * std::sin(r.x + r.z), 1 + r.z - 0.1 * r.x * r.y});
    }
    return nodes;
  }
  std::vector<Vec3> inner_points() const {
    std::vector<Vec3> points;
    for (const ReferencePoint& p : collapsed_gauss(type, 3)) points.push_back(p.r);
    return points;
  }
};

TEST_P(EveryElement, ShapeFunctionsAreOneAtTheirNodeAndZeroAtOthers) {
  for (int n = 0; n < count; ++n)
    for (int at = 0; at < count; ++at)
      EXPECT_NEAR(shape(n, node_reference(type, at)).value, n == at ? 1 : 0, 1e-14) << n << " at " << at;
}

TEST_P(EveryElement, ShapeFunctionsReproducePolynomials) {
  // All of degree <= order: completeness, and sum 1.
  const auto f = [&](Vec3 r) {
    return 1 + r.x - 2 * r.y + 3 * r.z + (order == 2 ? r.x * r.y - r.z * r.z + r.x * r.z : 0);
  };
  for (const Vec3& r : inner_points()) {
    double sum = 0;
    for (int n = 0; n < count; ++n) sum += shape(n, r).value * f(node_reference(type, n));
    EXPECT_NEAR(sum, f(r), 1e-13);
  }
}

TEST_P(EveryElement, JacobianIsTheDifferenceQuotient) {
  const auto nodes = bent();
  const double h = 1e-5;
  for (const Vec3& r : inner_points()) {
    const MappedPoint p = map_point(type, nodes, r);
    const auto quotient = [&](Vec3 d) {
      return (0.5 / h) * (map_point(type, nodes, r + h * d).x - map_point(type, nodes, r - h * d).x);
    };
    EXPECT_LT(norm(p.dr - quotient({1, 0, 0})), 1e-8);
    EXPECT_LT(norm(p.ds - quotient({0, 1, 0})), 1e-8);
    EXPECT_LT(norm(p.dt - quotient({0, 0, 1})), 1e-8);
  }
}

TEST_P(EveryElement, TablesMapAllPointsWithTheSameBits) {
  const auto nodes = bent();
  const auto points = inner_points();
  const ShapeTable table(type, order, points);
  const std::size_t row = points.size();
  std::vector<double> all(12 * row), places(3 * row);
  table.map_all(nodes, all.data());
  table.map_places(nodes, places.data());
  for (std::size_t q = 0; q < row; ++q) {
    const MappedPoint p = map_point(type, nodes, points[q]), again = table.map(q, nodes);
    const std::array<Vec3, 4> expected = {p.x, p.dr, p.ds, p.dt}, one = {again.x, again.dr, again.ds, again.dt};
    for (std::size_t k = 0; k < 4; ++k) {
      EXPECT_EQ((Vec3{all[3 * k * row + q], all[(3 * k + 1) * row + q], all[(3 * k + 2) * row + q]}), expected[k]);
      EXPECT_EQ(one[k], expected[k]);
    }
    EXPECT_EQ((Vec3{places[q], places[row + q], places[2 * row + q]}), p.x);
  }
}

/// Integral of x . n / 3 over the surface: the volume, by Gauss's theorem.
TEST_P(EveryElement, FacesPointOutwardsAndEncloseTheVolume) {
  const auto nodes = bent();
  double volume = 0, reference = 0;
  for (const ReferencePoint& p : collapsed_gauss(type, 4)) {
    volume += p.weight * map_point(type, nodes, p.r).determinant();
    reference += p.weight;
  }
  EXPECT_NEAR(reference, reference_volume(type), 1e-14);
  double surface = 0;
  Vec3 closed;
  for (int f = 0; f < face_count(type); ++f) {
    // The faces of a prism: a layer of its rule gives triangles, of a hexahedron's quadrangles.
    const bool triangle = face_corner_count(type, f) == 3;
    for (const ReferencePoint& p : collapsed_gauss(triangle ? ElementType::prism : ElementType::hexahedron, 4)) {
      const MappedPoint m = map_point(type, nodes, face_reference(type, f, p.r.x, p.r.y));
      const Vec3 area = p.weight * FaceAreas(type, f).at(m);
      surface += dot(m.x, area) / 3;
      closed = closed + area;
    }
  }
  EXPECT_NEAR(surface, volume, 1e-13);
  EXPECT_LT(norm(closed), 1e-13);
  EXPECT_GT(volume, 0.1);
}

TEST_P(EveryElement, CollapsedGaussIsExact) {
  // Moments of the reference element against closed forms: x^2 z^2 on each (degree 4, n = 4: degree 5 at least).
  double moment = 0;
  for (const ReferencePoint& p : collapsed_gauss(type, 4)) moment += p.weight * p.r.x * p.r.x * p.r.z * p.r.z;
  const std::array<double, 4> exact = {4.0 / 5040, 1.0 / 9, 1.0 / 36, 1.0 / 315};
  EXPECT_NEAR(moment, exact[static_cast<std::size_t>(type)], 1e-15);
}

INSTANTIATE_TEST_SUITE_P(All, EveryElement,
                         testing::Combine(testing::Values(ElementType::tetrahedron, ElementType::hexahedron,
                                                          ElementType::prism, ElementType::pyramid),
                                          testing::Values(1, 2)),
                         [](const auto& p) {
                           return element_name(std::get<0>(p.param)) + std::to_string(std::get<1>(p.param));
                         });

TEST(ElementGeometry, FacesOfQuadraticElementsAreThoseOfEachOther) {
  // The triangle of a bent pyramid is that of a bent tetrahedron with the same six points, also near the apex.
  std::vector<Vec3> pyramid, tet;
  const auto bend = [](Vec3 r) { return Vec3{r.x + 0.1 * r.z * r.x, r.y - 0.2 * r.x * r.x, r.z + 0.1 * r.x * r.z}; };
  for (int n = 0; n < 14; ++n) pyramid.push_back(bend(node_reference(ElementType::pyramid, n)));
  // Face 1 of the pyramid (corners 0 1 4, in the plane s = 0) and face 2 of the tetrahedron (0 1 3, s = 0).
  for (int n = 0; n < 10; ++n) tet.push_back(bend(node_reference(ElementType::tetrahedron, n)));
  for (const double u : {0.0, 0.2, 0.7})
    for (const double v : {0.1, 0.3, 1.0 - 0.7}) {
      const Vec3 a = map_point(ElementType::pyramid, pyramid, face_reference(ElementType::pyramid, 1, u, v)).x;
      const Vec3 b = map_point(ElementType::tetrahedron, tet, face_reference(ElementType::tetrahedron, 2, u, v)).x;
      EXPECT_LT(norm(a - b), 1e-14);
    }
}

}  // namespace
}  // namespace tutti
