#include "tutti/models/diffusion/column_windows.hpp"

#include <algorithm>

#include "tutti/models/diffusion/scheme.hpp"

namespace tutti {

ColumnWindows window_columns(std::span<const Lid> columns, std::span<const Size> starts, int shift, Lid rows) {
  ColumnWindows result;
  const Size width_of_slice = Size{1} << shift;
  result.slices = static_cast<Size>(starts.size()) - 1;
  result.codes.resize(columns.size());
  result.windows.resize(static_cast<std::size_t>(result.slices * windows_a_slice));
  for (Size s = 0; s < result.slices; ++s) {
    const Lid first_row = static_cast<Lid>(s * width_of_slice);
    const Size rows_here = std::min<Size>(width_of_slice, rows - first_row);
    const Size begin = starts[static_cast<std::size_t>(s)], end = starts[static_cast<std::size_t>(s) + 1];
    WindowSet set;
    // Its own rows: padding reads them, and what a plan counts shall not depend on where there is some. Rows past the
    // end read the first.
    set.find(first_row);
    set.find(first_row + static_cast<Lid>(rows_here) - 1);
    bool fits = true;
    for (Size at = begin; at < end && fits; ++at) {
      const bool past = (at - begin) % width_of_slice >= rows_here;
      const Lid column = past ? first_row : columns[static_cast<std::size_t>(at)];
      const int window = set.find(column);
      fits = window >= 0;
      result.codes[static_cast<std::size_t>(at)] =
          static_cast<std::uint16_t>(window << window_bits | (column & ((1 << window_bits) - 1)));
    }
    Lid* windows = result.windows.data() + s * windows_a_slice;
    if (fits) {
      std::copy(set.begins().begin(), set.begins().end(), windows);
      continue;
    }
    windows[0] = -1;
    windows[1] = static_cast<Lid>(result.wide_slices++);
    result.wide.resize(static_cast<std::size_t>(result.wide_slices * max_row_entries * width_of_slice), first_row);
    Lid* wide = result.wide.data() + windows[1] * max_row_entries * width_of_slice;
    for (Size at = begin; at < end; ++at)
      if ((at - begin) % width_of_slice < rows_here) wide[at - begin] = columns[static_cast<std::size_t>(at)];
  }
  return result;
}

}  // namespace tutti
