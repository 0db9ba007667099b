// Weights that a device makes have the bits of the CPU's. In test_gpu the device is a GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "sphere_nodes.hpp"
#include "tutti/base/error.hpp"
#include "tutti/device/threads.hpp"
#include "tutti/models/transport/paper_parameters.hpp"
#include "tutti/models/transport/stencils/device_weights.hpp"

namespace tutti::transport {
namespace {

/// A device of this kind with all that it needs; null: there is none.
struct OneDevice {
  Threads threads{2};
  std::unique_ptr<Device> device;
  explicit OneDevice(DeviceKind kind) {
    if (kind == DeviceKind::host) device = make_host_device(threads, Size{1} << 30);
    if (kind == DeviceKind::fake) device = make_fake_device(0, {});
    if (kind == DeviceKind::cuda && cuda_device_count() > 0) device = make_cuda_device(0);
  }
};

std::vector<StencilBasis> bases() {
  StencilBasis small;
  small.size = 28;
  small.exponent = 5;
  small.degree = 4;
  small.hyper = 2;
  std::vector<StencilBasis> all{StencilBasis{}, small};
  const auto add = [&](int n, double epsilon, int k) {
    StencilBasis basis;
    basis.kind = StencilBasis::Kind::gaussian;
    basis.size = n;
    basis.epsilon = epsilon;
    basis.hyper = k;
    all.push_back(basis);
  };
  for (const PaperParameters& entry : bell_parameters) add(entry.size, entry.epsilon(2500), entry.k);
  add(32, 2, 3);    // 33 unknowns: one more than a warp
  add(135, 10, 1);  // as many unknowns as there may be
  return all;
}

class DeviceWeights : public testing::TestWithParam<DeviceKind> {};

TEST_P(DeviceWeights, HaveTheBitsOfTheCpu) {
  const OneDevice one(GetParam());
  if (!one.device) GTEST_SKIP() << "no GPU on this machine";
  const auto stream = one.device->make_stream("test");
  const std::vector<Vec3> nodes = test::shaken(test::fibonacci_sphere(2500), 0.01);
  for (const StencilBasis& basis : bases()) {
    SCOPED_TRACE(fmt::format("n = {}, eps = {}", basis.size, basis.epsilon));
    const std::vector<Lid> columns = test::stencils(nodes, basis.size, 25);
    std::vector<double> expected(columns.size() * operators), got(expected.size(), -1);
    const WeightReport there = make_weights(*stream, basis, nodes, columns, got, {}, 33);  // 100 rows in four pieces
    const WeightReport here = make_weights<Lid>(basis, nodes, columns, expected);
    Size differing = 0;
    double largest = 0, scale = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      differing += std::bit_cast<std::uint64_t>(got[i]) != std::bit_cast<std::uint64_t>(expected[i]) ? 1 : 0;
      // The gradient alone: other operators have other units.
      if (i / static_cast<std::size_t>(basis.size) % operators > gradient_z) continue;
      largest = std::max(largest, std::fabs(got[i] - expected[i]));
      scale = std::max(scale, std::fabs(expected[i]));
    }
    EXPECT_EQ(differing, 0) << "of " << got.size() << "; the largest difference is " << largest << " of " << scale
                            << ", the largest condition number " << here.max_condition;
    EXPECT_EQ(there.stencils, here.stencils);
    EXPECT_EQ(there.max_condition, here.max_condition);
    EXPECT_EQ(there.mean_condition, here.mean_condition);
    EXPECT_EQ(there.worst, here.worst);
  }
}

TEST(DeviceWeightsOfASmallDevice, AreMadeInPiecesThatFit) {
  const StencilBasis basis;
  const std::vector<Vec3> nodes = test::fibonacci_sphere(500);
  const std::vector<Lid> columns = test::stencils(nodes, basis.size, 5);
  std::vector<double> expected(columns.size() * operators), got(expected.size(), -1);
  make_weights<Lid>(basis, nodes, columns, expected);
  // The nodes, and seven rows of a hundred.
  FakeOptions options;
  options.memory = 500 * static_cast<Size>(sizeof(Vec3)) + 7 * (57 * (4 + 5 * 8) + 8);
  const auto device = make_fake_device(0, options);
  const auto stream = device->make_stream("test");
  make_weights(*stream, basis, nodes, columns, got);
  EXPECT_EQ(got, expected);
  EXPECT_EQ(device->budget().peak(), options.memory);
}

TEST_P(DeviceWeights, ASingularStencilNamesItsNode) {
  const OneDevice one(GetParam());
  if (!one.device) GTEST_SKIP() << "no GPU on this machine";
  const auto stream = one.device->make_stream("test");
  std::vector<Vec3> nodes = test::fibonacci_sphere(400);
  nodes[200] = nodes[205];
  for (const StencilBasis& basis : {bases()[0], bases()[2]}) {
    // Stencils of nodes 0, 4, 8, ...: the first pieces are whole.
    const std::vector<Lid> columns = test::stencils(nodes, basis.size, 4);
    std::vector<double> out(columns.size() * operators);
    std::string here, there;
    try {
      make_weights<Lid>(basis, nodes, columns, out);
    } catch (const Error& error) {
      here = error.what();
    }
    try {
      make_weights(*stream, basis, nodes, columns, out, {}, 10);
    } catch (const Error& error) {
      there = error.what();
      EXPECT_EQ(error.kind(), ErrorKind::numerical);
    }
    EXPECT_THAT(there, testing::HasSubstr("singular"));
    EXPECT_EQ(there, here);
  }
}

TEST_P(DeviceWeights, OfNoRows) {
  const OneDevice one(GetParam());
  if (!one.device) GTEST_SKIP() << "no GPU on this machine";
  const auto stream = one.device->make_stream("test");
  const WeightReport report = make_weights(*stream, StencilBasis{}, {}, {}, {});
  EXPECT_EQ(report.stencils, 0);
  EXPECT_EQ(report.worst, -1);
}

#if defined(TUTTI_TEST_GPU)
INSTANTIATE_TEST_SUITE_P(Cuda, DeviceWeights, testing::Values(DeviceKind::cuda));
#else
INSTANTIATE_TEST_SUITE_P(Host, DeviceWeights, testing::Values(DeviceKind::host));
INSTANTIATE_TEST_SUITE_P(Fake, DeviceWeights, testing::Values(DeviceKind::fake));
#endif

}  // namespace
}  // namespace tutti::transport
