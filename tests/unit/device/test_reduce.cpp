#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "tutti/base/random.hpp"
#include "tutti/device/buffer.hpp"
#include "tutti/device/sums/exact_sums.hpp"
#include "tutti/device/sums/reduce.hpp"
#include "tutti/device/sums/window_adder.hpp"
#include "tutti/device/threads.hpp"

namespace tutti {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Read {
  const double* x;
  TUTTI_HD double operator()(Lid i) const { return x[i]; }
};

std::vector<double> values(Lid count, int range) {
  std::vector<double> v(count);
  for (std::size_t i = 0; i < v.size(); ++i)
    v[i] = std::ldexp(random_unit(3, 2 * i) - 0.5,
                      static_cast<int>(random_bits(3, 2 * i + 1) % static_cast<std::uint64_t>(range)) - range / 2);
  return v;
}

ExactSum plain_sum(const std::vector<double>& v) {
  ExactSum sum;
  for (const double x : v) sum.add(x);
  sum.normalise();
  return sum;
}

bool same_words(const ExactSum& a, const ExactSum& b) {
  return std::equal(a.word, a.word + ExactSum::size, b.word);
}

/// Host teams of 1 to 5 threads and fake devices with some seeds.
template <class Check>
void on_every_device(const Check& check) {
  for (int threads = 1; threads <= 5; ++threads) {
    Threads team(threads);
    check(*make_host_device(team, Size{1} << 30));
  }
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    FakeOptions options;
    options.seed = seed;
    check(*make_fake_device(0, options));
  }
}

TEST(Reduce, SumsHaveTheSameBitsEverywhere) {
  for (const int range : {1, 40, 1900}) {
    const auto v = values(20011, range);
    const ExactSum expected = plain_sum(v);
    on_every_device([&](Device& device) {
      const auto stream = device.make_stream("s");
      const auto x = make_buffer(*stream, std::span<const double>(v), "x");
      const ExactSum sum = exact_sum(*stream, {0, 20011}, Read{x.data()});
      EXPECT_TRUE(same_words(sum, expected)) << device.name() << " range " << range;
      ExactSum halves = exact_sum(*stream, {0, 777}, Read{x.data()});
      halves.merge(exact_sum(*stream, {777, 20011}, Read{x.data()}));
      halves.normalise();
      EXPECT_TRUE(same_words(halves, expected));
      EXPECT_EQ(exact_sum(*stream, {5, 5}, Read{x.data()}).value(), 0.0);
    });
  }
}

struct ReadGroup {
  const double* x;
  Lid size;
  TUTTI_HD double operator()(Lid group, Lid i) const { return x[group * size + i]; }
};

TEST(Reduce, GroupsHaveTheSumsOfEach) {
  const Lid groups = 37, size = 541;
  const auto v = values(groups * size, 1900);
  on_every_device([&](Device& device) {
    const auto stream = device.make_stream("s");
    const auto x = make_buffer(*stream, std::span<const double>(v), "x");
    const auto sums = exact_sums(*stream, groups, {3, size}, ReadGroup{x.data(), size});
    ASSERT_EQ(sums.size(), static_cast<std::size_t>(groups));
    for (Lid g = 0; g < groups; ++g)
      EXPECT_TRUE(same_words(sums[static_cast<std::size_t>(g)],
                             exact_sum(*stream, {g * size + 3, (g + 1) * size}, Read{x.data()})));
    EXPECT_TRUE(exact_sums(*stream, 0, {0, 5}, ReadGroup{x.data(), size}).empty());
    EXPECT_EQ(exact_sums(*stream, 2, {5, 5}, ReadGroup{x.data(), size})[1].value(), 0.0);
  });
}

TEST(Reduce, SumsWaitForEarlierWork) {
  on_every_device([&](Device& device) {
    const auto stream = device.make_stream("s");
    Buffer<double> x(device, 1000, "x");
    double* const data = x.data();
    stream->loop({0, 1000}, [data](Lid begin, Lid end) {
      for (Lid i = begin; i < end; ++i) data[i] = 0.5;
    });
    EXPECT_EQ(exact_sum(*stream, {0, 1000}, Read{data}).value(), 500.0);
  });
}

