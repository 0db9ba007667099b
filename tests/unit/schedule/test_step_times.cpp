// The times of an observed step: what a timeline is made of.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "tests/support/own_folder.hpp"
#include "tests/unit/base/mpi_environment.hpp"
#include "tests/unit/schedule/devices_of_a_rank.hpp"
#include "tutti/io/case/case.hpp"
#include "tutti/schedule/step_tracer.hpp"

namespace tutti {
namespace {

using test::DevicesOfARank;
using test::world;

void sleep_for_ms(int ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

/// Two kernels on a fake device with a copy out between them, a copy in, a host task, and rows of the CPU.
struct Mixed {
  explicit Mixed(int team) : rank(team, 1), step(rank.threads, rank.parts) {
    const auto slow = [](Stream& stream, Range range) { stream.loop(range, [](Lid, Lid) { sleep_for_ms(2); }); };
    first = step.compute("first", 0, Step::Role::separator, {0, 1}, slow);
    second = step.compute("second", 0, Step::Role::interior, {1, 2}, slow);
    host = step.host("host", -1, [] { sleep_for_ms(1); });
    copy = step.upload("copy", 0, [](Stream&) {});
    step.after(host, first);
    step.after(copy, first);
    rows = step.compute("rows", 1, Step::Role::interior, {100, 5000}, [](Stream&, Range) {});
    step.finish(Overlap::full);
  }
  DevicesOfARank rank;
  Step step;
  TaskId first = 0, second = 0, host = 0, copy = 0, rows = 0;
};

TEST(StepTimes, WorkOnADeviceBeginsBehindWhatItWaitedFor) {
  for (const int team : {1, 2, 5}) {
    SCOPED_TRACE(team);
    Mixed mixed(team);
    int side_by_side = 0;
    for (int run = 0; run < 20; ++run) {
      mixed.step.run();
      const auto times = mixed.step.last_times();
      const auto at = [&](TaskId id) { return times[id]; };
      for (const TaskTimes& t : times) EXPECT_LE(t.begin, t.end) << t.name;
      EXPECT_GE(at(mixed.first).end - at(mixed.first).begin, 0.0015);
      side_by_side += at(mixed.second).begin < at(mixed.first).end ? 1 : 0;
      EXPECT_GE(at(mixed.copy).begin, at(mixed.first).end) << "launched ahead, but it waited";
      EXPECT_GE(at(mixed.host).begin, at(mixed.first).end);
      EXPECT_EQ(at(mixed.first).lane, Lane::separators);
      EXPECT_EQ(at(mixed.second).lane, Lane::compute);
      EXPECT_EQ(at(mixed.copy).lane, Lane::incoming);
      EXPECT_EQ(at(mixed.host).lane, Lane::host);
      EXPECT_EQ(at(mixed.rows).lane, Lane::host);
    }
    EXPECT_GT(side_by_side, 0) << "separators have a stream of their own";
  }
}

TEST(StepTimes, ThreadsNoteTheirPiecesOnlyWhileObserved) {
  for (const int team : {1, 2, 5}) {
    SCOPED_TRACE(team);
    Mixed mixed(team);
    mixed.step.run();
    EXPECT_TRUE(mixed.step.last_pieces().empty());
    int called = 0;
    mixed.step.observe([&] { ++called; });
    for (int run = 0; run < 3; ++run) {
      mixed.step.run();
      const auto& threads = mixed.step.last_pieces();
      ASSERT_EQ(threads.size(), static_cast<std::size_t>(team));
      std::map<TaskId, Lid> rows;
      std::multiset<TaskId> launched;
      for (const auto& pieces : threads) {
        double before = 0;
        for (const ThreadPiece& piece : pieces) {
          EXPECT_GE(piece.begin, before) << "a thread does one thing at a time";
          EXPECT_GE(piece.end, piece.begin);
          before = piece.end;
          rows[piece.task] += piece.rows.size();
          if (piece.launch) launched.insert(piece.task);
        }
      }
      EXPECT_EQ(rows[mixed.rows], 4900) << "every row once";
      EXPECT_EQ(rows.count(mixed.host), 1);
      EXPECT_EQ(launched, (std::multiset<TaskId>{mixed.first, mixed.second, mixed.copy}));
    }
    EXPECT_EQ(called, 3);
    mixed.step.observe({});
    mixed.step.run();
    EXPECT_EQ(called, 3);
    EXPECT_TRUE(mixed.step.last_pieces().empty());
  }
}

/// Steps that a tracer of this window traces in a run of first_step .. last_step.
std::set<Size> traced(std::optional<TraceWindow> window, Size first_step, Size last_step) {
  const auto path = test::own_folder() / "tutti_step_tracer.json";
  Trace trace(world(), path, window);
  Mixed mixed(2);
  StepTracer tracer(world(), trace, {&mixed.step}, first_step, last_step);
  for (Size step = first_step; step <= last_step; ++step) {
    tracer.begin(step);
    mixed.step.run();
    tracer.end(step);
  }
  trace.write();
  std::set<Size> steps;
  std::map<Size, int> slices;
  const auto json = nlohmann::json::parse(read_text_file(path));
  for (const auto& e : json["traceEvents"])
    if (e["ph"] == "X") {
      steps.insert(e["args"]["step"].get<Size>());
      ++slices[e["args"]["step"].get<Size>()];
    }
  // The step itself, three tasks of streams and their launches, the host task and some chunks.
  for (const auto& [step, count] : slices) EXPECT_GE(count, 9) << step;
  EXPECT_EQ(tracer.traces_any(), !steps.empty());
  return steps;
}

TEST(StepTracer, TracesTheChosenStepsOfThisRun) {
  EXPECT_EQ(traced(std::nullopt, 1, 20), (std::set<Size>{10, 11, 12, 13, 14}));
  EXPECT_EQ(traced(std::nullopt, 1, 3), (std::set<Size>{1, 2, 3})) << "a short run: all of it";
  EXPECT_EQ(traced(std::nullopt, 101, 120), (std::set<Size>{110, 111, 112, 113, 114})) << "a restart";
  EXPECT_EQ(traced(TraceWindow{2, 2}, 1, 5), (std::set<Size>{2}));
  EXPECT_EQ(traced(TraceWindow{4, 9}, 1, 5), (std::set<Size>{4, 5}));
  EXPECT_EQ(traced(TraceWindow{6, 9}, 1, 5), (std::set<Size>{}));
}

}  // namespace
}  // namespace tutti
