// What a pass launches again is what it was told last: other arrays or numbers are never those of an older graph. In
// test_gpu the device is a GPU.
#include <gtest/gtest.h>

#include <vector>

#include "tutti/base/random.hpp"
#include "tutti/device/buffer.hpp"
#include "tutti/device/for_each.hpp"
#include "tutti/device/zeros.hpp"
#include "tutti/schedule/pass.hpp"

namespace tutti {
namespace {

struct Add {
  double* to;
  float amount;  // padding follows
  TUTTI_HD void operator()(Lid i) const { to[i] += amount; }
};
/// Notes how often it was asked to enqueue its work.
struct CountedAdd {
  ForEach<Add> add;
  int* enqueued;
  void operator()(Stream& stream, Range range) const {
    ++*enqueued;
    add(stream, range);
  }
};

class PassOn : public testing::TestWithParam<DeviceKind> {
 protected:
  static constexpr Lid rows = 300;
  void SetUp() override {
    if (GetParam() == DeviceKind::fake) device_ = make_fake_device(0, {.max_delay_us = 2});
    if (GetParam() == DeviceKind::cuda && cuda_device_count() > 0) device_ = make_cuda_device(0);
    if (!device_) GTEST_SKIP() << "no GPU on this machine";
    streams_.emplace_back(*device_);
    for (int k = 0; k < 3; ++k) arrays_.push_back(make_zeros<double>(*streams_[0].compute, rows, "sums"));
    Exchange<double>* const nothing_travels = nullptr;
    pass_ =
        std::make_unique<Pass>("", threads_, streams_, std::vector<PassPart>{{{{{200, rows}, {}}}, {{{0, 200}, {}}}}},
                               nothing_travels, Overlap::full);
    ASSERT_TRUE(pass_->step().runs_ahead());
  }
  void run(std::size_t array, float amount) {
    pass_->run([&](std::size_t, Kernels& to) {
      to.add(CountedAdd{on_rows(Add{arrays_[array].data(), amount}), &enqueued_});
    });
  }
  /// All rows of an array must be this sum.
  void expect(std::size_t array, double sum) {
    std::vector<double> values(rows);
    download(*streams_[0].compute, std::span<double>(values), arrays_[array]);
    EXPECT_EQ(values, std::vector<double>(rows, sum)) << "array " << array;
  }

  Threads threads_{2};
  int enqueued_ = 0;  ///< twice a run that is not a launch of a captured one
  std::unique_ptr<Device> device_;
  std::vector<PartStreams> streams_;
  std::vector<Buffer<double>> arrays_;
  std::unique_ptr<Pass> pass_;
};

TEST_P(PassOn, another_array_is_another_graph) {
  for (int k = 0; k < 40; ++k) run(0, 1);
  run(1, 1);
  run(0, 1);
  pass_->step().wait();
  expect(0, 41);
  expect(1, 1);
  // In any order, alone and many as one.
  std::vector<double> sums{41, 1, 0};
  for (std::uint64_t k = 0; k < 500; ++k) {
    const std::size_t array = k < 250 ? random_bits(1, k) % 3 : k % 3;
    run(array, 1);
    ++sums[array];
  }
  for (std::size_t array = 0; array < 3; ++array) expect(array, sums[array]);
}

TEST_P(PassOn, another_number_is_another_graph) {
  double sum = 0;
  for (std::uint64_t k = 0; k < 400; ++k) {
    // At last all are different.
    const float amount = static_cast<float>(k < 200 ? random_bits(2, k) % 4 : k);
    run(0, amount);
    sum += amount;
  }
  expect(0, sum);
}

TEST_P(PassOn, what_came_before_is_captured_once) {
  const auto runs = [&](int count) {
    for (int k = 0; k < count; ++k) run(static_cast<std::size_t>(k % 2), 1);
    pass_->step().wait();
    return enqueued_;
  };
  const int at_first = runs(100);
  EXPECT_GT(at_first, 0);
  EXPECT_EQ(runs(800), at_first) << "no run of these is measured, and none is new";
  expect(0, 450);
}

TEST_P(PassOn, numbers_that_came_once_leave_room_for_others) {
  for (int k = 0; k < 300; ++k) run(0, static_cast<float>(k));
  const auto runs = [&](int count) {
    for (int k = 0; k < count; ++k) run(1, 1);
    pass_->step().wait();
    return enqueued_;
  };
  const int at_first = runs(100);
  EXPECT_EQ(runs(300), at_first);
  expect(0, 300 * 299 / 2);
  expect(1, 400);
}

TEST_P(PassOn, nothing_is_captured_where_it_is_not_wanted) {
  pass_->never_capture();
  for (int k = 0; k < 50; ++k) run(0, 1);
  EXPECT_EQ(enqueued_, 100);
  expect(0, 50);
}

#if defined(TUTTI_TEST_GPU)
INSTANTIATE_TEST_SUITE_P(Devices, PassOn, testing::Values(DeviceKind::cuda), [](const auto&) { return "cuda"; });
#else
INSTANTIATE_TEST_SUITE_P(Devices, PassOn, testing::Values(DeviceKind::fake), [](const auto&) { return "fake"; });
#endif

}  // namespace
}  // namespace tutti
