// The CUDA backend on a real GPU. Every test skips without one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include "tutti/base/random.hpp"
#include "tutti/device/buffer.hpp"
#include "tutti/device/cuda/launch.hpp"
#include "tutti/device/for_each.hpp"
#include "tutti/device/sums/exact_sums.hpp"
#include "tutti/device/sums/reduce.hpp"
#include "tutti/device/threads.hpp"
#include "tutti/device/triad.hpp"

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
struct Read {
  const double* x;
  TUTTI_HD double operator()(Lid i) const { return x[i]; }
};
struct ReadGroup {
  const double* x;
  Lid size;
  TUTTI_HD double operator()(Lid group, Lid i) const { return x[group * size + i]; }
};
/// Keeps the GPU busy: about `rounds` microseconds.
struct Slow {
  double* x;
  int rounds;
  TUTTI_HD void operator()(Lid i) const {
    double v = x[i];
    for (int r = 0; r < 100 * rounds; ++r) v = v * 0.5 + 1.0;
    x[i] = v;
  }
};
/// Must give the host's bits: nothing may be fused or rounded otherwise.
struct Arithmetic {
  double* x;
  TUTTI_HD void operator()(Lid i) const {
    const double a = 1.0 + i * 1e-3, b = 3.0 + i * 1e-5;
    x[i] = a * b + a / b - std::sqrt(a * a + b * b) + std::fma(a, b, -1.5);
  }
};

class CudaDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cuda_device_count() == 0) GTEST_SKIP() << "no GPU on this machine";
    device_ = make_cuda_device(0, Size{4} << 30);
    stream_ = device_->make_stream("test");
  }
  std::vector<double> values_of(const Buffer<double>& buffer, Stream* stream = nullptr) {
    std::vector<double> host(buffer.size());
    download(stream != nullptr ? *stream : *stream_, std::span<double>(host), buffer);
    return host;
  }
  std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
};

TEST_F(CudaDevice, SaysWhatItIs) {
  EXPECT_EQ(device_->kind(), DeviceKind::cuda);
  EXPECT_EQ(device_->name(), "cuda:0");
  EXPECT_NE(device_->description().find("compute capability"), std::string::npos) << device_->description();
  EXPECT_LE(device_->budget().capacity(), Size{4} << 30);
  EXPECT_THROW(make_cuda_device(cuda_device_count()), Error);
}

TEST_F(CudaDevice, RunsEveryIndexOnce) {
  for (const Lid n : {1, 2, 255, 256, 257, 1000003}) {
    Buffer<double> x(*device_, n + 20, "x");
    for_each(*stream_, {0, n + 20}, Fill{x.data(), 0});
    for_each(*stream_, {10, 10 + n}, AddOne{x.data(), x.data()});
    for_each(*stream_, {5, 5}, AddOne{x.data(), x.data()});
    const auto values = values_of(x);
    for (Lid i = 0; i < n + 20; ++i) ASSERT_EQ(values[i], i + (i >= 10 && i < 10 + n ? 1.0 : 0.0)) << i << " of " << n;
  }
  EXPECT_EQ(device_->counts().launches, 12);
}

TEST_F(CudaDevice, ComputesTheHostsBits) {
  Threads threads(1);
  const auto host = make_host_device(threads, Size{1} << 30);
  const auto host_stream = host->make_stream("h");
  const Lid n = 100000;
  Buffer<double> x(*device_, n, "x"), y(*host, n, "y");
  for_each(*stream_, {0, n}, Arithmetic{x.data()});
  for_each(*host_stream, {0, n}, Arithmetic{y.data()});
  const auto values = values_of(x);
  EXPECT_TRUE(std::equal(values.begin(), values.end(), y.span().begin()));
}

TEST_F(CudaDevice, CopiesInEveryDirection) {
  std::vector<double> host(1000);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<double>(i);
  Buffer<double> x(*device_, 1000, "x"), y(*device_, 1000, "y"), pinned(*device_, 1000, "pinned", Memory::pinned);
  upload(*stream_, x, std::span<const double>(host));
  stream_->copy(y.data(), x.data(), 8000, CopyDirection::local);
  stream_->copy(pinned.data(), y.data(), 8000, CopyDirection::to_host);
  stream_->copy(y.data(), x.data(), 0, CopyDirection::local);
  stream_->synchronize();
  EXPECT_TRUE(std::equal(host.begin(), host.end(), pinned.span().begin()));
  EXPECT_EQ(device_->counts().to_device_bytes, 8000);
  EXPECT_EQ(device_->counts().local_bytes, 8000);
  EXPECT_EQ(device_->counts().to_host_bytes, 8000);
  EXPECT_EQ(device_->counts().copies, 3);
}

