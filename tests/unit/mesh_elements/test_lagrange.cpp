// Lagrange points in VTK's order, and elements cut into linear cells.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tutti/mesh/elements/element_geometry.hpp"
#include "tutti/mesh/elements/lagrange.hpp"

namespace tutti {
namespace {

using Points = std::vector<std::array<int, 3>>;
constexpr std::array all_types = {ElementType::tetrahedron, ElementType::hexahedron, ElementType::prism,
                                  ElementType::pyramid};

TEST(Lagrange, EveryPointIsThereOnce) {
  for (const ElementType type : all_types)
    for (int n = 1; n <= max_lagrange_order; ++n) {
      const Points points = lagrange_lattice(type, n);
      const auto sum = [&](const auto& p) {
        return type == ElementType::tetrahedron ? p[0] + p[1] + p[2] : type == ElementType::prism ? p[0] + p[1] : 0;
      };
      for (const auto& p : points) {
        EXPECT_LE(sum(p), n);
        for (const int x : p) EXPECT_TRUE(x >= 0 && x <= n);
      }
      EXPECT_EQ((std::set<std::array<int, 3>>(points.begin(), points.end()).size()), points.size());
      const std::array<int, 4> counts = {(n + 1) * (n + 2) * (n + 3) / 6, (n + 1) * (n + 1) * (n + 1),
                                         (n + 1) * (n + 1) * (n + 2) / 2, (n + 1) * (n + 1) * (n + 1)};
      EXPECT_EQ(static_cast<int>(points.size()), counts[static_cast<std::size_t>(type)]);
    }
}

TEST(Lagrange, OrderTwoIsThatOfQuadraticElements) {
  for (const ElementType type : {ElementType::tetrahedron, ElementType::hexahedron, ElementType::prism}) {
    const Points points = lagrange_lattice(type, 2);
    const auto lattice = node_lattice(type);
    ASSERT_EQ(points.size(), lattice.size());
    for (std::size_t n = 0; n < points.size(); ++n)
      for (std::size_t d = 0; d < 3; ++d) EXPECT_EQ(points[n][d], lattice[n][d]) << n;
  }
}

/// As vtkLagrangeTetra, vtkLagrangeWedge and vtkLagrangeHexahedron of VTK 9.1 give them (ToBarycentricIndex,
/// PointIndexFromIJK).
TEST(Lagrange, HigherOrdersAreVtks) {
  const Points tet = lagrange_lattice(ElementType::tetrahedron, 4);
  const Points tet_tail = {{1, 0, 1}, {2, 0, 1}, {1, 0, 2}, {1, 2, 1}, {1, 1, 2}, {2, 1, 1}, {0, 1, 1},
                           {0, 1, 2}, {0, 2, 1}, {1, 1, 0}, {1, 2, 0}, {2, 1, 0}, {1, 1, 1}};
  EXPECT_EQ(Points(tet.end() - 13, tet.end()), tet_tail);
  const Points prism = lagrange_lattice(ElementType::prism, 3);
  const Points prism_tail = {{1, 1, 0}, {1, 1, 3}, {1, 0, 1}, {2, 0, 1}, {1, 0, 2}, {2, 0, 2}, {2, 1, 1}, {1, 2, 1},
                             {2, 1, 2}, {1, 2, 2}, {0, 2, 1}, {0, 1, 1}, {0, 2, 2}, {0, 1, 2}, {1, 1, 1}, {1, 1, 2}};
  EXPECT_EQ(Points(prism.end() - 16, prism.end()), prism_tail);
  const Points hex = lagrange_lattice(ElementType::hexahedron, 3);
  const Points hex_edges = {{1, 0, 0}, {2, 0, 0}, {3, 1, 0}, {3, 2, 0}, {1, 3, 0}, {2, 3, 0}, {0, 1, 0}, {0, 2, 0}};
  EXPECT_EQ(Points(hex.begin() + 8, hex.begin() + 16), hex_edges);
  const Points hex_faces = {{0, 1, 1}, {0, 2, 1}, {0, 1, 2}, {0, 2, 2}, {3, 1, 1}, {3, 2, 1}, {3, 1, 2},
                            {3, 2, 2}, {1, 0, 1}, {2, 0, 1}, {1, 0, 2}, {2, 0, 2}, {1, 3, 1}, {2, 3, 1},
                            {1, 3, 2}, {2, 3, 2}, {1, 1, 0}, {2, 1, 0}, {1, 2, 0}, {2, 2, 0}};
  EXPECT_EQ(Points(hex.begin() + 32, hex.begin() + 52), hex_faces);
}

TEST(Lagrange, LinearCellsFillTheElement) {
  for (const ElementType type : all_types)
    for (int n = 1; n <= 5; ++n) {
      const std::vector<Vec3> points = lagrange_points(type, n);
      double volume = 0;
      for (const LinearCell& cell : linear_cells(type, n)) {
        const ElementType kind = cell.vtk_type == 10   ? ElementType::tetrahedron
                                 : cell.vtk_type == 12 ? ElementType::hexahedron
                                 : cell.vtk_type == 13 ? ElementType::prism
                                                       : ElementType::pyramid;
        ASSERT_EQ(cell.count, corner_count(kind));
        std::vector<Vec3> corners;
        for (std::size_t k = 0; k < cell.count; ++k) corners.push_back(points[cell.points[k]]);
        // Of these cells the determinant is linear along t, and constant across it but for that of frusta.
        double own = 0;
        const double w = 0.5 / std::sqrt(3.0);
        const bool simplex = kind == ElementType::tetrahedron, apex = kind == ElementType::pyramid;
        for (const double t : {0.5 - w, 0.5 + w})
          own += 0.5 * map_point(kind, corners, {0.25, 0.25, simplex || apex ? 0.25 : t}).determinant();
        EXPECT_GT(own, 0);
        volume += own * reference_volume(kind);
      }
      EXPECT_NEAR(volume, reference_volume(type), 1e-13) << element_name(type) << " " << n;
    }
}

}  // namespace
}  // namespace tutti
