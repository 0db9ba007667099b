#include "tutti/models/incompressible/flow_rate.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/base/mpi_environment.hpp"
#include "tutti/device/device_list.hpp"
#include "tutti/models/incompressible/flow_case.hpp"

namespace tutti::incompressible {
namespace {

TEST(FlowRate, of_devices_with_their_own_memory_and_without) {
  DeviceOptions options;
  options.threads = 1;
  options.fake.memory = Size{16} << 20;
  DeviceSet devices = open_devices("fake:1,cpu", test::world(), options);
  FlowCase cold, warm, swept, stretched;
  warm.scalars.resize(1);
  for (FlowCase* flow : {&swept, &stretched}) {
    flow->pressure = PressureMethod::jacobi;
    flow->sweeps = 5;
    for (GridLine& line : flow->grid.lines) line = make_grid_line(8, 0, 1, flow == &swept ? 0 : 2, false);
  }
  for (const FlowCase* flow : {&cold, &warm, &swept, &stretched})
    for (const bool single : {false, true})
      for (const auto& device : devices.devices) {
        const Size before = device->budget().used();
        const double rate = flow_rate(*flow, single, *devices.threads)(*device, 4000);
        EXPECT_TRUE(std::isfinite(rate) && rate > 0) << rate;
        EXPECT_EQ(device->budget().used(), before) << "the sample is freed";
      }
  // 256 x 256 x 256 cells of 15 fields do not fit into 16 MiB; who asks takes the bandwidth instead.
  EXPECT_THROW(flow_rate(warm, false, *devices.threads)(*devices.devices[0], Gid{1} << 24), Error);
}

/// Jacobi sweeps write another array than they read.
TEST(FlowRate, is_that_of_the_sweeps_of_the_flow) {
  FlowCase flow;
  for (GridLine& line : flow.grid.lines) line = make_grid_line(8, 0, 1, 0, false);
  flow.sweeps = 5;
  Size peak[2] = {};
  for (const bool jacobi : {false, true}) {
    DeviceOptions options;
    options.threads = 1;
    DeviceSet devices = open_devices("fake:1", test::world(), options);
    flow.pressure = jacobi ? PressureMethod::jacobi : PressureMethod::multigrid;
    flow_rate(flow, false, *devices.threads)(*devices.devices[0], 4096);
    peak[jacobi ? 1 : 0] = devices.devices[0]->budget().peak();
  }
  EXPECT_EQ(peak[1] - peak[0], Size{8} * 18 * 18 * 18);
}

}  // namespace
}  // namespace tutti::incompressible
