// Random task graphs: every task runs once a step, after everything that it waits for.
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include "tests/support/random_parts.hpp"
#include "tests/unit/schedule/devices_of_a_rank.hpp"
#include "tutti/device/buffer.hpp"

namespace tutti {
namespace {

using test::DevicesOfARank;
using test::Dice;

/// Begin and end of a task on a clock that ticks at every look.
struct Record {
  std::int64_t begin = 0, end = 0;
  int times = 0;  ///< chunks, or pieces of a fake device's loop
};

class Recorder {
 public:
  explicit Recorder(std::size_t tasks) : records_(tasks) {}
  void clear() { records_.assign(records_.size(), {}); }
  void begin(std::size_t task) {
    std::lock_guard lock(mutex_);
    Record& r = records_[task];
    if (r.times++ == 0) r.begin = ++clock_;
  }
  void end(std::size_t task) {
    std::lock_guard lock(mutex_);
    records_[task].end = ++clock_;
  }
  const Record& of(std::size_t task) const { return records_[task]; }

 private:
  std::mutex mutex_;
  std::vector<Record> records_;
  std::int64_t clock_ = 0;
};

struct Graph {
  std::vector<std::pair<TaskId, TaskId>> edges;  ///< earlier, later
  std::vector<bool> runs;                        ///< false: an empty range, nothing happens
};

/// Adds tasks of all kinds to the step and random dependencies in a random order.
Graph random_graph(Step& step, DevicesOfARank& rank, Dice& dice, Recorder& recorder, int tasks) {
  Graph graph;
  for (int t = 0; t < tasks; ++t) {
    const auto id = static_cast<std::size_t>(t);
    const auto mark = [&recorder, id](Lid, Lid) {
      recorder.begin(id);
      if (id % 3 == 0) std::this_thread::yield();
      recorder.end(id);
    };
    const int part = static_cast<int>(dice.roll(0, rank.cpu()));
    const Range rows{static_cast<Lid>(dice.roll(0, 300)), 0};
    const Range some{rows.begin, rows.begin + static_cast<Lid>(dice.chance(0.2) ? 0 : dice.roll(1, 5000))};
    const auto role = static_cast<Step::Role>(dice.roll(0, 2));
    bool runs = true;
    TaskId made = -1;
    switch (dice.roll(0, 2)) {
      case 0:
        made = step.host("host " + std::to_string(t), part, [mark] { mark(0, 0); });
        break;
      case 1:
        made = step.compute("compute " + std::to_string(t), part, role, some,
                            [mark](Stream& stream, Range r) { stream.loop(r, mark); });
        runs = !some.empty();
        break;
      default:
        if (part == rank.cpu()) {
          made = step.host("host " + std::to_string(t), -1, [mark] { mark(0, 0); });
        } else {
          made = step.upload("upload " + std::to_string(t), part, [mark](Stream& stream) {
            stream.loop({0, 1}, mark);
          });
        }
    }
    EXPECT_EQ(made, t);
    graph.runs.push_back(runs);
  }
  for (TaskId later = 1; later < tasks; ++later)
    for (TaskId earlier = 0; earlier < later; ++earlier)
      if (dice.chance(2.0 / tasks)) {
        step.after(later, earlier);
        graph.edges.emplace_back(earlier, later);
      }
  return graph;
}

/// All pairs of tasks with a way from the first to the second, also through tasks of empty ranges.
std::vector<std::pair<std::size_t, std::size_t>> ways(const Graph& graph) {
  const std::size_t n = graph.runs.size();
  std::vector<std::vector<bool>> way(n, std::vector<bool>(n, false));
  for (const auto& [earlier, later] : graph.edges) way[earlier][later] = true;
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t b = 0; b < n; ++b)
    for (std::size_t a = 0; a < b; ++a) {
      for (std::size_t m = a + 1; m < b && !way[a][b]; ++m) way[a][b] = way[a][m] && way[m][b];
      if (way[a][b]) pairs.emplace_back(a, b);
    }
  return pairs;
}

TEST(StepGraph, EveryTaskRunsOnceAfterWhatItWaitsFor) {
  for (const int team : {1, 2, 5})
    for (std::uint64_t seed = 1; seed <= 25; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::to_string(team) + " threads");
      Dice dice(100 * seed + static_cast<std::uint64_t>(team));
      DevicesOfARank rank(team, static_cast<int>(dice.roll(0, 2)), seed);
      const int tasks = static_cast<int>(dice.roll(1, 30));
      Recorder recorder(static_cast<std::size_t>(tasks));
      Step step(rank.threads, rank.parts);
      const Graph graph = random_graph(step, rank, dice, recorder, tasks);
      step.finish(Overlap::full);
      for (int run = 0; run < 3; ++run) {
        recorder.clear();
        step.run();
        for (std::size_t t = 0; t < graph.runs.size(); ++t) {
          EXPECT_EQ(recorder.of(t).times > 0, graph.runs[t]) << "task " << t;
        }
        for (const auto& [earlier, later] : ways(graph)) {
          if (!graph.runs[earlier] || !graph.runs[later]) continue;
          EXPECT_LT(recorder.of(earlier).end, recorder.of(later).begin)
              << "task " << later << " did not wait for task " << earlier;
        }
      }
    }
}

