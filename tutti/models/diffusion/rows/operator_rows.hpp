// The row operator's loop bodies: one row anywhere, many rows on a CPU.
#pragma once

#include "tutti/models/diffusion/rows/column_windows.hpp"
#include "tutti/models/diffusion/rows/operator.hpp"

namespace tutti::diffusion {

/// Where the entries of a stored row are: first + j * stride, j < width.
struct RowPlace {
  Size first;
  Size stride;
  int width;
};

template <class Coefficient>
TUTTI_HD inline RowPlace place_of(const OperatorView<Coefficient>& view, Lid i) {
  if (view.format == RowFormat::rows) return {static_cast<Size>(i) * max_row_entries, 1, max_row_entries};
  if (view.format == RowFormat::blocks)
    return {static_cast<Size>(i / block_rows) * block_rows * max_row_entries + i % block_rows, block_rows,
            max_row_entries};
  const Lid slice = i >> view.shift;
  const Size begin = view.slices[slice];
  return {begin + (i - (slice << view.shift)), Size{1} << view.shift,
          static_cast<int>((view.slices[slice + 1] - begin) >> view.shift)};
}

/// Column of entry j of row i by its tile.
template <class Coefficient>
TUTTI_HD inline Lid tile_column(const OperatorView<Coefficient>& view, Lid i, int j) {
  const Lid slice = i >> view.shift, tile = i / tile_rows, lanes = 1 << view.shift, lane = i & (lanes - 1);
  const int halves = view.code_starts[slice + 1] - view.code_starts[slice];
  const std::uint16_t* codes = view.codes + static_cast<Size>(view.code_starts[slice]) * lanes;
  const auto half = [=](int h) -> int {
    if (h >= halves) return 0;
    return codes[h == halves - 1 && halves % 2 != 0 ? h * lanes + lane : h / 2 * 2 * lanes + 2 * lane + h % 2];
  };
  const TileHead head = view.tiles[tile];
  if (head.count < 0) return half(2 * j) | half(2 * j + 1) << 16;
  const int bit = j * tile_bits;
  const int code = (half(bit / 16) | half(bit / 16 + 1) << 16) >> bit % 16 & (tile_columns - 1);
  if (code < tile_rows) return tile * tile_rows + code;
  const int external = view.externals[head.first + code - tile_rows];
  return view.windows[tile * static_cast<Size>(windows_a_slice) + (external >> window_bits)] +
         (external & ((1 << window_bits) - 1));
}

/// Column of entry j of row i, which is at `at`.
template <class Coefficient>
TUTTI_HD inline Lid column_of(const OperatorView<Coefficient>& view, Lid i, int j, Size at) {
  if (view.tiles != nullptr) return tile_column(view, i, j);
  if (view.codes == nullptr) return view.columns[at];
  const Lid slice = i >> view.shift;
  const Lid* windows = view.windows + static_cast<Size>(slice) * windows_a_slice;
  if (windows[0] < 0)
    return view
        .wide[((static_cast<Size>(windows[1]) * max_row_entries + j) << view.shift) + (i - (slice << view.shift))];
  const int code = view.codes[at];
  return windows[code >> window_bits] + (code & ((1 << window_bits) - 1));
}

/// update(i, u_i, rate_i) of one row.
template <class Coefficient, class Update>
TUTTI_HD inline void apply_row(const OperatorView<Coefficient>& view, const double* u, const double* forcing,
                               const Update& update, Lid i) {
  const RowPlace place = place_of(view, i);
  const double own = u[i];
  RowSum sum;
  for (int j = 0; j < place.width; ++j) {
    const Size at = place.first + j * place.stride;
    sum.part[j % 4] =
        add_term(static_cast<double>(view.values[at]), u[column_of(view, i, j, at)], own, sum.part[j % 4]);
  }
  update(i, own, row_rate(sum.total(), view.diagonal == nullptr ? 0.0 : view.diagonal[i], own, forcing, i));
}

/// apply_row for a range, tuned for a CPU (bench: `tutti bench diffusion`); the same bits.
template <class Coefficient, class Update>
void apply_rows_on_host(Range rows, const OperatorView<Coefficient>& view, const double* u, const double* forcing,
                        const Update& update);

}  // namespace tutti::diffusion
