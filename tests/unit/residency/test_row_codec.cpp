// Rows in fewer bits: sizes, bounds of what is lost, and what cannot be stored.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tutti/base/error.hpp"
#include "tutti/base/random.hpp"
#include "tutti/device/threads.hpp"
#include "tutti/residency/placement.hpp"
#include "tutti/residency/row_access.hpp"
#include "tutti/residency/row_codec.hpp"

namespace tutti {
namespace {

constexpr int width = 22;
constexpr Lid rows = 300;

std::vector<double> values_of_rows(double range) {
  std::vector<double> values;
  for (std::uint64_t k = 0; k < static_cast<std::uint64_t>(rows * width); ++k)
    values.push_back((2 * random_unit(1, k) - 1) * std::pow(range, random_unit(2, k)));
  return values;
}

struct Encoded {
  RowLayout layout;
  std::vector<std::byte> bytes;
  SquaredLoss loss;

  Encoded(const RowLayout& l, const std::vector<double>& values, const ParallelFor& parallel = {})
      : layout(l), bytes(static_cast<std::size_t>(l.bytes(rows))) {
    encode_rows(layout, "array", 0, values, bytes, loss, parallel);
  }
  /// All values back, by single values and by fours, which must agree.
  std::vector<double> decode() const {
    const StoredRows stored{bytes.data(),        layout.row_bytes,  0, layout.stride, layout.group,
                            layout.block_bits(), host_plane_table()};
    std::vector<double> back;
    with_rows(AllRows{}, layout.format, stored, [&](const auto& access) {
      for (Lid r = 0; r < rows; ++r) {
        const auto row = access.row(r);
        for (int i = 0; i < width; ++i) {
          double four[4], unscaled[4];
          row.load4(i & ~3, four);
          row.load4_unscaled(i & ~3, unscaled);
          const double value = access(r, i);
          EXPECT_EQ(value, four[i & 3]);
          EXPECT_EQ(value, row.scale(i & ~3) * unscaled[i & 3]);
          back.push_back(value);
        }
      }
    });
    return back;
  }
};

TEST(RowCodec, SizesOfRows) {
  EXPECT_EQ(make_row_layout(ValueFormat::doubles, 22).row_bytes, 24 * 8);
  EXPECT_EQ(make_row_layout(ValueFormat::floats, 22).row_bytes, 24 * 4);
  EXPECT_EQ(make_row_layout(ValueFormat::int32, 22).row_bytes, 112);         // 96, and a scale, rounded up to 16
  EXPECT_EQ(make_row_layout(ValueFormat::int32, 22, 32, 4).row_bytes, 144);  // six scales
  EXPECT_EQ(make_row_layout(ValueFormat::int16, 22, 32, 8).row_bytes, 80);   // 48 and three scales, rounded up
  EXPECT_EQ(make_row_layout(ValueFormat::zfp, 22, 32).row_bytes, 96);
  EXPECT_EQ(make_row_layout(ValueFormat::zfp, 22, 12).row_bytes, 48);  // 36, rounded up
  EXPECT_EQ(make_row_layout(ValueFormat::zfp, 1920, 32).row_bytes, 7680);
  EXPECT_EQ(make_row_layout(ValueFormat::zfp, 1920, 32).name(), "zfp-32");
}

TEST(RowCodec, DoublesKeepTheirBits) {
  std::vector<double> values = values_of_rows(1e30);
  values[3] = -0.0;
  values[7] = 5e-324;
  values[9] = std::numeric_limits<double>::infinity();
  const Encoded encoded(make_row_layout(ValueFormat::doubles, width), values);
  const std::vector<double> back = encoded.decode();
  EXPECT_EQ(std::memcmp(back.data(), values.data(), values.size() * 8), 0);
  EXPECT_EQ(encoded.loss.relative(), 0);
}

/// Half a unit of the last place of integer or float.
TEST(RowCodec, IntegersAreWithinHalfAScale) {
  for (const double range : {1.0, 1e12}) {
    const std::vector<double> values = values_of_rows(range);
    for (const ValueFormat format : {ValueFormat::int32, ValueFormat::int16})
      for (const int group : {0, 4, 8, 24, 40}) {
        const Encoded encoded(make_row_layout(format, width, 0, group), values);
        const std::vector<double> back = encoded.decode();
        const double most = format == ValueFormat::int32 ? 2147483647 : 32767;
        const int shared = group == 0 || group > 24 ? 24 : group;
        for (std::size_t k = 0; k < values.size(); ++k) {
          const auto i = static_cast<int>(k) % width, begin = i / shared * shared;
          double largest = 0;
          for (int j = begin; j < std::min(begin + shared, width); ++j)
            largest = std::max(largest, std::abs(values[k - static_cast<std::size_t>(i - j)]));
          ASSERT_LE(std::abs(back[k] - values[k]), 0.5000001 * largest / most) << "value " << i << ", group " << group;
        }
      }
  }
}

TEST(RowCodec, FloatsAreRounded) {
  const std::vector<double> values = values_of_rows(1e20);
  const std::vector<double> back = Encoded(make_row_layout(ValueFormat::floats, width), values).decode();
  for (std::size_t k = 0; k < values.size(); ++k)
    ASSERT_EQ(back[k], static_cast<double>(static_cast<float>(values[k])));
}

TEST(RowCodec, ZerosAndTinyNumbersAreStored) {
  std::vector<double> values(rows * width);
  for (std::size_t k = 0; k < 2 * width; ++k) values[k] = k % 2 == 0 ? 5e-324 : -1e-312;
  for (const ValueFormat format : {ValueFormat::floats, ValueFormat::int32, ValueFormat::int16, ValueFormat::zfp}) {
    const std::vector<double> back = Encoded(make_row_layout(format, width), values).decode();
    for (std::size_t k = 0; k < values.size(); ++k) ASSERT_LE(std::abs(back[k] - values[k]), 1e-312) << "value " << k;
  }
}

TEST(RowCodec, LossIsThatOfTheArray) {
  const std::vector<double> values = values_of_rows(10);
  double last = 1;
  for (const RowLayout& layout :
       {make_row_layout(ValueFormat::int16, width), make_row_layout(ValueFormat::floats, width),
        make_row_layout(ValueFormat::zfp, width, 32), make_row_layout(ValueFormat::int32, width),
        make_row_layout(ValueFormat::zfp, width, 48)}) {
    const Encoded encoded(layout, values);
    const std::vector<double> back = encoded.decode();
    double lost = 0, all = 0;
    for (std::size_t k = 0; k < values.size(); ++k) {
      lost += (back[k] - values[k]) * (back[k] - values[k]);
      all += values[k] * values[k];
    }
    EXPECT_NEAR(encoded.loss.relative(), std::sqrt(lost / all), 1e-12 * std::sqrt(lost / all)) << layout.name();
    EXPECT_LT(encoded.loss.relative(), last) << layout.name();
    EXPECT_GT(encoded.loss.relative(), 0) << layout.name();
    last = encoded.loss.relative();
  }
  EXPECT_LT(last, 1e-12);
}

TEST(RowCodec, ThreadsDoNotChangeBits) {
  Threads team(3);
  const std::vector<double> values = values_of_rows(1e3);
  for (const ValueFormat format : {ValueFormat::int32, ValueFormat::zfp}) {
    const RowLayout layout = make_row_layout(format, width, 24, 8);
    const Encoded one(layout, values), three(layout, values, parallel_for(team));
    EXPECT_EQ(one.bytes, three.bytes);
    EXPECT_EQ(one.loss.lost, three.loss.lost);
    EXPECT_EQ(one.loss.values, three.loss.values);
  }
}

/// The text of the Error that `call` throws, with its exit code.
template <class F>
std::string error_of(const F& call) {
  try {
    call();
  } catch (const Error& error) {
    return fmt::format("{}: {}", error.exit_code(), error.what());
  }
  return "no error";
}

TEST(RowCodec, WhatCannotBeStoredIsAnError) {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    for (const ValueFormat format : {ValueFormat::floats, ValueFormat::int32, ValueFormat::int16, ValueFormat::zfp}) {
      std::vector<double> values = values_of_rows(1);
      values[5 * width + 3] = bad;
      EXPECT_THAT(error_of([&] { Encoded(make_row_layout(format, width), values); }),
                  testing::StartsWith("6: 'array': value 3 of row 5 is "));
    }
  std::vector<double> values = values_of_rows(1);
  values[0] = 1e39;
  EXPECT_THAT(error_of([&] { Encoded(make_row_layout(ValueFormat::floats, width), values); }),
              testing::HasSubstr("which float cannot hold"));
  EXPECT_EQ(error_of([&] { Encoded(make_row_layout(ValueFormat::int32, width), values); }), "no error");
}

TEST(RowCodec, WrongOptionsAreErrors) {
  for (const int rate : {3, 65, 0, -1})
    EXPECT_THAT(error_of([&] { make_row_layout(ValueFormat::zfp, 4, rate); }),
                testing::StartsWith("4: 'residency.rate' is"));
  for (const int group : {-4, 2, 7})
    EXPECT_THAT(error_of([&] { make_row_layout(ValueFormat::int32, 4, 32, group); }),
                testing::StartsWith("4: 'residency.group' is"));
  EXPECT_EQ(error_of([&] { policy_of("fast", "residency.policy"); }),
            "4: residency.policy: \"fast\" is not known; expected one of \"resident\", \"compressed\", \"overlaid\", "
            "\"streamed\", "
            "\"managed\", \"auto\"");
  EXPECT_EQ(policy_of("auto", ""), Policy::automatic);
  EXPECT_EQ(format_of("zfp", ""), ValueFormat::zfp);
}

}  // namespace
}  // namespace tutti
