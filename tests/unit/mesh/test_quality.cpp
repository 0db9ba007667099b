// Measures of tetrahedra whose values are known, and of meshes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tests/support/thread_hook.hpp"
#include "tutti/mesh/generate.hpp"
#include "tutti/mesh/quality/mesh_quality.hpp"

namespace tutti {
namespace {

constexpr Vec3 regular[4] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};

TetQuality regular_quality(double size, bool turned) {
  return tet_quality(size * regular[0], size * regular[turned ? 1 : 2], size * regular[turned ? 2 : 1],
                     size * regular[3]);
}

TEST(TetQuality, TheRegularOneIsOne) {
  for (const double size : {1.0, 1e-6, 1e5}) {
    const bool first = regular_quality(size, false).volume > 0;
    const TetQuality good = regular_quality(size, !first), bad = regular_quality(size, first);
    EXPECT_NEAR(good.volume, 8.0 / 3 * size * size * size, 1e-14 * size * size * size);
    EXPECT_FALSE(good.inverted());
    EXPECT_TRUE(bad.inverted());
    for (const TetQuality& q : {good, bad}) {
      const double sign = q.inverted() ? -1 : 1;
      EXPECT_NEAR(q.mean_ratio, sign, 1e-14);
      EXPECT_NEAR(q.radius_ratio, sign, 1e-14);
      EXPECT_NEAR(q.aspect, 1, 1e-14);
      for (const double angle : q.dihedral) EXPECT_NEAR(angle, std::acos(1.0 / 3) * 180 / M_PI, 1e-12);
    }
  }
}

TEST(TetQuality, ACornerOfACube) {
  const TetQuality q = tet_quality({0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1});
  EXPECT_NEAR(q.volume, 1.0 / 6, 1e-16);
  EXPECT_NEAR(q.mean_ratio, 12 * std::pow(0.5, 2.0 / 3) / 9, 1e-14);
  const double r_in = 0.5 / (1.5 + std::sqrt(3) / 2), circumradius = std::sqrt(3) / 2;
  EXPECT_NEAR(q.radius_ratio, 3 * r_in / circumradius, 1e-14);
  EXPECT_NEAR(q.aspect, std::sqrt(2) / (2 * std::sqrt(6) * r_in), 1e-14);
  const double slanted = std::acos(1 / std::sqrt(3)) * 180 / M_PI;
  EXPECT_THAT(std::vector<double>(q.dihedral.begin(), q.dihedral.end()),
              testing::UnorderedElementsAre(testing::DoubleNear(90, 1e-12), testing::DoubleNear(90, 1e-12),
                                            testing::DoubleNear(90, 1e-12), testing::DoubleNear(slanted, 1e-12),
                                            testing::DoubleNear(slanted, 1e-12), testing::DoubleNear(slanted, 1e-12)));
}

TEST(TetQuality, FlatCellsHaveNone) {
  const TetQuality q = tet_quality({0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0});
  EXPECT_TRUE(q.inverted());
  EXPECT_EQ(q.mean_ratio, 0);
  EXPECT_TRUE(std::isinf(q.aspect));
  const TetQuality point = tet_quality({1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {1, 2, 3});
  EXPECT_TRUE(point.inverted());
  EXPECT_EQ(point.mean_ratio, 0);
}

TetMesh jittered() {
  BoxSpec spec;
  spec.cubes = {6, 5, 4};
  spec.jitter = 0.2;
  return generate_box(spec);
}

TEST(MeshQuality, SumsUpItsCells) {
  const TetMesh mesh = jittered();
  const MeshQuality q = assess_quality(mesh, 5);
  double least = 2, sum = 0, angle = 180;
  Gid worst = -1;
  for (std::size_t c = 0; c < mesh.cells.size(); ++c) {
    const auto at = [&](std::size_t k) { return mesh.vertices[mesh.cells[c][k]]; };
    const TetQuality cell = tet_quality(at(0), at(1), at(2), at(3));
    sum += cell.mean_ratio;
    for (const double a : cell.dihedral) angle = std::min(angle, a);
    if (cell.mean_ratio < least) {
      least = cell.mean_ratio;
      worst = static_cast<Gid>(c);
    }
  }
  EXPECT_EQ(q.cells, 720);
  EXPECT_EQ(q.inverted, 0);
  EXPECT_EQ(q.mean_ratio.min, least);
  EXPECT_NEAR(q.mean_ratio.mean, sum / 720, 1e-14);
  EXPECT_EQ(q.dihedral.min, angle);
  EXPECT_NEAR(q.total_volume, 1, 1e-14);
  ASSERT_EQ(q.worst.size(), 5u);
  EXPECT_EQ(q.worst[0].cell, worst);
  for (std::size_t i = 1; i < 5; ++i) EXPECT_LE(q.worst[i - 1].quality.mean_ratio, q.worst[i].quality.mean_ratio);
  for (const Measure* m : {&q.mean_ratio, &q.radius_ratio, &q.aspect, &q.volume})
    EXPECT_EQ(std::accumulate(m->histogram.counts.begin(), m->histogram.counts.end(), Size{0}), 720);
  EXPECT_EQ(std::accumulate(q.dihedral.histogram.counts.begin(), q.dihedral.histogram.counts.end(), Size{0}), 6 * 720);
}

TEST(MeshQuality, CountsInvertedCells) {
  TetMesh mesh = jittered();
  for (const std::size_t c : {3u, 77u}) std::swap(mesh.cells[c][0], mesh.cells[c][1]);
  const MeshQuality q = assess_quality(mesh);
  EXPECT_EQ(q.inverted, 2);
  EXPECT_LT(q.mean_ratio.min, 0);
  EXPECT_THAT(std::vector<Gid>({q.worst[0].cell, q.worst[1].cell}), testing::UnorderedElementsAre(3, 77));
  EXPECT_EQ(q.volume.histogram.counts[0], 2);
}

TEST(MeshQuality, ThreadsChangeNothing) {
  BoxSpec spec;
  spec.cubes = {12, 12, 12};
  spec.jitter = 0.2;
  const TetMesh mesh = generate_box(spec);
  EXPECT_EQ(describe(assess_quality(mesh)), describe(assess_quality(mesh, 10, test::five_threads)));
}

TEST(MeshQuality, OfNothing) {
  const MeshQuality q = assess_quality(TetMesh{});
  EXPECT_EQ(q.cells, 0);
  EXPECT_EQ(q.mean_ratio.mean, 0);
  EXPECT_FALSE(describe(q).empty());
}

TEST(MeshQuality, DataOfCellsGoBehindTheMeshsOwn) {
  TetMesh mesh = jittered();
  mesh.cell_data = {{"fibres", 1, std::vector<double>(720, 1.0)}, {"volume", 1, std::vector<double>(720, 7.0)}};
  const auto data = quality_data(mesh);
  ASSERT_EQ(data.size(), 6u);
  EXPECT_EQ(data[0].name, "fibres");
  EXPECT_EQ(data[1].name, "mean_ratio");
  EXPECT_EQ(data[5].name, "volume");
  EXPECT_NEAR(std::accumulate(data[5].values.begin(), data[5].values.end(), 0.0), 1, 1e-12);
}

}  // namespace
}  // namespace tutti
