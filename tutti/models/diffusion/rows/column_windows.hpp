// Column numbers of sliced rows in two bytes.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "tutti/base/parallel.hpp"
#include "tutti/base/raw_vector.hpp"
#include "tutti/base/types.hpp"

namespace tutti {

/// A slice reads few neighbourhoods: it gets eight windows of 8,192 columns, and an entry is the window's number (three
/// bits) and the place in it (thirteen).
inline constexpr int windows_a_slice = 8;
inline constexpr int window_bits = 13;

/// The windows that a slice needs. They begin at multiples of their size.
class WindowSet {
 public:
  /// The number of the column's window, a new one if need be; -1: that would be the ninth.
  int find(Lid column) {
    const Lid begin = column >> window_bits << window_bits;
    for (int w = 0; w < count_; ++w)
      if (begins_[w] == begin) return w;
    if (count_ == windows_a_slice) return -1;
    begins_[count_] = begin;
    return count_++;
  }
  /// First columns; 0 for windows that are not needed.
  const std::array<Lid, windows_a_slice>& begins() const { return begins_; }

 private:
  std::array<Lid, windows_a_slice> begins_{};
  int count_ = 0;
};

/// What is stored for sliced rows in place of their columns.
struct ColumnWindows {
  RawVector<std::uint16_t> codes;  ///< where the columns would be
  /// Eight a slice. A slice that eight are not enough for has -1 here, then its number among the wide ones.
  RawVector<Lid> windows;
  RawVector<Lid> wide;  ///< the columns of wide slices: entry j of row i of wide slice k at (16 k + j) C + i % C
  Size slices = 0, wide_slices = 0;
};

/// Of `rows` rows in slices of 2^shift, whose entries begin at `starts` (one more than slices). What stands in
/// `columns` for rows past the end does not matter.
ColumnWindows window_columns(std::span<const Lid> columns, std::span<const Size> starts, int shift, Lid rows,
                             const ParallelFor& parallel = {});

/// `numerics.columns = "auto"` takes tiles, or else windows, where no more than one of so many is wide.
inline constexpr Size fitting_a_wide_one = 20;

}  // namespace tutti
