// Nodes on the sphere: counts, unit length, symmetry, evenness, and the same bits for any number of threads.
#include <numbers>

#include "mesh_helpers.hpp"
#include "tests/support/thread_hook.hpp"
#include "tutti/mesh/sphere/node_cloud.hpp"
#include "tutti/mesh/sphere/node_report.hpp"

namespace tutti {
namespace {

void expect_unit(const NodeCloud& cloud) {
  for (const Vec3& p : cloud.points) ASSERT_NEAR(dot(p, p), 1, 1e-15);
  EXPECT_TRUE(cloud.weights.empty());
}

std::string spec_error(const std::string& word, const std::function<void()>& action) {
  try {
    action();
  } catch (const SpecError& e) {
    EXPECT_EQ(e.word(), word);
    EXPECT_EQ(e.kind(), ErrorKind::usage);
    return e.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

TEST(NodeGenerators, Icosahedral) {
  for (const int m : {1, 2, 3, 4, 7, 16}) {
    const NodeCloud cloud = icosahedral_nodes(m);
    ASSERT_EQ(cloud.size(), 10 * m * m + 2);
    EXPECT_EQ(icosahedral_parts(cloud.size()), m);
    expect_unit(cloud);
    EXPECT_FALSE(find_double_node(cloud.points));
    EXPECT_EQ(cloud.points, icosahedral_nodes(m, test::five_threads).points);
    EXPECT_EQ(cloud.points[0], (Vec3{0, 0, 1}));
    const NodeReport report = inspect(cloud);
    EXPECT_GT(report.separation, 0.98 * report.spacing);
    EXPECT_LT(report.mesh_ratio, 1.33);
  }
}

TEST(NodeGenerators, IcosahedralNodesAreSymmetric) {
  // Turned by a fifth around the axis, or taken to the other side of the centre, they are the same nodes.
  const NodeCloud cloud = icosahedral_nodes(5);
  const double angle = 0.4 * std::numbers::pi, c = std::cos(angle), s = std::sin(angle);
  const auto contains = [&](Vec3 p) {
    return std::any_of(cloud.points.begin(), cloud.points.end(), [&](Vec3 q) { return norm(p - q) < 1e-14; });
  };
  for (const Vec3& p : cloud.points) {
    EXPECT_TRUE(contains({c * p.x - s * p.y, s * p.x + c * p.y, p.z}));
    EXPECT_TRUE(contains(-1 * p));
  }
}

TEST(NodeGenerators, EdgesAreCutAtEqualAngles) {
  const NodeCloud cloud = icosahedral_nodes(4);
  // Nodes 12, 13, 14 lie on the edge from node 0 to node 1.
  for (const auto& [a, b] : {std::pair{0, 12}, {12, 13}, {13, 14}, {14, 1}})
    EXPECT_NEAR(dot(cloud.points[a], cloud.points[b]), std::cos(std::atan(2.0) / 4), 1e-14);
}

TEST(NodeGenerators, ImpossibleCountsNameTheNearest) {
  EXPECT_EQ(
      spec_error("count", [] { icosahedral_parts(10000); }),
      "nodes: no icosahedral set has 10000 nodes; the nearest possible counts are 9612 (m = 31) and 10242 (m = 32)");
  EXPECT_NE(spec_error("count", [] { icosahedral_parts(11); }).find("12 (m = 1) are the fewest"), std::string::npos);
  EXPECT_NE(spec_error("count", [] { icosahedral_parts(0); }).find("at least 1"), std::string::npos);
  EXPECT_NE(spec_error("m", [] { icosahedral_nodes(0); }).find("at least 1"), std::string::npos);
  EXPECT_NE(spec_error("m", [] { icosahedral_nodes(2'000'000'000); }).find("at most 14142"), std::string::npos);
  EXPECT_NE(spec_error("count", [] { fibonacci_nodes(-3); }).find("at least 1"), std::string::npos);
  EXPECT_NE(spec_error("count", [] { fibonacci_nodes(3'000'000'000); }).find("at most"), std::string::npos);
  EXPECT_NE(spec_error("sweeps", [] { relaxed_nodes(10, -1); }).find("0 or more"), std::string::npos);
  for (const double separation : {-0.1, 0.8, std::nan("")})
    EXPECT_NE(spec_error("separation", [&] { random_nodes(10, 1, separation); }).find("0 to 0.7"), std::string::npos);
}

TEST(NodeGenerators, Fibonacci) {
  for (const Gid count : {1, 2, 3, 10, 1000, 10001}) {
    const NodeCloud cloud = fibonacci_nodes(count);
    ASSERT_EQ(cloud.size(), count);
    expect_unit(cloud);
    EXPECT_EQ(cloud.points, fibonacci_nodes(count, test::five_threads).points);
  }
  const NodeCloud cloud = fibonacci_nodes(1000);
  const double golden = (1 + std::sqrt(5.0)) / 2;
  for (const int i : {0, 1, 17, 999}) {
    const Vec3 p = cloud.points[i];
    EXPECT_NEAR(p.z, 1 - (2.0 * i + 1) / 1000, 1e-15);
    const double longitude = 2 * std::numbers::pi * std::fmod(i / golden, 1.0);
    EXPECT_NEAR(p.x, std::sqrt(1 - p.z * p.z) * std::cos(longitude), 1e-12);
    EXPECT_NEAR(p.y, std::sqrt(1 - p.z * p.z) * std::sin(longitude), 1e-12);
  }
}

TEST(NodeGenerators, RelaxedNodesAreEvener) {
  const NodeReport icosahedral = inspect(relaxed_nodes(10242));
  EXPECT_GT(icosahedral.separation, 0.94 * icosahedral.spacing);
  EXPECT_LT(icosahedral.mesh_ratio, 1.36);
  const NodeReport before = inspect(fibonacci_nodes(10000)), after = inspect(relaxed_nodes(10000));
  EXPECT_GT(after.separation, 0.95 * after.spacing);
  EXPECT_LT(after.mesh_ratio, 1.55);
  EXPECT_GT(before.mesh_ratio, 1.7);
  for (const Gid count : {1, 2, 3, 4, 7, 13, 50, 200}) {
    const NodeCloud few = relaxed_nodes(count);
    expect_unit(few);
    EXPECT_GT(inspect(few).separation, 0.85 * node_spacing(count)) << count;
  }
}

TEST(NodeGenerators, RelaxedNodesDoNotDependOnThreads) {
  EXPECT_EQ(relaxed_nodes(2562, 15).points, relaxed_nodes(2562, 15, test::five_threads).points);
  EXPECT_EQ(relaxed_nodes(3000, 15).points, relaxed_nodes(3000, 15, test::five_threads).points);
  EXPECT_EQ(relaxed_nodes(3000, 0).points, fibonacci_nodes(3000).points);
}

TEST(NodeGenerators, RandomNodesKeepTheirDistance) {
  for (const double separation : {0.0, 0.3, 0.5, 0.7})
    for (const Gid count : {1, 2, 3, 4, 5, 12, 400}) {
      const NodeCloud cloud = random_nodes(count, 3, separation);
      ASSERT_EQ(cloud.size(), count);
      expect_unit(cloud);
      // Every pair, the slow way. Up to three nodes are far apart anyway.
      for (std::size_t i = 0; i < cloud.points.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
          EXPECT_GE(std::acos(std::clamp(dot(cloud.points[i], cloud.points[j]), -1.0, 1.0)),
                    std::min(separation * node_spacing(count), 0.5) - 1e-9);
    }
  EXPECT_EQ(random_nodes(500, 3).points, random_nodes(500, 3).points);
  EXPECT_NE(random_nodes(500, 3).points, random_nodes(500, 4).points);
}

TEST(NodeGenerators, RandomNodesAreUniform) {
  // Mean and spread of each coordinate: 0 and 1/3.
  const NodeCloud cloud = random_nodes(20000, 9, 0);
  for (int d = 0; d < 3; ++d) {
    double sum = 0, squares = 0;
    for (const Vec3& p : cloud.points) {
      sum += p[d];
      squares += p[d] * p[d];
    }
    EXPECT_NEAR(sum / 20000, 0, 0.02);
    EXPECT_NEAR(squares / 20000, 1.0 / 3, 0.01);
  }
}

}  // namespace
}  // namespace tutti
