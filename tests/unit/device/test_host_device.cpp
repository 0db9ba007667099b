#include <gtest/gtest.h>
#include <omp.h>
#include <sched.h>

#include <atomic>
#include <mutex>
#include <set>
#include <vector>

#include "tutti/device/buffer.hpp"
#include "tutti/device/device.hpp"
#include "tutti/device/for_each.hpp"
#include "tutti/device/threads.hpp"
#include "tutti/device/triad.hpp"

namespace tutti {
namespace {

TEST(Threads, EveryMemberRunsOnceOnItsCore) {
  const auto& cores = allowed_cores();
  Threads pinned(static_cast<int>(cores.size()), cores);
  std::mutex mutex;
  std::set<int> members;
  pinned.run([&](int member) {
    std::lock_guard lock(mutex);
    members.insert(member);
    EXPECT_EQ(sched_getcpu(), cores[member]);
  });
  EXPECT_EQ(members.size(), cores.size());
  // A team that is not pinned may use all cores, whatever ran before it.
  Threads loose(2);
  loose.run([&](int) {
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof(set), &set);
    std::lock_guard lock(mutex);
    EXPECT_EQ(CPU_COUNT(&set), static_cast<int>(cores.size()));
  });
  EXPECT_EQ(allowed_cores().size(), cores.size());
}

TEST(Threads, RangesAreCoveredOnce) {
  for (const int count : {1, 2, 5})
    for (const Size n : {Size{0}, Size{1}, Size{4}, Size{5}, Size{1001}}) {
      Threads threads(count);
      std::vector<std::atomic<int>> hits(n);
      threads.for_range(n, [&](Size begin, Size end) {
        EXPECT_LT(begin, end);
        for (Size i = begin; i < end; ++i) ++hits[i];
      });
      for (const auto& h : hits) EXPECT_EQ(h, 1);
    }
}

TEST(Threads, ErrorsComeOutAndTheTeamLivesOn) {
  Threads threads(3);
  EXPECT_THROW(threads.run([](int member) {
    if (member == 2) fail(ErrorKind::numerical, "cell 7");
  }),
               Error);
  EXPECT_THROW(threads.run([&](int) { threads.run([](int) {}); }), std::logic_error);
  std::atomic<int> sum{0};
  threads.run([&](int member) {
    // Inside the team a range is serial.
    threads.for_range(10, [&](Size begin, Size end) { sum += static_cast<int>(end - begin) * (member + 1); });
  });
  EXPECT_EQ(sum, 60);
  EXPECT_THROW(Threads(0), std::logic_error);
  EXPECT_THROW(Threads(2, {0}), std::logic_error);
}

TEST(Threads, SomeMembersAreTheFirst) {
  const auto& cores = allowed_cores();
  const int count = static_cast<int>(cores.size());
  for (const bool pinned : {true, false}) {
    Threads threads = pinned ? Threads(count, cores) : Threads(count + 2);
    for (const int members : {threads.count(), 1, (threads.count() + 1) / 2, threads.count()}) {
      std::mutex mutex;
      std::set<int> seen;
      threads.run(members, [&](int member) {
        cpu_set_t set;
        CPU_ZERO(&set);
        sched_getaffinity(0, sizeof(set), &set);
        std::lock_guard lock(mutex);
        seen.insert(member);
        EXPECT_EQ(CPU_COUNT(&set), pinned ? 1 : count);
      });
      EXPECT_EQ(seen.size(), static_cast<std::size_t>(members));
      EXPECT_EQ(*seen.rbegin(), members - 1);
    }
    EXPECT_THROW(threads.run(0, [](int) {}), std::logic_error);
    EXPECT_THROW(threads.run(threads.count() + 1, [](int) {}), std::logic_error);
  }
}

#if !defined(TUTTI_TEAM_PLAIN_THREADS)
TEST(Threads, ATeamIsWholeOrAnError) {
  // As OMP_DYNAMIC=true: OpenMP may then give fewer threads than it is asked for.
  omp_set_dynamic(1);
  const int count = static_cast<int>(allowed_cores().size()) + 3;
  Threads threads(count);
  std::atomic<int> members{0};
  threads.run([&](int) { ++members; });
  EXPECT_EQ(members, count);
  EXPECT_EQ(omp_get_dynamic(), 0);
  // As OMP_THREAD_LIMIT=1, which cannot be set from here: no parallel region has a second thread.
  const int levels = omp_get_max_active_levels();
  omp_set_max_active_levels(0);
  try {
    const Threads team(2);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::resource);
    EXPECT_NE(std::string(error.what()).find("1 thread of the 2"), std::string::npos) << error.what();
  }
  EXPECT_EQ(Threads(1).count(), 1);
  omp_set_max_active_levels(levels);
}
#endif

TEST(Threads, ANewThreadDoesNotInheritACore) {
  const auto& cores = allowed_cores();
  Threads pinned(1, {cores.front()});
  pinned.run([](int) {});
  Threads loose(static_cast<int>(cores.size()) + 5);
  std::mutex mutex;
  loose.run([&](int) {
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof(set), &set);
    std::lock_guard lock(mutex);
    EXPECT_EQ(CPU_COUNT(&set), static_cast<int>(cores.size()));
  });
}

