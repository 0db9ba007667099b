// Steps that run ahead of the devices: the same bits, no host in between, errors that are told later.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>

#include "tests/unit/base/mpi_environment.hpp"
#include "tutti/device/buffer.hpp"
#include "tutti/schedule/step.hpp"

namespace tutti {
namespace {

using test::world;

/// Smoothing on a line of rows, on fake devices that copy from each other: two fields in turn.
struct Line {
  Line(int devices_count, Gid rows, bool peers, Overlap overlap) : threads(2) {
    std::vector<PartRows> part_rows;
    for (int p = 0; p < devices_count; ++p) {
      FakeOptions options;
      options.seed = static_cast<std::uint64_t>(p) + 5;
      options.max_delay_us = 5;
      options.peer = peers;
      devices.push_back(make_fake_device(p, options));
      parts.emplace_back(*devices.back());
      PartRows& mine = part_rows.emplace_back();
      mine.part = p;
      const Gid begin = rows * p / devices_count, end = rows * (p + 1) / devices_count;
      for (Gid g = begin; g < end; ++g) mine.owned.push_back(g);
      if (p > 0) {
        mine.ghosts.push_back(begin - 1);
        mine.ghost_owners.push_back(p - 1);
      }
      if (p + 1 < devices_count) {
        mine.ghosts.push_back(end);
        mine.ghost_owners.push_back(p + 1);
      }
    }
    maps = number_parts(world(), part_rows, std::vector<int>(devices_count, 0));
    plan = make_plan(maps, 0);
    exchange = std::make_unique<Exchange<double>>(world(), plan, maps, parts, 1);
    for (std::size_t p = 0; p < maps.size(); ++p) {
      const IndexMap& map = maps[p];
      std::vector<Lid> local(rows, no_lid);
      for (Lid i = 0; i < map.local(); ++i) local[map.global[i]] = i;
      auto& l = left.emplace_back();
      auto& r = right.emplace_back();
      std::vector<double> values(map.local(), 0.0);
      for (Lid i = 0; i < map.local(); ++i) {
        const Gid g = map.global[i];
        values[i] = start(g);
        if (i >= map.owned) continue;
        l.push_back(local[std::max<Gid>(g - 1, 0)]);
        r.push_back(local[std::min<Gid>(g + 1, rows - 1)]);
      }
      for (auto& f : u) f.emplace_back(*parts[p].device, map, "u");
      upload(*parts[p].compute, u[0].back().buffer(), std::span<const double>(values));
    }
    step = std::make_unique<Step>(threads, parts);
    std::vector<TaskId> separators;
    const auto compute = [&](const char* name, int p, Step::Role role, Range r) {
      return step->compute(name, p, role, r,
                           [this, p](Stream& stream, Range rows_now) { launch(p, stream, rows_now); });
    };
    for (int p = 0; p < devices_count; ++p)
      separators.push_back(compute("separator", p, Step::Role::separator, maps[p].separator_rows()));
    step->exchange(*exchange, separators);
    for (int p = 0; p < devices_count; ++p) compute("interior", p, Step::Role::interior, maps[p].interior_rows());
    step->finish(overlap);
  }

  static double start(Gid row) { return static_cast<double>(row * row % 17) + 0.1; }
  static double smooth(double left, double own, double right) { return 0.25 * left + 0.5 * own + 0.25 * right; }