TEST_F(CudaDevice, EventsOrderStreams) {
  const auto other = device_->make_stream("other");
  const auto event = device_->make_event();
  EXPECT_TRUE(event->done());
  event->wait();
  const Lid n = 1 << 16;
  for (int trial = 0; trial < 20; ++trial) {
    Buffer<double> x(*device_, n, "x"), y(*device_, n, "y");
    for_each(*stream_, {0, n}, Fill{x.data(), 0});
    for_each(*stream_, {0, n}, Slow{x.data(), 20});
    for_each(*stream_, {0, n}, Fill{x.data(), 5});
    stream_->record(*event);
    other->wait(*event);
    for_each(*other, {0, n}, AddOne{y.data(), x.data()});
    const auto values = values_of(y, other.get());
    ASSERT_EQ(values[7], 13.0);
    ASSERT_EQ(values[n - 1], 5.0 + n);
    EXPECT_TRUE(event->done());
  }
}

TEST_F(CudaDevice, EventsAreLateAndHostStreamsWaitForThem) {
  Threads threads(1);
  const auto host = make_host_device(threads, Size{1} << 30);
  const auto host_stream = host->make_stream("h");
  const auto event = device_->make_event();
  const Lid n = 1 << 20;
  Buffer<double> x(*device_, n, "x"), pinned(*device_, n, "pinned", Memory::pinned);
  std::fill(pinned.span().begin(), pinned.span().end(), -1.0);
  for_each(*stream_, {0, n}, Fill{x.data(), 0});
  for_each(*stream_, {0, n}, Slow{x.data(), 1000});
  for_each(*stream_, {0, n}, Fill{x.data(), 3});
  stream_->copy(pinned.data(), x.data(), static_cast<std::size_t>(x.bytes()), CopyDirection::to_host);
  stream_->record(*event);
  EXPECT_FALSE(event->done());
  host_stream->wait(*event);
  EXPECT_EQ(pinned.span()[n - 1], 2.0 + n);
  const auto foreign = host->make_event();
  EXPECT_THROW(stream_->record(*foreign), std::logic_error);
  stream_->wait(*foreign);
}

TEST_F(CudaDevice, StreamsWorkFromAnyThread) {
  std::vector<std::thread> threads;
  std::vector<double> results(4);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const auto stream = device_->make_stream("t");
      Buffer<double> x(*device_, 1000, "x");
      for_each(*stream, {0, 1000}, Fill{x.data(), static_cast<double>(t)});
      results[t] = exact_sum(*stream, {0, 1000}, Read{x.data()}).value();
    });
  for (auto& thread : threads) thread.join();
  for (int t = 0; t < 4; ++t) EXPECT_EQ(results[t], 499500.0 + 1000 * t);
}

std::vector<double> wild(Lid count, int range) {
  std::vector<double> v(count);
  for (std::size_t i = 0; i < v.size(); ++i)
    v[i] = std::ldexp(random_unit(3, 2 * i) - 0.5,
                      static_cast<int>(random_bits(3, 2 * i + 1) % static_cast<std::uint64_t>(range)) - range / 2);
  return v;
}