TEST(Threads, CoresAreShortToRead) {
  EXPECT_EQ(format_cores({0, 1, 2, 3, 8}), "0-3,8");
  EXPECT_EQ(format_cores({5}), "5");
  EXPECT_EQ(format_cores({}), "");
  EXPECT_EQ(format_cores({1, 3, 4}), "1,3-4");
}

TEST(HostDevice, BuffersCopiesAndLoops) {
  Threads threads(2);
  const auto device = make_host_device(threads, Size{1} << 20);
  const auto stream = device->make_stream("s");
  Buffer<double> x(*device, 1000, "x"), y(*device, 1000, "y");
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(x.data()) % 64, 0u);
  double* const data = x.data();
  for_each(*stream, {0, 1000}, [data](Lid i) { data[i] = i; });
  stream->copy(y.data(), x.data(), 8000, CopyDirection::local);
  const auto event = device->make_event();
  stream->record(*event);
  EXPECT_TRUE(event->done());
  EXPECT_EQ(y.span()[999], 999.0);
  EXPECT_EQ(device->counts().local_bytes, 8000);
  EXPECT_EQ(device->budget().used(), 16000);
  EXPECT_THROW(Buffer<double>(*device, 1 << 20, "z"), Error);
  EXPECT_EQ(device->budget().used(), 16000);
  const auto copy = make_buffer(*stream, std::span<const double>(x.span()), "copy");
  EXPECT_TRUE(std::equal(copy.span().begin(), copy.span().end(), x.span().begin()));
  Buffer<double> none(*device, 0, "none");
  EXPECT_EQ(none.data(), nullptr);
}

TEST(HostDevice, LargeCopiesAreWholeAlsoWhereTheyOverlap) {
  Threads threads(3);
  const auto device = make_host_device(threads, Size{1} << 30);
  const auto stream = device->make_stream("s");
  const std::size_t n = (std::size_t{1} << 20) + 7;  // bytes, not a multiple of the team
  std::vector<unsigned char> from(n), to(n + 1, 255);
  for (std::size_t i = 0; i < n; ++i) from[i] = static_cast<unsigned char>(i * 7 % 251);
  stream->copy(to.data(), from.data(), n, CopyDirection::local);
  EXPECT_TRUE(std::equal(from.begin(), from.end(), to.begin()));
  EXPECT_EQ(to[n], 255);
  for (const std::size_t shift : {std::size_t{1}, n / 2}) {
    std::vector<unsigned char> both(n + shift);
    std::copy(from.begin(), from.end(), both.begin());
    stream->copy(both.data() + shift, both.data(), n, CopyDirection::local);
    EXPECT_TRUE(std::equal(from.begin(), from.end(), both.begin() + static_cast<std::ptrdiff_t>(shift)));
    stream->copy(both.data(), both.data() + shift, n, CopyDirection::local);
    EXPECT_TRUE(std::equal(from.begin(), from.end(), both.begin()));
  }
  // From inside the team a copy is serial.
  std::fill(to.begin(), to.end(), 0);
  threads.run([&](int member) {
    if (member == 1) stream->copy(to.data(), from.data(), n, CopyDirection::local);
  });
  EXPECT_TRUE(std::equal(from.begin(), from.end(), to.begin()));
}

TEST(Bandwidth, QuickLimitsKeepTheArraysOutOfTheCaches) {
  // Three arrays are streamed through.
  EXPECT_GE(3 * MeasureLimits::quick().array_bytes, 2 * std::min(last_level_cache_bytes(), Size{1536} << 20));
  EXPECT_LT(MeasureLimits::quick().seconds, MeasureLimits{}.seconds);
}

TEST(Bandwidth, FiguresAreSane) {
  Threads threads(1);
  const MeasureLimits limits{0.002, Size{4} << 20};
  EXPECT_GT(measure_triad(threads, limits), 1e8);
  const auto host = make_host_device(threads, Size{64} << 20);
  FakeOptions options;
  options.memory = Size{16} << 20;
  const auto fake = make_fake_device(0, options);
  for (Device* device : {host.get(), fake.get()}) {
    const Bandwidth b = measure_bandwidth(*device, limits);
    for (const double bytes_per_second : {b.triad, b.copy_to_device, b.copy_to_host}) {
      EXPECT_GT(bytes_per_second, 1e6) << device->name();
      EXPECT_LT(bytes_per_second, 1e14) << device->name();
    }
    EXPECT_GE(b.latency_us, 0);
    EXPECT_LT(b.latency_us, 1e5);
    EXPECT_LT(b.launch_us, 1e5);
    EXPECT_GT(measure_triad(*device, limits), 1e6) << device->name();
    EXPECT_EQ(device->budget().used(), 0);
  }
  options.memory = 100;
  EXPECT_THROW(measure_triad(*make_fake_device(0, options), limits), Error);
  EXPECT_THROW(measure_bandwidth(*make_fake_device(0, options), limits), Error);
  EXPECT_GE(last_level_cache_bytes(), Size{1} << 18);
}

}  // namespace
}  // namespace tutti