  void launch(int p, Stream& stream, Range rows) {
    if (refused && p + 1 == static_cast<int>(parts.size())) fail(ErrorKind::resource, "not here");
    const auto part = static_cast<std::size_t>(p);
    stream.loop(rows, [from = u[now][part].data(), to = u[1 - now][part].data(), l = left[part].data(),
                       r = right[part].data(), this](Lid begin, Lid end) {
      if (poisoned) fail(ErrorKind::numerical, "here");
      for (Lid i = begin; i < end; ++i) to[i] = smooth(from[l[i]], from[i], from[r[i]]);
    });
  }
  void run(bool ahead) {
    std::vector<FieldView<double>> views;
    for (auto& field : u[1 - now]) views.push_back(field.view());
    exchange->bind(views);
    if (ahead)
      step->run_ahead(now + 1);
    else
      step->run();
    now = 1 - now;
  }
  /// Work outside the step on the compute streams, on what the next run reads.
  void halve() {
    for (std::size_t p = 0; p < parts.size(); ++p)
      parts[p].compute->loop({0, maps[p].local()}, [data = u[now][p].data()](Lid begin, Lid end) {
        for (Lid i = begin; i < end; ++i) data[i] *= 0.5;
      });
  }
  std::vector<double> values(Gid rows) {
    std::vector<double> all(rows);
    for (std::size_t p = 0; p < parts.size(); ++p) {
      std::vector<double> mine(maps[p].local());
      download(*parts[p].compute, std::span<double>(mine), u[now][p].buffer());
      for (Lid i = 0; i < maps[p].owned; ++i) all[maps[p].global[i]] = mine[i];
    }
    return all;
  }