TEST(Reduce, ThrowsWhatTheWorkThrew) {
  on_every_device([&](Device& device) {
    const auto stream = device.make_stream("s");
    const auto bad = [](Lid i) -> double {
      if (i == 7) fail(ErrorKind::numerical, "no value at 7");
      return 1;
    };
    EXPECT_THROW(exact_sum(*stream, {0, 100}, bad), Error);
  });
}

TEST(Reduce, MaximaPropagateNaN) {
  on_every_device([&](Device& device) {
    const auto stream = device.make_stream("s");
    const auto max_of = [&](const std::vector<double>& v) {
      const auto x = make_buffer(*stream, std::span<const double>(v), "x");
      return max_value(*stream, {0, static_cast<Lid>(v.size())}, Read{x.data()});
    };
    EXPECT_EQ(max_value(*stream, {0, 0}, Read{nullptr}), -infinity);
    EXPECT_EQ(max_of({-3, -2, -5}), -2.0);
    EXPECT_EQ(max_of({-infinity}), -infinity);
    EXPECT_EQ(max_of({1, infinity, 3}), infinity);
    EXPECT_FALSE(std::signbit(max_of({-0.0, 0.0, -0.0})));
    EXPECT_TRUE(std::signbit(max_of({-0.0, -1.0})));
    auto v = values(5000, 300);
    EXPECT_EQ(max_of(v), *std::max_element(v.begin(), v.end()));
    v[4321] = -std::nan("");
    EXPECT_TRUE(std::isnan(max_of(v)));
  });
}

struct ReadBoth {
  const double* x;
  TUTTI_HD ReduceTerm operator()(Lid i) const { return {x[i], -x[i]}; }
};

TEST(Reduce, OnePassOfSomeDevicesAtATimeSumsAndCompares) {
  const auto v = values(9001, 300);
  const ExactSum expected = plain_sum(v);
  on_every_device([&](Device& device) {
    const auto first = device.make_stream("a"), second = device.make_stream("b");
    const auto x = make_buffer(*first, std::span<const double>(v), "x");
    const auto a = start_sum_and_largest(*first, {0, 4000}, ReadBoth{x.data()});
    const auto b = start_sum_and_largest(*second, {4000, 9001}, ReadBoth{x.data()});
    SumAndLargest all = start_sum_and_largest(*first, {3, 3}, ReadBoth{x.data()})();
    EXPECT_EQ(all.largest, -infinity);
    all.merge(a());
    all.merge(b());
    all.sum.normalise();
    EXPECT_TRUE(same_words(all.sum, expected)) << device.name();
    EXPECT_EQ(all.largest, -*std::min_element(v.begin(), v.end()));
  });
}

struct Sink {
  ExactSum* sum;
  void operator()(int k, std::int64_t amount) const {
    ASSERT_LT(std::abs(amount), std::int64_t{1} << 32);
    sum->word[k] += amount;
  }
};

TEST(WindowAdder, AddsExactly) {
  for (const int range : {1, 10, 33, 34, 35, 60, 400, 2000})
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      std::vector<double> v = values(3000, range);
      for (std::size_t i = 0; i < v.size(); ++i) {
        if (range == 2000 && i % 3 == 0) v[i] = std::bit_cast<double>(random_bits(seed, i));  // NaN, subnormal, all
        if (i % 7 == seed) v[i] = 0;
        if (seed == 4) v[i] = -std::abs(v[i]);
      }
      ExactSum sum;
      WindowAdder adder(Sink{&sum});
      for (const double x : v) adder.add(x);
      adder.flush();
      sum.pending = 3000;
      sum.normalise();
      EXPECT_TRUE(same_words(sum, plain_sum(v))) << "range " << range << " seed " << seed;
    }
}

TEST(WindowAdder, HoldsTheEndsOfTheRange) {
  for (const double x : {5e-324, -5e-324, 0x1p-1022, std::numeric_limits<double>::max(), infinity, -infinity}) {
    ExactSum sum;
    WindowAdder adder(Sink{&sum});
    for (int i = 0; i < 100; ++i) adder.add(x);
    adder.flush();
    sum.normalise();
    EXPECT_TRUE(same_words(sum, plain_sum(std::vector<double>(100, x)))) << x;
  }
}

}  // namespace
}  // namespace tutti
