// Columns in two bytes: what is decoded is what was stored, whatever a slice reads.
#include "tutti/models/diffusion/rows/column_windows.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/thread_hook.hpp"
#include "tutti/base/random.hpp"
#include "tutti/models/diffusion/rows/operator_rows.hpp"

namespace tutti {
namespace {

struct Sliced {
  std::vector<Lid> columns;
  std::vector<Size> starts{0};
};

/// Slices of all widths; slice s reads columns below reach(s).
template <class Reach>
Sliced random_slices(Lid slices, int shift, std::uint64_t seed, const Reach& reach) {
  Sliced result;
  std::uint64_t counter = 0;
  for (Lid s = 0; s < slices; ++s) {
    const auto width = static_cast<Size>(random_bits(seed, counter++) % 17);
    for (Size e = 0; e < width << shift; ++e)
      result.columns.push_back(static_cast<Lid>(random_bits(seed, counter++) % static_cast<std::uint64_t>(reach(s))));
    result.starts.push_back(static_cast<Size>(result.columns.size()));
  }
  return result;
}

template <class Reach>
ColumnWindows check(Lid rows, int shift, const Reach& reach) {
  const Lid slices = (rows + (1 << shift) - 1) >> shift;
  const Sliced sliced = random_slices(slices, shift, static_cast<std::uint64_t>(rows), reach);
  ColumnWindows w = window_columns(sliced.columns, sliced.starts, shift, rows, test::five_threads);
  const ColumnWindows alone = window_columns(sliced.columns, sliced.starts, shift, rows);
  EXPECT_EQ(w.codes, alone.codes);
  EXPECT_EQ(w.windows, alone.windows);
  EXPECT_EQ(w.wide, alone.wide);
  EXPECT_EQ(w.slices, slices);
  OperatorView<double> view;
  view.format = RowFormat::sliced;
  view.slices = sliced.starts.data();
  view.shift = shift;
  view.codes = w.codes.data();
  view.windows = w.windows.data();
  view.wide = w.wide.data();
  for (Lid i = 0; i < rows; ++i) {
    const RowPlace place = place_of(view, i);
    for (int j = 0; j < place.width; ++j) {
      const Size at = place.first + j * place.stride;
      EXPECT_EQ(column_of(view, i, j, at), sliced.columns[at]) << "row " << i << ", " << j;
    }
  }
  return w;
}

TEST(ColumnWindows, DecodeToTheColumns) {
  for (const int shift : {3, 5})
    for (const Lid rows : {1, 7, 32, 33, 100, 1000}) {
      EXPECT_EQ(check(rows, shift, [](Lid) { return 8192; }).wide_slices, 0);
      EXPECT_EQ(check(rows, shift, [](Lid) { return 8 * 8192; }).wide_slices, 0);
      // Some slices reach everywhere.
      const auto mixed = check(rows, shift, [](Lid s) { return s % 3 == 1 ? 2'000'000'000 : 20'000; });
      EXPECT_LE(mixed.wide_slices, (mixed.slices + 1) / 3);
      if (rows == 1000) {
        EXPECT_GT(mixed.wide_slices, 0);
      }
    }
}

TEST(ColumnWindows, RowsPastTheEndReadTheSlicesFirst) {
  // What stands there may be anything.
  const std::vector<Lid> columns(32, 123456789);
  const std::vector<Size> starts{0, 0, 32};
  const ColumnWindows w = window_columns(columns, starts, 5, 33);
  EXPECT_EQ(w.wide_slices, 0);
  for (std::size_t lane = 1; lane < 32; ++lane)
    EXPECT_EQ(w.windows[8 + (w.codes[lane] >> window_bits)] + (w.codes[lane] & 8191), 32);
}

TEST(ColumnWindows, ASetHoldsEight) {
  WindowSet set;
  for (Lid k = 0; k < 8; ++k) EXPECT_EQ(set.find(k * 100'000), k);
  EXPECT_EQ(set.find(300'001), 3);
  EXPECT_EQ(set.find(900'000), -1);
  EXPECT_EQ(set.begins()[1], 100'000 / 8192 * 8192);
}

}  // namespace
}  // namespace tutti