TEST(StepGraph, AnEmptyTaskPassesTheWaitingOn) {
  // a -> (empty compute) -> b: the empty task in between must not let b overtake a.
  for (const int team : {1, 2, 5})
    for (const int fakes : {0, 1}) {
      DevicesOfARank rank(team, fakes);
      Step step(rank.threads, rank.parts);
      int a_done = 0, seen_by_b = -1;
      const TaskId a = step.host("a", -1, [&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        a_done = 1;
      });
      const TaskId empty = step.compute("empty", 0, Step::Role::other, {7, 7}, [](Stream& s, Range r) {
        s.loop(r, [](Lid, Lid) { FAIL() << "an empty range has no pieces"; });
      });
      const TaskId b = step.host("b", -1, [&] { seen_by_b = a_done; });
      step.after(empty, a);
      step.after(b, empty);
      step.finish(Overlap::full);
      step.run();
      EXPECT_EQ(seen_by_b, 1);
    }
}

TEST(StepGraph, ChunksCoverTheRowsOnceAtAlignedBounds) {
  Dice dice(7);
  for (const int team : {1, 2, 5})
    for (int trial = 0; trial < 30; ++trial) {
      const auto begin = static_cast<Lid>(trial == 0 ? 0 : dice.roll(0, 700));
      const auto size = static_cast<Lid>(trial == 1         ? 0
                                         : trial == 2       ? 1
                                         : dice.chance(0.3) ? dice.roll(1, 600000)
                                                            : dice.roll(1, 3000));
      const Range rows{begin, begin + size};
      SCOPED_TRACE(std::to_string(begin) + " + " + std::to_string(size) + ", " + std::to_string(team) + " threads");
      DevicesOfARank rank(team);
      std::vector<unsigned char> visits(rows.end, 0);
      std::mutex mutex;
      std::set<Lid> bounds;
      Step step(rank.threads, rank.parts);
      step.compute("rows", 0, Step::Role::interior, rows, [&](Stream& stream, Range chunk) {
        stream.loop(chunk, [&](Lid b, Lid e) {
          for (Lid i = b; i < e; ++i) ++visits[i];
        });
        std::lock_guard lock(mutex);
        bounds.insert(chunk.begin);
        bounds.insert(chunk.end);
      });
      step.finish(Overlap::full);
      step.run();
      for (Lid i = 0; i < rows.end; ++i) {
        ASSERT_EQ(visits[i], i >= rows.begin ? 1 : 0) << "row " << i;
      }
      for (const Lid bound : bounds) {
        EXPECT_TRUE(bound == rows.begin || bound == rows.end || bound % 128 == 0) << bound;
      }
      if (size > 100000 && team > 1) {
        EXPECT_GT(bounds.size(), 10u) << "too few chunks to share";
      }
    }
}

TEST(StepGraph, ADeviceGetsItsRowsInOnePiece) {
  DevicesOfARank rank(2, 1);
  std::vector<Range> launches;
  Step step(rank.threads, rank.parts);
  step.compute("rows", 0, Step::Role::interior, {100, 90000}, [&](Stream& stream, Range rows) {
    EXPECT_EQ(stream.kind(), DeviceKind::fake);
    launches.push_back(rows);
  });
  step.finish(Overlap::full);
  step.run();
  EXPECT_EQ(launches, (std::vector<Range>{{100, 90000}}));
}

TEST(StepGraph, NobodyWaitsForALaterTask) {
  // So there can be no circle.
  DevicesOfARank rank(1);
  Step step(rank.threads, rank.parts);
  const TaskId a = step.host("a", -1, [] {}), b = step.host("b", -1, [] {});
  EXPECT_THROW(step.after(a, b), std::logic_error);
  EXPECT_THROW(step.after(a, a), std::logic_error);
  step.after(b, a);
  step.finish(Overlap::full);
  step.run();
}

TEST(StepGraph, AnEmptyKernelDoesNotHideAKernelBeforeIt) {
  // A slow kernel, an empty one behind it on the device, a host task behind that.
  for (const int team : {1, 2, 5}) {
    DevicesOfARank rank(team, 1);
    std::atomic<bool> slow_done = false, seen = false;
    Step step(rank.threads, rank.parts);
    const TaskId slow = step.compute("slow", 0, Step::Role::other, {0, 1}, [&](Stream& stream, Range rows) {
      stream.loop(rows, [&](Lid, Lid) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        slow_done = true;
      });
    });
    const TaskId empty = step.compute("empty", 0, Step::Role::other, {3, 3}, [](Stream&, Range) {});
    step.after(empty, slow);
    step.after(step.host("later", -1, [&] { seen = slow_done.load(); }), empty);
    step.finish(Overlap::full);
    step.run();
    EXPECT_TRUE(seen);
  }
}

TEST(StepGraph, AStepIsClosedOnceAndRunsOnlyThen) {
  DevicesOfARank rank(1);
  Step step(rank.threads, rank.parts);
  const TaskId a = step.host("a", -1, [] {});
  EXPECT_THROW(step.run(), std::logic_error);
  step.finish(Overlap::none);
  EXPECT_THROW(step.host("late", -1, [] {}), std::logic_error);
  EXPECT_THROW(step.after(a, a), std::logic_error);
  step.run();
}

TEST(StepGraph, OfNoTaskEndsAtOnce) {
  DevicesOfARank rank(2, 1);
  Step step(rank.threads, rank.parts);
  step.finish(Overlap::full);
  step.run();
  EXPECT_TRUE(step.last_times().empty());
}

}  // namespace
}  // namespace tutti
