// The fake device must catch what a GPU would punish later: forgotten copies, forgotten waits, overruns, lost devices.
#include <gtest/gtest.h>

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <numeric>
#include <thread>
#include <vector>

#include "tutti/device/buffer.hpp"
#include "tutti/device/device.hpp"
#include "tutti/device/for_each.hpp"
#include "tutti/device/threads.hpp"

namespace tutti {
namespace {

struct Fill {
  double* x;
  double value;
  TUTTI_HD void operator()(Lid i) const { x[i] = value + i; }
};

struct AddOne {
  double* to;
  const double* from;
  TUTTI_HD void operator()(Lid i) const { to[i] = from[i] + 1; }
};

std::unique_ptr<Device> make_fake(std::uint64_t seed = 1, FakeOptions options = {}, int index = 0) {
  options.seed = seed;
  return make_fake_device(index, options);
}

std::vector<double> values_of(Stream& stream, const Buffer<double>& buffer) {
  std::vector<double> host(buffer.size());
  download(stream, std::span<double>(host), buffer);
  return host;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define EXPECT_FAULT(statement) EXPECT_DEATH(statement, "SEGV")
#else
#define EXPECT_FAULT(statement) EXPECT_EXIT(statement, ::testing::KilledBySignal(SIGSEGV), "")
#endif

class FakeDeviceDeathTest : public ::testing::Test {
 protected:
  // The process has stream threads: a forked copy of it would not.
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(FakeDeviceDeathTest, AForgottenCopyIsCaught) {
  const auto device = make_fake();
  const auto stream = device->make_stream("s");
  Buffer<double> x(*device, 10, "x");
  for_each(*stream, {0, 10}, Fill{x.data(), 1});
  stream->synchronize();
  // volatile: the compiler must not drop the accesses.
  volatile double* inside = x.data();
  EXPECT_FAULT(static_cast<void>(inside[3]));
  EXPECT_FAULT(inside[3] = 1.0);
  EXPECT_EQ(values_of(*stream, x)[3], 4.0);
}

TEST_F(FakeDeviceDeathTest, MemoryStaysShutBetweenAllocationAndFirstUse) {
  const auto device = make_fake();
  Buffer<double> x(*device, 100000, "x");
  volatile double* inside = x.data();
  EXPECT_FAULT(inside[99999] = 1.0);
}

TEST_F(FakeDeviceDeathTest, MoreDevicesThanAProcessorHasProtectionKeys) {
  std::vector<std::unique_ptr<Device>> devices;
  std::vector<std::unique_ptr<Stream>> streams;
  std::vector<Buffer<double>> buffers;
  for (int d = 0; d < 20; ++d) {
    devices.push_back(make_fake(1, {}, d));
    streams.push_back(devices.back()->make_stream("s"));
    buffers.emplace_back(*devices.back(), 10, "x");
    for_each(*streams.back(), {0, 10}, Fill{buffers.back().data(), 1});
    streams.back()->synchronize();
  }
  for (const std::size_t d : {std::size_t{0}, std::size_t{19}}) {
    volatile double* inside = buffers[d].data();
    EXPECT_FAULT(inside[3] = 1.0);
    EXPECT_EQ(values_of(*streams[d], buffers[d])[3], 4.0);
  }
}

TEST_F(FakeDeviceDeathTest, AnOverrunHitsTheGuardPage) {
  const auto run = [](Size size, Lid at) {
    const auto device = make_fake();
    const auto stream = device->make_stream("s");
    Buffer<double> x(*device, size, "x");
    for_each(*stream, {at, at + 1}, Fill{x.data(), 1});
    stream->synchronize();
  };
  EXPECT_FAULT(run(8, 8));              // 64 bytes: the next one is the guard
  EXPECT_FAULT(run(1024, 1024));        // whole pages
  EXPECT_FAULT(run(1024, -1));          // below whole pages too
  EXPECT_DEATH(run(9, 10), "outside");  // inside the alignment's slack: found when the array is freed
  EXPECT_DEATH(run(9, -1), "outside");
  run(9, 8);
}

TEST_F(FakeDeviceDeathTest, UseAfterFreeIsCaught) {
  const auto run = [] {
    const auto device = make_fake();
    const auto stream = device->make_stream("s");
    Buffer<double> x(*device, 1000, "x");
    double* const freed = x.data();
    x = {};
    for_each(*stream, {0, 10}, Fill{freed, 1});
    stream->synchronize();
  };
  EXPECT_FAULT(run());
}

TEST(FakeDevice, UnwrittenMemoryIsNaN) {
  const auto device = make_fake();
  const auto stream = device->make_stream("s");
  Buffer<double> x(*device, 5, "x"), y(*device, 5, "y");
  Buffer<float> f(*device, 5, "f");
  Buffer<Lid> n(*device, 5, "n");
  for_each(*stream, {0, 5}, AddOne{y.data(), x.data()});
  for (const double v : values_of(*stream, y)) EXPECT_TRUE(std::isnan(v));
  std::vector<float> floats(5);
  download(*stream, std::span<float>(floats), f);
  for (const float v : floats) EXPECT_TRUE(std::isnan(v));
  std::vector<Lid> ints(5);
  download(*stream, std::span<Lid>(ints), n);
  for (const Lid v : ints) EXPECT_EQ(v, -1);
  Buffer<double> pinned(*device, 5, "pinned", Memory::pinned);
  for (const double v : pinned.span()) EXPECT_TRUE(std::isnan(v));
}

/// Writes x in one stream and reads it in another. Returns the values read.
std::vector<double> two_streams(std::uint64_t seed, bool with_event) {
  const auto device = make_fake(seed);
  const auto producer = device->make_stream("producer");
  const auto consumer = device->make_stream("consumer");
  const auto written = device->make_event();
  Buffer<double> x(*device, 64, "x"), y(*device, 64, "y");
  for_each(*producer, {0, 64}, Fill{x.data(), 1});
  producer->record(*written);
  if (with_event) consumer->wait(*written);
  for_each(*consumer, {0, 64}, AddOne{y.data(), x.data()});
  const auto values = values_of(*consumer, y);
  producer->synchronize();  // before x goes
  return values;
}

#if !defined(__SANITIZE_THREAD__)  // a race on purpose
TEST(FakeDevice, AForgottenWaitShowsWithSomeSeed) {
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    for (const double v : two_streams(seed, false)) wrong += std::isnan(v);
  EXPECT_GT(wrong, 0);
}
#endif

TEST(FakeDevice, TheRightOrderIsRightWithEverySeed) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto y = two_streams(seed, true);
    for (std::size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], 2.0 + static_cast<double>(i)) << "seed " << seed;
  }
}

#if !defined(__SANITIZE_THREAD__)  // a race on purpose
TEST(FakeDevice, AForgottenWaitOfTheHostShows) {
  const auto device = make_fake(3);
  const auto stream = device->make_stream("s");
  Buffer<double> x(*device, 1000, "x"), pinned(*device, 1000, "pinned", Memory::pinned);
  int early = 0;
  for (int trial = 0; trial < 50; ++trial) {
    for (double& v : pinned.span()) v = -1;
    for_each(*stream, {0, 1000}, Fill{x.data(), 0});
    stream->copy(pinned.data(), x.data(), 8000, CopyDirection::to_host);
    early += *static_cast<volatile double*>(&pinned.span()[7]) == -1;
    stream->synchronize();
    ASSERT_EQ(pinned.span()[7], 7.0);
  }
  EXPECT_GT(early, 0);
}
#endif

TEST(FakeDevice, EventsFireOnceTheirWorkIsDone) {
  const auto device = make_fake(5);
  const auto stream = device->make_stream("s");
  const auto event = device->make_event();
  EXPECT_TRUE(event->done());
  event->wait();
  std::atomic<bool> ran{false};
  stream->loop({0, 1}, [&](Lid, Lid) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ran = true;
  });
  stream->record(*event);
  EXPECT_FALSE(event->done());
  EXPECT_FALSE(ran);
  event->wait();
  EXPECT_TRUE(ran);
  EXPECT_TRUE(event->done());
}

