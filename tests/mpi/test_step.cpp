// Steps of a made-up stencil on random directed graphs: any devices, threads and overlap policy give the bits of one
// plain loop.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "tests/support/rank_parts.hpp"
#include "tests/support/shared_link.hpp"
#include "tutti/device/device_list.hpp"
#include "tutti/schedule/exchange_seconds.hpp"
#include "tutti/schedule/step.hpp"

namespace tutti {
namespace {

using test::random_parts;
using test::RandomParts;
using test::RankParts;

const Comm& world() {
  static const Comm comm;
  return comm;
}

constexpr double modulus = 1 << 20;
constexpr Overlap overlaps[] = {Overlap::none, Overlap::messages, Overlap::full};

/// The stencil: whole numbers below 2^20, so that no order of additions can matter.
template <class T>
T mix(T own, T sum_of_others) {
  return static_cast<T>(
      static_cast<std::int64_t>(7 * static_cast<double>(own) + 3 * static_cast<double>(sum_of_others) + 1) %
      static_cast<std::int64_t>(modulus));
}
template <class T>
T add(T a, T b) {
  return static_cast<T>(static_cast<std::int64_t>(static_cast<double>(a) + static_cast<double>(b)) %
                        static_cast<std::int64_t>(modulus));
}

/// `steps` of the stencil on the whole problem: result[component][row].
template <class T>
std::vector<std::vector<T>> reference(const RandomParts& problem, int components, int steps) {
  std::vector<std::vector<T>> now(components);
  for (int c = 0; c < components; ++c)
    for (Gid i = 0; i < problem.rows(); ++i) now[c].push_back(test::value_of<T>(i, c, 0));
  for (int s = 0; s < steps; ++s)
    for (auto& values : now) {
      const auto old = values;
      for (Gid i = 0; i < problem.rows(); ++i) {
        T sum = 0;
        for (const Gid j : problem.reads.row(i)) sum = add(sum, old[j]);
        values[i] = mix(old[i], sum);
      }
    }
  return now;
}

/// The stencil of one part on its device, in local numbers.
struct LocalReads {
  Buffer<Size> offsets;
  Buffer<Lid> columns;
};

LocalReads local_reads(const RandomParts& problem, const IndexMap& map, PartStreams& streams) {
  std::map<Gid, Lid> local;
  for (Lid i = 0; i < map.local(); ++i) local[map.global[i]] = i;
  Csr<Lid> reads;
  for (Lid i = 0; i < map.owned; ++i) {
    for (const Gid j : problem.reads.row(map.global[i])) reads.columns.push_back(local.at(j));
    reads.close_row();
  }
  return {make_buffer(*streams.compute, std::span<const Size>(reads.offsets), "offsets"),
          make_buffer(*streams.compute, std::span<const Lid>(reads.columns), "columns")};
}

template <class T>
struct Model {
  Model(const RandomParts& problem, RankParts& rank_, int components_, Lid padding, const Routing* routing = nullptr)
      : rank(rank_),
        components(components_),
        exchange(world(), rank.plan, rank.maps, rank.streams, components, routing),
        now(test::make_fields<T>(rank, components, padding)),
        next(test::make_fields<T>(rank, components, padding)) {
    for (std::size_t p = 0; p < rank.maps.size(); ++p) {
      reads.push_back(local_reads(problem, rank.maps[p], rank.streams[p]));
      const auto start = [](Gid row, int c) { return test::value_of<T>(row, c, 0); };
      now[p].fill(rank.maps[p], start);
      // NaN until it is computed.
      next[p].fill(rank.maps[p], [](Gid, int) { return std::numeric_limits<T>::quiet_NaN(); });
    }
    exchange.begin(test::views_of(now));
    exchange.end();
  }

  /// Applies the stencil to some rows of part p.
  void launch(std::size_t p, Stream& stream, Range rows) {
    const T* from = now[p].data();
    T* to = next[p].data();
    const Size* offsets = reads[p].offsets.data();
    const Lid* columns = reads[p].columns.data();
    const Lid stride = now[p].stride();
    stream.loop(rows, [=, k = components](Lid begin, Lid end) {
      for (int c = 0; c < k; ++c)
        for (Lid i = begin; i < end; ++i) {
          T sum = 0;
          for (Size e = offsets[i]; e < offsets[i + 1]; ++e) sum = add(sum, from[c * stride + columns[e]]);
          to[c * stride + i] = mix(from[c * stride + i], sum);
        }
    });
  }

