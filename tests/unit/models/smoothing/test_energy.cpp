// Energies of cells, their derivatives, and the sums around a node.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/support/smoothing_run.hpp"
#include "tutti/models/smoothing/lane_star.hpp"

namespace tutti::smoothing {
namespace {

/// Three corners around the origin; V > 0 unless `turned`.
CellOffsets random_cell(std::uint64_t seed, bool turned) {
  for (std::uint64_t k = 0;; ++k) {
    double x[9];
    for (std::uint64_t i = 0; i < 9; ++i) x[i] = 2 * random_unit(seed, 9 * k + i) - 1;
    const CellOffsets o{x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8]};
    const double v = cell_shape(o).v6;
    if (turned ? v < -0.1 : v > 0.1) return o;
  }
}

/// The cell from its corner, moved by `by`.
CellOffsets moved(CellOffsets o, Vec3 by) {
  return {o.ax - by.x, o.ay - by.y, o.az - by.z, o.bx - by.x, o.by - by.y,
          o.bz - by.z, o.cx - by.x, o.cy - by.y, o.cz - by.z};
}

/// Central differences of a function of a place.
template <class F>
Vec3 gradient(const F& f, double h) {
  Vec3 g;
  for (int d = 0; d < 3; ++d) {
    Vec3 e;
    e[d] = h;
    g[d] = (f(e) - f(-1.0 * e)) / (2 * h);
  }
  return g;
}

template <Energy energy, bool untangle>
void expect_derivatives(double eps2, bool turned) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    const CellOffsets cell = random_cell(seed, turned);
    const double wanted = 0.3 + random_unit(seed, 77);  // of graded
    const auto value = [&](Vec3 by) {
      return cell_energy<energy, untangle>(shape_of<energy>(moved(cell, by), wanted), eps2);
    };
    const Derivatives d = cell_derivatives<energy, untangle>(cell, eps2, wanted);
    EXPECT_NEAR(d.e, value({}), 1e-13 * std::abs(d.e));
    const double size = std::abs(d.e);
    const Vec3 g = gradient(value, 1e-6);
    EXPECT_NEAR(d.gx, g.x, 1e-6 * size);
    EXPECT_NEAR(d.gy, g.y, 1e-6 * size);
    EXPECT_NEAR(d.gz, g.z, 1e-6 * size);
    // The Hessian's columns are differences of the gradient.
    const auto part = [&](double Derivatives::*g_of) {
      return gradient([&](Vec3 by) { return cell_derivatives<energy, untangle>(moved(cell, by), eps2, wanted).*g_of; },
                      1e-6);
    };
    const Vec3 x = part(&Derivatives::gx), y = part(&Derivatives::gy), z = part(&Derivatives::gz);
    const double tolerance = 1e-5 * (std::abs(x.x) + std::abs(y.y) + std::abs(z.z));
    EXPECT_NEAR(d.xx, x.x, tolerance);
    EXPECT_NEAR(d.xy, x.y, tolerance);
    EXPECT_NEAR(d.xz, x.z, tolerance);
    EXPECT_NEAR(d.xy, y.x, tolerance);
    EXPECT_NEAR(d.yy, y.y, tolerance);
    EXPECT_NEAR(d.yz, y.z, tolerance);
    EXPECT_NEAR(d.zz, z.z, tolerance);
  }
}

TEST(CellEnergy, DerivativesAreThoseOfDifferences) {
  expect_derivatives<Energy::shape, false>(0, false);
  expect_derivatives<Energy::l2v, false>(0, false);
  expect_derivatives<Energy::graded, false>(0, false);
}

TEST(CellEnergy, DerivativesWhileUntangling) {
  for (const bool turned : {false, true}) {
    expect_derivatives<Energy::shape, true>(0.04, turned);
    expect_derivatives<Energy::l2v, true>(0.04, turned);
  }
}

TEST(CellEnergy, ShapeIsThatOfTheMeanRatio) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const CellOffsets o = random_cell(seed, false);
    const TetQuality q = tet_quality({0, 0, 0}, {o.ax, o.ay, o.az}, {o.bx, o.by, o.bz}, {o.cx, o.cy, o.cz});
    const CellShape shape = cell_shape(o);
    EXPECT_NEAR(shape.v6 / 6, q.volume, 1e-15);
    EXPECT_NEAR((cell_energy<Energy::shape, false>(shape, 0)), std::pow(q.mean_ratio, -1.5), 1e-12);
  }
}

// Half the Hessian's trace of l2v is the sum of (3 + S |q|^2) / (6 V) with q = N / (6 V); as printed, the 3 is missing.
TEST(CellEnergy, HalfTraceOfTheThesis) {
  const CellOffsets o = random_cell(3, false);
  const CellShape c = cell_shape(o);
  const Derivatives d = cell_derivatives<Energy::l2v, false>(o, 0);
  const double q2 = (c.nx * c.nx + c.ny * c.ny + c.nz * c.nz) / (c.v6 * c.v6);
  EXPECT_NEAR(0.5 * (d.xx + d.yy + d.zz), (3 + c.s * q2) / c.v6, 1e-12 * d.xx);
  EXPECT_NEAR(preconditioner(d, Method::thesis), c.s * q2 / c.v6, 1e-12 * d.xx);
}

