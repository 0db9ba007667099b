// Weighted Voronoi parts: balance, unequal shares, bad seeds, cuts beside METIS.
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <numeric>
#include <string>

#include "tests/support/all_devices.hpp"
#include "tests/support/thread_hook.hpp"
#include "tests/unit/partition/graphs.hpp"
#include "tutti/device/device_list.hpp"
#include "tutti/partition/quotas.hpp"
#include "tutti/partition/voronoi/voronoi.hpp"

namespace tutti {
namespace {

using test::count_rows;
using test::Problem;

std::vector<Vec3> random_points(std::size_t n, std::uint64_t seed) {
  std::vector<Vec3> points;
  for (std::uint64_t i = 0; i < n; ++i)
    points.push_back({random_unit(seed, 3 * i), random_unit(seed, 3 * i + 1), random_unit(seed, 3 * i + 2)});
  return points;
}

double imbalance(const std::vector<std::int32_t>& part, const std::vector<Gid>& quotas) {
  const auto rows = count_rows(part, quotas.size());
  double worst = 0;
  for (std::size_t p = 0; p < quotas.size(); ++p)
    worst = std::max(worst, std::abs(static_cast<double>(rows[p] - quotas[p])) / static_cast<double>(quotas[p]));
  return worst;
}

TEST(Voronoi, MeetsEqualAndUnequalShares) {
  const auto points = random_points(20000, 1);
  for (const std::vector<double>& targets : {std::vector<double>(16, 1.0),
                                             {1, 3, 1, 3, 1, 3, 1, 3},
                                             {.97, .03},
                                             {5, 1, 1, 1},
                                             std::vector<double>(64, 1.0)}) {
    const auto quotas = row_quotas(20000, targets);
    const auto result = voronoi_parts(points, quotas);
    EXPECT_LE(imbalance(result.part, quotas), 0.02) << targets.size();
    EXPECT_LT(result.passes, 1500);
  }
}

TEST(Voronoi, ClumpedAndOutsideSeedsRecover) {
  const auto points = random_points(20000, 2);
  const auto quotas = row_quotas(20000, std::vector<double>(12, 1.0));
  for (const bool outside : {false, true}) {
    VoronoiOptions options;
    for (std::uint64_t p = 0; p < 12; ++p)
      options.seeds.push_back(outside ? Vec3{10 + 0.1 * static_cast<double>(p), 7, -3}
                                      : Vec3{0.01 * random_unit(3, p), 0.01 * random_unit(4, p), 0.01});
    const auto result = voronoi_parts(points, quotas, options);
    EXPECT_LE(imbalance(result.part, quotas), 0.02) << outside;
  }
}

TEST(Voronoi, ThreadsChangeNothing) {
  const auto points = random_points(30000, 3);
  const auto quotas = row_quotas(30000, std::vector<double>{1, 2, 3, 4, 5});
  EXPECT_EQ(voronoi_parts(points, quotas).part, voronoi_parts(points, quotas, {}, test::five_threads).part);
}

/// The same parts and passes as on the host.
void expect_the_same_on_devices(std::span<const Vec3> points, const std::vector<double>& targets,
                                VoronoiOptions options = {}) {
  Threads threads(2);
  const auto quotas = row_quotas(static_cast<Gid>(points.size()), targets);
  const auto expected = voronoi_parts(points, quotas, options);
  for (const auto& device : test::all_devices(threads)) {
    const auto stream = device->make_stream("voronoi");
    options.stream = stream.get();
    for (const bool by_groups : {true, false}) {
      if (!by_groups && device->kind() != DeviceKind::cuda) continue;
      options.by_groups = by_groups;
      const auto found = voronoi_parts(points, quotas, options);
      EXPECT_EQ(found.part, expected.part) << device->description() << ", " << targets.size();
      EXPECT_EQ(found.passes, expected.passes);
    }
  }
}

TEST(Voronoi, DevicesChangeNothing) {
  const auto points = random_points(12000, 3);
  VoronoiOptions few;
  few.lloyd_steps = few.balance_passes = 4;
  few.last_passes = 20;
  expect_the_same_on_devices(points, {1, 2, 3, 4, 5});
  expect_the_same_on_devices(points, std::vector<double>(40, 1.0), few);
  expect_the_same_on_devices(points, std::vector<double>(100, 1.0), few);
  VoronoiOptions outside;
  for (int p = 0; p < 12; ++p) outside.seeds.push_back({10 + 0.1 * p, 7, -3});
  expect_the_same_on_devices(points, std::vector<double>(12, 1.0), outside);
}

TEST(Voronoi, DevicesChangeNothingOfOddPoints) {
  for (const std::size_t n : {1u, 2u, 15u, 16u, 17u, 256u, 257u, 4096u, 4097u})
    expect_the_same_on_devices(random_points(n, n), {1, 1});
  expect_the_same_on_devices(random_points(5, 1), std::vector<double>(9, 1.0));
  expect_the_same_on_devices({}, {1, 2});
  // Every centre is near every box: more than lists have room for.
  VoronoiOptions few;
  few.lloyd_steps = few.balance_passes = few.last_passes = 3;
  const std::vector<Vec3> same(3000, Vec3{1, 2, 3});
  expect_the_same_on_devices(same, std::vector<double>(300, 1.0), few);
  expect_the_same_on_devices(same, {1, 1, 3}, few);
  auto few_places = random_points(6000, 7);
  for (Vec3& p : few_places) p = {std::floor(3 * p.x), std::floor(3 * p.y), 1e-3 * std::floor(2 * p.z)};
  expect_the_same_on_devices(few_places, {1, 2, 3}, few);
  // Squares of distances overflow.
  auto far_apart = random_points(2000, 8);
  for (Vec3& p : far_apart) p = 1e200 * p;
  expect_the_same_on_devices(far_apart, {1, 1, 1}, few);
}

TEST(Voronoi, PointsThatAreNotFiniteAreRefused) {
  Threads threads(2);
  auto points = random_points(3000, 9);
  points[1234].y = std::numeric_limits<double>::quiet_NaN();
  points[2345].z = std::numeric_limits<double>::infinity();
  const auto quotas = row_quotas(3000, std::vector<double>{1, 1});
  const auto message = [&](Stream* stream) {
    VoronoiOptions options;
    options.stream = stream;
    try {
      voronoi_parts(points, quotas, options);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message(nullptr).find("point 1234"), std::string::npos) << message(nullptr);
  for (const auto& device : test::all_devices(threads))
    EXPECT_EQ(message(device->make_stream("voronoi").get()), message(nullptr));
}

TEST(Voronoi, WithoutRoomOnTheDeviceTheHostCuts) {
  const Problem problem = test::random_geometric(2000, 0.12, 5);
  FakeOptions options;
  options.memory = 100'000;
  const auto small = make_fake_device(0, options);
  auto input = problem.input();
  const std::vector<double> targets{1, 0, 2, 1};
  const auto expected = partition_rows(input, targets, Partitioner::voronoi);
  input.device = small.get();
  EXPECT_EQ(partition_rows(input, targets, Partitioner::voronoi), expected);
  const auto large = make_fake_device(0, {});
  input.device = large.get();
  EXPECT_EQ(partition_rows(input, targets, Partitioner::voronoi), expected);
}

TEST(Voronoi, PointsThatAreAllTheSame) {
  const std::vector<Vec3> points(500, Vec3{1, 2, 3});
  const auto quotas = row_quotas(500, std::vector<double>{1, 1, 3});
  EXPECT_LE(imbalance(voronoi_parts(points, quotas).part, quotas), 0.02);
}

TEST(Voronoi, PointsOnALineAndOnASphere) {
  std::vector<Vec3> line, sphere;
  for (const Vec3& p : random_points(5000, 4)) {
    line.push_back({p.x, 0, 0});
    const Vec3 d = p - Vec3{.5, .5, .5};
    sphere.push_back((1 / norm(d)) * d);
  }
  const auto quotas = row_quotas(5000, std::vector<double>(9, 1.0));
  EXPECT_LE(imbalance(voronoi_parts(line, quotas).part, quotas), 0.02);
  EXPECT_LE(imbalance(voronoi_parts(sphere, quotas).part, quotas), 0.02);
}

// The specification: cut over METIS at most 1.05 after the refinement.
TEST(Voronoi, CutsAboutAsLittleAsMetis) {
  const Problem problem = test::random_geometric(6000, 0.09, 5);
  for (const std::size_t k : {8u, 16u}) {
    const std::vector<double> targets(k, 1.0);
    const auto assess = [&](Partitioner method) {
      return assess_partition(problem.graph, partition_rows(problem.input(), targets, method), targets);
    };
    const auto metis = assess(Partitioner::metis), cells = assess(Partitioner::voronoi);
    EXPECT_LE(static_cast<double>(cells.cut), 1.05 * static_cast<double>(metis.cut)) << k;
    EXPECT_LE(cells.imbalance, 1.02 + 2e-3);
    EXPECT_EQ(std::accumulate(cells.components.begin(), cells.components.end(), 0), static_cast<int>(k));
  }
}

TEST(Voronoi, WorksWithoutAGraph) {
  const Problem problem = test::lattice(20, 20, 20);
  const std::vector<double> targets{3, 0, 1, 2};
  PartitionInput input{nullptr, problem.points, problem.rows(), {}};
  const auto quality = assess_partition(problem.graph, partition_rows(input, targets, Partitioner::voronoi), targets);
  EXPECT_EQ(quality.rows[1], 0);
  EXPECT_LE(quality.imbalance, 1.02);
}

TEST(RefineParts, JoinsPiecesAndStraightensBoundaries) {
  const Problem problem = test::lattice(20, 20, 1);
  std::vector<std::int32_t> part;
  for (std::size_t i = 0; i < problem.points.size(); ++i) {
    const Vec3 p = problem.points[i];
    part.push_back(p.x + static_cast<double>(random_bits(1, i) % 3) < 11 ? 0 : 1);
  }
  part[19] = 0;   // a piece of its own
  part[380] = 1;  // and another
  const std::vector<double> equal(2, 1.0);
  const Size before = assess_partition(problem.graph, part, equal).cut;
  refine_parts(symmetrise(problem.graph), std::vector<std::int32_t>{200, 200}, 0.02, part);
  const auto after = assess_partition(problem.graph, part, equal);
  EXPECT_EQ(after.components, (std::vector<int>{1, 1}));
  EXPECT_LT(after.cut, before);
  EXPECT_LE(after.cut, 2 * 26);
  EXPECT_LE(after.imbalance, 1.02);
}

/// The same parts as on one thread. Returns how much less they cut than at first.
Size expect_refined_the_same(const Problem& problem, const std::vector<double>& targets, double tolerance,
                             bool by_chance) {
  Threads threads(2);
  const auto quotas = row_quotas(problem.rows(), targets);
  const std::vector<std::int32_t> wanted(quotas.begin(), quotas.end());
  const SymmetricGraph graph = symmetrise(problem.graph);
  std::vector<std::int32_t> first;
  std::size_t i = 0;
  for (std::size_t p = 0; p < quotas.size(); ++p) first.insert(first.end(), quotas[p], static_cast<std::int32_t>(p));
  // Every other row swaps its part with another one: pieces everywhere, and parts of the right sizes.
  for (; by_chance && i + 1 < first.size(); i += 2) std::swap(first[i], first[random_bits(1, i) % first.size()]);
  auto expected = first;
  refine_parts(graph, wanted, tolerance, expected);
  const auto count = [&](const std::vector<std::int32_t>& part) {
    return assess_partition(problem.graph, part, targets).cut;
  };
  EXPECT_LE(imbalance(expected, quotas), tolerance);
  auto by_threads = first;
  refine_parts(graph, wanted, tolerance, by_threads, nullptr, test::five_threads);
  EXPECT_EQ(by_threads, expected);
  for (const auto& device : test::all_devices(threads)) {
    const auto stream = device->make_stream("refinement");
    auto found = first;
    refine_parts(graph, wanted, tolerance, found, stream.get());
    EXPECT_EQ(found, expected) << device->description();
  }
  return count(first) - count(expected);
}

TEST(RefineParts, ThreadsAndDevicesChangeNothing) {
  for (const bool by_chance : {false, true}) {
    EXPECT_GE(
        expect_refined_the_same(test::random_geometric(3000, 0.1, 6), std::vector<double>(12, 1.0), 0.02, by_chance),
        0);
    EXPECT_GE(expect_refined_the_same(test::lattice(24, 20, 16), {1, 3, 1, 3, 2}, 0.01, by_chance), 0);
    EXPECT_GE(expect_refined_the_same(test::lattice(60, 50, 2), {5, 1}, 0.05, by_chance), 0);
    // Rows around one: whatever a part without it holds is in pieces.
    expect_refined_the_same(test::star(400), {1, 1, 1}, 0.05, by_chance);
  }
}

}  // namespace
}  // namespace tutti