  void build(Step& step) {
    std::vector<TaskId> separators;
    for (std::size_t p = 0; p < rank.maps.size(); ++p)
      separators.push_back(step.compute("separator", static_cast<int>(p), Step::Role::separator,
                                        rank.maps[p].separator_rows(),
                                        [this, p](Stream& stream, Range rows) { launch(p, stream, rows); }));
    step.exchange(exchange, separators);
    for (std::size_t p = 0; p < rank.maps.size(); ++p)
      step.compute("interior", static_cast<int>(p), Step::Role::interior, rank.maps[p].interior_rows(),
                   [this, p](Stream& stream, Range rows) { launch(p, stream, rows); });
  }

  /// `ahead`: the devices may still be at work.
  void advance(Step& step, bool ahead = false) {
    exchange.bind(test::views_of(next));
    if (ahead)
      step.run_ahead(1 + steps % 2);
    else
      step.run();
    ++steps;
    now.swap(next);
  }

  RankParts& rank;
  int components;
  Exchange<T> exchange;
  std::vector<test::PaddedField<T>> now, next;
  std::vector<LocalReads> reads;
  std::uint64_t steps = 0;
};

template <class T>
void run_and_compare(std::uint64_t seed, int components, Overlap overlap, int threads) {
  SCOPED_TRACE("seed " + std::to_string(seed) + ", overlap " + overlap_name(overlap) + ", " +
               std::to_string(components) + " components, " + std::to_string(threads) + " threads");
  constexpr int steps = 4;
  const RandomParts problem = random_parts(seed, world().size());
  RankParts rank(world(), problem, seed, threads);
  Model<T> model(problem, rank, components, static_cast<Lid>(seed % 4));
  Step step(rank.threads, rank.streams);
  model.build(step);
  step.finish(overlap);
  for (int s = 0; s < steps; ++s) model.advance(step);
  const auto expected = reference<T>(problem, components, steps);
  for (std::size_t p = 0; p < rank.maps.size(); ++p)
    model.now[p].expect(rank.maps[p], [&](Gid row, int c) { return expected[c][row]; });
}

TEST(Step, AnyPolicyGivesTheBitsOfOneLoop) {
  for (std::uint64_t seed = 1; seed <= 24; ++seed)
    for (const Overlap overlap : overlaps) {
      run_and_compare<double>(seed, 1, overlap, 1);
      run_and_compare<float>(seed + 1000, 3, overlap, 1);
    }
}

TEST(Step, AnyNumberOfThreadsGivesTheBitsOfOneLoop) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed)
    for (const int threads : {2, 5}) {
      run_and_compare<double>(seed + 2000, 3, Overlap::full, threads);
      run_and_compare<double>(seed + 3000, 1, overlaps[seed % 3], threads);
    }
}

/// The same with messages from device memory, and between devices; steps run ahead where they can.
void run_on_devices(std::uint64_t seed, RoutingKind kind, Overlap overlap, int threads, double fake_share) {
  SCOPED_TRACE("seed " + std::to_string(seed) + ", overlap " + overlap_name(overlap) + ", transport " +
               routing_name(kind) + ", " + std::to_string(threads) + " threads");
  constexpr int steps = 12;
  const RandomParts problem = random_parts(seed, world().size());
  RankParts rank(world(), problem, seed, threads, fake_share, kind == RoutingKind::device);
  const auto devices = std::count_if(rank.streams.begin(), rank.streams.end(), [](auto& s) { return !s.is_host(); });
  if (world().sum(devices) == 0) return;
  Routing routing = test::make_fake_routing(world(), kind, rank.maps, rank.streams, static_cast<Lid>(problem.rows()));
  if (seed % 3 == 0) routing.most_stored = 0;
  const int components = 1 + static_cast<int>(seed % 2);
  Model<double> model(problem, rank, components, static_cast<Lid>(seed % 4), &routing);
  Step step(rank.threads, rank.streams);
  model.build(step);
  step.finish(overlap);
  const bool peers = rank.streams.size() < 2 || rank.streams[1].device->can_copy_from(*rank.streams[0].device);
  EXPECT_TRUE(kind != RoutingKind::nccl || fake_share < 1 || !peers || rank.streams.empty() || step.runs_ahead())
      << "some task needs the host";
  for (int s = 0; s < steps; ++s) model.advance(step, true);
  step.wait();
  const auto expected = reference<double>(problem, components, steps);
  for (std::size_t p = 0; p < rank.maps.size(); ++p)
    model.now[p].expect(rank.maps[p], [&](Gid row, int c) { return expected[c][row]; });
}

