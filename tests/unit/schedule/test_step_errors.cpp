// What a task throws ends the step, wherever it ran, and nothing of the step is still at work afterwards.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <stdexcept>
#include <thread>

#include "tests/unit/schedule/devices_of_a_rank.hpp"
#include "tutti/device/buffer.hpp"

namespace tutti {
namespace {

using test::DevicesOfARank;

constexpr int teams[] = {1, 2, 5};

/// Expects Error(numerical) "here" of the step, and that `later` never ran.
void expect_failure(Step& step, const std::atomic<bool>& later_ran) {
  try {
    step.run();
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::numerical);
    EXPECT_STREQ(error.what(), "here");
  }
  EXPECT_FALSE(later_ran) << "a task ran although the one before it failed";
}

[[noreturn]] void fail_here() {
  fail(ErrorKind::numerical, "here");
}

TEST(StepErrors, OfAHostTask) {
  for (const int team : teams) {
    DevicesOfARank rank(team, 1);
    std::atomic<bool> later_ran = false, broken = true;
    Step step(rank.threads, rank.parts);
    const TaskId a = step.host("a", -1, [&] {
      if (broken) fail_here();
    });
    step.after(step.host("later", -1, [&] { later_ran = true; }), a);
    step.finish(Overlap::full);
    expect_failure(step, later_ran);
    // The graph is whole: with the cause gone, it runs.
    broken = false;
    step.run();
    EXPECT_TRUE(later_ran);
  }
}

TEST(StepErrors, OfOneChunk) {
  for (const int team : teams) {
    DevicesOfARank rank(team);
    std::atomic<bool> later_ran = false;
    Step step(rank.threads, rank.parts);
    const TaskId a = step.compute("a", 0, Step::Role::interior, {0, 100000}, [&](Stream&, Range rows) {
      if (rows.begin <= 50000 && 50000 < rows.end) fail_here();
    });
    step.after(step.host("later", -1, [&] { later_ran = true; }), a);
    step.finish(Overlap::full);
    expect_failure(step, later_ran);
  }
}

TEST(StepErrors, OfALaunch) {
  for (const int team : teams) {
    DevicesOfARank rank(team, 1);
    std::atomic<bool> later_ran = false;
    Step step(rank.threads, rank.parts);
    const TaskId a = step.compute("a", 0, Step::Role::interior, {0, 100}, [&](Stream&, Range) { fail_here(); });
    step.after(step.host("later", -1, [&] { later_ran = true; }), a);
    step.finish(Overlap::full);
    expect_failure(step, later_ran);
  }
}

TEST(StepErrors, OfAKernelThatRunsLater) {
  for (const int team : teams) {
    DevicesOfARank rank(team, 1);
    std::atomic<bool> later_ran = false;
    Step step(rank.threads, rank.parts);
    const TaskId a = step.compute("a", 0, Step::Role::interior, {0, 100}, [&](Stream& stream, Range rows) {
      stream.loop(rows, [](Lid, Lid) { fail_here(); });
    });
    // One behind it on the device, one behind it on the host.
    const TaskId b = step.compute("b", 0, Step::Role::interior, {0, 100}, [&](Stream& stream, Range rows) {
      stream.loop(rows, [&](Lid, Lid) { later_ran = true; });
    });
    step.after(b, a);
    step.after(step.host("later", -1, [&] { later_ran = true; }), b);
    step.finish(Overlap::full);
    expect_failure(step, later_ran);
  }
}

TEST(StepErrors, OfACopyWithAWrongEnd) {
  for (const int team : teams) {
    DevicesOfARank rank(team, 1);
    Buffer<double> there(*rank.devices[0], 4, "there");
    std::vector<double> here(8);
    Step step(rank.threads, rank.parts);
    step.upload("too long", 0, [&](Stream& stream) {
      stream.copy(there.data(), here.data(), 8 * sizeof(double), CopyDirection::to_device);
    });
    step.finish(Overlap::full);
    EXPECT_THROW(step.run(), std::logic_error);
  }
}

TEST(StepErrors, OfALostDevice) {
  for (const int team : teams) {
    DevicesOfARank rank(team);
    FakeOptions options;
    options.fail_after_launches = 3;
    const auto device = make_fake_device(0, options);
    std::vector<PartStreams> parts;
    parts.emplace_back(*device);
    Step step(rank.threads, parts);
    step.compute("a", 0, Step::Role::interior, {0, 10},
                 [](Stream& stream, Range rows) { stream.loop(rows, [](Lid, Lid) {}); });
    step.finish(Overlap::full);
    for (int s = 0; s < 3; ++s) step.run();
    try {
      step.run();
      FAIL() << "the device was not lost";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::peer);
    }
  }
}

TEST(StepErrors, NothingIsAtWorkAfterAFailure) {
  // Device 1 is in the middle of a long kernel when a host task fails: what it works on is about to be freed.
  for (const int team : teams) {
    DevicesOfARank rank(team, 2);
    std::atomic<int> at_work = 0, finished = 0;
    Step step(rank.threads, rank.parts);
    const TaskId mark = step.compute("slow", 1, Step::Role::interior, {0, 1}, [&](Stream& stream, Range rows) {
      at_work = 1;
      stream.loop(rows, [&](Lid, Lid) {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        finished = 1;
      });
    });
    static_cast<void>(mark);
    step.host("fails", -1, [&] {
      // Not before the slow kernel is on its way; a team of one launches it before it comes here.
      while (at_work == 0) std::this_thread::yield();
      fail_here();
    });
    step.finish(Overlap::full);
    EXPECT_THROW(step.run(), Error);
    EXPECT_EQ(finished, 1) << "run() came back while a device was at work";
  }
}

TEST(StepErrors, TheFirstErrorIsTheOneThatIsTold) {
  DevicesOfARank rank(5, 2);
  for (int repeat = 0; repeat < 20; ++repeat) {
    Step step(rank.threads, rank.parts);
    for (int t = 0; t < 8; ++t) step.host("fails", -1, [] { fail_here(); });
    step.finish(Overlap::full);
    EXPECT_THROW(step.run(), Error);
  }
}

}  // namespace
}  // namespace tutti
