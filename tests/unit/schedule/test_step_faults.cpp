// Tests of the tests: a step with a forgotten dependency or copy must give itself away on fake devices.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/rank_parts.hpp"
#include "tests/unit/base/mpi_environment.hpp"
#include "tests/unit/schedule/devices_of_a_rank.hpp"

namespace tutti {
namespace {

using test::DevicesOfARank;
using test::world;

constexpr int seeds = 40;

/// A copy to the device and a kernel that reads it on another stream. Returns whether the kernel read what was copied.
bool read_after_upload(std::uint64_t seed, bool with_dependency) {
  DevicesOfARank rank(2, 1, seed, 300);
  Device& device = *rank.devices[0];
  const std::vector<double> values(100, 1.0);
  Buffer<double> in(device, 100, "in"), out(device, 100, "out");
  Step step(rank.threads, rank.parts);
  const TaskId copy = step.upload("copy", 0, [&](Stream& stream) {
    stream.copy(in.data(), values.data(), 100 * sizeof(double), CopyDirection::to_device);
  });
  const TaskId kernel = step.compute("kernel", 0, Step::Role::interior, {0, 100}, [&](Stream& stream, Range rows) {
    stream.loop(rows, [from = in.data(), to = out.data()](Lid begin, Lid end) {
      for (Lid i = begin; i < end; ++i) to[i] = 2 * from[i];
    });
  });
  if (with_dependency) step.after(kernel, copy);
  step.finish(Overlap::full);
  step.run();
  std::vector<double> result(100);
  download(*rank.parts[0].compute, std::span<double>(result), out);
  return std::all_of(result.begin(), result.end(), [](double x) { return x == 2.0; });
}

TEST(StepFaults, AForgottenDependencyIsSeenAtSomeSeed) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) EXPECT_TRUE(read_after_upload(seed, true)) << "seed " << seed;
#if !defined(__SANITIZE_THREAD__)  // a race on purpose
  int wrong = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) wrong += read_after_upload(seed, false) ? 0 : 1;
  EXPECT_GT(wrong, 0) << "the fake device hides a race";
#endif
}

/// One exchange of a step in which part 0, on a fake device, computes its separators from nothing. `waits` false: the
/// exchange is told of another task as the one that computes them. Returns whether part 1 got them.
bool ghosts_of_a_step(std::uint64_t seed, bool waits) {
  DevicesOfARank rank(2, 1, seed, 300);
  const std::vector<PartRows> rows{{.part = 0, .owned = {0, 1}, .ghosts = {}, .ghost_owners = {}},
                                   {.part = 1, .owned = {2}, .ghosts = {1}, .ghost_owners = {0}}};
  const auto maps = number_parts(world(), rows, std::vector<int>{0, 0});
  const Plan plan = make_plan(maps, 0);
  Exchange<double> exchange(world(), plan, maps, rank.parts, 1);
  std::vector<Field<double>> fields;
  for (std::size_t p = 0; p < 2; ++p) fields.emplace_back(*rank.parts[p].device, maps[p], "u");
  std::fill_n(fields[1].data(), fields[1].buffer().size(), std::nan(""));
  exchange.bind(std::vector<FieldView<double>>{fields[0].view(), fields[1].view()});

  Step step(rank.threads, rank.parts);
  const TaskId separators = step.compute("separator", 0, Step::Role::separator, maps[0].separator_rows(),
                                         [u = fields[0].data()](Stream& stream, Range r) {
                                           stream.loop(r, [u](Lid begin, Lid end) {
                                             for (Lid i = begin; i < end; ++i) u[i] = 42;
                                           });
                                         });
  const TaskId nothing = step.host("nothing", 1, [] {});
  step.exchange(exchange, std::vector<TaskId>{waits ? separators : nothing, nothing});
  step.finish(Overlap::full);
  step.run();
  rank.parts[0].compute->synchronize();
  return fields[1].data()[1] == 42;
}

TEST(StepFaults, AnExchangeThatDoesNotWaitForSeparatorsIsSeenAtSomeSeed) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) EXPECT_TRUE(ghosts_of_a_step(seed, true)) << "seed " << seed;
#if !defined(__SANITIZE_THREAD__)  // a race on purpose
  int wrong = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) wrong += ghosts_of_a_step(seed, false) ? 0 : 1;
  EXPECT_GT(wrong, 0) << "the fake device hides a race";
#endif
}

TEST(StepFaults, AForgottenCopyIsNaN) {
  // The same kernel without any upload: what was never written is NaN, at every seed.
  DevicesOfARank rank(1, 1);
  Buffer<double> in(*rank.devices[0], 10, "in"), out(*rank.devices[0], 10, "out");
  Step step(rank.threads, rank.parts);
  step.compute("kernel", 0, Step::Role::interior, {0, 10}, [&](Stream& stream, Range rows) {
    stream.loop(rows, [from = in.data(), to = out.data()](Lid begin, Lid end) {
      for (Lid i = begin; i < end; ++i) to[i] = 2 * from[i];
    });
  });
  step.finish(Overlap::full);
  step.run();
  std::vector<double> result(10);
  download(*rank.parts[0].compute, std::span<double>(result), out);
  for (const double x : result) EXPECT_TRUE(std::isnan(x));
}

TEST(StepFaultsDeathTest, AHostTaskThatReadsDeviceMemoryEndsTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        DevicesOfARank rank(1, 1);
        Buffer<double> in(*rank.devices[0], 10, "in");
        Step step(rank.threads, rank.parts);
        volatile double seen = 0;
        step.host("peek", -1, [&] { seen = in.data()[3]; });
        step.finish(Overlap::full);
        step.run();
      },
      "");
}

}  // namespace
}  // namespace tutti