TEST(FakeDevice, AWaiterKeepsTheRecordItWaitedFor) {
  const auto device = make_fake(7);
  const auto slow = device->make_stream("slow"), other = device->make_stream("other");
  const auto waiter = device->make_stream("waiter");
  const auto event = device->make_event();
  std::atomic<int> step{0};
  std::atomic<int> seen{-1};
  slow->loop({0, 1}, [&](Lid, Lid) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    step = 1;
  });
  slow->record(*event);
  waiter->wait(*event);
  other->record(*event);  // fires at once; the waiter must not care
  waiter->loop({0, 1}, [&](Lid, Lid) { seen = step.load(); });
  waiter->synchronize();
  EXPECT_EQ(seen, 1);
}

TEST(FakeDevice, AHostStreamWaitsForAFakeEvent) {
  Threads threads(2);
  const auto host = make_host_device(threads, Size{1} << 30);
  const auto device = make_fake(7);
  const auto host_stream = host->make_stream("h"), stream = device->make_stream("s");
  const auto event = device->make_event();
  std::atomic<int> step{0};
  stream->loop({0, 1}, [&](Lid, Lid) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    step = 1;
  });
  stream->record(*event);
  host_stream->wait(*event);
  EXPECT_EQ(step, 1);
  EXPECT_THROW(host_stream->record(*event), std::logic_error);
}

