// What may hide what: the policies, the order inside a step, who does what, and where the seconds go.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <map>
#include <set>
#include <thread>

#include "tests/support/rank_parts.hpp"
#include "tests/unit/base/mpi_environment.hpp"
#include "tests/unit/schedule/devices_of_a_rank.hpp"

namespace tutti {
namespace {

using test::DevicesOfARank;
using test::world;

constexpr Overlap overlaps[] = {Overlap::none, Overlap::messages, Overlap::full};

void sleep_ms(int ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

/// Two parts that read each other's row: part 0 on a fake device whose interior lasts until all ghosts have arrived (if
/// they do while it runs), part 1 on the CPU.
struct SlowDevice {
  /// The interior lasts `longest` milliseconds at most.
  SlowDevice(Overlap overlap, int team, int longest) : rank(team, 1), longest_ms(longest) {
    const std::vector<PartRows> rows{{.part = 0, .owned = {0, 1}, .ghosts = {2}, .ghost_owners = {1}},
                                     {.part = 1, .owned = {2, 3}, .ghosts = {1}, .ghost_owners = {0}}};
    maps = number_parts(world(), rows, std::vector<int>{0, 0});
    plan = make_plan(maps, 0);
    exchange = std::make_unique<Exchange<double>>(world(), plan, maps, rank.parts, 1);
    for (std::size_t p = 0; p < 2; ++p) {
      fields.emplace_back(rank.parts[p], maps[p], 1, 0);
      fields[p].fill(maps[p], [](Gid row, int) { return static_cast<double>(row); });
    }
    exchange->bind(test::views_of(fields));
    step = std::make_unique<Step>(rank.threads, rank.parts);
    std::vector<TaskId> separators;
    for (int p = 0; p < 2; ++p)
      separators.push_back(
          step->compute("separator", p, Step::Role::separator, maps[p].separator_rows(), [p](Stream& stream, Range r) {
            stream.loop(r, [p](Lid begin, Lid) {
              if (p == 0 && begin == 1) sleep_ms(10);
            });
          }));
    const auto exchanged = step->exchange(*exchange, separators);
    const TaskId arrived = step->host("arrived", -1, [this] { ghosts_are_there = true; });
    for (const TaskId operation : exchanged) step->after(arrived, operation);
    for (int p = 0; p < 2; ++p)
      step->compute("interior", p, Step::Role::interior, maps[p].interior_rows(), [this, p](Stream& stream, Range r) {
        stream.loop(r, [this, p](Lid, Lid) {
          for (int ms = 0; p == 0 && !ghosts_are_there && ms < longest_ms; ++ms) sleep_ms(1);
        });
      });
    step->finish(overlap);
  }
  TaskTimes times(const std::string& name, int part) const {
    for (const TaskTimes& t : step->last_times())
      if (t.part == part && t.name.rfind(name, 0) == 0) return t;
    ADD_FAILURE() << "no task " << name << " of part " << part;
    return {};
  }
  bool ghosts_arrived() {
    for (std::size_t p = 0; p < 2; ++p)
      fields[p].expect(maps[p], [](Gid row, int) { return static_cast<double>(row); });
    return !testing::Test::HasFailure();
  }

  void run() {
    ghosts_are_there = false;
    step->run();
  }

  DevicesOfARank rank;
  std::vector<IndexMap> maps;
  Plan plan;
  std::unique_ptr<Exchange<double>> exchange;
  std::vector<test::PaddedField<double>> fields;
  std::atomic<bool> ghosts_are_there{false};
  int longest_ms;
  std::unique_ptr<Step> step;
};

TEST(StepOverlap, FullMovesSeparatorsWhileTheInteriorRuns) {
  for (const int team : {1, 2, 5}) {
    SCOPED_TRACE(team);
    SlowDevice slow(Overlap::full, team, 10'000);
    for (int run = 0; run < 2; ++run) slow.run();
    const TaskTimes interior = slow.times("interior", 0);
    // Out of the device, to the CPU's ghosts, and back in: all before the interior of the device is done.
    EXPECT_GE(slow.times("copy separators", 0).end, slow.times("separator", 0).end);
    EXPECT_LT(slow.times("copy separators", 0).end, interior.end);
    EXPECT_LT(slow.times("gather 0>1", 1).end, interior.end);
    EXPECT_LT(slow.times("copy ghosts", 0).end, interior.end);
    EXPECT_TRUE(slow.ghosts_arrived());
  }
}

TEST(StepOverlap, TheOthersMakeTheInteriorWaitForCopies) {
  for (const Overlap overlap : {Overlap::none, Overlap::messages})
    for (const int team : {1, 2, 5}) {
      SCOPED_TRACE(std::string(overlap_name(overlap)) + ", " + std::to_string(team) + " threads");
      SlowDevice slow(overlap, team, 20);
      for (int run = 0; run < 2; ++run) slow.run();
      for (int p = 0; p < 2; ++p) {
        const TaskTimes interior = slow.times("interior", p);
        EXPECT_GE(interior.begin, slow.times("copy separators", 0).end);
        EXPECT_GE(interior.begin, slow.times("gather 0>1", 1).end);
        EXPECT_GE(interior.begin, slow.times("copy ghosts", 0).end);
      }
      EXPECT_TRUE(slow.ghosts_arrived());
    }
}

TEST(StepOverlap, SecondsAreThoseOfTheTasksAndNoneTwice) {
  for (const int team : {1, 2, 5}) {
    SCOPED_TRACE(team);
    SlowDevice slow(Overlap::full, team, 10'000);
    double computing = 0;
    const auto start = std::chrono::steady_clock::now();
    for (int run = 0; run < 3; ++run) {
      slow.run();
      // Interior and separators of the device run side by side: what counts is when either does.
      const TaskTimes separator = slow.times("separator", 0), interior = slow.times("interior", 0);
      const double both = std::min(separator.end, interior.end) - std::max(separator.begin, interior.begin);
      computing += separator.end - separator.begin + interior.end - interior.begin - std::max(0.0, both);
    }
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const auto& seconds = slow.step->seconds();
    EXPECT_NEAR(seconds[0].separator + seconds[0].interior, computing, 1e-9);
    for (const PartSeconds& s : seconds) {
      EXPECT_LE(s.separator + s.interior + s.idle, wall) << "seconds are counted twice";
      EXPECT_LE(s.exchange, wall);
      EXPECT_GT(s.exchange, 0);
    }
    EXPECT_GT(seconds[1].idle, 0) << "the CPU waits for the device";
    EXPECT_EQ(seconds[0].bytes, 3 * 24) << "one row out; one gathered and copied in; three times";
    slow.step->reset_seconds();
    EXPECT_EQ(seconds[0].interior, 0);
    slow.run();
    EXPECT_GT(seconds[0].interior, 0);
  }
}

TEST(StepOverlap, SecondsOfTheCpuAreThoseOfItsThreads) {
  // 20 ms of work in a team of two: chunks that sleep are run by both at once.
  DevicesOfARank rank(2);
  Step step(rank.threads, rank.parts);
  step.compute("rows", 0, Step::Role::interior, {0, 20 * 512},
               [](Stream&, Range rows) { sleep_ms(rows.size() / 512); });
  step.finish(Overlap::full);
  const auto start = std::chrono::steady_clock::now();
  step.run();
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const PartSeconds& s = step.seconds()[0];
  EXPECT_GE(s.interior, 0.010) << "20 ms, by two";
  EXPECT_LE(s.interior + s.idle, wall);
}

TEST(StepOverlap, PoliciesOnlyAddDependencies) {
  std::map<Overlap, std::vector<std::string>> lines;
  for (const Overlap overlap : overlaps) lines[overlap] = SlowDevice(overlap, 1, 0).step->describe_tasks();
  const auto full = lines[Overlap::full];
  for (const Overlap overlap : {Overlap::none, Overlap::messages}) {
    ASSERT_EQ(lines[overlap].size(), full.size());
    int longer = 0;
    for (std::size_t t = 0; t < full.size(); ++t) {
      EXPECT_EQ(lines[overlap][t].substr(0, full[t].size()), full[t]) << "a dependency was lost";
      longer += lines[overlap][t].size() > full[t].size() ? 1 : 0;
    }
    EXPECT_EQ(longer, 2) << "both interiors wait";
  }
}

TEST(StepOverlap, NamesOfPolicies) {
  for (const Overlap overlap : overlaps) EXPECT_EQ(parse_overlap(overlap_name(overlap)), overlap);
  try {
    parse_overlap("some");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find("none, messages or full"), std::string::npos);
  }
}

TEST(StepOverlap, EveryThreadComputesAndEveryDeviceIsServed) {
  for (const int team : {1, 2, 3, 7}) {
    SCOPED_TRACE(team);
    DevicesOfARank rank(team, 3);
    Step step(rank.threads, rank.parts);
    step.finish(Overlap::full);
    const auto lines = step.describe_roles();
    ASSERT_EQ(lines.size(), static_cast<std::size_t>(team));
    std::string all;
    for (const auto& line : lines) {
      EXPECT_NE(line.find("computes"), std::string::npos) << line;
      EXPECT_EQ(line.find("messages"), std::string::npos) << "this step has none: " << line;
      all += line + "\n";
    }
    for (int d = 0; d < 3; ++d) {
      EXPECT_NE(all.find("controls fake:" + std::to_string(d)), std::string::npos) << all;
      EXPECT_NE(all.find("copies to fake:" + std::to_string(d)), std::string::npos) << all;
    }
  }
}

TEST(StepOverlap, WithoutACpuNoThreadIsIdle) {
  for (const auto& [team, fakes, members] : {std::array{9, 1, 3}, {9, 2, 5}, {2, 3, 2}, {1, 1, 1}}) {
    SCOPED_TRACE(team);
    DevicesOfARank rank(team, fakes);
    Step step(rank.threads, std::span(rank.parts).first(fakes));
    // A task on the host, so that the team runs it.
    std::atomic<int> runs{0};
    step.host("count", 0, [&] { ++runs; });
    step.finish(Overlap::full);
    EXPECT_EQ(step.describe_roles().size(), static_cast<std::size_t>(members));
    for (int k = 0; k < 3; ++k) {
      step.run();
      std::atomic<int> all{0};
      rank.threads.run([&](int) { ++all; });
      EXPECT_EQ(all, team) << "between steps the team is whole";
    }
    EXPECT_EQ(runs, 3);
  }
}

TEST(StepTeam, RowsThatCostMuchAreWorthIt) {
  using Clock = std::chrono::steady_clock;
  for (const int cost : {1, 4}) {
    DevicesOfARank rank(2);
    Step step(rank.threads, rank.parts, cost);
    std::atomic<int> threads{0};
    step.compute("work", 0, Step::Role::interior, {0, 10'000}, [&](Stream& stream, Range rows) {
      stream.loop(rows, [&](Lid, Lid) {
        thread_local int counted = 0;
        if (counted != cost) ++threads;
        counted = cost;
        // The other one comes, if there is one.
        const auto late = Clock::now() + std::chrono::seconds(10);
        while (cost > 1 && threads < 2 && Clock::now() < late) std::this_thread::yield();
      });
    });
    step.finish(Overlap::full);
    step.run();
    EXPECT_EQ(threads, cost == 1 ? 1 : 2) << "a row costs " << cost;
  }
}

}  // namespace
}  // namespace tutti
