// Velocities: towards east and north or in Cartesian components, along the tangents of every node. In test_gpu the
// device is a GPU.
#include "tutti/models/transport/velocity.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "sphere_nodes.hpp"
#include "tutti/device/threads.hpp"
#include "tutti/models/transport/stencils/stencil_system.hpp"

namespace tutti::transport {
namespace {

void expect_near(Vec3 a, Vec3 b, double tolerance) {
  for (int d = 0; d < 3; ++d) EXPECT_NEAR(a[d], b[d], tolerance) << "component " << d;
}

/// Nodes everywhere, and where formulas have their corners.
std::vector<Vec3> places() {
  std::vector<Vec3> nodes = test::shaken(test::fibonacci_sphere(90), 0.1);
  for (const double s : {-1.0, 1.0})
    for (const Vec3 axis : {Vec3{s, 0, 0}, Vec3{0, s, 0}, Vec3{0, 0, s}, Vec3{s, -0.0, 0}, Vec3{-0.0, 0, s},
                            Vec3{0, -0.0, s}, Vec3{-0.0, -0.0, s}, Vec3{1e-100, 0, s}, Vec3{-1e-12, 1e-13, s}})
      nodes.push_back(axis);
  return nodes;
}

TEST(VelocityVector, PointsEastAndNorth) {
  for (const double lon : {-3.0, -1.2, 0.0, 0.4, 2.5})
    for (const double lat : {-1.4, -0.3, 0.0, 0.9, 1.5}) {
      const Vec3 node{std::cos(lat) * std::cos(lon), std::cos(lat) * std::sin(lon), std::sin(lat)};
      const double east[2] = {2, 0}, north[2] = {0, 3}, both[2] = {2, 3};
      // Derivatives of the place by lon / cos lat, and by lat.
      const Vec3 to_east{-std::sin(lon), std::cos(lon), 0},
          to_north{-std::sin(lat) * std::cos(lon), -std::sin(lat) * std::sin(lon), std::cos(lat)};
      expect_near(velocity_vector(node, east, false), 2.0 * to_east, 1e-14);
      expect_near(velocity_vector(node, north, false), 3.0 * to_north, 1e-14);
      expect_near(velocity_vector(node, both, false), 2.0 * to_east + 3.0 * to_north, 1e-14);
    }
}

TEST(VelocityVector, AtThePolesTheLongitudeIs0) {
  const double values[2] = {2, 3};
  for (const double zero : {0.0, -0.0}) {
    EXPECT_EQ(velocity_vector({zero, 0, 1}, values, false), (Vec3{-3, 2, 0}));
    EXPECT_EQ(velocity_vector({zero, zero, -1}, values, false), (Vec3{3, 2, 0}));
    // As in formulas.
    EXPECT_EQ(Expression("lon")({zero, 0, 1}), 0);
    EXPECT_EQ(Expression("lon")({zero, zero, -1}), 0);
  }
}

TEST(VelocityVector, ComponentsAreThemselves) {
  const double values[3] = {2, 3, -5};
  EXPECT_EQ(velocity_vector({0.6, 0, 0.8}, values, true), (Vec3{2, 3, -5}));
}

class PartVelocities : public testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override {
    if (GetParam() == DeviceKind::host) device_ = make_host_device(threads_, Size{1} << 30);
    if (GetParam() == DeviceKind::fake) device_ = make_fake_device(0, {});
    if (GetParam() == DeviceKind::cuda && cuda_device_count() > 0) device_ = make_cuda_device(0);
    if (!device_) GTEST_SKIP() << "no GPU on this machine";
    stream_ = device_->make_stream("test");
  }
  /// Minus the velocity along the two tangents of every node, at `time`.
  std::vector<double> along(const std::vector<Expression>& formulas, bool cartesian, const std::vector<Vec3>& nodes,
                            double time) {
    PartVelocity along_axes(*stream_, formulas, cartesian, nodes);
    EXPECT_EQ(along_axes.bytes(), 16 * static_cast<Size>(nodes.size()));
    along_axes.update(*stream_, time + 1);  // is forgotten
    along_axes.update(*stream_, time);
    std::vector<double> values(2 * nodes.size());
    stream_->copy(values.data(), along_axes.along(), static_cast<Size>(values.size() * sizeof(double)),
                  device_->is_host() ? CopyDirection::local : CopyDirection::to_host);
    stream_->synchronize();
    return values;
  }
  Threads threads_{2};
  std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
};

TEST_P(PartVelocities, AreTheFormulas) {
  const auto nodes = places();
  const double time = 0.7;
  // The same velocity twice: a rotation about an axis, and a part along the meridians; z(t) = cos t.
  const std::vector<Expression> by_angles{Expression("cos(lat) * 2 + 0.5 * sin(lat) * cos(lon) * cos(t)"),
                                          Expression("-0.5 * sin(lon) * cos(t)")};
  // Omega x X with Omega = (-0.5 cos t, 0, 2).
  const std::vector<Expression> components{Expression("-2 * y"), Expression("2 * x + 0.5 * cos(t) * z"),
                                           Expression("-0.5 * cos(t) * y")};
  const auto first = along(by_angles, false, nodes, time), second = along(components, true, nodes, time);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    SCOPED_TRACE(fmt::format("({}, {}, {})", nodes[i].x, nodes[i].y, nodes[i].z));
    const Vec3 rotation = cross({-0.5 * std::cos(time), 0, 2}, nodes[i]);
    const StencilFrame frame = make_frame(nodes[i]);
    for (const auto* found : {&first, &second}) {
      EXPECT_NEAR((*found)[2 * i], -dot(rotation, frame.first), 1e-14);
      EXPECT_NEAR((*found)[2 * i + 1], -dot(rotation, frame.second), 1e-14);
    }
  }
}

TEST_P(PartVelocities, OnlyThePartAlongTheSphereCounts) {
  const auto nodes = places();
  const std::vector<Expression> components{Expression("-y"), Expression("x"), Expression()},
      with_normal{Expression("-y + 7*x"), Expression("x + 7*y"), Expression("7*z")};
  const auto first = along(components, true, nodes, 0), second = along(with_normal, true, nodes, 0);
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_NEAR(first[i], second[i], 1e-14) << i;
}

TEST_P(PartVelocities, NoNodesAreNoWork) {
  EXPECT_TRUE(along({Expression(1.0), Expression()}, false, {}, 0).empty());
}

std::string name_of(const testing::TestParamInfo<DeviceKind>& kind) {
  return kind.param == DeviceKind::host ? "host" : kind.param == DeviceKind::fake ? "fake" : "cuda";
}

#if defined(TUTTI_TEST_GPU)
INSTANTIATE_TEST_SUITE_P(Cuda, PartVelocities, testing::Values(DeviceKind::cuda), name_of);
#else
INSTANTIATE_TEST_SUITE_P(Cpu, PartVelocities, testing::Values(DeviceKind::host, DeviceKind::fake), name_of);
#endif

}  // namespace
}  // namespace tutti::transport