TEST(FakeDevice, BudgetErrorsNameArrayBytesAndRest) {
  FakeOptions options;
  options.memory = Size{1} << 20;
  const auto device = make_fake(1, options, 4);
  Buffer<double> first(*device, 1 << 16, "first");  // 512 KiB
  try {
    Buffer<double> second(*device, 3 << 15, "stencil weights");  // 768 KiB
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::resource);
    const std::string text = error.what();
    for (const char* part : {"fake:4", "stencil weights", "768 KiB", "512 KiB", "1.00 MiB"})
      EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
  }
  EXPECT_EQ(device->budget().used(), 1 << 19);
  Buffer<double> pinned(*device, 1 << 20, "pinned", Memory::pinned);  // the host's memory
  Buffer<double> moved = std::move(first);
  moved = {};
  EXPECT_EQ(device->budget().used(), 0);
  EXPECT_EQ(device->budget().peak(), 1 << 19);
}

TEST(FakeDevice, CopiesAndLaunchesAreCounted) {
  const auto device = make_fake(), other = make_fake(2, {}, 1);
  const auto stream = device->make_stream("s");
  Buffer<double> x(*device, 10, "x"), y(*device, 10, "y"), z(*other, 10, "z");
  std::vector<double> host(10);
  std::iota(host.begin(), host.end(), 0.0);
  upload(*stream, x, std::span<const double>(host));
  stream->copy(y.data(), x.data() + 2, 24, CopyDirection::local);
  stream->copy(z.data(), x.data(), 40, CopyDirection::peer);
  stream->copy(x.data(), x.data(), 0, CopyDirection::local);  // nothing
  download(*stream, std::span<double>(host).first(3), y);
  for_each(*stream, {3, 3}, Fill{x.data(), 0});  // nothing
  for_each(*stream, {3, 5}, Fill{x.data(), 0});
  stream->synchronize();
  EXPECT_EQ(host[0], 2.0);
  const CopyCounts& counts = device->counts();
  EXPECT_EQ(counts.to_device_bytes, 80);
  EXPECT_EQ(counts.local_bytes, 24);
  EXPECT_EQ(counts.peer_bytes, 40);
  EXPECT_EQ(counts.to_host_bytes, 24);
  EXPECT_EQ(counts.copies, 4);
  EXPECT_EQ(counts.launches, 1);
  EXPECT_EQ(other->counts().copies, 0);
}

