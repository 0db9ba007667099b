#include "tutti/models/diffusion/rows/column_tiles.hpp"

#include <algorithm>

namespace tutti {

bool find_externals(Lid first_row, Lid rows_here, std::vector<Lid>& columns, WindowSet& windows) {
  std::erase_if(columns, [=](Lid c) { return c >= first_row && c < first_row + rows_here; });
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  return static_cast<Lid>(columns.size()) <= tile_columns - tile_rows &&
         std::all_of(columns.begin(), columns.end(), [&](Lid c) { return windows.find(c) >= 0; });
}

namespace {

/// Some of the tiles, from `first` on, as if there were no others before them.
ColumnTiles encode_tiles(std::span<const Lid> columns, std::span<const Size> starts, int shift, Lid rows, Size first,
                         Size last) {
  ColumnTiles result;
  const Size lanes = Size{1} << shift, slices = static_cast<Size>(starts.size()) - 1;
  std::vector<Lid> externals;
  Lid halves_before = 0;
  for (Size tile = first; tile < last; ++tile) {
    const Lid first_row = static_cast<Lid>(tile) * tile_rows;
    const Lid rows_here = std::min(tile_rows, rows - first_row);
    const Size first_slice = first_row >> shift,
               last_slice = std::min<Size>(slices, first_slice + (tile_rows >> shift));
    const auto begin_of = [&](Size slice) { return starts[slice]; };
    const auto past = [&](Size slice, Size at) { return slice * lanes + (at - begin_of(slice)) % lanes >= rows; };
    externals.clear();
    for (Size s = first_slice; s < last_slice; ++s)
      for (Size at = begin_of(s); at < begin_of(s + 1); ++at)
        if (!past(s, at)) externals.push_back(columns[at]);
    WindowSet windows;
    const bool wide = !find_externals(first_row, rows_here, externals, windows);
    for (Size s = first_slice; s < last_slice; ++s) {
      const int width = static_cast<int>((begin_of(s + 1) - begin_of(s)) / lanes), halves = tile_halves(width, wide);
      const std::size_t base = result.codes.size();
      result.codes.resize(base + static_cast<std::size_t>(halves * lanes), 0);
      const auto half = [&](int h, Size lane) -> std::uint16_t& {
        const Size at = h == halves - 1 && halves % 2 != 0 ? h * lanes + lane : h / 2 * 2 * lanes + 2 * lane + h % 2;
        return result.codes[base + static_cast<std::size_t>(at)];
      };
      for (Size at = begin_of(s); at < begin_of(s + 1); ++at) {
        const Size lane = (at - begin_of(s)) % lanes;
        const int j = static_cast<int>((at - begin_of(s)) / lanes), bit = j * tile_bits;
        const Lid column = past(s, at) ? first_row : columns[at];
        if (wide) {
          half(2 * j, lane) = static_cast<std::uint16_t>(column & 0xffff);
          half(2 * j + 1, lane) = static_cast<std::uint16_t>(column >> 16);
          continue;
        }
        std::uint32_t code = static_cast<std::uint32_t>(column - first_row);
        if (column < first_row || column >= first_row + rows_here)
          code = static_cast<std::uint32_t>(std::lower_bound(externals.begin(), externals.end(), column) -
                                            externals.begin() + tile_rows);
        code <<= bit % 16;
        half(bit / 16, lane) |= static_cast<std::uint16_t>(code & 0xffff);
        if (code >> 16 != 0) half(bit / 16 + 1, lane) |= static_cast<std::uint16_t>(code >> 16);
      }
      result.starts.push_back(halves_before);
      halves_before += halves;
    }
    result.tiles.push_back({static_cast<Lid>(result.externals.size()), wide ? -1 : static_cast<Lid>(externals.size())});
    result.windows.insert(result.windows.end(), windows.begins().begin(), windows.begins().end());
    result.wide_tiles += wide ? 1 : 0;
    if (!wide)
      for (const Lid c : externals)
        result.externals.push_back(
            static_cast<std::uint16_t>(windows.find(c) << window_bits | (c & ((1 << window_bits) - 1))));
  }
  result.starts.push_back(halves_before);
  return result;
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

ColumnTiles tile_columns_of(std::span<const Lid> columns, std::span<const Size> starts, int shift, Lid rows,
                            const ParallelFor& parallel) {
  const Blocks blocks((rows + tile_rows - 1) / tile_rows, 16);
  std::vector<ColumnTiles> some(blocks.number);
  blocks.run(parallel, [&](Size block, Size first, Size last) {
    some[block] = encode_tiles(columns, starts, shift, rows, first, last);
  });
  ColumnTiles result;
  result.starts.push_back(0);
  for (ColumnTiles& part : some) {
    const auto before = static_cast<Lid>(result.externals.size());
    const Lid halves_before = result.starts.back();
    for (TileHead& tile : part.tiles) tile.first += before;
    for (Lid& start : part.starts) start += halves_before;
    result.starts.pop_back();
    append(result.starts, part.starts);
    append(result.codes, part.codes);
    append(result.tiles, part.tiles);
    append(result.externals, part.externals);
    append(result.windows, part.windows);
    result.wide_tiles += part.wide_tiles;
    part = {};
  }
  return result;
}

}  // namespace tutti
