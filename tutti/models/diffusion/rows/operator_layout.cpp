// From assembled rows to the arrays of a storage format.
#include <algorithm>

#include "tutti/models/diffusion/rows/column_windows.hpp"
#include "tutti/models/diffusion/rows/operator.hpp"

namespace tutti::diffusion {
namespace {

/// Slices that are all 16 wide.
std::vector<Size> even_slice_starts(Lid rows, int shift) {
  std::vector<Size> starts;
  for (Size s = 0; s <= ((rows - 1) >> shift) + 1; ++s) starts.push_back(s * (Size{max_row_entries} << shift));
  return starts;
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

/// Calls write(at, row, j) for every stored entry j of every row of a slice or block, as it lies in memory.
template <class Write>
void visit_slice(RowFormat format, const std::vector<Size>& slices, int shift, Lid slice, Lid rows,
                 const Write& write) {
  if (format == RowFormat::rows) {
    for (Lid row = slice << shift; row < std::min(rows, (slice + 1) << shift); ++row)
      for (int j = 0; j < max_row_entries; ++j) write(static_cast<Size>(row) * max_row_entries + j, row, j);
    return;
  }
  const Size begin =
      format == RowFormat::sliced ? slices[slice] : static_cast<Size>(slice) * block_rows * max_row_entries;
  const int width =
      format == RowFormat::sliced ? static_cast<int>((slices[slice + 1] - begin) >> shift) : max_row_entries;
  const Lid lanes = Lid{1} << shift;
  for (int j = 0; j < width; ++j)
    for (Lid lane = 0; lane < lanes; ++lane)
      write(begin + (static_cast<Size>(j) << shift) + lane, (slice << shift) + lane, j);
}

constexpr int block_shift = 7;
static_assert(block_rows == Lid{1} << block_shift);

/// entry(row, j) of all that is stored. Rows past the end, which fill up the last slice or block, get zeros.
template <class T, class Entry>
RawVector<T> fill_entries(RowFormat format, const std::vector<Size>& slices, int slice_shift, Lid rows,
                          const ParallelFor& parallel, T zero, const Entry& entry) {
  RawVector<T> values(
      static_cast<std::size_t>(format == RowFormat::sliced ? slices.back() : stored_entries(format, rows)));
  const int shift = format == RowFormat::sliced ? slice_shift : block_shift;
  for_ranges(parallel, ((rows - 1) >> shift) + 1, [&](Size begin, Size end) {
    for (Lid slice = static_cast<Lid>(begin); slice < static_cast<Lid>(end); ++slice)
      visit_slice(format, slices, shift, slice, rows, [&](Size at, Lid row, int j) {
        values[at] = row < rows ? entry(static_cast<std::size_t>(row), static_cast<std::size_t>(j)) : zero;
      });
  });
  return values;
}

template <class T>
void to_device(Stream& stream, Buffer<T>& buffer, RawVector<T>&& values, const std::string& name) {
  buffer = make_buffer(stream, std::span<const T>(values), name);
  RawVector<T>().swap(values);
}

}  // namespace

Size stored_entries(RowFormat format, Size rows) {
  const Size padded = format == RowFormat::blocks ? (rows + block_rows - 1) / block_rows * block_rows : rows;
  return padded * max_row_entries;
}

bool keeps_diagonal(RowFormat format, Precision precision) {
  return format != RowFormat::sliced && precision == Precision::full;
}

ColumnBytes choose_columns(ColumnBytes wanted, bool on_host, const WideColumns& wide) {
  if (wanted != ColumnBytes::automatic) return wanted;
  const auto few = [](Size wide_ones, Size all) { return wide_ones * fitting_a_wide_one <= all; };
  if (on_host) return ColumnBytes::four;
  if (few(wide.wide_tiles, wide.tiles)) return ColumnBytes::tiles;
  return few(wide.wide_slices, wide.slices) ? ColumnBytes::two : ColumnBytes::four;
}

void RowOperator::store_tiles(Stream& stream, ColumnTiles&& tiles) {
  codes_ = make_buffer(stream, std::span<const std::uint16_t>(tiles.codes), "columns I (ten bits)");
  code_starts_ = make_buffer(stream, std::span<const Lid>(tiles.starts), "starts of columns");
  tiles_ = make_buffer(stream, std::span<const TileHead>(tiles.tiles), "tiles");
  externals_ = make_buffer(stream, std::span<const std::uint16_t>(tiles.externals), "externals of tiles");
  windows_ = make_buffer(stream, std::span<const Lid>(tiles.windows), "windows of tiles");
}

void RowOperator::store_columns(Stream& stream, RawVector<Lid>& columns, const std::vector<Size>& slices,
                                ColumnBytes wanted, const ParallelFor& parallel) {
  const bool on_host = stream.device().is_host(), chooses = wanted == ColumnBytes::automatic && !on_host;
  WideColumns wide;
  ColumnTiles tiles;
  if (wanted == ColumnBytes::tiles || chooses) {
    tiles = tile_columns_of(columns, slices, shift_, rows_, parallel);
    wide.tiles = static_cast<Size>(tiles.tiles.size());
    wide.wide_tiles = tiles.wide_tiles;
  }
  if (choose_columns(wanted, on_host, wide) == ColumnBytes::tiles) {
    RawVector<Lid>().swap(columns);
    return store_tiles(stream, std::move(tiles));
  }
  tiles = {};
  ColumnWindows w;
  if (wanted == ColumnBytes::two || chooses) {
    w = window_columns(columns, slices, shift_, rows_, parallel);
    wide.slices = w.slices;
    wide.wide_slices = w.wide_slices;
  }
  if (choose_columns(wanted, on_host, wide) == ColumnBytes::two) {
    RawVector<Lid>().swap(columns);
    to_device(stream, codes_, std::move(w.codes), "columns I (two bytes)");
    to_device(stream, windows_, std::move(w.windows), "windows of columns");
    if (w.wide_slices > 0) to_device(stream, wide_, std::move(w.wide), "columns of wide slices");
    return;
  }
  to_device(stream, columns_, std::move(columns), "columns I");
}

RowOperator::RowOperator(Stream& stream, const DiffusionRows& rows, RowFormat format, Precision precision,
                         ColumnBytes column_bytes, const ParallelFor& parallel)
    : RowOperator(stream, rows, format, precision, column_bytes, parallel, false) {}

RowOperator::RowOperator(Apart, Stream& stream, const DiffusionRows& rows, ColumnBytes column_bytes,
                         const ParallelFor& parallel)
    : RowOperator(stream, rows, RowFormat::sliced, Precision::full, column_bytes, parallel, true) {}

RowOperator::RowOperator(Stream& stream, const DiffusionRows& rows, RowFormat format, Precision precision,
                         ColumnBytes column_bytes, const ParallelFor& parallel, bool apart)
    : format_(format), precision_(precision), rows_(static_cast<Lid>(rows.counts.size())) {
  shift_ = slice_shift(stream.device().is_host());
  if (rows_ == 0) return;
  std::vector<Size> slices;
  if (format == RowFormat::sliced) slices = apart ? even_slice_starts(rows_, shift_) : slice_starts(rows, shift_);
  const Size entries = format == RowFormat::sliced ? slices.back() : stored_entries(format, rows_);

  // One array at a time, so that the peak is one array above what stays.
  const auto fill = [&](auto zero, const auto& entry) {
    return fill_entries(format, slices, shift_, rows_, parallel, zero, entry);
  };
  // Padding reads the row itself (entry 0 * (u_i - u_i)); rows past the end read row 0.
  auto columns = fill(Lid{0}, [&](std::size_t i, std::size_t j) { return rows.columns[i][j]; });
  store_columns(stream, columns, slices, format == RowFormat::sliced ? column_bytes : ColumnBytes::four, parallel);
  if (apart) {
    apart_ = fill(0.0, [&](std::size_t i, std::size_t j) { return rows.values[i][j]; });
    apart_.resize(static_cast<std::size_t>(held_tiles(rows_)) * held_width);
    std::fill(apart_.begin() + static_cast<std::ptrdiff_t>(entries), apart_.end(), 0.0);
  } else if (precision == Precision::full)
    to_device(stream, values_, fill(0.0, [&](std::size_t i, std::size_t j) { return rows.values[i][j]; }),
              "coefficients A");
  else
    to_device(stream, compact_values_,
              fill(0.0F, [&](std::size_t i, std::size_t j) { return static_cast<float>(rows.values[i][j]); }),
              "coefficients A (float)");
  // The paper's D is always there in its format; other rows drop it where no Dirichlet face is near.
  const bool any_diagonal = std::any_of(rows.diagonal.begin(), rows.diagonal.end(), [](double d) { return d != 0; });
  if (any_diagonal || rows.change || keeps_diagonal(format, precision))
    diagonal_ = make_buffer(stream, std::span<const double>(rows.diagonal), "diagonal D");
  if (format == RowFormat::sliced) slices_ = make_buffer(stream, std::span<const Size>(slices), "slices");
}

void RowOperator::refill(Stream& stream, const DiffusionRows& rows, const ParallelFor& parallel) {
  require(static_cast<std::size_t>(rows_) == rows.counts.size() && held_ == nullptr, "other rows cannot be refilled");
  if (rows_ == 0) return;
  const auto slices = format_ == RowFormat::sliced ? slice_starts(rows, shift_) : std::vector<Size>{};
  const auto put = [&]<class T>(Buffer<T>& to) {
    const auto values = fill_entries(format_, slices, shift_, rows_, parallel, T{0},
                                     [&](std::size_t i, std::size_t j) { return static_cast<T>(rows.values[i][j]); });
    require(static_cast<Size>(values.size() * sizeof(T)) == to.bytes(), "rows of another stencil");
    upload(stream, to, std::span<const T>(values));
  };
  if (precision_ == Precision::full)
    put(values_);
  else
    put(compact_values_);
  upload(stream, diagonal_, std::span<const double>(rows.diagonal));
}

}  // namespace tutti::diffusion