TEST_F(CudaDevice, SumsHaveTheHostsBits) {
  for (const int range : {1, 40, 1900})
    for (const Lid n : {1, 31, 100001, 3000001}) {
      auto v = wild(n, range);
      if (range == 1900 && n > 31) v[17] = 5e-324;
      const auto x = make_buffer(*stream_, std::span<const double>(v), "x");
      ExactSum expected;
      for (const double value : v) expected.add(value);
      expected.normalise();
      const ExactSum sum = exact_sum(*stream_, {0, n}, Read{x.data()});
      EXPECT_TRUE(std::equal(sum.word, sum.word + ExactSum::size, expected.word)) << n << " range " << range;
    }
  // Many groups, of one block and of several.
  for (const Lid size : {100, 50000}) {
    const Lid groups = 70;
    const auto all = wild(groups * size, 40);
    const auto y = make_buffer(*stream_, std::span<const double>(all), "y");
    const auto sums = exact_sums(*stream_, groups, {1, size}, ReadGroup{y.data(), size});
    for (Lid g = 0; g < groups; ++g) {
      const ExactSum expected = exact_sum(*stream_, {g * size + 1, (g + 1) * size}, Read{y.data()});
      EXPECT_TRUE(std::equal(expected.word, expected.word + ExactSum::size, sums[static_cast<std::size_t>(g)].word))
          << g << " of " << size;
    }
  }
  auto v = wild(1000, 10);
  v[5] = std::numeric_limits<double>::infinity();
  const auto x = make_buffer(*stream_, std::span<const double>(v), "x");
  EXPECT_EQ(exact_sum(*stream_, {0, 1000}, Read{x.data()}).value(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(exact_sum(*stream_, {3, 3}, Read{x.data()}).value(), 0.0);
}

TEST_F(CudaDevice, MaximaPropagateNaN) {
  auto v = wild(100001, 300);
  const auto max_of = [&] {
    const auto x = make_buffer(*stream_, std::span<const double>(v), "x");
    return max_value(*stream_, {0, 100001}, Read{x.data()});
  };
  EXPECT_EQ(max_of(), *std::max_element(v.begin(), v.end()));
  for (double& value : v) value = -std::abs(value) - 1;
  EXPECT_EQ(max_of(), *std::max_element(v.begin(), v.end()));
  v[54321] = std::nan("");
  EXPECT_TRUE(std::isnan(max_of()));
  EXPECT_EQ(max_value(*stream_, {0, 0}, Read{nullptr}), -std::numeric_limits<double>::infinity());
}

TEST_F(CudaDevice, BudgetErrorsComeBeforeTheGpuIsAsked) {
  const auto small = make_cuda_device(0, Size{1} << 20);
  try {
    Buffer<double> x(*small, 1 << 20, "stencil weights");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::resource);
    EXPECT_NE(std::string(error.what()).find("stencil weights"), std::string::npos) << error.what();
  }
  EXPECT_EQ(small->budget().used(), 0);
}

TEST_F(CudaDevice, OutOfMemoryIsAResourceErrorAndHarmless) {
  // More than any GPU has, past the budget.
  try {
    device_->allocate(std::size_t{1} << 50, Memory::device);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::resource);
    EXPECT_NE(std::string(error.what()).find("cuda:0"), std::string::npos) << error.what();
  }
  Buffer<double> x(*device_, 100, "x");
  for_each(*stream_, {0, 100}, Fill{x.data(), 1});
  EXPECT_EQ(values_of(x)[99], 100.0);
}

TEST_F(CudaDevice, CapturedWorkIsLaunchedAsAWhole) {
  const auto other = device_->make_stream("other");
  const auto forked = device_->make_event(), joined = device_->make_event();
  const Lid n = 1 << 16;
  Buffer<double> x(*device_, n, "x"), y(*device_, n, "y");
  for_each(*stream_, {0, n}, Fill{x.data(), 1});
  for_each(*stream_, {0, n}, Fill{y.data(), 0});
  stream_->synchronize();
  // x -> y on the other stream, y -> x on this one: two more a launch.
  ASSERT_TRUE(stream_->begin_capture());
  stream_->record(*forked);
  other->wait(*forked);
  for_each(*other, {0, n}, AddOne{y.data(), x.data()});
  other->record(*joined);
  stream_->wait(*joined);
  for_each(*stream_, {0, n}, AddOne{x.data(), y.data()});
  const auto work = stream_->end_capture();
  stream_->synchronize();
  EXPECT_EQ(values_of(x)[5], 6.0) << "what is captured does not run";
  for (int k = 0; k < 100; ++k) stream_->launch(*work);
  EXPECT_EQ(values_of(x)[5], 206.0);
  // The streams are as before.
  for_each(*other, {0, n}, AddOne{y.data(), x.data()});
  EXPECT_EQ(values_of(y, other.get())[n - 1], 201.0 + n);
}

/// Reads what other threads of the kernel before wrote, its last ones first.
struct AddMirrored {
  double* to;
  const double* from;
  Lid size;
  TUTTI_HD void operator()(Lid i) const { to[i] = from[i] + from[size - 1 - i]; }
};

/// The same of two arrays.
struct AddBoth {
  double* to;
  const double *mirrored, *from;
  Lid size;
  TUTTI_HD void operator()(Lid i) const { to[i] = mirrored[size - 1 - i] + from[i]; }
};