TEST(Step, AnyTransportGivesTheBitsOfOneLoop) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed)
    for (const RoutingKind kind : {RoutingKind::automatic, RoutingKind::direct, RoutingKind::device, RoutingKind::nccl})
      for (const double fake_share : {0.7, 1.0})
        run_on_devices(seed + 4000, kind, overlaps[seed % 3], 1 + static_cast<int>(seed % 2), fake_share);
}

/// Two parts on two ranks, or on one: enough rows for an interior. Part 0's interior takes long.
RandomParts two_halves(int ranks) {
  RandomParts problem;
  const Gid rows = 40;
  for (Gid i = 0; i < rows; ++i) {
    if (i > 0) problem.reads.columns.push_back(i - 1);
    if (i + 1 < rows) problem.reads.columns.push_back(i + 1);
    problem.reads.close_row();
    problem.owner.push_back(i < rows / 2 ? 0 : 1);
    problem.readers_.push_back({});
  }
  problem.readers_[19] = {1};
  problem.readers_[20] = {0};
  problem.rank_of_part = {0, ranks > 1 ? 1 : 0};
  problem.parts = {{.part = 0, .owned = {}, .ghosts = {20}, .ghost_owners = {1}},
                   {.part = 1, .owned = {}, .ghosts = {19}, .ghost_owners = {0}}};
  for (Gid i = 0; i < rows; ++i) problem.parts[i < rows / 2 ? 0 : 1].owned.push_back(i);
  return problem;
}

TEST(Step, WhatALinkMovesHasOneOrder) {
  const RandomParts problem = two_halves(world().size());
  if (world().size() != 2) GTEST_SKIP() << "two ranks have a part each";
  RankParts rank(world(), problem, 1, 1, 1.0);
  const Routing routing = test::make_fake_routing(world(), RoutingKind::nccl, rank.maps, rank.streams, 40);
  Model<double> first(problem, rank, 1, 0, &routing), second(problem, rank, 1, 0, &routing);
  Step step(rank.threads, rank.streams);
  std::vector<TaskId> separators;
  for (std::size_t p = 0; p < rank.maps.size(); ++p)
    separators.push_back(step.compute("separator", static_cast<int>(p), Step::Role::separator,
                                      rank.maps[p].separator_rows(), [](Stream&, Range) {}));
  step.exchange(first.exchange, separators);
  step.exchange(second.exchange, separators);
  step.finish(Overlap::full);
  const auto tasks = step.describe_tasks();
  EXPECT_TRUE(std::any_of(tasks.begin(), tasks.end(), [](const std::string& task) {
    return task.starts_with("nccl (") && task.find("<- nccl") != std::string::npos;
  })) << fmt::format("{}", fmt::join(tasks, "\n"));
}

