// The sweeps made for GPUs move nodes to the bits of the portable form. Every test skips without a GPU.
#include <numbers>

#include "tests/support/smoothing_run.hpp"
#include "tutti/device/sums/reduce.hpp"
#include "tutti/models/smoothing/quick_math.cuh"

namespace tutti::smoothing {
namespace {

struct Form {
  Energy energy;
  Method method;
  bool in_float;
};

class SmoothingGpu : public testing::TestWithParam<Form> {
 protected:
  void SetUp() override {
    if (cuda_device_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  }
  SmoothOptions options(BoundaryRule boundary, bool simultaneous = false) const {
    SmoothOptions o;
    o.energy = GetParam().energy;
    o.method = GetParam().method;
    o.in_float = GetParam().in_float;
    o.boundary = boundary;
    o.simultaneous = simultaneous;
    if (simultaneous) o.damping = 0.67;
    o.iterations = 4;
    o.stop_energy = 0;
    return o;
  }
  static void expect_bits_of_the_cpu(const TetMesh& mesh, const SmoothOptions& options) {
    test::Team cpu, gpu(0, false);
    gpu.devices.push_back(make_cuda_device(0));
    gpu.streams.emplace_back(*gpu.devices[0]);
    gpu.rank_of_part = {0};
    const auto expected = test::smooth(mesh, options, cpu), got = test::smooth(mesh, options, gpu);
    Gid moved = 0;
    for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
      ASSERT_EQ(got.mesh.vertices[v], expected.mesh.vertices[v]) << "node " << v;
      moved += expected.mesh.vertices[v] == mesh.vertices[v] ? 0 : 1;
    }
    EXPECT_GT(moved, 0);
  }
};

/// A ball of cells around one node, off its middle: far more neighbours than shared memory has room for.
TetMesh hedgehog(int rings, int spokes) {
  TetMesh mesh;
  mesh.vertices = {{0.2, 0.1, -0.15}, {0, 0, 1}, {0, 0, -1}};
  for (int i = 1; i < rings; ++i)
    for (int k = 0; k < spokes; ++k) {
      const double a = std::numbers::pi * i / rings, b = 2 * std::numbers::pi * k / spokes;
      mesh.vertices.push_back({std::sin(a) * std::cos(b), std::sin(a) * std::sin(b), std::cos(a)});
    }
  const auto at = [&](int i, int k) { return static_cast<Gid>(3 + (i - 1) * spokes + k % spokes); };
  const auto add = [&](Gid a, Gid b, Gid c) {
    mesh.cells.push_back({0, a, b, c});
    mesh.boundary.push_back({a, b, c});
  };
  for (int k = 0; k < spokes; ++k) {
    add(1, at(1, k), at(1, k + 1));
    add(2, at(rings - 1, k + 1), at(rings - 1, k));
    for (int i = 1; i + 1 < rings; ++i) {
      add(at(i, k), at(i + 1, k), at(i + 1, k + 1));
      add(at(i, k), at(i + 1, k + 1), at(i, k + 1));
    }
  }
  mesh.regions.assign(mesh.cells.size(), 1);
  mesh.boundary_tags.assign(mesh.boundary.size(), 1);
  return mesh;
}

/// 1 where a number that is not odd has other bits by QuickMath. Of float: every number from 1 to 4 is among them.
template <class R>
struct DiffersQuickly {
  std::uint64_t seed;
  TUTTI_HD double operator()(Lid i) const {
#if defined(__CUDA_ARCH__)
    const auto at = [&](std::uint64_t k) {
      const double unit = random_unit(seed + k, static_cast<std::uint64_t>(i));
      return static_cast<R>((1 + unit) *
                            exp2(floor(80 * random_unit(seed + k + 2, static_cast<std::uint64_t>(i)) - 40)));
    };
    R x = at(0);
    const R y = at(1);
    if (sizeof(R) == 4 && i < (1 << 24)) x = static_cast<R>(__int_as_float(0x3f800000 + i));
    const QuickMath<R> math;
    const PlainMath plain;
    const bool same = math.root(x) == plain.root(x) && math.inverse(x) == plain.inverse(x) &&
                      math.quotient(y, x) == plain.quotient(y, x);
    return same || math.odd ? 0 : 1;
#else
    (void)i;
    return 0;
#endif
  }
};

TEST(QuickMathGpu, HasTheBitsOfRootsAndQuotients) {
  if (cuda_device_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  const auto device = make_cuda_device(0);
  const auto made = device->make_stream("quick math");
  Stream& stream = *made;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    EXPECT_EQ(max_value(stream, {0, 1 << 26}, DiffersQuickly<float>{10 * seed}), 0);
    EXPECT_EQ(max_value(stream, {0, 1 << 26}, DiffersQuickly<double>{10 * seed}), 0);
  }
}

TEST_P(SmoothingGpu, MovesNodesAsTheCpuDoes) {
  for (const BoundaryRule boundary : {BoundaryRule::fixed, BoundaryRule::slide})
    for (const bool simultaneous : {false, true})
      expect_bits_of_the_cpu(test::noisy_box({9, 8, 7}, 0.4, 3), options(boundary, simultaneous));
}

TEST_P(SmoothingGpu, MovesNodesOfManyCells) {
  for (const int spokes : {4, 9, 20}) expect_bits_of_the_cpu(hedgehog(spokes, spokes), options(BoundaryRule::fixed));
}

TEST_P(SmoothingGpu, Untangles) {
  if (GetParam().method == Method::thesis) GTEST_SKIP() << "its steps, as printed, turn no cell back";
  SmoothOptions o = options(BoundaryRule::fixed);
  o.untangling = 200;
  expect_bits_of_the_cpu(test::tangled_box({6, 5, 6}, 0.7, 11), o);
}

/// n x m squares of two triangles each, with noise inside; one tag, or two with a straight line between.
TetMesh noisy_square(Gid n, Gid m, double noise, int tags = 1) {
  TetMesh mesh;
  for (Gid j = 0; j <= m; ++j)
    for (Gid i = 0; i <= n; ++i) {
      const auto v = mesh.vertices.size();
      const bool inside = i > 0 && j > 0 && i < n && j < m;
      const double x = inside && i != n / 2 ? noise * (2 * random_unit(4, v) - 1) : 0;
      const double y = inside ? std::min(noise, 0.4) * (2 * random_unit(5, v) - 1) : 0;
      mesh.vertices.push_back({static_cast<double>(i) + x, static_cast<double>(j) + y, 0});
    }
  for (Gid j = 0; j < m; ++j)
    for (Gid i = 0; i < n; ++i) {
      const Gid a = j * (n + 1) + i, b = a + 1, c = a + n + 1, d = c + 1;
      // Diagonals either way: nodes of four to eight triangles.
      if ((i + j) % 3 == 0) {
        mesh.boundary.push_back({a, b, c});
        mesh.boundary.push_back({b, d, c});
      } else {
        mesh.boundary.push_back({a, b, d});
        mesh.boundary.push_back({a, d, c});
      }
      for (int k = 0; k < 2; ++k) mesh.boundary_tags.push_back(tags > 1 && i >= n / 2 ? 2 : 1);
    }
  return mesh;
}

/// A disc of triangles around one node, off its middle, with as many more on each of its sides.
TetMesh fan(int spokes) {
  TetMesh mesh;
  mesh.vertices = {{0.2, 0.1, 0}};
  for (int ring = 1; ring <= 2; ++ring)
    for (int k = 0; k < spokes; ++k) {
      const double a = 2 * std::numbers::pi * k / spokes;
      mesh.vertices.push_back({ring * std::cos(a), ring * std::sin(a), 0});
    }
  for (int k = 0; k < spokes; ++k) {
    const Gid a = 1 + k, b = 1 + (k + 1) % spokes;
    mesh.boundary.push_back({0, a, b});
    mesh.boundary.push_back({a, a + spokes, b + spokes});
    mesh.boundary.push_back({a, b + spokes, b});
  }
  mesh.boundary_tags.assign(mesh.boundary.size(), 1);
  return mesh;
}

TetMesh slanted(TetMesh mesh) {
  for (Vec3& p : mesh.vertices) p = p.x * Vec3{0.6, 0, 0.8} + p.y * Vec3{0.64, 0.6, -0.48};
  return mesh;
}

/// Of triangles.
class TrianglesGpu : public SmoothingGpu {};

TEST_P(TrianglesGpu, MovesNodesAsTheCpuDoes) {
  for (const BoundaryRule boundary : {BoundaryRule::fixed, BoundaryRule::slide})
    for (const bool simultaneous : {false, true})
      for (const int tags : {1, 2}) {
        const TetMesh mesh = noisy_square(40, 33, 0.3, tags);
        expect_bits_of_the_cpu(mesh, options(boundary, simultaneous));
        expect_bits_of_the_cpu(slanted(mesh), options(boundary, simultaneous));
      }
}

TEST_P(TrianglesGpu, MovesNodesOfFewAndManyTriangles) {
  for (const int spokes : {3, 4, 5, 6, 7, 8, 9, 16, 17, 40}) {
    SCOPED_TRACE(spokes);
    expect_bits_of_the_cpu(fan(spokes), options(BoundaryRule::fixed));
    expect_bits_of_the_cpu(fan(spokes), options(BoundaryRule::slide));
  }
}

TEST_P(TrianglesGpu, MovesNodesOfOddSizes) {
  for (const double size : {1e-45, 1e-3, 1e45}) {
    TetMesh mesh = noisy_square(12, 9, 0.3);
    for (Vec3& p : mesh.vertices) p = size * p;
    expect_bits_of_the_cpu(mesh, options(BoundaryRule::fixed));
  }
}

TEST_P(TrianglesGpu, Untangles) {
  SmoothOptions o = options(BoundaryRule::fixed);
  o.untangling = 200;
  expect_bits_of_the_cpu(noisy_square(12, 11, 0.8), o);
  expect_bits_of_the_cpu(slanted(noisy_square(12, 11, 0.8)), o);
}

TEST_P(TrianglesGpu, MovesNodesOfSurfaces) {
  if (GetParam().in_float) GTEST_SKIP() << "in double only";
  TetMesh mesh = noisy_square(12, 11, 0.2);
  for (Vec3& p : mesh.vertices) p.z = 0.05 * p.x * p.x;
  for (const BoundaryRule boundary : {BoundaryRule::fixed, BoundaryRule::slide})
    for (const bool simultaneous : {false, true}) expect_bits_of_the_cpu(mesh, options(boundary, simultaneous));
}

INSTANTIATE_TEST_SUITE_P(Forms, TrianglesGpu,
                         testing::Values(Form{Energy::shape, Method::newton, false},
                                         Form{Energy::shape, Method::newton, true},
                                         Form{Energy::shape, Method::half_trace, true}));

INSTANTIATE_TEST_SUITE_P(
    Forms, SmoothingGpu,
    testing::Values(Form{Energy::shape, Method::newton, false}, Form{Energy::shape, Method::newton, true},
                    Form{Energy::shape, Method::half_trace, true}, Form{Energy::l2v, Method::newton, false},
                    Form{Energy::l2v, Method::half_trace, false}, Form{Energy::l2v, Method::thesis, false}));

}  // namespace
}  // namespace tutti::smoothing