// The next one's threads are on the GPU before the one before ends (cuda/launch.hpp).
TEST_F(CudaDevice, AKernelSeesAllOfTheOneBefore) {
  for (const Lid size : {1000, 100'000, 3'000'000}) {
    Buffer<double> x(*device_, size, "x"), y(*device_, size, "y");
    const auto double_it = [&](int times) {
      for (int k = 0; k < times; ++k) {
        for_each(*stream_, {0, size}, AddMirrored{y.data(), x.data(), size});
        for_each(*stream_, {0, size}, AddMirrored{x.data(), y.data(), size});
      }
    };
    for_each(*stream_, {0, size}, Fill{x.data(), 1.0});
    double_it(10);
    // Sums of mirror images are all alike.
    const double expected = (size + 1) * std::pow(2.0, 19);
    EXPECT_EQ(values_of(x), std::vector<double>(static_cast<std::size_t>(size), expected));

    for_each(*stream_, {0, size}, Fill{x.data(), 1.0});
    stream_->synchronize();
    ASSERT_TRUE(stream_->begin_capture());
    double_it(5);
    const auto work = stream_->end_capture();
    stream_->launch(*work);
    stream_->launch(*work);
    EXPECT_EQ(values_of(x), std::vector<double>(static_cast<std::size_t>(size), expected));
  }
}

// In a graph, a kernel behind an event is on the GPU before the one before it in its stream ends, too. It sees all of
// that one and of what the event stands for.
TEST_F(CudaDevice, AKernelOfAGraphSeesAllOfTheOneBeforeAndOfEvents) {
  const auto other = device_->make_stream("other");
  const auto began = device_->make_event(), done = device_->make_event();
  for (const Lid size : {1000, 100'000, 3'000'000}) {
    Buffer<double> x(*device_, size, "x"), y(*device_, size, "y"), z(*device_, size, "z");
    for_each(*stream_, {0, size}, Fill{x.data(), 1.0});
    stream_->synchronize();
    ASSERT_TRUE(stream_->begin_capture());
    constexpr int times = 6;
    for (int k = 0; k < times; ++k) {
      // y = 2 x here, z = 2 x there at the same time; then x = y + z, mirrored.
      stream_->record(*began);
      other->wait(*began);
      for_each(*other, {0, size}, AddMirrored{z.data(), x.data(), size});
      other->record(*done);
      for_each(*stream_, {0, size}, AddMirrored{y.data(), x.data(), size});
      stream_->wait(*done);
      for_each(*stream_, {0, size}, AddBoth{x.data(), y.data(), z.data(), size});
    }
    const auto work = stream_->end_capture();
    stream_->launch(*work);
    stream_->launch(*work);
    EXPECT_EQ(values_of(x),
              std::vector<double>(static_cast<std::size_t>(size), (size + 1) * std::pow(4.0, 2 * times) / 2));
  }
}

/// AddMirrored; the next kernel begins early and the last block stores late.
__global__ void add_mirrored_late(double* to, const double* from, Lid size) {
  from = cuda::wait_for_earlier_work(from);
  cuda::let_next_kernel_begin();
  const Lid i = static_cast<Lid>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= size) return;
  const double sum = from[i] + from[size - 1 - i];
  if (blockIdx.x + 1 == gridDim.x)
    for (int k = 0; k < 100; ++k) __nanosleep(1000);
  to[i] = sum;
}

// The mirror image reads first what is stored last.
TEST_F(CudaDevice, AKernelWaitsForTheLastStoreOfTheOneBefore) {
  constexpr Lid size = 20'000;  // all blocks of two kernels are on the GPU at once
  const std::size_t bytes = size * sizeof(double);
  const auto other = device_->make_stream("other");
  const auto began = device_->make_event(), done = device_->make_event();
  Buffer<double> x(*device_, size, "x"), y(*device_, size, "y"), z(*device_, size, "z");
  const auto add_late = [&](Stream& stream, double* to, const double* from) {
    cuda::launch(stream, add_mirrored_late, dim3((size + 255) / 256), dim3(256), 0, to, from, size);
  };
  // x becomes 8 x each time.
  const auto chain = [&] {
    add_late(*stream_, y.data(), x.data());
    add_late(*stream_, z.data(), y.data());
    for_each(*stream_, {0, size}, AddMirrored{x.data(), z.data(), size});
  };
  const auto behind_events = [&] {
    stream_->record(*began);
    other->wait(*began);
    add_late(*other, z.data(), x.data());
    other->record(*done);
    add_late(*stream_, y.data(), x.data());
    stream_->wait(*done);
    for_each(*stream_, {0, size}, AddBoth{z.data(), y.data(), z.data(), size});
    for_each(*stream_, {0, size}, AddMirrored{x.data(), z.data(), size});
  };
  const auto with_a_copy = [&] {
    stream_->record(*began);
    other->wait(*began);
    other->record(*done);
    add_late(*stream_, y.data(), x.data());
    stream_->wait(*done);
    stream_->copy(z.data(), y.data(), bytes, CopyDirection::local);
    add_late(*stream_, y.data(), z.data());
    for_each(*stream_, {0, size}, AddMirrored{x.data(), y.data(), size});
  };
  const auto expect_eight_times = [&](const std::function<void()>& work, int times, const char* what) {
    for_each(*stream_, {0, size}, Fill{x.data(), 1.0});
    stream_->synchronize();
    work();
    EXPECT_EQ(values_of(x), std::vector<double>(size, (size + 1) * std::pow(8.0, times) / 2)) << what;
  };
  const std::pair<const char*, std::function<void()>> kinds[] = {
      {"chain", chain}, {"behind events", behind_events}, {"with a copy", with_a_copy}};
  for (const auto& [what, once] : kinds) {
    expect_eight_times(once, 1, what);
    expect_eight_times([&] { once(), once(); }, 2, what);
    stream_->synchronize();
    ASSERT_TRUE(stream_->begin_capture());
    once(), once();
    const auto work = stream_->end_capture();
    expect_eight_times([&] { stream_->launch(*work), stream_->launch(*work); }, 4, what);
  }
}

TEST_F(CudaDevice, PeersCopy) {
  if (cuda_device_count() < 2) GTEST_SKIP() << "one GPU only";
  const auto second = make_cuda_device(1, Size{1} << 30);
  const auto second_stream = second->make_stream("second");
  EXPECT_TRUE(second->can_copy_from(*second));
  const bool direct = second->can_copy_from(*device_);
  EXPECT_EQ(second->can_copy_from(*device_), direct);  // enabled once
  Buffer<double> x(*device_, 1000, "x"), y(*second, 1000, "y");
  const auto event = device_->make_event();
  for_each(*stream_, {0, 1000}, Fill{x.data(), 2});
  stream_->record(*event);
  second_stream->wait(*event);
  second_stream->copy(y.data(), x.data(), 8000, CopyDirection::peer);
  for_each(*second_stream, {0, 1000}, AddOne{y.data(), y.data()});
  EXPECT_EQ(values_of(y, second_stream.get())[999], 1002.0);
  EXPECT_EQ(exact_sum(*second_stream, {0, 1000}, Read{y.data()}).value(), 499500.0 + 3000);
  EXPECT_EQ(second->counts().peer_bytes, 8000);
  // Captured over both: forked from the first, joined to it.
  const auto done = second->make_event();
  ASSERT_TRUE(stream_->begin_capture());
  for_each(*stream_, {0, 1000}, AddOne{x.data(), x.data()});
  stream_->record(*event);
  second_stream->wait(*event);
  second_stream->copy(y.data(), x.data(), 8000, CopyDirection::peer);
  second_stream->record(*done);
  stream_->wait(*done);
  const auto work = stream_->end_capture();
  for (int k = 0; k < 10; ++k) stream_->launch(*work);
  stream_->synchronize();
  EXPECT_EQ(values_of(y, second_stream.get())[999], 1011.0);
}

TEST_F(CudaDevice, BandwidthIsAGpus) {
  const Bandwidth b = measure_bandwidth(*device_, {0.2, Size{256} << 20});
  ::testing::Test::RecordProperty("triad_gb_per_s", std::to_string(b.triad / 1e9));
  std::printf("triad %.0f GB/s, to device %.1f GB/s, to host %.1f GB/s, latency %.1f us, launch %.1f us\n",
              b.triad / 1e9, b.copy_to_device / 1e9, b.copy_to_host / 1e9, b.latency_us, b.launch_us);
  EXPECT_GT(b.triad, 5e10);
  EXPECT_GT(b.copy_to_device, 1e9);
  EXPECT_GT(b.copy_to_host, 1e9);
  EXPECT_LT(b.latency_us, 1000);
  EXPECT_LT(b.launch_us, 1000);
  EXPECT_EQ(device_->budget().used(), 0);
}

}  // namespace
}  // namespace tutti