CellOffsets regular_cell(double size) {
  const Vec3 p[4] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
  CellOffsets o{size * (p[1].x - p[0].x), size * (p[1].y - p[0].y), size * (p[1].z - p[0].z),
                size * (p[2].x - p[0].x), size * (p[2].y - p[0].y), size * (p[2].z - p[0].z),
                size * (p[3].x - p[0].x), size * (p[3].y - p[0].y), size * (p[3].z - p[0].z)};
  if (cell_shape(o).v6 < 0) o = {o.bx, o.by, o.bz, o.ax, o.ay, o.az, o.cx, o.cy, o.cz};
  return o;
}

TEST(CellEnergy, TheRegularTetrahedronIsStationaryForShapeOnly) {
  for (const double size : {1e-3, 1.0, 1e3}) {
    const Derivatives shape = cell_derivatives<Energy::shape, false>(regular_cell(size), 0);
    EXPECT_NEAR(shape.e, 1, 1e-14);
    EXPECT_LT(norm({shape.gx, shape.gy, shape.gz}), 1e-14 / size);
    const Derivatives l2v = cell_derivatives<Energy::l2v, false>(regular_cell(size), 0);
    EXPECT_GT(norm({l2v.gx, l2v.gy, l2v.gz}) * size, 0.1 * l2v.e);
  }
}

TEST(CellEnergy, GradedIsLeastForTheWantedSize) {
  const double edge = std::sqrt(8.0);
  const auto value = [&](double size) {
    return cell_energy<Energy::graded, false>(shape_of<Energy::graded>(regular_cell(size), edge), 0);
  };
  EXPECT_NEAR(value(1), 1, 1e-13);
  EXPECT_NEAR(value(1 + 1e-6), value(1 - 1e-6), 1e-11);
  EXPECT_GT(value(1.1), 1.001);
  EXPECT_GT(value(0.9), 1.001);
}

TEST(CellEnergy, IsConvexInOneNode) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed)
    for (const bool shape : {true, false}) {
      const CellOffsets o = random_cell(seed, false);
      const Derivatives d =
          shape ? cell_derivatives<Energy::shape, false>(o, 0) : cell_derivatives<Energy::l2v, false>(o, 0);
      const double minor = d.xx * d.yy - d.xy * d.xy;
      const double determinant =
          d.xx * (d.yy * d.zz - d.yz * d.yz) + d.xy * (d.xz * d.yz - d.xy * d.zz) + d.xz * (d.xy * d.yz - d.xz * d.yy);
      EXPECT_GT(d.xx, 0);
      EXPECT_GT(minor, 0);
      EXPECT_GT(determinant, 0);
    }
}

struct RandomStar {
  std::vector<Point> points;
  std::vector<StarCell> cells;
  RandomStar(std::uint64_t seed, int count) {
    points.push_back({0.1, 0.2, 0.3, 0.7});
    for (int k = 0; k < count; ++k) {
      const CellOffsets o = random_cell(seed + static_cast<std::uint64_t>(k), false);
      const auto first = static_cast<Lid>(points.size());
      cells.push_back({first, first + 1, first + 2});
      points.push_back({0.1 + o.ax, 0.2 + o.ay, 0.3 + o.az, 1});
      points.push_back({0.1 + o.bx, 0.2 + o.by, 0.3 + o.bz, 1.5});
      points.push_back({0.1 + o.cx, 0.2 + o.cy, 0.3 + o.cz, 0.8});
    }
  }
};

template <Energy energy, bool untangle>
void expect_same_bits(int count, double eps2, Vec3 normal = {}) {
  const RandomStar random(static_cast<std::uint64_t>(count) + 100, count);
  const Vec3 by{0.01, -0.02, 0.015};
  const Plane plane = plane_of(normal);
  const PlainStar plain(random.cells.data(), count, random.points.data(), random.points[0], plane);
  LaneStar lanes;
  lanes.load<energy>(random.cells.data(), count, random.points.data(), random.points[0], plane);
  const Derivatives p = plain.derivatives<energy, untangle>(eps2), l = lanes.derivatives<energy, untangle>(eps2);
  EXPECT_EQ(std::memcmp(&p, &l, sizeof p), 0) << count << " cells";
  bool plain_valid = false, lanes_valid = false;
  EXPECT_EQ((plain.value<energy, untangle>(by, eps2, plain_valid)),
            (lanes.value<energy, untangle>(by, eps2, lanes_valid)));
  EXPECT_EQ(plain_valid, lanes_valid);
  // Far away some cell is turned over.
  plain.value<energy, untangle>({5, 5, 5}, eps2, plain_valid);
  lanes.value<energy, untangle>({5, 5, 5}, eps2, lanes_valid);
  EXPECT_EQ(plain_valid, lanes_valid);
  EXPECT_TRUE(count < 7 || !lanes_valid);
}

