// How even nodes are: solids whose numbers are known, a slow covering radius, measured sets where they are there.
#include "tutti/mesh/sphere/node_report.hpp"

#include <cstdlib>
#include <numbers>

#include "mesh_helpers.hpp"
#include "tests/support/thread_hook.hpp"

namespace tutti {
namespace {

using test::error_of;

constexpr double pi = std::numbers::pi;

NodeCloud octahedron() {
  return {{{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}}, {}};
}

TEST(NodeReport, Octahedron) {
  NodeCloud cloud = octahedron();
  cloud.weights.assign(6, 4 * pi / 6);
  const NodeReport r = inspect(cloud);
  EXPECT_EQ(r.nodes, 6);
  EXPECT_NEAR(r.spacing, std::sqrt(4 * pi / 6), 1e-15);
  EXPECT_NEAR(r.separation, pi / 2, 1e-14);
  EXPECT_EQ(r.nearest_first, 0);
  EXPECT_EQ(r.nearest_second, 2);
  // The holes are the faces' centres.
  EXPECT_NEAR(r.covering, std::acos(1 / std::sqrt(3.0)), 1e-14);
  for (int d = 0; d < 3; ++d) EXPECT_NEAR(std::abs(r.hole[d]), 1 / std::sqrt(3.0), 1e-14);
  EXPECT_NEAR(r.mesh_ratio, r.covering / (pi / 4), 1e-14);
  EXPECT_NEAR(r.smallest_cell, 1, 1e-13);
  EXPECT_NEAR(r.largest_cell, 1, 1e-13);
  ASSERT_TRUE(r.weights);
  EXPECT_NEAR(r.weights->sum, 4 * pi, 1e-14);
  EXPECT_EQ(r.weights->lowest, r.weights->largest);
}

TEST(NodeReport, CoveringRadiusTheSlowWay) {
  // The largest distance from many places to the nearest node is just below the covering radius.
  const auto probes = fibonacci_nodes(40000).points;
  for (const NodeCloud& cloud :
       {random_nodes(300, 2), random_nodes(40, 4, 0), fibonacci_nodes(321), icosahedral_nodes(4)}) {
    double covering = 0;
    for (const Vec3& p : probes) {
      double nearest = 4;
      for (const Vec3& q : cloud.points) nearest = std::min(nearest, norm(p - q));
      covering = std::max(covering, 2 * std::asin(nearest / 2));
    }
    const NodeReport r = inspect(cloud);
    EXPECT_GE(r.covering, covering - 1e-12);
    EXPECT_LE(r.covering, covering + node_spacing(40000));
    double nearest = 4;
    for (const Vec3& q : cloud.points) nearest = std::min(nearest, norm(r.hole - q));
    EXPECT_NEAR(2 * std::asin(nearest / 2), r.covering, 1e-10) << "no node is nearer to the hole";
  }
}

TEST(NodeReport, AreasFillTheSphere) {
  for (const NodeCloud& cloud :
       {octahedron(), random_nodes(1000, 2, 0.1), fibonacci_nodes(500), icosahedral_nodes(3)}) {
    double sum = 0;
    for (const double a : cell_areas(cloud.points)) sum += a;
    EXPECT_NEAR(sum, 4 * pi, 1e-11);
  }
}

TEST(NodeReport, DenseOnOneSide) {
  // 2,000 nodes around the north pole, few elsewhere: cells reach far beyond the 20 nearest nodes.
  NodeCloud cloud = octahedron();
  for (const Vec3& p : fibonacci_nodes(2000).points) {
    const Vec3 q{0.05 * p.x + 0.001, 0.05 * p.y, 1};
    cloud.points.push_back((1 / norm(q)) * q);
  }
  cloud.points.erase(cloud.points.begin() + 4);
  double sum = 0;
  for (const double a : cell_areas(cloud.points)) sum += a;
  EXPECT_NEAR(sum, 4 * pi, 1e-9);
}

TEST(NodeReport, HalfOfTheSphereIsEmpty) {
  NodeCloud cloud;
  for (const Vec3& p : fibonacci_nodes(400).points)
    if (p.z > 0.3) cloud.points.push_back(p);
  EXPECT_EQ(inspect(cloud).covering, pi / 2);
  EXPECT_NE(describe(inspect(cloud)).find("more than half of the sphere"), std::string::npos);
  const NodeReport one = inspect({{{0, 0, 1}}, {}});
  EXPECT_EQ(one.covering, pi / 2);
  EXPECT_EQ(one.separation, pi);
}

TEST(NodeReport, DoubleNodesAreAnError) {
  NodeCloud cloud = octahedron();
  cloud.points.push_back({1e-10, -1, 0});
  EXPECT_EQ(error_of(ErrorKind::input, [&] { inspect(cloud); }),
            "nodes: the nodes 3 and 6 (numbered from 0) are at the same place; remove one of them");
}

TEST(NodeReport, TheFirstDoubleNodeIsFound) {
  auto points = fibonacci_nodes(1000).points;
  EXPECT_FALSE(find_double_node(points));
  points[700] = points[5];
  points[600] = points[20];
  points[300] = points[299] + Vec3{0, 2e-9, 0};
  const DoubleNode twice = find_double_node(points);
  EXPECT_EQ(twice.first, 20);
  EXPECT_EQ(twice.second, 600);
  EXPECT_FALSE(find_double_node({}));
}

TEST(NodeReport, DoesNotDependOnThreads) {
  const NodeCloud cloud = random_nodes(5000, 8);
  EXPECT_EQ(describe(inspect(cloud)), describe(inspect(cloud, test::five_threads)));
  EXPECT_EQ(cell_areas(cloud.points), cell_areas(cloud.points, test::five_threads));
}

TEST(NodeReport, PublishedSets) {
  // Max-determinant and minimal-energy nodes, where the folder of data lies beside the project.
  const char* given = std::getenv("TUTTI_NODE_SETS");
  const std::filesystem::path folder =
      given != nullptr ? given
                       : std::filesystem::path(TUTTI_TEST_DATA).parent_path().parent_path() / "../shared/data/nodes";
  if (!std::filesystem::exists(folder / "md/md10201.xyzw.f64")) GTEST_SKIP() << "no published nodes here";
  const NodeCloud md = read_nodes(folder / "md/md10201.xyzw.f64");
  EXPECT_EQ(md.size(), 10201);
  const NodeReport r = inspect(md);
  EXPECT_NEAR(r.mesh_ratio, 1.72, 0.01);
  EXPECT_NEAR(r.separation / r.spacing, 0.91, 0.01);
  ASSERT_TRUE(r.weights);
  EXPECT_NEAR(r.weights->sum, 4 * pi, 1e-10);
  const NodeCloud me = read_nodes(folder / "me/me10000.xyz.f64");
  EXPECT_EQ(me.size(), 10000);
  EXPECT_TRUE(me.weights.empty());
  EXPECT_LT(inspect(relaxed_nodes(10000)).mesh_ratio, inspect(me).mesh_ratio);
}

}  // namespace
}  // namespace tutti
