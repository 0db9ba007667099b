// Swaps of cells: which there are, what they keep, and that no mesh gets worse.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/smoothing_run.hpp"
#include "tutti/models/smoothing/smooth_mesh.hpp"
#include "tutti/models/smoothing/swap.hpp"

namespace tutti::smoothing {
namespace {

using test::noisy_box;

TetMesh mesh_of(std::vector<Vec3> vertices, std::vector<std::array<Gid, 4>> cells) {
  TetMesh mesh;
  mesh.vertices = std::move(vertices);
  mesh.cells = std::move(cells);
  mesh.regions.assign(mesh.cells.size(), 3);
  for (auto& c : mesh.cells) {
    const auto at = [&](std::size_t k) { return mesh.vertices[c[k]]; };
    if (tet_volume(at(0), at(1), at(2), at(3)) < 0) std::swap(c[2], c[3]);
  }
  mesh.cell_data = {{"number", 1, {}}};
  for (std::size_t c = 0; c < mesh.cells.size(); ++c) mesh.cell_data[0].values.push_back(static_cast<double>(c));
  return mesh;
}

/// Two nodes far above and below a small triangle: three cells around a long edge, or two flat ones on a large
/// triangle.
std::vector<Vec3> double_cone(double height) {
  return {{1, 0, 0}, {-0.5, std::sqrt(0.75), 0}, {-0.5, -std::sqrt(0.75), 0}, {0, 0, height}, {0, 0, -height}};
}

TEST(Swaps, TwoCellsToThreeAndBack) {
  TetMesh flat = mesh_of(double_cone(0.3), {{0, 1, 2, 3}, {0, 1, 2, 4}});
  const MeshQuality before = assess_quality(flat);
  SwapCounts counts = swap_cells(flat, 1);
  EXPECT_EQ(counts.two_to_three, 1);
  EXPECT_EQ(counts.all(), 1);
  ASSERT_EQ(flat.cell_count(), 3);
  EXPECT_EQ(flat.regions, (std::vector<std::int32_t>{3, 3, 3}));
  EXPECT_EQ(flat.cell_data[0].values, (std::vector<double>{0, 1, 0}));
  MeshQuality after = assess_quality(flat);
  EXPECT_EQ(after.inverted, 0);
  EXPECT_GT(after.mean_ratio.min, before.mean_ratio.min);
  EXPECT_NEAR(after.total_volume, before.total_volume, 1e-15);

  TetMesh tall = mesh_of(double_cone(1.4), {{0, 1, 3, 4}, {1, 2, 3, 4}, {2, 0, 3, 4}});
  counts = swap_cells(tall, 1);
  EXPECT_EQ(counts.three_to_two, 1);
  ASSERT_EQ(tall.cell_count(), 2);
  EXPECT_EQ(tall.cell_data[0].values, (std::vector<double>{0, 1}));
  after = assess_quality(tall);
  EXPECT_EQ(after.inverted, 0);
  EXPECT_NEAR(after.total_volume, 1.4 * std::sqrt(27.0) / 4 * 2 / 3, 1e-14);
  EXPECT_EQ(swap_cells(tall, 1).all(), 0) << "and not back";
}

TEST(Swaps, FourCellsAroundAnotherEdge) {
  // An octahedron, long along x: cells around the long diagonal are worse.
  TetMesh mesh = mesh_of({{2, 0, 0}, {-2, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, -1, 0}, {0, 0, -1}},
                         {{0, 1, 2, 3}, {0, 1, 3, 4}, {0, 1, 4, 5}, {0, 1, 5, 2}});
  const MeshQuality before = assess_quality(mesh);
  const SwapCounts counts = swap_cells(mesh, 1);
  EXPECT_GE(counts.four_to_four, 1);
  const MeshQuality after = assess_quality(mesh);
  EXPECT_EQ(after.inverted, 0);
  EXPECT_EQ(after.cells, 4);
  EXPECT_GT(after.mean_ratio.min, before.mean_ratio.min);
  EXPECT_NEAR(after.total_volume, before.total_volume, 1e-14);
}

TEST(Swaps, KeepsWhatMustStay) {
  // The face between them has a tag; or they are of two regions; or the long edge would pass outside.
  TetMesh tagged = mesh_of(double_cone(0.3), {{0, 1, 2, 3}, {0, 1, 2, 4}});
  tagged.boundary = {{2, 0, 1}};
  tagged.boundary_tags = {7};
  EXPECT_EQ(swap_cells(tagged, 1).all(), 0);
  TetMesh regions = mesh_of(double_cone(0.3), {{0, 1, 2, 3}, {0, 1, 2, 4}});
  regions.regions = {1, 2};
  EXPECT_EQ(swap_cells(regions, 1).all(), 0);
  auto points = double_cone(0.3);
  points[3] = {3, 0, 0.3};
  TetMesh outside = mesh_of(points, {{0, 1, 2, 3}, {0, 1, 2, 4}});
  const auto cells = outside.cells;
  EXPECT_EQ(swap_cells(outside, 1).all(), 0);
  EXPECT_EQ(outside.cells, cells);
}

TEST(Swaps, NoMeshGetsWorse) {
  for (std::uint64_t seed = 1; seed <= test::seeds(20); ++seed) {
    TetMesh mesh = noisy_box({4, 4, 4}, 0.6, seed, 1e-4);
    const auto boundary = mesh.boundary;
    const MeshQuality before = assess_quality(mesh);
    const SwapCounts counts = swap_cells(mesh);
    EXPECT_GT(counts.all(), 0);
    const MeshQuality after = assess_quality(mesh);
    EXPECT_EQ(after.inverted, 0);
    EXPECT_GE(after.mean_ratio.min, before.mean_ratio.min);
    EXPECT_NEAR(after.total_volume, 64, 1e-11 * 64);
    EXPECT_EQ(after.cells, before.cells + counts.two_to_three - counts.three_to_two);
    EXPECT_EQ(mesh.boundary, boundary);
    // Every face has one or two cells, and the tagged triangles are the boundary.
    const auto neighbours = find_face_neighbours(mesh);
    Gid outside = 0;
    for (const auto& cell : neighbours)
      for (const Gid n : cell) outside += n < 0;
    EXPECT_EQ(outside, static_cast<Gid>(boundary.size()));
  }
}

TEST(Swaps, WithSmoothingBeatSmoothingAlone) {
  const Comm comm;
  // Cells that suit the noise, and not the places that nodes have without it.
  TetMesh mesh = noisy_box({6, 6, 6}, 0.6, 7, 1e-3);
  swap_cells(mesh, 1);
  SmoothOptions o;
  o.iterations = 20;
  o.boundary = BoundaryRule::fixed;
  DeviceOptions device;
  device.threads = 1;
  DeviceSet devices = open_devices("cpu", comm, device);
  TetMesh alone = mesh, both = mesh;
  smooth_mesh(comm, devices, alone, o);
  o.swaps = 3;
  const SmoothReport report = smooth_mesh(comm, devices, both, o);
  EXPECT_GT(report.swapped, 0);
  const MeshQuality a = assess_quality(alone), b = assess_quality(both);
  EXPECT_EQ(b.inverted, 0);
  EXPECT_GT(b.mean_ratio.min, a.mean_ratio.min);
  EXPECT_GT(b.mean_ratio.mean, a.mean_ratio.mean);
  EXPECT_NEAR(b.total_volume, 216, 1e-11 * 216);
  // The same on other devices.
  DeviceSet fakes = open_devices("fake:2,cpu", comm, device);
  TetMesh there = mesh;
  smooth_mesh(comm, fakes, there, o);
  EXPECT_EQ(there.cells, both.cells);
  EXPECT_EQ(there.vertices, both.vertices);
}

/// The bar of McGuinness 2011, section 3.1.2, perturbed in four ways [Figure 3.5].
TetMesh bar(int variant) {
  TetMesh mesh = noisy_box({4, 4, 16}, 0, 1);
  const auto pull = [](double s, double power) {  // to the axis above 1, away from it below
    return (s < 0 ? -1 : 1) * 0.5 * std::pow(2 * std::abs(s), power);
  };
  for (Vec3& v : mesh.vertices) {
    const double x = v.x / 4 - 0.5, y = v.y / 4 - 0.5, z = v.z / 16 - 0.5;
    const double along = variant < 3 ? 1 : variant == 3 ? 0.8 : 0.6;
    v = {pull(x, variant == 1 ? 0.7 : 1.6), pull(y, 1.6), 10 * pull(z, along)};
  }
  return mesh;
}

TEST(Smoother, FourBarsBecomeTheSame) {
  std::vector<TetMesh> bars;
  for (int variant = 1; variant <= 4; ++variant) {
    SmoothOptions o;
    o.energy = Energy::l2v;
    o.iterations = 400;
    o.stop_energy = 1e-10;
    TetMesh mesh = bar(variant);
    EXPECT_EQ(assess_quality(mesh).inverted, 0);
    bars.push_back(test::smooth(mesh, o).mesh);
  }
  // Within 1 % of the bar's width.
  for (std::size_t k = 1; k < bars.size(); ++k) {
    double farthest = 0;
    for (std::size_t v = 0; v < bars[0].vertices.size(); ++v)
      farthest = std::max(farthest, norm(bars[k].vertices[v] - bars[0].vertices[v]));
    EXPECT_LT(farthest, 0.01) << "bar " << k + 1;
  }
}

}  // namespace
}  // namespace tutti::smoothing