TEST(FakeDevice, PeersCopyWhenTheyMay) {
  FakeOptions alone;
  alone.peer = false;
  const auto a = make_fake(1, {}, 0), b = make_fake(2, {}, 1), c = make_fake(3, alone, 2);
  EXPECT_TRUE(a->can_copy_from(*b));
  EXPECT_TRUE(a->can_copy_from(*a));
  EXPECT_FALSE(c->can_copy_from(*a));
  const auto sa = a->make_stream("a"), sb = b->make_stream("b"), sc = c->make_stream("c");
  Buffer<double> xa(*a, 100, "xa"), xb(*b, 100, "xb"), xc(*c, 100, "xc");
  for_each(*sa, {0, 100}, Fill{xa.data(), 5});
  const auto filled = a->make_event();
  sa->record(*filled);
  sb->wait(*filled);
  sb->copy(xb.data(), xa.data(), 800, CopyDirection::peer);
  EXPECT_EQ(values_of(*sb, xb)[99], 104.0);
  EXPECT_THROW(sc->copy(xc.data(), xa.data(), 800, CopyDirection::peer), std::logic_error);
}

TEST(FakeDevice, KernelsWriteToPeersOnlyWhereTheyReachThem) {
  FakeOptions alone;
  alone.peer = false;
  const auto a = make_fake(1, {}, 0), b = make_fake(2, {}, 1), c = make_fake(3, alone, 2);
  const auto sa = a->make_stream("a"), sb = b->make_stream("b"), sc = c->make_stream("c");
  Buffer<double> xa(*a, 100, "xa"), xb(*b, 100, "xb");
  for_each_reaching(*sa, {0, 100}, Fill{xb.data(), 7}, xb.data(), 800);
  sa->synchronize();
  EXPECT_EQ(values_of(*sb, xb)[99], 106.0);
  EXPECT_EQ(a->counts().peer_bytes, 800);
  EXPECT_THROW(sa->reach(xa.data(), 800), std::logic_error) << "its own memory";
  EXPECT_THROW(sa->reach(xb.data(), 801), std::logic_error) << "beyond the array";
  EXPECT_THROW(sc->reach(xb.data(), 800), std::logic_error) << "no way to peers";
}

TEST(FakeDevice, WhatALoopReachesIsOfItsThread) {
  const auto a = make_fake(1, {}, 0), b = make_fake(2, {}, 1);
  const auto sa = a->make_stream("a"), sb = b->make_stream("b");
  Buffer<double> xa(*a, 100, "xa"), xb(*b, 100, "xb");
  sa->reach(xb.data(), 800);
  std::thread([&] { for_each(*sa, {0, 100}, Fill{xa.data(), 5}); }).join();
  EXPECT_EQ(a->counts().peer_bytes, 0);
  for_each(*sa, {0, 100}, Fill{xb.data(), 7});
  sa->synchronize();
  EXPECT_EQ(values_of(*sb, xb)[99], 106.0);
  EXPECT_EQ(a->counts().peer_bytes, 800);
}

TEST(FakeDevice, CopiesThatAreNotWhatTheySayAreRefused) {
  const auto device = make_fake();
  const auto stream = device->make_stream("s");
  Buffer<double> x(*device, 10, "x");
  std::vector<double> host(20), target(20);
  EXPECT_THROW(stream->copy(x.data(), host.data(), 80, CopyDirection::to_host), std::logic_error);
  EXPECT_THROW(stream->copy(host.data(), x.data(), 80, CopyDirection::to_device), std::logic_error);
  EXPECT_THROW(stream->copy(target.data(), host.data(), 80, CopyDirection::to_host), std::logic_error);
  EXPECT_THROW(stream->copy(x.data(), host.data(), 88, CopyDirection::to_device), std::logic_error);
  EXPECT_THROW(stream->copy(x.data() + 9, x.data(), 16, CopyDirection::local), std::logic_error);
  EXPECT_EQ(device->counts().copies, 0);
}

