// Smoothing of triangles, in the plane and on curved surfaces.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/smoothing_run.hpp"

namespace tutti::smoothing {
namespace {

using test::smooth;
using test::Team;

/// n x n squares of two triangles each, inner nodes moved by up to `noise` of a square's side.
TetMesh square(int n, double noise, std::uint64_t seed) {
  TetMesh mesh;
  for (int j = 0; j <= n; ++j)
    for (int i = 0; i <= n; ++i) {
      const auto v = static_cast<std::uint64_t>(j * (n + 1) + i);
      const double move = i > 0 && i < n && j > 0 && j < n ? noise : 0;
      // The line between the tags stays straight and is not folded: it can be slid along.
      const double x = i == n / 2 ? 0 : move, y = i == n / 2 ? std::min(move, 0.4) : move;
      mesh.vertices.push_back(
          {i + x * (2 * random_unit(seed, 2 * v) - 1), j + y * (2 * random_unit(seed, 2 * v + 1) - 1), 0.5});
    }
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      const Gid a = j * (n + 1) + i, b = a + 1, c = a + n + 1, d = c + 1;
      mesh.boundary.push_back({a, b, d});
      mesh.boundary.push_back({a, d, c});
      for (int k = 0; k < 2; ++k) mesh.boundary_tags.push_back(i < n / 2 ? 1 : 2);
    }
  return mesh;
}

SmoothOptions options_of(bool simultaneous, int iterations, BoundaryRule rule = BoundaryRule::slide) {
  SmoothOptions o;
  o.simultaneous = simultaneous;
  o.iterations = iterations;
  o.boundary = rule;
  o.stop_energy = 0;
  return o;
}

void expect_falling(const SmoothReport& report) {
  const auto& s = report.smoothing;
  ASSERT_GE(s.size(), 2u);
  for (std::size_t k = 1; k < s.size(); ++k) EXPECT_LE(s[k].energy, s[k - 1].energy * (1 + 1e-13)) << k;
  EXPECT_LT(s.back().energy, s.front().energy);
}

TEST(Triangles, PlaneNormal) {
  TetMesh mesh = square(4, 0.2, 1);
  EXPECT_EQ(plane_normal(mesh), (Vec3{0, 0, 1}));
  for (auto& t : mesh.boundary) std::swap(t[0], t[1]);
  EXPECT_EQ(plane_normal(mesh), (Vec3{0, 0, -1}));
  std::swap(mesh.boundary[3][0], mesh.boundary[3][1]);
  EXPECT_EQ(plane_normal(mesh), Vec3{}) << "not turned alike";
  mesh = square(4, 0.2, 1);
  mesh.vertices[7].z += 0.1;
  EXPECT_EQ(plane_normal(mesh), Vec3{}) << "not plane";
}

TEST(Triangles, QualityOfKnownOnes) {
  TetMesh mesh;
  mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0.5, std::sqrt(0.75), 0}, {0, 1, 0}};
  mesh.boundary = {{0, 1, 2}};
  mesh.boundary_tags = {0};
  MeshQuality q = assess_quality(mesh);
  EXPECT_TRUE(q.triangles);
  for (const double one : {q.mean_ratio.min, q.radius_ratio.min, q.aspect.min}) EXPECT_NEAR(one, 1, 1e-14);
  EXPECT_NEAR(q.dihedral.max, 60, 1e-12);
  mesh.boundary = {{0, 1, 3}};  // a right angle: 2 sqrt(3) / 4; r = 1 - 1/sqrt(2), R = 1/sqrt(2)
  q = assess_quality(mesh);
  EXPECT_NEAR(q.mean_ratio.min, std::sqrt(3.0) / 2, 1e-14);
  EXPECT_NEAR(q.radius_ratio.min, 2 * (std::sqrt(2.0) - 1), 1e-14);
  EXPECT_NEAR(q.dihedral.max, 90, 1e-12);
  EXPECT_NEAR(q.total_volume, 0.5, 1e-15);
}

