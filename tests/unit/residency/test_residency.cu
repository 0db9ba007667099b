// Every policy on every device: the same bits, the copies that must be, and clear errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "tutti/base/random.hpp"
#include "tutti/device/for_each.hpp"
#include "tutti/device/threads.hpp"
#include "tutti/residency/choose.hpp"
#include "tutti/residency/residency.hpp"

namespace tutti {
namespace {

constexpr int width = 20;
constexpr Lid rows = 1000;
constexpr Size row_bytes = width * 8;
const Size all_bytes = rows * row_bytes;

double value_of(Lid row, int i) {
  return (2 * random_unit(5, static_cast<std::uint64_t>(row) * width + static_cast<std::uint64_t>(i)) - 1) *
         (1 + row % 7);
}

RowSource source() {
  return {"coefficients", rows, width, [](Range piece, std::span<double> values) {
            for (Lid r = piece.begin; r < piece.end; ++r)
              for (int i = 0; i < width; ++i) values[(r - piece.begin) * width + i] = value_of(r, i);
          }};
}

/// out[row] = a sum that needs every value of a row, in its place; values by fours and one by one.
template <class Rows>
struct Weigh {
  Rows access;
  const double* u;
  double* out;
  TUTTI_HD void operator()(Lid r) const {
    const auto row = access.row(r);
    double sum = 0;
    for (int i = 0; i < width; i += 4) {
      double four[4];
      row.load4(i, four);
      for (int k = 0; k < 4; ++k) sum = std::fma(four[k], u[i + k], sum);
    }
    out[r] = sum + row(r % width) + access(r, width - 1);
  }
};

/// A device with its stream, and what a kernel reads and writes.
struct Bench {
  Threads threads{2};
  std::unique_ptr<Device> device;
  std::unique_ptr<Stream> stream;
  Buffer<double> u, out;