  Threads threads;
  std::atomic<bool> poisoned = false;
  bool refused = false;
  std::vector<std::unique_ptr<Device>> devices;
  std::vector<PartStreams> parts;
  std::vector<IndexMap> maps;
  Plan plan;
  std::unique_ptr<Exchange<double>> exchange;
  std::vector<Field<double>> u[2];
  std::vector<std::vector<Lid>> left, right;
  std::size_t now = 0;
  std::unique_ptr<Step> step;  // goes first: it waits for the devices
};

std::vector<double> smoothed(const std::vector<double>& u) {
  std::vector<double> next;
  for (std::size_t i = 0; i < u.size(); ++i)
    next.push_back(Line::smooth(u[i == 0 ? 0 : i - 1], u[i], u[i + 1 == u.size() ? i : i + 1]));
  return next;
}

std::vector<double> serial(Gid rows, int steps) {
  std::vector<double> u;
  for (Gid g = 0; g < rows; ++g) u.push_back(Line::start(g));
  for (int s = 0; s < steps; ++s) u = smoothed(u);
  return u;
}

TEST(StepAhead, HasTheBitsOfStepsOneByOne) {
  for (const int devices : {1, 2, 4})
    for (const Overlap overlap : {Overlap::none, Overlap::messages, Overlap::full}) {
      SCOPED_TRACE(std::to_string(devices) + " devices, " + overlap_name(overlap));
      constexpr Gid rows = 61;
      Line line(devices, rows, true, overlap);
      EXPECT_TRUE(line.step->runs_ahead());
      // More than are ahead at most, and across a run that is measured.
      constexpr int many = 1100;
      for (int s = 0; s < many; ++s) line.run(true);
      EXPECT_EQ(line.values(rows), serial(rows, many)) << "a download comes behind all steps";
      line.run(false);
      line.run(true);
      line.step->wait();
      EXPECT_EQ(line.values(rows), serial(rows, many + 2));
    }
}

TEST(StepAhead, OtherWorkOfAnyPartKeepsItsPlace) {
  for (const int devices : {1, 2, 4}) {
    constexpr Gid rows = 61;
    Line line(devices, rows, true, Overlap::full);
    std::vector<double> expected = serial(rows, 0);
    for (int s = 0; s < 400; ++s) {
      // Often enough to come between runs that are held back, and in the first ones.
      if (s < 20 || s % 23 == 0) {
        line.halve();
        for (double& v : expected) v *= 0.5;
      }
      line.run(true);
      expected = smoothed(expected);
    }
    EXPECT_EQ(line.values(rows), expected) << devices << " devices";
  }
}

TEST(StepAhead, StepsTakeTurnsOnTheSameStreams) {
  for (const int devices : {1, 2, 4}) {
    constexpr Gid rows = 61;
    Line line(devices, rows, true, Overlap::full);
    Step halving(line.threads, line.parts);
    for (int p = 0; p < devices; ++p) {
      const auto part = static_cast<std::size_t>(p);
      halving.compute("halve", p, Step::Role::separator, {0, line.maps[part].local()},
                      [&line, part](Stream& stream, Range range) {
                        stream.loop(range, [data = line.u[line.now][part].data()](Lid begin, Lid end) {
                          for (Lid i = begin; i < end; ++i) data[i] *= 0.5;
                        });
                      });
    }
    halving.finish(Overlap::full);
    std::vector<double> expected = serial(rows, 0);
    for (int turn = 0; turn < 100; ++turn) {
      for (int s = 0; s < turn % 7; ++s) {
        line.run(true);
        expected = smoothed(expected);
      }
      for (int s = 0; s < turn % 3; ++s) {
        halving.run_ahead(line.now + 1);
        for (double& v : expected) v *= 0.5;
      }
    }
    EXPECT_EQ(line.values(rows), expected) << devices << " devices";
    // What is held back of either does not outlive it.
    line.run(true);
    halving.run_ahead(line.now + 1);
  }
}

TEST(StepAhead, CountsAllSteps) {
  const auto start = std::chrono::steady_clock::now();
  Line line(3, 61, true, Overlap::full);
  for (int s = 0; s < 100; ++s) line.run(true);
  line.step->wait();
  // The part in the middle gets a row from either side.
  EXPECT_EQ(line.step->seconds()[0].bytes, 100 * 8);
  EXPECT_EQ(line.step->seconds()[1].bytes, 100 * 16);
  EXPECT_EQ(line.devices[1]->counts().peer_bytes, 100 * 16);
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (const PartSeconds& s : line.step->seconds()) {
    EXPECT_GT(s.separator + s.interior, 0);
    EXPECT_LE(s.separator + s.interior + s.idle, 1.01 * wall) << "no more than it took";
  }
}

TEST(StepAhead, HostsInBetweenAreWaitedFor) {
  // Without peers the rows go through the host.
  Line line(2, 61, false, Overlap::full);
  EXPECT_FALSE(line.step->runs_ahead());
  for (int s = 0; s < 20; ++s) line.run(true);
  EXPECT_EQ(line.values(61), serial(61, 20));
}

TEST(StepAhead, ErrorsAreToldLater) {
  for (const int devices : {1, 3}) {
    Line line(devices, 61, true, Overlap::full);
    for (int s = 0; s < 5; ++s) line.run(true);
    line.poisoned = true;
    try {
      for (int s = 0; s < 5; ++s) line.run(true);
      line.step->wait();
      FAIL() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::numerical);
      EXPECT_STREQ(error.what(), "here");
    }
  }
}

TEST(StepAhead, WorkThatCannotBeEnqueuedIsToldAtOnce) {
  // The runs of one kind come as new work, to be captured alone, and behind each other.
  for (const int devices : {1, 3})
    for (const int good : {2, 3, 4, 5, 6, 9, 40}) {
      SCOPED_TRACE(std::to_string(devices) + " devices, after " + std::to_string(good));
      Line line(devices, 61, true, Overlap::full);
      for (int s = 0; s < good; ++s) line.run(true);
      line.refused = true;
      std::string said;
      try {
        // What was captured before is not enqueued again.
        for (int s = 0; s < 40; ++s) line.run(true);
      } catch (const Error& error) {
        said = error.what();
      }
      EXPECT_EQ(said, good < 40 ? "not here" : "");
    }
}

TEST(StepAhead, MemoryMayGoWhileStepsAreUnderWay) {
  for (int trial = 0; trial < 5; ++trial) {
    Line line(2, 5001, true, Overlap::full);
    for (int s = 0; s < 30; ++s) line.run(true);
  }
}

}  // namespace
}  // namespace tutti