template <Energy energy>
void compare_with_differences(std::uint64_t seed) {
  const auto number = [&](std::uint64_t k) { return 2 * random_unit(seed, k) - 1; };
  const CellOffsets o{1, number(1), number(2), number(3), 1.5, number(4), 9, 9, 9};
  const auto at = [&](Vec3 by) {
    return CellOffsets{o.ax - by.x, o.ay - by.y, o.az - by.z, o.bx - by.x, o.by - by.y, o.bz - by.z, 7, 7, 7};
  };
  const auto value = [&](Vec3 by) { return cell_energy<energy, false>(shape_of<energy>(at(by)), 0); };
  const Derivatives d = cell_derivatives<energy, false>(o, 0);
  EXPECT_NEAR(d.e, value({}), 1e-14 * std::abs(d.e));
  const double h = 1e-5, gradient[3] = {d.gx, d.gy, d.gz};
  const double hessian[3][3] = {{d.xx, d.xy, d.xz}, {d.xy, d.yy, d.yz}, {d.xz, d.yz, d.zz}};
  for (int i = 0; i < 3; ++i) {
    Vec3 step;
    step[i] = h;
    EXPECT_NEAR((value(step) - value(-1.0 * step)) / (2 * h), gradient[i], 1e-7 * (1 + std::abs(gradient[i])));
    const Derivatives above = cell_derivatives<energy, false>(at(step), 0),
                      below = cell_derivatives<energy, false>(at(-1.0 * step), 0);
    const double found[3] = {above.gx - below.gx, above.gy - below.gy, above.gz - below.gz};
    for (int j = 0; j < 3; ++j)
      EXPECT_NEAR(found[j] / (2 * h), hessian[i][j], 1e-6 * (1 + std::abs(hessian[i][j]))) << i << j;
  }
}

TEST(Triangles, DerivativesAgreeWithDifferences) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    compare_with_differences<Energy::plane_triangle>(seed);
    compare_with_differences<Energy::surface_triangle>(seed);
  }
}

TEST(Triangles, InThePlane) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const TetMesh mesh = square(8, 0.3, seed);
    const MeshQuality before = assess_quality(mesh);
    ASSERT_EQ(before.inverted, 0);
    const auto result =
        smooth(mesh, options_of(seed % 2 == 0, 15, seed % 3 == 0 ? BoundaryRule::fixed : BoundaryRule::slide));
    expect_falling(result.report);
    const MeshQuality after = assess_quality(result.mesh);
    EXPECT_EQ(after.inverted, 0);
    EXPECT_GT(after.mean_ratio.min, before.mean_ratio.min);
    EXPECT_NEAR(result.report.smoothing.back().min_mean_ratio, after.mean_ratio.min, 1e-12);
    EXPECT_NEAR(after.total_volume, 64, 1e-12 * 64);
    for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
      const Vec3 a = mesh.vertices[v], b = result.mesh.vertices[v];
      EXPECT_EQ(b.z, 0.5);
      for (int d = 0; d < 2; ++d)
        if (a[d] == 0 || a[d] == 8) {
          EXPECT_EQ(a[d], b[d]);
        }
      if (a.x == 4) {
        EXPECT_EQ(b.x, 4) << "where tags change";
      }
      if (seed % 3 == 0 && (a.x == 0 || a.y == 8)) {
        EXPECT_EQ(a, b);
      }
    }
    EXPECT_EQ(result.mesh.boundary, mesh.boundary);
  }
}

TEST(Triangles, TurnedOverOnesAreTurnedBack) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    TetMesh mesh = square(8, 0.9, seed);
    ASSERT_GT(assess_quality(mesh).inverted, 5);
    const auto result = smooth(mesh, options_of(false, 20));
    EXPECT_EQ(assess_quality(result.mesh).inverted, 0);
    EXPECT_GT(assess_quality(result.mesh).mean_ratio.min, 0.5);
  }
}

