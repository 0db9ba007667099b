// Column numbers of sliced rows in ten bits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tutti/models/diffusion/rows/column_windows.hpp"

namespace tutti::diffusion {

/// 256 rows, a tile, read few others: about 400 along a Hilbert curve. Values of u are numbered in the tile, its own
/// rows first, then the others, which are its externals; a GPU brings them into shared memory once, and an entry is a
/// number of ten bits.
inline constexpr Lid tile_rows = 256;
inline constexpr int tile_bits = 10;
inline constexpr Lid tile_columns = 1 << tile_bits;

/// Two-byte words that hold the codes of `width` entries; of a wide tile, which stores whole columns.
inline constexpr int tile_halves(int width, bool wide) {
  return wide ? 2 * width : (tile_bits * width + 15) / 16;
}

/// The externals of a tile.
struct TileHead {
  Lid first;  ///< in `externals`
  Lid count;  ///< -1: a wide tile, whose externals are too many, or in more than eight windows
};

/// Replaces the columns that a tile's rows read by its externals, ascending, and gives their windows. False: it is
/// wide.
bool find_externals(Lid first_row, Lid rows_here, std::vector<Lid>& columns, WindowSet& windows);

/// What is stored for sliced rows in place of their columns.
struct ColumnTiles {
  /// Row i of slice s has h halves (tile_halves), c = starts[s] C: halves 2k and 2k + 1 at c + 2 (C k + i % C), one
  /// that is left over at c + C (h - 1) + i % C. Entry j has ten bits from bit 10 j on; in a wide tile the halves 2j,
  /// 2j + 1.
  std::vector<std::uint16_t> codes;
  std::vector<Lid> starts;  ///< halves a row before this slice; one more than slices
  std::vector<TileHead> tiles;
  std::vector<std::uint16_t> externals;  ///< window and place in it, as ColumnWindows
  std::vector<Lid> windows;              ///< eight a tile: first columns
  Size wide_tiles = 0;
};

/// Of `rows` rows in slices of 2^shift <= 256, whose entries begin at `starts` (one more than slices). What stands in
/// `columns` for rows past the end does not matter.
ColumnTiles tile_columns_of(std::span<const Lid> columns, std::span<const Size> starts, int shift, Lid rows,
                            const ParallelFor& parallel = {});

}  // namespace tutti::diffusion
