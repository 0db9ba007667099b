// Stencils in slices against the obvious loops over rows, operators and nodes, bit for bit. In test_gpu the device is a
// GPU.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tutti/base/random.hpp"
#include "tutti/device/threads.hpp"
#include "tutti/models/transport/stencils/sliced_stencils.hpp"

namespace tutti {
namespace {

/// Where value j of a row stands among `width` a row.
std::size_t place(Lid row, int width, int j = 0) {
  return static_cast<std::size_t>(row) * static_cast<std::size_t>(width) + static_cast<std::size_t>(j);
}

std::vector<double> random_values(std::size_t count, std::uint64_t seed) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = 4 * random_unit(seed, i) - 2;
  return values;
}

/// Any stencils, not of any sphere. Weights: [(row * operators + d) * size + j].
struct Stencils {
  Lid rows, local;
  int size, operators;
  std::vector<Lid> columns;
  std::vector<double> weights, along;

  Stencils(Lid rows_, int size_, int operators_) : rows(rows_), local(rows_ + 13), size(size_), operators(operators_) {
    for (Lid row = 0; row < rows; ++row)
      for (int j = 0; j < size; ++j)
        columns.push_back(j == 0 ? row
                                 : static_cast<Lid>(random_bits(1, columns.size()) % static_cast<unsigned>(local)));
    weights = random_values(columns.size() * static_cast<std::size_t>(operators), 2);
    along = random_values(2 * static_cast<std::size_t>(rows), 3);
  }
  double weight(std::size_t row, int d, std::size_t j) const {
    return weights[(row * static_cast<std::size_t>(operators) + static_cast<std::size_t>(d)) *
                       static_cast<std::size_t>(size) +
                   j];
  }
  /// Of one of several values a node.
  double rate(Lid row, int tracer, int tracers, Joined joined, StencilKernel kernel,
              const std::vector<double>& u) const {
    const auto value = [&](Lid node) { return u[place(node, tracers, tracer)]; };
    std::vector<double> sums;
    for (int d = 0; d < operators; ++d) {
      std::vector<double> partial(kernel == StencilKernel::warps ? 32 : 1);
      for (int j = 1; j < size; ++j) {
        const Lid node = columns[place(row, size, j)];
        double& sum = partial[static_cast<std::size_t>(j - 1) % partial.size()];
        sum = std::fma(weight(static_cast<std::size_t>(row), d, static_cast<std::size_t>(j)), value(node) - value(row),
                       sum);
      }
      for (; partial.size() > 1; partial.resize(partial.size() / 2))
        for (std::size_t k = 0; k < partial.size() / 2; ++k) partial[k] += partial[k + partial.size() / 2];
      sums.push_back(partial[0]);
    }
    if (joined == Joined::summed) return operators == 1 ? sums[0] : sums[0] + sums[1];
    const double first = along[2 * static_cast<std::size_t>(row)],
                 second = along[2 * static_cast<std::size_t>(row) + 1];
    return std::fma(first, sums[0], std::fma(second, sums[1], sums[2]));
  }
};

class SlicedStencilsOn : public testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override {
    if (GetParam() == DeviceKind::host) device_ = make_host_device(threads_, Size{1} << 30);
    if (GetParam() == DeviceKind::fake) device_ = make_fake_device(0, {});
    if (GetParam() == DeviceKind::cuda && cuda_device_count() > 0) device_ = make_cuda_device(0);
    if (!device_) GTEST_SKIP() << "no GPU on this machine";
    stream_ = device_->make_stream("test");
  }
  Buffer<double> buffer(const std::vector<double>& values) {
    return make_buffer(*stream_, std::span<const double>(values), "test");
  }
  std::vector<double> values_of(const Buffer<double>& from) {
    std::vector<double> values(from.size());
    download(*stream_, std::span<double>(values), from);
    return values;
  }
  SlicedStencils make(const Stencils& s, Joined joined, StencilKernel kernel = StencilKernel::threads) {
    return {*stream_, s.columns, {s.size, s.operators, joined, kernel}, [&](std::size_t row, int d, std::size_t j) {
              return s.weight(row, d, j);
            }};
  }

  /// In pieces that cut slices; the last row of all is left out.
  void check_rates(Lid rows, int size, int operators, Joined joined, int tracers) {
    for (const StencilKernel kernel : {StencilKernel::threads, StencilKernel::warps})
      check_rates(rows, size, operators, joined, tracers, kernel);
  }
  void check_rates(Lid rows, int size, int operators, Joined joined, int tracers, StencilKernel kernel) {
    SCOPED_TRACE(fmt::format("{} rows, n = {}, {} operators{}, {} tracers, {}", rows, size, operators,
                             joined == Joined::velocity ? " joined by velocity" : "", tracers,
                             kernel == StencilKernel::warps ? "warps" : "threads"));
    const Stencils s(rows, size, operators);
    const SlicedStencils stencils = make(s, joined, kernel);
    EXPECT_EQ(stencils.rows(), rows);
    EXPECT_EQ(stencils.operators(), operators);
    const int most = max_tracers_a_pass(kernel), passes = (tracers + most - 1) / most;
    EXPECT_EQ(stencils.bytes_applied(tracers), Size{rows} * ((size - 1) * (8 * operators + 4) * passes + 8 * tracers));
    const auto u = random_values(place(s.local, tracers), 4);
    const auto device_u = buffer(u), device_along = buffer(s.along);
    auto rates = buffer(std::vector<double>(place(rows, tracers), -99));
    for (const Range r : {Range{0, rows / 3}, Range{rows / 3, rows / 2 + 1}, Range{rows / 2 + 1, rows - 1}})
      if (!r.empty())
        stencils.apply(*stream_, r, tracers, device_u.data(),
                       joined == Joined::velocity ? device_along.data() : nullptr, StoreRate{rates.data()});
    const Lid covered = std::max(rows / 2 + 1, rows - 1);
    const auto result = values_of(rates);
    for (Lid row = 0; row < rows; ++row)
      for (int t = 0; t < tracers; ++t)
        ASSERT_EQ(result[place(row, tracers, t)], row < covered ? s.rate(row, t, tracers, joined, kernel, u) : -99)
            << "row " << row << ", tracer " << t;
  }