TEST(Star, VectorsGiveTheBitsOfThePlainForm) {
  for (const int count : {0, 1, 2, 7, 8, 9, 15, 16, 23, 24, 40, 256}) {
    expect_same_bits<Energy::shape, false>(count, 0);
    expect_same_bits<Energy::l2v, false>(count, 0);
    expect_same_bits<Energy::graded, false>(count, 0);
    for (const Vec3 normal : {Vec3{0.6, 0, 0.8}, Vec3{0, 0, 1}, Vec3{0, 0, -1}}) {
      expect_same_bits<Energy::plane_triangle, false>(count, 0, normal);
      expect_same_bits<Energy::plane_triangle, true>(count, 0.01, normal);
    }
    expect_same_bits<Energy::shape, true>(count, 0.01);
    expect_same_bits<Energy::l2v, true>(count, 0.01);
  }
}

TEST(Plane, CoordinatesAreThoseOfItsTangents) {
  for (const Vec3 normal : {Vec3{0.6, 0, 0.8}, Vec3{0, 0, 1}, Vec3{0, 0, -1}, Vec3{-1, 0, 0}}) {
    const Plane plane = plane_of(normal);
    EXPECT_EQ(plane.level, normal.z == 1);
    EXPECT_LT(norm(cross(plane.first, plane.second) - normal), 1e-15);
    const Vec3 p{0.3, -0.7, 0};
    EXPECT_LT(norm(plane.inside(plane.in_space(p) + 0.25 * normal) - p), 1e-15);
  }
}

std::vector<std::array<Lid, 2>> ring_of(std::vector<StarCell> triangles) {
  ring_order(triangles);
  std::vector<std::array<Lid, 2>> sides;
  for (const StarCell& t : triangles) sides.push_back({t.a, t.b});
  return sides;
}

TEST(RingOrder, GoesRoundFromTheFirstTriangle) {
  using Sides = std::vector<std::array<Lid, 2>>;
  EXPECT_EQ(ring_of({}), Sides{});
  EXPECT_EQ(ring_of({{4, 5, 0}}), (Sides{{4, 5}}));
  EXPECT_EQ(ring_of({{4, 5, 0}, {7, 4, 0}, {5, 7, 0}}), (Sides{{4, 5}, {5, 7}, {7, 4}})) << "closed";
  EXPECT_EQ(ring_of({{4, 5, 0}, {7, 4, 0}, {5, 8, 0}}), (Sides{{7, 4}, {4, 5}, {5, 8}})) << "open";
  const std::vector<StarCell> apart{{4, 5, 0}, {7, 9, 0}, {5, 8, 0}}, turned{{4, 5, 0}, {4, 7, 0}, {5, 7, 0}},
      two{{1, 2, 0}, {4, 5, 0}, {2, 1, 0}, {5, 4, 0}}, tail{{8, 1, 0}, {1, 2, 0}, {2, 3, 0}, {3, 1, 0}};
  for (const auto& triangles : {apart, turned, two, tail}) {
    Sides sides;
    for (const StarCell& t : triangles) sides.push_back({t.a, t.b});
    EXPECT_EQ(ring_of(triangles), sides) << "not one ring";
  }
}

TEST(NodeStep, NewtonFindsTheMinimumOfAConvexStar) {
  // A node off the middle of an icosahedron-like star: the middle is the minimum by symmetry.
  const TetMesh mesh = test::noisy_box({2, 2, 2}, 0.4, 3);
  const Adjacency cells_of = cells_of_nodes(mesh);
  const Gid middle = 13;
  std::vector<Point> points;
  for (const Vec3& v : mesh.vertices) points.push_back({v.x, v.y, v.z, 0});
  std::vector<StarCell> cells;
  for (const Gid c : cells_of.row(middle)) {
    const auto& cell = mesh.cells[c];
    const auto k = static_cast<std::size_t>(std::find(cell.begin(), cell.end(), middle) - cell.begin());
    const auto& [i, j, l] = tet_faces[k];
    cells.push_back({static_cast<Lid>(cell[i]), static_cast<Lid>(cell[j]), static_cast<Lid>(cell[l])});
  }
  for (int k = 0; k < 12; ++k) {
    Point& p = points[13];
    const PlainStar star(cells.data(), static_cast<int>(cells.size()), points.data(), p);
    const Vec3 to = p.vec() + node_step<Energy::shape, false>(star, p.vec(), {}, nullptr, {});
    p = {to.x, to.y, to.z, 0};
  }
  EXPECT_LT(norm(points[13].vec() - Vec3{1, 1, 1}), 1e-9);
}

}  // namespace
}  // namespace tutti::smoothing