/// Start and end of each task of a step in which the CPU's interior takes at least 20 ms.
std::multimap<std::string, TaskTimes> times_with_slow_interior(Overlap overlap, int threads) {
  const RandomParts problem = two_halves(world().size());
  RankParts rank(world(), problem, 1, threads, 0.0);
  Model<double> model(problem, rank, 1, 0);
  Step step(rank.threads, rank.streams);
  std::vector<TaskId> separators;
  const auto launch = [&](std::size_t p) { return [&model, p](Stream& s, Range rows) { model.launch(p, s, rows); }; };
  for (std::size_t p = 0; p < rank.maps.size(); ++p)
    separators.push_back(step.compute("separator", static_cast<int>(p), Step::Role::separator,
                                      rank.maps[p].separator_rows(), launch(p)));
  step.exchange(model.exchange, separators);
  for (std::size_t p = 0; p < rank.maps.size(); ++p)
    step.compute("interior", static_cast<int>(p), Step::Role::interior, rank.maps[p].interior_rows(),
                 [&, p](Stream& stream, Range rows) {
                   const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
                   while (std::chrono::steady_clock::now() < end) sched_yield();
                   model.launch(p, stream, rows);
                 });
  step.finish(overlap);
  for (int s = 0; s < 2; ++s) model.advance(step);
  std::multimap<std::string, TaskTimes> times;
  for (const TaskTimes& t : step.last_times()) times.insert({t.name.substr(0, t.name.find(' ')), t});
  return times;
}

TEST(Step, MessagesLeaveBeforeTheInteriorUnlessForbidden) {
  if (world().size() == 1) GTEST_SKIP() << "needs a message";
  for (const Overlap overlap : overlaps) {
    SCOPED_TRACE(overlap_name(overlap));
    // One thread: it sends as soon as the separators are there, before it turns to the interior.
    const auto times = times_with_slow_interior(overlap, 1);
    if (world().rank() > 1) {
      EXPECT_TRUE(times.empty());
      continue;
    }
    const TaskTimes separator = times.find("separator")->second, send = times.find("send")->second,
                    receive = times.find("receive")->second, interior = times.find("interior")->second;
    EXPECT_LE(separator.end, send.begin);
    if (overlap == Overlap::none) {
      EXPECT_LE(send.end, interior.begin);
      EXPECT_LE(receive.end, interior.begin);
    } else {
      EXPECT_LE(send.begin, interior.begin) << "the message waited for the interior";
      EXPECT_LE(receive.begin, interior.begin);
    }
  }
}

TEST(Step, PoliciesOnlyAddDependencies) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomParts problem = random_parts(seed, world().size());
    RankParts rank(world(), problem, seed);
    Model<double> model(problem, rank, 1, 0);
    std::map<Overlap, std::vector<std::multiset<std::string>>> earlier;
    for (const Overlap overlap : overlaps) {
      Step step(rank.threads, rank.streams);
      model.build(step);
      step.finish(overlap);
      // "name (part) <- name <- name"
      for (const std::string& line : step.describe_tasks()) {
        auto& names = earlier[overlap].emplace_back();
        for (std::size_t at = line.find(" <- "); at != std::string::npos;) {
          const std::size_t end = line.find(" <- ", at + 4);
          names.insert(line.substr(at + 4, end == std::string::npos ? end : end - at - 4));
          at = end;
        }
      }
    }
    const auto includes = [&](Overlap more, Overlap less) {
      ASSERT_EQ(earlier[more].size(), earlier[less].size());
      for (std::size_t t = 0; t < earlier[more].size(); ++t)
        EXPECT_TRUE(std::includes(earlier[more][t].begin(), earlier[more][t].end(), earlier[less][t].begin(),
                                  earlier[less][t].end()));
    };
    includes(Overlap::none, Overlap::full);
    includes(Overlap::messages, Overlap::full);
  }
}

TEST(Step, AnExchangeIsTimedWhereverTheAcceleratorsAre) {
  DeviceOptions options;
  options.threads = 1;
  // Two on ranks 0, 2, ..., none on the others; then one on the last rank only.
  const DeviceSet some = open_devices(world().rank() % 2 == 0 ? "fake:2,cpu" : "cpu", world(), options);
  for (const RoutingKind routing : {RoutingKind::automatic, RoutingKind::staged}) {
    const double seconds = exchange_seconds(world(), some, routing);
    EXPECT_GT(seconds, 0);
    EXPECT_EQ(seconds, world().max(seconds)) << "all ranks choose by the same number";
  }
  EXPECT_EQ(some.devices.front()->budget().used(), 0);
  const DeviceSet one = open_devices(world().rank() + 1 == world().size() ? "fake:1" : "cpu", world(), options);
  EXPECT_EQ(exchange_seconds(world(), one, RoutingKind::automatic), 0);
}

}  // namespace
}  // namespace tutti
