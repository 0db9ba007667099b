#include "tutti/models/diffusion/rows/column_windows.hpp"

#include <algorithm>

#include "tutti/models/diffusion/scheme/scheme.hpp"

namespace tutti::diffusion {
namespace {

/// Encodes the columns of one slice. False: eight windows are not enough. Entry e is of row first_row + e % C.
bool encode_slice(std::span<const Lid> columns, Lid first_row, Size rows_here, Size lanes, std::uint16_t* codes,
                  Lid* windows) {
  WindowSet set;
  // Its own rows: padding reads them, and what a plan counts shall not depend on where there is some. Rows past the
  // end read the first.
  set.find(first_row);
  set.find(first_row + static_cast<Lid>(rows_here) - 1);
  for (std::size_t e = 0; e < columns.size(); ++e) {
    const bool past = static_cast<Size>(e) % lanes >= rows_here;
    const Lid column = past ? first_row : columns[e];
    const int window = set.find(column);
    if (window < 0) return false;
    codes[e] = static_cast<std::uint16_t>(window << window_bits | (column & ((1 << window_bits) - 1)));
  }
  std::copy(set.begins().begin(), set.begins().end(), windows);
  return true;
}

}  // namespace

ColumnWindows window_columns(std::span<const Lid> columns, std::span<const Size> starts, int shift, Lid rows,
                             const ParallelFor& parallel) {
  ColumnWindows result;
  const Size lanes = Size{1} << shift;
  result.slices = static_cast<Size>(starts.size()) - 1;
  result.codes.resize(columns.size());
  result.windows.resize(result.slices * windows_a_slice);
  const auto columns_of = [&](Size s) {
    const auto begin = static_cast<std::size_t>(starts[s]);
    return columns.subspan(begin, static_cast<std::size_t>(starts[s + 1]) - begin);
  };
  const auto rows_of = [&](Size s) { return std::min<Size>(lanes, rows - s * lanes); };
  for_ranges(parallel, result.slices, [&](Size first, Size last) {
    for (Size s = first; s < last; ++s) {
      Lid* windows = result.windows.data() + s * windows_a_slice;
      std::uint16_t* codes = result.codes.data() + starts[s];
      if (encode_slice(columns_of(s), static_cast<Lid>(s * lanes), rows_of(s), lanes, codes, windows)) continue;
      std::fill_n(windows, windows_a_slice, 0);
      windows[0] = -1;
      std::fill_n(codes, columns_of(s).size(), std::uint16_t{0});
    }
  });
  for (Size s = 0; s < result.slices; ++s) {
    Lid* windows = result.windows.data() + s * windows_a_slice;
    if (windows[0] < 0) windows[1] = static_cast<Lid>(result.wide_slices++);
  }
  const Size wide_entries = max_row_entries * lanes;
  result.wide.resize(result.wide_slices * wide_entries);
  for_ranges(parallel, result.slices, [&](Size first, Size last) {
    for (Size s = first; s < last; ++s) {
      const Lid* windows = result.windows.data() + s * windows_a_slice;
      if (windows[0] >= 0) continue;
      const auto from = columns_of(s);
      Lid* to = result.wide.data() + windows[1] * wide_entries;
      for (Size e = 0; e < wide_entries; ++e)
        to[e] = e < static_cast<Size>(from.size()) && e % lanes < rows_of(s) ? from[e] : static_cast<Lid>(s * lanes);
    }
  });
  return result;
}

}  // namespace tutti::diffusion