TEST(FakeDevice, ExceptionsOfAKernelSurfaceInEventsAndSynchronize) {
  const auto device = make_fake(9);
  const auto stream = device->make_stream("s"), dependent = device->make_stream("d");
  const auto event = device->make_event(), second = device->make_event();
  std::atomic<bool> ran{false};
  stream->loop({0, 4}, [](Lid, Lid) { fail(ErrorKind::numerical, "cell 3 is not a number"); });
  stream->record(*event);
  dependent->wait(*event);
  dependent->loop({0, 4}, [&](Lid, Lid) { ran = true; });
  dependent->record(*second);
  EXPECT_THROW(event->wait(), Error);
  EXPECT_THROW(event->done(), Error);
  EXPECT_THROW(second->wait(), Error);
  EXPECT_THROW(dependent->synchronize(), Error);
  EXPECT_FALSE(ran);  // what depends on failed work is not done
  try {
    stream->synchronize();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::numerical);
  }
}

TEST(FakeDevice, ALostDeviceIsAPeerError) {
  FakeOptions options;
  options.fail_after_launches = 2;
  const auto device = make_fake(1, options);
  const auto stream = device->make_stream("s"), other = device->make_stream("o");
  Buffer<double> x(*device, 10, "x");
  for (int launch = 0; launch < 2; ++launch) for_each(*stream, {0, 10}, Fill{x.data(), 1});
  stream->synchronize();
  for_each(*stream, {0, 10}, Fill{x.data(), 1});
  try {
    stream->synchronize();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::peer);
    EXPECT_NE(std::string(error.what()).find("fake:0"), std::string::npos);
  }
  double value = 0;
  other->copy(&value, x.data(), 8, CopyDirection::to_host);
  EXPECT_THROW(other->synchronize(), Error);
}

TEST(FakeDevice, ADestroyedStreamHasDoneItsWork) {
  const auto device = make_fake(11);
  std::atomic<int> done{0};
  {
    const auto stream = device->make_stream("s");
    for (int k = 0; k < 20; ++k) stream->loop({0, 1}, [&](Lid, Lid) { ++done; });
  }
  EXPECT_EQ(done, 20);
}

TEST(FakeDevice, StreamsAreNotPinnedWithTheirCreator) {
  Threads pinned(1, {allowed_cores().front()});
  const auto device = make_fake();
  std::unique_ptr<Stream> stream;
  pinned.run([&](int) { stream = device->make_stream("s"); });
  cpu_set_t set;
  CPU_ZERO(&set);
  stream->loop({0, 1}, [&](Lid, Lid) { sched_getaffinity(0, sizeof(set), &set); });
  stream->synchronize();
  EXPECT_EQ(CPU_COUNT(&set), static_cast<int>(allowed_cores().size()));
  release_cores();
}

TEST(FakeDevice, ALoopRunsEveryIndexOnceAndNotAlwaysInOrder) {
  const auto device = make_fake(13);
  const auto stream = device->make_stream("s");
  int unordered = 0;
  for (Lid size : {1, 2, 3, 7, 1000, 1000, 1000, 1000}) {
    std::vector<int> hits(size);
    std::vector<Lid> begins;
    stream->loop({10, 10 + size}, [&](Lid begin, Lid end) {
      begins.push_back(begin);
      for (Lid i = begin; i < end; ++i) ++hits[i - 10];
    });
    stream->synchronize();
    EXPECT_EQ(hits, std::vector<int>(size, 1));
    unordered += !std::is_sorted(begins.begin(), begins.end());
  }
  EXPECT_GT(unordered, 0);
}

TEST(FakeDevice, GivesTheHostsValues) {
  Threads threads(2);
  const auto host = make_host_device(threads, Size{1} << 30);
  const auto device = make_fake(17);
  const auto on = [](Device& d) {
    const auto stream = d.make_stream("s");
    Buffer<double> x(d, 1001, "x"), y(d, 1001, "y");
    for_each(*stream, {0, 1001}, Fill{x.data(), 0.1});
    for_each(*stream, {0, 1001}, AddOne{y.data(), x.data()});
    return values_of(*stream, y);
  };
  EXPECT_EQ(on(*host), on(*device));
}

}  // namespace
}  // namespace tutti
