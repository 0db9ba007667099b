// What parts get where a device is full.
#include <gtest/gtest.h>

#include "tests/unit/base/mpi_environment.hpp"
#include "tutti/domain/part_capacity.hpp"

namespace tutti {
namespace {

using test::world;

/// Two GPUs and a CPU, one GPU alone being the fastest; rooms of so many rows.
PartTargets targets_of(double first, double second, double cpu) {
  PartRate gpu, team;
  gpu.rate = 1e6;
  gpu.of_share = 1e6;
  gpu.exchange = 1;
  team.rate = 1e3;
  team.threads = 1;
  PartTargets targets;
  targets.chosen = weigh_rates({gpu, gpu, team}, 1000);
  targets.most = {first, second, cpu};
  RowsToPlace place;
  place.rows = 1000;
  bound_targets(world(), {}, place, targets);
  return targets;
}

TEST(PartTargets, OneGpuHasAllWhereItHasTheRoom) {
  const PartTargets targets = targets_of(2000, 2000, 2000);
  EXPECT_TRUE(targets.chosen.one_gpu.has_value());
  EXPECT_EQ(targets.bound.weights, (std::vector<double>{1, 0, 0}));
}

/// And not the CPU before the other GPU.
TEST(PartTargets, WhereItIsFullAllGpusTakePart) {
  const PartTargets targets = targets_of(600, 2000, 2000);
  EXPECT_FALSE(targets.chosen.one_gpu.has_value());
  EXPECT_NEAR(targets.bound.weights[0], 0.5, 1e-9);
  EXPECT_NEAR(targets.bound.weights[1], 0.5, 1e-9);
  EXPECT_EQ(targets.bound.weights[2], 0);
}

}  // namespace
}  // namespace tutti
