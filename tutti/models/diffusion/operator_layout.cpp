// From assembled rows to the arrays of a storage format.
#include <algorithm>

#include "tutti/models/diffusion/column_windows.hpp"
#include "tutti/models/diffusion/operator.hpp"

namespace tutti {
namespace {

/// Where entry j of row i goes.
Size place(RowFormat format, const std::vector<Size>& slices, int shift, Lid row, int j) {
  switch (format) {
    case RowFormat::rows:
      return static_cast<Size>(row) * max_row_entries + j;
    case RowFormat::blocks:
      return static_cast<Size>(row / block_rows) * block_rows * max_row_entries + static_cast<Size>(j) * block_rows +
             row % block_rows;
    case RowFormat::sliced:
      return slices[static_cast<std::size_t>(row >> shift)] + (static_cast<Size>(j) << shift) +
             (row & ((1 << shift) - 1));
  }
  return 0;
}

/// Entries stored a row: padded to 16, or to the longest row of its slice.
std::vector<Size> slice_starts(const DiffusionRows& rows, int shift) {
  const std::size_t slice_rows = std::size_t{1} << shift;
  std::vector<Size> starts{0};
  const std::size_t n = rows.counts.size();
  for (std::size_t first = 0; first < n; first += slice_rows) {
    const std::size_t last = std::min(n, first + slice_rows);
    const int width = *std::max_element(rows.counts.begin() + static_cast<std::ptrdiff_t>(first),
                                        rows.counts.begin() + static_cast<std::ptrdiff_t>(last));
    starts.push_back(starts.back() + (static_cast<Size>(width) << shift));
  }
  return starts;
}

template <class T>
void to_device(Stream& stream, Buffer<T>& buffer, std::vector<T>&& values, const std::string& name) {
  buffer = make_buffer(stream, std::span<const T>(values), name);
  std::vector<T>().swap(values);
}

}  // namespace

Size stored_entries(RowFormat format, Size rows) {
  const Size padded = format == RowFormat::blocks ? (rows + block_rows - 1) / block_rows * block_rows : rows;
  return padded * max_row_entries;
}

bool keeps_diagonal(RowFormat format, Precision precision) {
  return format != RowFormat::sliced && precision == Precision::full;
}

ColumnBytes choose_columns(ColumnBytes wanted, bool on_host, Size slices, Size wide_slices, Size tiles,
                           Size wide_tiles) {
  if (wanted != ColumnBytes::automatic) return wanted;
  if (on_host) return ColumnBytes::four;
  if (wide_tiles * tiles_a_wide_one <= tiles) return ColumnBytes::tiles;
  return wide_slices * slices_a_wide_one <= slices ? ColumnBytes::two : ColumnBytes::four;
}

void RowOperator::store_columns(Stream& stream, std::vector<Lid>& columns, const std::vector<Size>& slices,
                                ColumnBytes wanted) {
  const bool on_host = stream.device().is_host();
  ColumnTiles t;
  ColumnWindows w;
  if (wanted == ColumnBytes::tiles || (wanted == ColumnBytes::automatic && !on_host))
    t = tile_columns_of(columns, slices, shift_, rows_);
  const auto tiles = static_cast<Size>(t.tiles.size());
  // Windows only where tiles are not enough.
  if (wanted == ColumnBytes::two ||
      (wanted == ColumnBytes::automatic && !on_host && t.wide_tiles * tiles_a_wide_one > tiles))
    w = window_columns(columns, slices, shift_, rows_);
  switch (choose_columns(wanted, on_host, w.slices, w.wide_slices, tiles, t.wide_tiles)) {
    case ColumnBytes::tiles:
      std::vector<Lid>().swap(columns);
      to_device(stream, codes_, std::move(t.codes), "columns I (ten bits)");
      to_device(stream, code_starts_, std::move(t.starts), "starts of columns");
      to_device(stream, tiles_, std::move(t.tiles), "tiles");
      to_device(stream, externals_, std::move(t.externals), "externals of tiles");
      to_device(stream, windows_, std::move(t.windows), "windows of tiles");
      return;
    case ColumnBytes::two:
      std::vector<Lid>().swap(columns);
      to_device(stream, codes_, std::move(w.codes), "columns I (two bytes)");
      to_device(stream, windows_, std::move(w.windows), "windows of columns");
      if (w.wide_slices > 0) to_device(stream, wide_, std::move(w.wide), "columns of wide slices");
      return;
    default:
      to_device(stream, columns_, std::move(columns), "columns I");
  }
}

RowOperator::RowOperator(Stream& stream, const DiffusionRows& rows, RowFormat format, Precision precision,
                         ColumnBytes column_bytes)
    : format_(format), precision_(precision), rows_(static_cast<Lid>(rows.counts.size())) {
  shift_ = slice_shift(stream.device().is_host());
  if (rows_ == 0) return;
  std::vector<Size> slices;
  if (format == RowFormat::sliced) slices = slice_starts(rows, shift_);
  const Size entries = format == RowFormat::sliced ? slices.back() : stored_entries(format, rows_);

  // One array at a time, so that the peak is one array above what stays.
  const auto fill = [&](auto zero, auto&& entry) {
    std::vector<decltype(zero)> values(static_cast<std::size_t>(entries), zero);
    for (Lid i = 0; i < rows_; ++i) {
      const auto r = static_cast<std::size_t>(i);
      const int width = format != RowFormat::sliced
                            ? max_row_entries
                            : static_cast<int>((slices[(r >> shift_) + 1] - slices[r >> shift_]) >> shift_);
      for (int j = 0; j < width; ++j)
        values[static_cast<std::size_t>(place(format, slices, shift_, i, j))] = entry(r, static_cast<std::size_t>(j));
    }
    return values;
  };
  // Padding reads the row itself (entry 0 * (u_i - u_i)); rows past the end read row 0.
  auto columns = fill(Lid{0}, [&](std::size_t i, std::size_t j) { return rows.columns[i][j]; });
  store_columns(stream, columns, slices, format == RowFormat::sliced ? column_bytes : ColumnBytes::four);
  if (precision == Precision::full)
    to_device(stream, values_, fill(0.0, [&](std::size_t i, std::size_t j) { return rows.values[i][j]; }),
              "coefficients A");
  else
    to_device(stream, compact_values_,
              fill(0.0F, [&](std::size_t i, std::size_t j) { return static_cast<float>(rows.values[i][j]); }),
              "coefficients A (float)");
  // The paper's D is always there in its format; other rows drop it where no Dirichlet face is near.
  const bool any_diagonal = std::any_of(rows.diagonal.begin(), rows.diagonal.end(), [](double d) { return d != 0; });
  if (any_diagonal || keeps_diagonal(format, precision))
    to_device(stream, diagonal_, std::vector<double>(rows.diagonal), "diagonal D");
  if (format == RowFormat::sliced) to_device(stream, slices_, std::move(slices), "slices");
}

}  // namespace tutti