/// A paraboloid over a square: curved, with a curved boundary.
TetMesh bowl(double noise, std::uint64_t seed) {
  TetMesh mesh = square(10, noise, seed);
  mesh.boundary_tags.assign(mesh.boundary_tags.size(), 0);
  for (Vec3& v : mesh.vertices) v.z = 0.04 * ((v.x - 5) * (v.x - 5) + (v.y - 5) * (v.y - 5));
  return mesh;
}

TEST(Triangles, OnACurvedSurface) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const TetMesh mesh = bowl(0.2, seed);
    const MeshQuality before = assess_quality(mesh);
    const auto result = smooth(mesh, options_of(seed % 2 == 0, 12));
    expect_falling(result.report);
    const MeshQuality after = assess_quality(result.mesh);
    EXPECT_GT(after.mean_ratio.min, before.mean_ratio.min);
    EXPECT_NEAR(after.total_volume, before.total_volume, 0.01 * before.total_volume);
    // On the first mesh's triangles, to rounding.
    double off = 0;
    for (const Vec3& p : result.mesh.vertices) {
      double nearest = 1e9;
      for (const auto& t : mesh.boundary) {
        const auto at = [&](std::size_t k) { return mesh.vertices[t[k]]; };
        nearest = std::min(nearest, norm(nearest_in_triangle(p, {at(0), at(1), at(2)}) - p));
      }
      off = std::max(off, nearest);
    }
    EXPECT_LT(off, 1e-13);
  }
}

/// A square in a plane across all axes.
TetMesh slanted(const TetMesh& flat) {
  TetMesh mesh = flat;
  for (Vec3& p : mesh.vertices) p = p.x * Vec3{0.6, 0, 0.8} + p.y * Vec3{0.64, 0.6, -0.48};
  return mesh;
}

TEST(Triangles, AnyPlaneIsAsGoodAsALevelOne) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const TetMesh flat = square(8, seed < 3 ? 0.3 : 0.9, seed);
    const auto level = smooth(flat, options_of(seed % 2 == 0, 20)),
               other = smooth(slanted(flat), options_of(seed % 2 == 0, 20));
    const TetMesh expected = slanted(level.mesh);
    for (std::size_t v = 0; v < expected.vertices.size() && seed < 3; ++v)
      EXPECT_LT(norm(other.mesh.vertices[v] - expected.vertices[v]), 1e-9) << v;
    const MeshQuality after = assess_quality(other.mesh);
    EXPECT_EQ(after.inverted, 0);
    EXPECT_NEAR(after.mean_ratio.mean, assess_quality(level.mesh).mean_ratio.mean, 1e-3);
    EXPECT_NE(plane_normal(other.mesh), Vec3{}) << "left its plane";
  }
}

TEST(Triangles, DevicesAndPartsChangeNoBit) {
  Team one(0, true, 1), few(2, true, 2), many(3, false, 1);
  for (const bool at_once : {false, true})
    for (const TetMesh& mesh : {square(7, 0.3, 3), square(6, 0.9, 2), slanted(square(6, 0.9, 2)), bowl(0.3, 1)}) {
      const auto expected = smooth(mesh, options_of(at_once, 4), one);
      for (Team* team : {&few, &many})
        EXPECT_EQ(smooth(mesh, options_of(at_once, 4), *team).mesh.vertices, expected.mesh.vertices);
    }
}

TEST(Triangles, WrongOptions) {
  SmoothOptions o = options_of(false, 3, BoundaryRule::free);
  EXPECT_THROW(smooth(square(3, 0.1, 1), o), Error);
  o = options_of(false, 3);
  o.method = Method::thesis;
  o.energy = Energy::l2v;
  EXPECT_THROW(smooth(square(3, 0.1, 1), o), Error);
  TetMesh flat = bowl(0, 1);
  flat.vertices[60] = flat.vertices[61];
  EXPECT_THROW(smooth(flat, options_of(false, 3)), Error);
}

}  // namespace
}  // namespace tutti::smoothing
