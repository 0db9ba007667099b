// Columns in ten bits: what is decoded is what was stored, whatever a tile reads.
#include "tutti/models/diffusion/rows/column_tiles.hpp"

#include <gtest/gtest.h>

#include "tutti/base/random.hpp"
#include "tutti/models/diffusion/rows/operator_rows.hpp"

namespace tutti {
namespace {

/// Slices of all widths over rows whose columns are below reach(tile) and a multiple of `stride`.
template <class Reach>
ColumnTiles check(Lid rows, int shift, Lid stride, const Reach& reach) {
  const Size lanes = Size{1} << shift, slices = (rows + lanes - 1) / lanes;
  std::vector<Lid> columns;
  std::vector<Size> starts{0};
  std::uint64_t counter = 0;
  for (Size s = 0; s < slices; ++s) {
    const auto width = static_cast<Size>(random_bits(3, counter++) % 17);
    const auto most = static_cast<std::uint64_t>(reach(s * lanes / tile_rows));
    for (Size e = 0; e < width * lanes; ++e)
      columns.push_back(stride * static_cast<Lid>(random_bits(3, counter++) % most));
    starts.push_back(static_cast<Size>(columns.size()));
  }
  ColumnTiles t = tile_columns_of(columns, starts, shift, rows);
  const ParallelFor pieces = [](Size count, const std::function<void(Size, Size)>& body) {
    for (Size i = count; i > 0; --i) body(i - 1, i);
  };
  const ColumnTiles shared = tile_columns_of(columns, starts, shift, rows, pieces);
  EXPECT_EQ(shared.codes, t.codes);
  EXPECT_EQ(shared.externals, t.externals);
  EXPECT_EQ(shared.starts, t.starts);
  EXPECT_EQ(static_cast<Lid>(t.tiles.size()), (rows + tile_rows - 1) / tile_rows);
  EXPECT_EQ(static_cast<Size>(t.codes.size()), t.starts.back() * lanes);
  OperatorView<double> view;
  view.format = RowFormat::sliced;
  view.slices = starts.data();
  view.shift = shift;
  view.codes = t.codes.data();
  view.windows = t.windows.data();
  view.tiles = t.tiles.data();
  view.code_starts = t.starts.data();
  view.externals = t.externals.data();
  view.rows = rows;
  for (Lid i = 0; i < rows; ++i) {
    const RowPlace place = place_of(view, i);
    for (int j = 0; j < place.width; ++j) {
      const Size at = place.first + j * place.stride;
      EXPECT_EQ(column_of(view, i, j, at), columns[at]) << "row " << i << ", " << j;
    }
  }
  return t;
}

TEST(ColumnTiles, DecodeToTheColumns) {
  for (const int shift : {3, 5})
    for (const Lid rows : {1, 7, 32, 255, 256, 257, 1000}) {
      EXPECT_EQ(check(rows, shift, 1, [](Size) { return 1024; }).wide_tiles, 0);
      // Eight windows hold all of them, but no window more than a few.
      EXPECT_EQ(check(rows, shift, 8192, [](Size) { return 8; }).wide_tiles, 0);
    }
}

TEST(ColumnTiles, ATileThatReadsTooMuchKeepsItsColumns) {
  const Size tiles = 40;
  EXPECT_EQ(check(256 * tiles, 5, 1, [](Size t) { return t % 2 == 0 ? 700 : 1 << 20; }).wide_tiles, tiles / 2);
  // Few, in more than eight windows.
  EXPECT_EQ(check(256 * tiles, 3, 8192, [](Size t) { return t == 0 ? 8 : 60; }).wide_tiles, tiles - 1);
}

TEST(ColumnTiles, ATileHolds768Externals) {
  std::vector<Lid> columns;
  for (Lid c = 0; c < 256 + 768; ++c) columns.push_back(c);
  WindowSet windows;
  EXPECT_TRUE(find_externals(0, 256, columns, windows));
  EXPECT_EQ(columns.size(), 768U);
  EXPECT_EQ(columns.front(), 256);
  for (Lid c = 0; c < 256 + 769; ++c) columns.push_back(c);
  EXPECT_FALSE(find_externals(0, 256, columns, windows));
}

}  // namespace
}  // namespace tutti
