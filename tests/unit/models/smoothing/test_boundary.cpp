// Which nodes may move where.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/smoothing_run.hpp"

namespace tutti::smoothing {
namespace {

NodeFreedom freedom_of(const TetMesh& mesh, BoundaryRule rule = BoundaryRule::slide, double angle = 30) {
  return find_freedom(mesh, find_face_neighbours(mesh), rule, angle);
}

TEST(Freedom, OfABox) {
  const TetMesh mesh = test::noisy_box({3, 4, 5}, 0, 1);
  const NodeFreedom f = freedom_of(mesh);
  EXPECT_EQ(f.kept, 8);
  EXPECT_EQ(f.on_lines, 4 * (2 + 3 + 4));
  EXPECT_EQ(f.on_planes, 2 * (2 * 3 + 3 * 4 + 2 * 4));
  EXPECT_EQ(f.on_surfaces + f.on_edges, 0);
  EXPECT_EQ(std::count(f.of_node.begin(), f.of_node.end(), NodeFreedom::free), 2 * 3 * 4);
  // What is across a plane along an axis stays bit for bit: the tangents have a zero there.
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
    if (f.of_node[v] < 0) continue;
    const Slide& s = f.slides[f.of_node[v]];
    const double size[] = {3, 4, 5};
    for (int d = 0; d < 3; ++d)
      if (mesh.vertices[v][d] == 0 || mesh.vertices[v][d] == size[d]) {
        EXPECT_EQ(s.first[d], 0);
        EXPECT_EQ(s.second[d], 0);
      }
  }
}

TEST(Freedom, WithoutTagsABoxHasEdgesByItsAngles) {
  TetMesh mesh = test::noisy_box({3, 3, 3}, 0, 1);
  mesh.boundary.clear();
  mesh.boundary_tags.clear();
  EXPECT_EQ(freedom_of(mesh).kept, 8);
  // Above 90 degrees it has none: one surface that is not plane.
  const NodeFreedom round = freedom_of(mesh, BoundaryRule::slide, 100);
  EXPECT_EQ(round.kept, 0);
  EXPECT_EQ(round.on_surfaces, 64 - 8);
  EXPECT_GT(round.near_pieces.size(), 0u);
}

TEST(Freedom, RegionsKeepTheirInterface) {
  BoxSpec spec;
  spec.cubes = {4, 3, 3};
  spec.split_x = 0.5;
  const TetMesh mesh = generate_box(spec);
  const NodeFreedom f = freedom_of(mesh);
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
    const Vec3 p = mesh.vertices[v];
    if (p.x != 0.5) continue;
    EXPECT_NE(f.of_node[v], NodeFreedom::free) << v;
    const bool y = p.y > 0 && p.y<1, z = p.z> 0 && p.z < 1;
    if (y && z) {
      const Slide& s = f.slides[f.of_node[v]];
      EXPECT_EQ(s.kind, Slide::Kind::plane);
      EXPECT_EQ(s.first.x, 0);
    } else if (!y && !z) {
      EXPECT_EQ(f.of_node[v], NodeFreedom::fixed);
    }
  }
}

TEST(Freedom, TagsMakeEdges) {
  TetMesh mesh = test::noisy_box({4, 4, 4}, 0, 1);
  // The lower half of the side x = 0 gets a tag of its own.
  for (std::size_t t = 0; t < mesh.boundary.size(); ++t) {
    bool low = mesh.boundary_tags[t] == BoxTags::x_min;
    for (const Gid v : mesh.boundary[t]) low = low && mesh.vertices[v].z <= 2;
    if (low) mesh.boundary_tags[t] = 17;
  }
  const NodeFreedom f = freedom_of(mesh);
  EXPECT_EQ(f.kept, 10);
  EXPECT_EQ(f.on_lines, 12 * 3 - 2 + 3);
}

TEST(Freedom, FixedAndFree) {
  const TetMesh mesh = test::noisy_box({3, 3, 3}, 0, 1);
  const NodeFreedom fixed = freedom_of(mesh, BoundaryRule::fixed), free = freedom_of(mesh, BoundaryRule::free);
  EXPECT_EQ(std::count(fixed.of_node.begin(), fixed.of_node.end(), NodeFreedom::fixed), 64 - 8);
  EXPECT_EQ(std::count(free.of_node.begin(), free.of_node.end(), NodeFreedom::free), 64);
}

TEST(PutBack, TheNearestPointOfATriangle) {
  const SurfacePiece t{{0, 0, 0}, {2, 0, 0}, {0, 2, 0}};
  EXPECT_EQ(nearest_in_triangle({0.5, 0.5, 3}, t), (Vec3{0.5, 0.5, 0}));
  EXPECT_EQ(nearest_in_triangle({-1, -1, 1}, t), (Vec3{0, 0, 0}));
  EXPECT_EQ(nearest_in_triangle({5, -1, 1}, t), (Vec3{2, 0, 0}));
  EXPECT_EQ(nearest_in_triangle({-1, 5, 1}, t), (Vec3{0, 2, 0}));
  EXPECT_EQ(nearest_in_triangle({1, -1, 1}, t), (Vec3{1, 0, 0}));
  EXPECT_EQ(nearest_in_triangle({-1, 1, 1}, t), (Vec3{0, 1, 0}));
  EXPECT_EQ(nearest_in_triangle({2, 2, 1}, t), (Vec3{1, 1, 0}));
  // Against a fine search over the triangle.
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const auto random = [&](std::uint64_t i) { return 2 * random_unit(seed, i) - 1; };
    const SurfacePiece s{
        {random(0), random(1), random(2)}, {random(3), random(4), random(5)}, {random(6), random(7), random(8)}};
    const Vec3 p{random(9), random(10), random(11)};
    double least = 1e9;
    for (int i = 0; i <= 60; ++i)
      for (int j = 0; i + j <= 60; ++j)
        least = std::min(least, norm(s.a + ((i / 60.0) * (s.b - s.a) + (j / 60.0) * (s.c - s.a)) - p));
    const double found = norm(nearest_in_triangle(p, s) - p);
    EXPECT_LE(found, least + 1e-12);
    EXPECT_GE(found, least - 0.06);
  }
}

TEST(PutBack, TheNearestPointOfASegment) {
  const SurfacePiece s{{0, 0, 0}, {2, 0, 0}, {2, 0, 0}};
  EXPECT_EQ(nearest_in_segment({1, 5, 0}, s), (Vec3{1, 0, 0}));
  EXPECT_EQ(nearest_in_segment({-1, 5, 0}, s), (Vec3{0, 0, 0}));
  EXPECT_EQ(nearest_in_segment({3, 5, 0}, s), (Vec3{2, 0, 0}));
}

}  // namespace
}  // namespace tutti::smoothing
