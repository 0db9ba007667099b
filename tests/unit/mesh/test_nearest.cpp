// The kd-tree against sorting all points, on sets where many distances are tied.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tutti/base/random.hpp"
#include "tutti/mesh/sphere/nearest.hpp"
#include "tutti/mesh/sphere/node_cloud.hpp"

namespace tutti {
namespace {

/// All points by (squared distance, number), as the definition says.
std::vector<Gid> sorted_all(const std::vector<Vec3>& points, Vec3 centre) {
  std::vector<Gid> order(points.size());
  std::iota(order.begin(), order.end(), 0);
  const auto distance = [&](Gid i) {
    const Vec3 d = centre - points[i];
    return dot(d, d);
  };
  std::stable_sort(order.begin(), order.end(), [&](Gid a, Gid b) { return distance(a) < distance(b); });
  return order;
}

void expect_nearest(const std::vector<Vec3>& points, const std::vector<Vec3>& centres,
                    std::initializer_list<int> counts) {
  const NearestNodes tree(points);
  ASSERT_EQ(tree.size(), static_cast<Gid>(points.size()));
  for (const Vec3 centre : centres) {
    const std::vector<Gid> expected = sorted_all(points, centre);
    for (const int n : counts) {
      std::vector<Gid> found(n, -1);
      tree.find(centre, n, found);
      ASSERT_EQ(found, std::vector<Gid>(expected.begin(), expected.begin() + n)) << n << " nearest";
    }
  }
}

/// Nodes whose coordinates are few whole numbers: nearly all distances are tied, to the last bit.
std::vector<Vec3> lattice() {
  std::vector<Vec3> points;
  for (int x = 0; x < 8; ++x)
    for (int y = 0; y < 8; ++y)
      for (int z = 0; z < 8; ++z) points.push_back({0.25 * x, 0.25 * y, 0.25 * z});
  return points;
}

/// In another order: numbers must decide, not places.
std::vector<Vec3> shuffled(std::vector<Vec3> points, std::uint64_t seed) {
  for (std::size_t i = points.size(); i > 1; --i) std::swap(points[i - 1], points[random_bits(seed, i) % i]);
  return points;
}

TEST(Nearest, TiesGoByNumber) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto points = shuffled(lattice(), seed);
    expect_nearest(points, {points.begin(), points.begin() + 100}, {1, 2, 5, 17, 50, 101, 512});
  }
}

TEST(Nearest, SymmetricNodes) {
  for (const int m : {1, 2, 5, 8}) {
    const auto points = shuffled(icosahedral_nodes(m).points, 7);
    const int size = static_cast<int>(points.size());
    expect_nearest(points, points, {1, std::min(size, 17), std::min(size, 31), std::min(size, 101)});
  }
}

TEST(Nearest, AnyPlace) {
  const auto points = random_nodes(3000, 5).points;
  const auto centres = fibonacci_nodes(50).points;
  expect_nearest(points, centres, {0, 1, 31, 300, 3000});
  expect_nearest(points, {{0, 0, 0}, {3, 4, 5}, {-1e6, 0, 0}}, {1, 31});
}

TEST(Nearest, PointsOfOnePlace) {
  const std::vector<Vec3> points(60, Vec3{0, 0.6, 0.8});
  expect_nearest(points, {{0, 0.6, 0.8}, {1, 0, 0}}, {1, 2, 13, 60});
}

TEST(Nearest, FewPoints) {
  expect_nearest({{1, 0, 0}}, {{1, 0, 0}, {0, 1, 0}}, {0, 1});
  expect_nearest({}, {{1, 0, 0}}, {0});
  const std::vector<Vec3> points = {{1, 0, 0}};
  NearestNodes tree(points);
  std::vector<Gid> found(2);
  EXPECT_THROW(tree.find({1, 0, 0}, 2, found), std::logic_error);
  NearestNodes moved = std::move(tree);
  moved.find({0, 0, 1}, 1, found);
  EXPECT_EQ(found[0], 0);
}

}  // namespace
}  // namespace tutti