  Threads threads_{2};
  std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
};

TEST_P(SlicedStencilsOn, HaveTheBitsOfTheObviousLoops) {
  // More than one pass takes: of an even number, and of an odd one.
  for (const int tracers : {1, 2, 3, 4, 5, 6, 7, 8, 10, 13}) {
    check_rates(67, 17, 1, Joined::summed, tracers);
    check_rates(67, 17, 2, Joined::summed, tracers);
    check_rates(67, 17, 3, Joined::velocity, tracers);
  }
}

TEST_P(SlicedStencilsOn, HaveThemForAnyNumberOfRows) {
  // Fewer rows than a vector, than a warp; whole slices; odd remainders.
  for (const Lid rows : {1, 2, 7, 8, 9, 31, 32, 33, 64, 100, 257})
    for (const int size : {2, 3, 57}) {
      check_rates(rows, size, 1, Joined::summed, 1);
      check_rates(rows, size, 3, Joined::velocity, 3);
    }
}

TEST_P(SlicedStencilsOn, NoRowsAreNoWork) {
  const Stencils s(0, 9, 1);
  const SlicedStencils stencils = make(s, Joined::summed);
  EXPECT_EQ(stencils.rows(), 0);
  EXPECT_EQ(stencils.bytes_applied(3), 0);
  stencils.apply(*stream_, {0, 0}, 1, nullptr, nullptr, StoreRate{nullptr});
  stream_->synchronize();
}

TEST_P(SlicedStencilsOn, KeepConstantsWhateverIsRounded) {
  const Stencils s(40, 31, 2);
  const SlicedStencils stencils = make(s, Joined::summed);
  const auto u = buffer(std::vector<double>(s.local, 0.1));
  auto rates = buffer(std::vector<double>(40, -99));
  stencils.apply(*stream_, {0, 40}, 1, u.data(), nullptr, StoreRate{rates.data()});
  EXPECT_EQ(values_of(rates), std::vector<double>(40, 0));
}

TEST_P(SlicedStencilsOn, DoWhatStagesMakeOfARate) {
  const Lid rows = 45;
  const int tracers = 3;
  const double a = 0.37, b = 0.61;
  const Stencils s(rows, 20, 1);
  const SlicedStencils stencils = make(s, Joined::summed);
  const auto u = random_values(place(s.local, tracers), 4), start = random_values(place(rows, tracers), 5),
             before = random_values(place(rows, tracers), 6);
  const auto device_u = buffer(u), device_start = buffer(start);
  auto next = buffer(before), total = buffer(before);
  // What is expected of value v, whose rate is known: the next stage's and the sum's.
  using Expected = std::function<std::pair<double, double>(std::size_t v, double own, double rate)>;
  const auto check = [&](const char* name, const auto& update, const Expected& expected) {
    SCOPED_TRACE(name);
    upload(*stream_, next, std::span<const double>(before));
    upload(*stream_, total, std::span<const double>(before));
    stencils.apply(*stream_, {0, rows}, tracers, device_u.data(), nullptr, update);
    const auto got_next = values_of(next), got_total = values_of(total);
    for (Lid row = 0; row < rows; ++row)
      for (int t = 0; t < tracers; ++t) {
        const auto v = place(row, tracers, t);
        const auto [one, two] = expected(v, u[v], s.rate(row, t, tracers, Joined::summed, StencilKernel::threads, u));
        ASSERT_EQ(got_next[v], one) << "value " << v;
        ASSERT_EQ(got_total[v], two) << "value " << v;
      }
  };
  check("first", RungeKuttaFirst{next.data(), total.data(), a, b}, [&](std::size_t, double own, double rate) {
    return std::pair(std::fma(a, rate, own), std::fma(b, rate, own));
  });
  check("middle", RungeKuttaMiddle{device_start.data(), next.data(), total.data(), a, b},
        [&](std::size_t v, double, double rate) {
          return std::pair(std::fma(a, rate, start[v]), std::fma(b, rate, before[v]));
        });
  check("last", RungeKuttaLast{total.data(), next.data(), b},
        [&](std::size_t v, double, double rate) { return std::pair(std::fma(b, rate, before[v]), before[v]); });
  // (1 - w) start + w (own + dt k), but constants stay.
  check("convex", SspRk3Stage{device_start.data(), next.data(), a, b}, [&](std::size_t v, double own, double rate) {
    return std::pair(std::fma(a, std::fma(b, rate, own) - start[v], start[v]), before[v]);
  });
}

std::string name_of(const testing::TestParamInfo<DeviceKind>& kind) {
  return kind.param == DeviceKind::host ? "host" : kind.param == DeviceKind::fake ? "fake" : "cuda";
}

#if defined(TUTTI_TEST_GPU)
INSTANTIATE_TEST_SUITE_P(Cuda, SlicedStencilsOn, testing::Values(DeviceKind::cuda), name_of);
#else
INSTANTIATE_TEST_SUITE_P(Cpu, SlicedStencilsOn, testing::Values(DeviceKind::host, DeviceKind::fake), name_of);
#endif

}  // namespace
}  // namespace tutti
