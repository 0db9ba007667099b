// Values between rows, cuts through cells, and integrals: exact for what they should be exact for.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/unit/base/mpi_environment.hpp"
#include "tutti/base/random.hpp"
#include "tutti/domain/sampling/interpolation.hpp"
#include "tutti/domain/sampling/plane_cut.hpp"
#include "tutti/simulation/sampling/integrals.hpp"

namespace tutti {
namespace {

Vec3 random_point(std::uint64_t seed) {
  const auto one = [&](std::uint64_t k) { return static_cast<double>(random_bits(seed, k) >> 11) * 0x1p-53; };
  return {one(0), one(1), one(2)};
}

double weighted(std::span<const double> weights, std::span<const Vec3> points, const auto& f) {
  double sum = 0;
  for (std::size_t k = 0; k < points.size(); ++k) sum += weights[k] * f(points[k]);
  return sum;
}

TEST(LinearWeights, LinearFunctionsAreExact) {
  const auto f = [](Vec3 x) { return 3 - 2 * x.x + 5 * x.y + 0.5 * x.z; };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::vector<Vec3> points;
    for (std::uint64_t k = 0; k < 5 + seed % 12; ++k) points.push_back(random_point(100 * seed + k));
    const Vec3 at = random_point(seed);
    EXPECT_NEAR(weighted(linear_weights(at, points), points, f), f(at), 1e-9);
  }
}

TEST(LinearWeights, APlaneOfPointsHasNoSlopeAcrossIt) {
  std::vector<Vec3> points;
  for (std::uint64_t k = 0; k < 8; ++k) points.push_back({random_point(k).x, random_point(k).y, 0.5});
  const auto f = [](Vec3 x) { return 1 + x.x - x.y; };
  const Vec3 at{0.3, 0.4, 0.7};
  EXPECT_NEAR(weighted(linear_weights(at, points), points, f), f(at), 1e-12);
}

TEST(LinearWeights, OneRowIsItself) {
  EXPECT_EQ(linear_weights({1, 2, 3}, std::vector<Vec3>{{0, 0, 0}}), std::vector<double>{1});
}

/// Cells of VTK's type 12, n^3 in the unit cube.
PieceCells cubes(int n) {
  PieceCells cells;
  for (int k = 0; k < n; ++k)
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) {
        for (const auto& [x, y, z] :
             {std::array{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}}) {
          cells.connectivity.push_back(static_cast<std::int64_t>(cells.points.size()));
          cells.points.push_back(
              {static_cast<double>(i + x) / n, static_cast<double>(j + y) / n, static_cast<double>(k + z) / n});
        }
        cells.offsets.push_back(static_cast<std::int64_t>(cells.connectivity.size()));
        cells.types.push_back(12);
      }
  return cells;
}

double area_of(const PlaneCut& cut) {
  double sum = 0;
  for (const double area : cut.areas) sum += area;
  return sum;
}

TEST(PlaneCut, CoversTheCutOnce) {
  const PieceCells cells = cubes(5);
  // The diagonal plane through the centre of a cube is a regular hexagon of side 1/sqrt 2.
  EXPECT_NEAR(area_of(cut_by_plane(cells, {0.5, 0.5, 0.5}, {2, 2, 2})), 1.5 * std::sqrt(3.0) * 0.5, 1e-12);
  EXPECT_NEAR(area_of(cut_by_plane(cells, {0.5, 0.5, 0.5}, {1, 1, 0})), std::sqrt(2.0), 1e-12);
  // Along faces, along an edge, along a side of the mesh.
  EXPECT_NEAR(area_of(cut_by_plane(cells, {0, 0, 0.4}, {0, 0, 1})), 1, 1e-12);
  EXPECT_EQ(cut_by_plane(cells, {0, 0, 0.4}, {0, 0, 1}).cells.size(), 25);
  EXPECT_EQ(cut_by_plane(cells, {0, 0, 0}, {1, 1, 0}).cells.size(), 0);
  EXPECT_NEAR(area_of(cut_by_plane(cells, {0, 0, 1}, {0, 0, 1})), 1, 1e-12);
  EXPECT_EQ(cut_by_plane(cells, {0, 0, 1}, {0, 0, -1}).cells.size(), 0);
  EXPECT_EQ(cut_by_plane(cells, {0, 0, 1.01}, {0, 0, 1}).cells.size(), 0);
}

TEST(PlaneCut, EveryKindOfCell) {
  PieceCells cells;
  cells.points = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1},                                   // tetrahedron
                  {0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1},     {0, 1, 1},         // prism
                  {0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0.5, 0.5, 1}, {0.5, 0.5, 0.5}};  // pyramid, vertex
  for (const auto& [type, count] : {std::pair{10, 4}, {13, 6}, {14, 5}, {1, 1}}) {
    for (int k = 0; k < count; ++k) cells.connectivity.push_back(static_cast<std::int64_t>(cells.connectivity.size()));
    cells.offsets.push_back(static_cast<std::int64_t>(cells.connectivity.size()));
    cells.types.push_back(static_cast<std::uint8_t>(type));
  }
  const PlaneCut cut = cut_by_plane(cells, {0, 0, 0.5}, {0, 0, 1});
  ASSERT_EQ(cut.cells, (std::vector<Lid>{0, 1, 2}));
  EXPECT_NEAR(cut.areas[0], 0.125, 1e-15);
  EXPECT_NEAR(cut.areas[1], 0.5, 1e-15);
  EXPECT_NEAR(cut.areas[2], 0.25, 1e-15);
  EXPECT_NEAR(norm(cut.middles[2] - Vec3{0.5, 0.5, 0.5}), 0, 1e-15);
  EXPECT_EQ(cut.ends, (std::vector<Size>{3, 6, 10}));
}

double reduced(Reduction kind, std::initializer_list<std::pair<double, double>> rows) {
  Reduced all(kind);
  for (const auto& [measure, value] : rows) all.add(measure, value);
  return all.over_ranks(test::world());
}

TEST(Reduced, IntegralsMeansAndExtremes) {
  EXPECT_EQ(reduced(Reduction::integral, {{2, 3}, {1, -5}, {0, 1e300}}), 1);
  EXPECT_EQ(reduced(Reduction::mean, {{2, 3}, {1, -3}}), 1);
  EXPECT_EQ(reduced(Reduction::smallest, {{2, 3}, {1, -5}, {0, -7}}), -5);
  EXPECT_EQ(reduced(Reduction::largest, {{2, -3}, {1, -5}}), -3);
  EXPECT_EQ(reduced(Reduction::integral, {{1, 1e16}, {1, 1}, {1, -1e16}}), 1) << "exact before it is rounded";
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Reduction kind : {Reduction::integral, Reduction::mean, Reduction::smallest, Reduction::largest})
    EXPECT_TRUE(std::isnan(reduced(kind, {{1, nan}, {1, 2}, {1, -2}})));
  for (const Reduction kind : {Reduction::mean, Reduction::smallest, Reduction::largest})
    EXPECT_TRUE(std::isnan(reduced(kind, {})));
}

}  // namespace
}  // namespace tutti