  /// `room`: bytes that the array may take.
  Bench(DeviceKind kind, Size room, FakeOptions options = {}) {
    const Size capacity = room + (width + rows) * 8;
    options.memory = capacity;
    if (kind == DeviceKind::host) device = make_host_device(threads, capacity);
    if (kind == DeviceKind::fake) device = make_fake_device(0, options);
    if (kind == DeviceKind::cuda && cuda_device_count() > 0) device = make_cuda_device(0, capacity);
    if (!device) return;
    stream = device->make_stream("test");
    std::vector<double> weights;
    for (int i = 0; i < width; ++i) weights.push_back(1.0 / (3 + i));
    u = make_buffer(*stream, std::span<const double>(weights), "u");
    out = Buffer<double>(*device, rows, "out");
  }
  void pass(Residency& array) {
    for_each_chunk(array, [&](Range range, const auto& access) {
      EXPECT_GT(range.size(), 0);
      for_each(*stream, range, Weigh<std::decay_t<decltype(access)>>{access, u.data(), out.data()});
    });
  }
  std::vector<double> result() {
    std::vector<double> values(rows);
    download(*stream, std::span<double>(values), out);
    const std::vector<double> poison(values.size(), -7e77);
    upload(*stream, out, std::span<const double>(poison));
    return values;
  }
  Size copies_in() const { return device->is_host() ? device->counts().local_bytes : device->counts().to_device_bytes; }
};

ResidencyOptions options_of(Policy policy, ValueFormat format = ValueFormat::doubles,
                            Size chunk_bytes = 40 * row_bytes) {
  ResidencyOptions options;
  options.policy = policy;
  options.format = format;
  options.chunk_bytes = chunk_bytes;
  return options;
}

/// The sums from values as the host decodes them.
std::vector<double> expected_of(ValueFormat format, int rate = 32, int group = 0) {
  const RowLayout layout = make_row_layout(format, width, rate, group);
  std::vector<double> values(rows * width), sums;
  source().fill({0, rows}, values);
  std::vector<std::byte> bytes(layout.bytes(rows));
  SquaredLoss loss;
  encode_rows(layout, "test", 0, values, bytes, loss);
  const StoredRows stored{bytes.data(),        layout.row_bytes,  0, layout.stride, layout.group,
                          layout.block_bits(), host_plane_table()};
  with_rows(AllRows{}, format, stored, [&](const auto& access) {
    for (Lid r = 0; r < rows; ++r) {
      double sum = 0;
      for (int i = 0; i < width; ++i) sum = std::fma(access(r, i), 1.0 / (3 + i), sum);
      sums.push_back(sum + access(r, r % width) + access(r, width - 1));
    }
  });
  return sums;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return fmt::format("{}: {}", error.exit_code(), error.what());
  }
  return "no error";
}

class OnDevice : public testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override {
    if (GetParam() == DeviceKind::cuda && cuda_device_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  }
  bool is_host() const { return GetParam() == DeviceKind::host; }
};

constexpr Policy moving_policies[] = {Policy::overlaid, Policy::streamed, Policy::managed};

TEST_P(OnDevice, ResidentRowsAreCopiedOnce) {
  Bench bench(GetParam(), all_bytes);
  const Size before = bench.copies_in();
  Residency array(*bench.stream, source(), options_of(Policy::resident));
  EXPECT_EQ(bench.copies_in() - before, all_bytes);
  const std::vector<double> expected = expected_of(ValueFormat::doubles);
  for (int pass = 0; pass < 3; ++pass) {
    bench.pass(array);
    EXPECT_TRUE(same_bits(bench.result(), expected));
  }
  EXPECT_EQ(array.counts().passes, 3);
  EXPECT_EQ(array.counts().bytes_brought, 0);
  EXPECT_EQ(array.placement().host_bytes, 0);
  EXPECT_TRUE(array.can_be_captured());
}

TEST_P(OnDevice, EveryFormatGivesTheBitsOfTheHost) {
  struct Case {
    ValueFormat format;
    int rate, group;
  };
  for (const Case& c : {Case{ValueFormat::floats, 0, 0},
                        {ValueFormat::int32, 0, 0},
                        {ValueFormat::int32, 0, 8},
                        {ValueFormat::int16, 0, 0},
                        {ValueFormat::int16, 0, 4},
                        {ValueFormat::zfp, 4, 0},
                        {ValueFormat::zfp, 8, 0},
                        {ValueFormat::zfp, 12, 0},
                        {ValueFormat::zfp, 16, 0},
                        {ValueFormat::zfp, 24, 0},
                        {ValueFormat::zfp, 29, 0},
                        {ValueFormat::zfp, 32, 0},
                        {ValueFormat::zfp, 40, 0},
                        {ValueFormat::zfp, 48, 0},
                        {ValueFormat::zfp, 64, 0}}) {
    ResidencyOptions options = options_of(Policy::compressed, c.format);
    options.rate = c.rate;
    options.group = c.group;
    const RowLayout layout = make_row_layout(c.format, width, c.rate, c.group);
    const Size need = layout.bytes(rows) + layout.shared_bytes();
    const std::vector<double> expected = expected_of(c.format, c.rate, c.group);
    Bench bench(GetParam(), need);
    {
      Residency array(*bench.stream, source(), options);
      EXPECT_EQ(array.loss() > 0, c.rate < 64) << layout.name();  // at 64, these values lose nothing
      EXPECT_EQ(array.placement().device_bytes, need);
      bench.pass(array);
      EXPECT_TRUE(same_bits(bench.result(), expected)) << layout.name() << ", group " << c.group;
    }
    options.policy = Policy::streamed;
    Bench small(GetParam(), need / 3);
    Residency array(*small.stream, source(), options);
    EXPECT_GT(array.placement().chunks(), 3);
    for (int pass = 0; pass < 3; ++pass) {
      small.pass(array);
      EXPECT_TRUE(same_bits(small.result(), expected)) << "streamed " << layout.name() << ", pass " << pass;
    }
  }
}

TEST_P(OnDevice, MovingPoliciesGiveTheBitsOfResidentOnes) {
  const std::vector<double> expected = expected_of(ValueFormat::doubles);
  for (const Policy policy : moving_policies)
    for (const Size room : {2 * row_bytes, 7 * row_bytes + 5, all_bytes / 3, all_bytes - 1, all_bytes})
      for (const bool pinned : {true, false}) {
        if (room < 10 * row_bytes && !pinned) continue;
        SCOPED_TRACE(fmt::format("{}, {} bytes, pinned {}", policy_name(policy), room, pinned));
        Bench bench(GetParam(), room);
        ResidencyOptions options = options_of(policy);
        options.pinned = pinned;
        Residency array(*bench.stream, source(), options);
        EXPECT_LE(bench.device->budget().used(), bench.device->budget().capacity());
        EXPECT_EQ(array.placement().fits(), room == all_bytes);
        for (int pass = 0; pass < (room < 10 * row_bytes ? 1 : 3); ++pass) {
          bench.pass(array);
          EXPECT_TRUE(same_bits(bench.result(), expected)) << "pass " << pass;
        }
      }
}

/// Work done, in counts: a third fits, so about two thirds come at each pass, less what is still there.
TEST_P(OnDevice, CopiesAreThoseThatMustBe) {
  for (const Policy policy : moving_policies) {
    SCOPED_TRACE(policy_name(policy));
    Bench bench(GetParam(), all_bytes / 3);
    Residency array(*bench.stream, source(), options_of(policy));
    const Placement& place = array.placement();
    EXPECT_EQ(place.buffers, policy == Policy::overlaid ? 1 : 2);
    EXPECT_EQ(place.chunk, 40);
    EXPECT_EQ(place.resident, rows / 3 - 40 * place.buffers);
    EXPECT_EQ(place.host_bytes, (rows - place.resident) * row_bytes);
    const Lid chunks = place.chunks();
    EXPECT_EQ(chunks, (rows - place.resident + 39) / 40);
    const Size before = bench.copies_in(), copies_before = bench.device->counts().copies;
    bench.pass(array);
    bench.pass(array);
    bench.stream->synchronize();
    // A pass begins with the chunks that the last one ended with.
    const Lid kept = place.buffers;
    EXPECT_EQ(array.counts().chunks, 2 * chunks - kept);
    EXPECT_EQ(array.counts().chunks_kept, kept);
    EXPECT_EQ(bench.copies_in() - before, array.counts().bytes_brought);
    Size kept_bytes = 0;
    for (Lid k = 0; k < kept; ++k) kept_bytes += place.rows_of(chunks - 1 - k).size() * row_bytes;
    EXPECT_EQ(array.counts().bytes_brought, 2 * place.host_bytes - kept_bytes);
    if (GetParam() != DeviceKind::cuda) {
      EXPECT_EQ(bench.device->counts().copies - copies_before, array.counts().chunks);
    }
    // What is on the device at the end: the first chunks, with which the second pass ended.
    Size last_bytes = 0;
    for (Lid k = 0; k < kept; ++k) last_bytes += place.rows_of(k).size() * row_bytes;
    const bool moves_pages = policy == Policy::managed && GetParam() == DeviceKind::cuda;
    EXPECT_EQ(array.counts().bytes_dropped, moves_pages ? array.counts().bytes_brought - last_bytes : 0);
  }
}

TEST_P(OnDevice, OneByteTooLittleIsOneClearError) {
  struct Case {
    Policy policy;
    ValueFormat format;
    Size need;
  };
  const auto bytes = [](ValueFormat format, Size count) {
    const RowLayout layout = make_row_layout(format, width);
    return layout.bytes(count) + layout.shared_bytes();
  };
  for (const Case& c : {Case{Policy::resident, ValueFormat::doubles, all_bytes},
                        {Policy::compressed, ValueFormat::int32, bytes(ValueFormat::int32, rows)},
                        {Policy::compressed, ValueFormat::zfp, bytes(ValueFormat::zfp, rows)},
                        {Policy::compressed, ValueFormat::floats, bytes(ValueFormat::floats, rows)},
                        {Policy::overlaid, ValueFormat::doubles, row_bytes},
                        {Policy::streamed, ValueFormat::doubles, 2 * row_bytes},
                        {Policy::streamed, ValueFormat::zfp, bytes(ValueFormat::zfp, 2)},
                        {Policy::managed, ValueFormat::doubles, 2 * row_bytes}}) {
    SCOPED_TRACE(fmt::format("{} {}", policy_name(c.policy), make_row_layout(c.format, width).name()));
    Bench enough(GetParam(), c.need);
    EXPECT_EQ(error_of([&] { Residency(*enough.stream, source(), options_of(c.policy, c.format)); }), "no error");
    Bench small(GetParam(), c.need - 1);
    const Size used = small.device->budget().used();
    const std::string error = error_of([&] { Residency(*small.stream, source(), options_of(c.policy, c.format)); });
    EXPECT_THAT(error, testing::StartsWith(fmt::format("3: {}: no room for 'coefficients' (1000 rows of 20 values as ",
                                                       small.device->name())));
    EXPECT_THAT(error, testing::HasSubstr(fmt::format("by the policy \"{}\": it needs", policy_name(c.policy))));
    EXPECT_THAT(error, testing::HasSubstr(fmt::format("({} bytes), ", c.need)));
    EXPECT_THAT(error, testing::HasSubstr(fmt::format("({} bytes) are left; ", c.need - 1)));
    EXPECT_EQ(small.device->budget().used(), used) << "nothing stays behind";
  }
}

TEST_P(OnDevice, RoomIsLeftForOthers) {
  Bench bench(GetParam(), all_bytes);
  ResidencyOptions options = options_of(Policy::streamed);
  options.leave_bytes = all_bytes / 2;
  Residency array(*bench.stream, source(), options);
  const Budget& budget = bench.device->budget();
  EXPECT_GE(budget.capacity() - budget.used(), all_bytes / 2);
  EXPECT_LT(budget.capacity() - budget.used(), all_bytes / 2 + row_bytes);
  const Buffer<std::byte> other(*bench.device, all_bytes / 2, "others");
  bench.pass(array);
  EXPECT_TRUE(same_bits(bench.result(), expected_of(ValueFormat::doubles)));
}

/// As a step does: rows that others wait for on a stream of their own, beside the rest, again and again.
TEST_P(OnDevice, TwoStreamsReadRangesOfRows) {
  const std::vector<double> expected = expected_of(ValueFormat::doubles);
  for (const Policy policy : {Policy::resident, Policy::overlaid, Policy::streamed, Policy::managed})
    for (const Range special : {Range{0, 0}, {0, 70}, {450, 610}, {900, 1000}, {0, 1000}}) {
      SCOPED_TRACE(fmt::format("{}, rows {} to {}", policy_name(policy), special.begin, special.end));
      Bench bench(GetParam(), policy == Policy::resident ? all_bytes : all_bytes / 3);
      const auto other = bench.device->make_stream("separators", true);
      Residency array(*bench.stream, source(), options_of(policy));
      const auto pass = [&](Stream& stream, Range range) {
        Lid seen = 0;
        for_each_chunk(array, stream, range, [&](Range piece, const auto& access) {
          seen += piece.size();
          EXPECT_GE(piece.begin, range.begin);
          EXPECT_LE(piece.end, range.end);
          for_each(stream, piece, Weigh<std::decay_t<decltype(access)>>{access, bench.u.data(), bench.out.data()});
        });
        EXPECT_EQ(seen, range.size());
      };
      for (int round = 0; round < 4; ++round) {
        pass(*other, special);
        pass(*bench.stream, {0, special.begin});
        pass(*bench.stream, {special.end, rows});
        other->synchronize();
        bench.stream->synchronize();
        EXPECT_TRUE(same_bits(bench.result(), expected)) << "round " << round;
      }
    }
}

TEST_P(OnDevice, SelfContainedPassesCanBeCaptured) {
  if (is_host()) GTEST_SKIP() << "nothing is captured on a CPU";
  const std::vector<double> expected = expected_of(ValueFormat::doubles);
  for (const Policy policy : {Policy::resident, Policy::streamed, Policy::overlaid}) {
    SCOPED_TRACE(policy_name(policy));
    Bench bench(GetParam(), policy == Policy::resident ? all_bytes : all_bytes / 3);
    ResidencyOptions options = options_of(policy);
    options.self_contained = true;
    Residency array(*bench.stream, source(), options);
    ASSERT_TRUE(array.can_be_captured());
    bench.pass(array);
    bench.stream->synchronize();
    ASSERT_TRUE(bench.stream->begin_capture());
    bench.pass(array);
    const auto captured = bench.stream->end_capture();
    for (int pass = 0; pass < 3; ++pass) {
      bench.result();
      bench.stream->launch(*captured);
      EXPECT_TRUE(same_bits(bench.result(), expected)) << "pass " << pass;
    }
    bench.pass(array);
    EXPECT_TRUE(same_bits(bench.result(), expected));
  }
  Bench bench(GetParam(), all_bytes / 3);
  EXPECT_FALSE(Residency(*bench.stream, source(), options_of(Policy::streamed)).can_be_captured());
}

TEST_P(OnDevice, EmptyAndNarrowArraysWork) {
  Bench bench(GetParam(), all_bytes);
  RowSource none = source();
  none.rows = 0;
  for (const Policy policy : {Policy::resident, Policy::streamed}) {
    Residency array(*bench.stream, none, options_of(policy));
    for_each_chunk(array, [](Range, const auto&) { FAIL() << "there is no row"; });
  }
  const std::vector<double> column(rows, 2.5);
  Residency array(*bench.stream, row_source("column", 1, column), options_of(Policy::streamed, ValueFormat::zfp, 1000));
  Lid seen = 0;
  for_each_chunk(array, [&](Range range, const auto& access) {
    EXPECT_EQ(access.stride, 4);
    seen += range.size();
  });
  EXPECT_EQ(seen, rows);
}

/// Times by a table, not by a clock.
TEST_P(OnDevice, AutoKeepsTheFastestThatFits) {
  const std::vector<double> expected = expected_of(ValueFormat::doubles), integers = expected_of(ValueFormat::int32);
  const auto choose = [&](Bench& bench, double tolerance, const std::function<double(const Residency&)>& seconds) {
    ResidencyOptions options = options_of(Policy::automatic);
    options.tolerance = tolerance;
    return choose_residency(*bench.stream, source(), options, [&](Residency& array) {
      bench.pass(array);
      return seconds(array);
    });
  };
  const auto by_bytes = [](const Residency& array) { return static_cast<double>(array.layout().row_bytes); };

  Bench all(GetParam(), all_bytes);
  Choice choice = choose(all, 0, by_bytes);  // nothing may be lost
  ASSERT_EQ(choice.trials.size(), 1u);
  EXPECT_EQ(choice.trials[0].name(), "resident");
  choice.residency.reset();
  choice = choose(all, 1e-9, by_bytes);
  EXPECT_EQ(choice.trials[choice.best].name(), "compressed int32");
  EXPECT_EQ(choice.trials.size(), 5u);
  EXPECT_THAT(choice.trials[3].why_not, testing::StartsWith("it loses"));  // int16
  EXPECT_LT(choice.trials[3].seconds, 0);
  all.pass(*choice.residency);
  EXPECT_TRUE(same_bits(all.result(), integers));

  Bench third(GetParam(), all_bytes / 3);
  choice.residency.reset();
  choice =
      choose(third, 0, [](const Residency& array) { return array.placement().policy == Policy::overlaid ? 1 : 2; });
  EXPECT_EQ(choice.trials[choice.best].name(), "overlaid");
  EXPECT_EQ(choice.trials.size(), 3u);
  third.pass(*choice.residency);
  EXPECT_TRUE(same_bits(third.result(), expected));
  choice.residency.reset();
  choice = choose(third, 1e-3, by_bytes);
  EXPECT_EQ(choice.trials[choice.best].name(), "compressed int16");
  choice.residency.reset();

  Bench tiny(GetParam(), row_bytes / 4);
  EXPECT_THAT(error_of([&] { choose(tiny, 1, by_bytes); }),
              testing::AllOf(testing::StartsWith("3: no residency.policy fits; of the first: "),
                             testing::HasSubstr("\"streamed\"")));
}

TEST_P(OnDevice, AutoTimesTheRealKernel) {
  Bench bench(GetParam(), all_bytes / 2);
  ResidencyOptions options = options_of(Policy::automatic);
  options.tolerance = 1e-6;
  Size passes = 0;
  const Choice choice = make_residency(*bench.stream, source(), options, [&](Residency& array) {
    bench.pass(array);
    passes += 1;
  });
  EXPECT_GE(passes, 3 * 4);
  const Trial& best = choice.trials[choice.best];
  EXPECT_GT(best.seconds, 0);
  for (const Trial& trial : choice.trials) {
    EXPECT_TRUE(trial.seconds < 0 || trial.seconds >= best.seconds) << trial.name();
    EXPECT_EQ(trial.seconds < 0, !trial.why_not.empty()) << trial.name();
  }
  bench.pass(*choice.residency);
  EXPECT_TRUE(same_bits(bench.result(), expected_of(best.layout.format)));
}

std::string kind_name(const testing::TestParamInfo<DeviceKind>& kind) {
  return kind.param == DeviceKind::host ? "Host" : kind.param == DeviceKind::fake ? "Fake" : "Cuda";
}
INSTANTIATE_TEST_SUITE_P(Devices, OnDevice, testing::Values(DeviceKind::host, DeviceKind::fake, DeviceKind::cuda),
                         kind_name);

TEST(Residency, ALostDeviceEndsEveryPolicyClearly) {
  for (const Policy policy : moving_policies)
    for (const bool pinned : {true, false})
      for (const Size launches : {0, 1, 5}) {
        FakeOptions fake;
        fake.fail_after_launches = launches;
        Bench bench(DeviceKind::fake, all_bytes / 3, fake);
        ResidencyOptions options = options_of(policy);
        options.pinned = pinned;
        Residency array(*bench.stream, source(), options);
        EXPECT_THAT(error_of([&] {
                      bench.pass(array);
                      bench.stream->synchronize();
                    }),
                    testing::StartsWith("7: "))
            << policy_name(policy) << " after " << launches;
      }
}

TEST(Residency, AFailingAllocationLeavesNothingBehind) {
  for (const Policy policy : moving_policies)
    for (Size k = 1; k < 9; ++k) {
      FakeOptions fake;
      fake.fail_allocation = 2 + k;  // after the test's own two
      Bench bench(DeviceKind::fake, all_bytes / 3, fake);
      const Size used = bench.device->budget().used();
      const std::string error = error_of([&] { Residency(*bench.stream, source(), options_of(policy)); });
      if (error == "no error") {
        EXPECT_GT(k, 2);
        break;
      }
      EXPECT_THAT(error, testing::StartsWith("3: fake:0: no memory for 'coefficients"));
      EXPECT_EQ(bench.device->budget().used(), used);
    }
}

TEST(Residency, PoliciesAndFormatsMustGoTogether) {
  Bench bench(DeviceKind::host, all_bytes);
  EXPECT_EQ(
      error_of([&] { Residency(*bench.stream, source(), options_of(Policy::resident, ValueFormat::int32)); }),
      "4: 'coefficients': residency.policy \"resident\" cannot be combined with rows as int32; set residency.format");
  EXPECT_THAT(error_of([&] { Residency(*bench.stream, source(), options_of(Policy::compressed)); }),
              testing::HasSubstr("\"compressed\" cannot be combined with rows as double"));
}

TEST(Residency, AKernelForSomeFormatsReadsNoOthers) {
  Bench bench(DeviceKind::host, all_bytes);
  Residency array(*bench.stream, source(), options_of(Policy::compressed, ValueFormat::int32));
  int calls = 0;
  for_each_chunk(
      array, [&](Range, const Int32Rows&) { ++calls; }, RowKinds<Int32Rows>{});
  EXPECT_EQ(calls, 1);
  EXPECT_THROW(for_each_chunk(
                   array, [&](Range, const DoubleRows&) { ++calls; }, RowKinds<DoubleRows>{}),
               std::logic_error);
}

}  // namespace
}  // namespace tutti
