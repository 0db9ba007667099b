// How a row of doubles is stored: as it is, or in fewer bits.
#pragma once

#include <cstdint>
#include <string>

#include "tutti/base/types.hpp"

namespace tutti {

enum class ValueFormat : std::uint8_t { doubles, floats, int32, int16, zfp };

/// Does a row come back with the bits that it had?
inline bool is_exact(ValueFormat format) {
  return format == ValueFormat::doubles;
}

/// A stored row: bytes that stand for themselves, so that any rows can be copied as one piece. Values beyond `width`
/// fill the last four up. Integers are followed by their scales; zfp's row is the stream that zfp_compress makes of it.
struct RowLayout {
  ValueFormat format = ValueFormat::doubles;
  int width = 0;       ///< values of a row
  int stride = 0;      ///< the same, rounded up to a multiple of 4
  int group = 0;       ///< integers: so many values share a scale; a multiple of 4
  int rate = 0;        ///< zfp: bits a value
  Size row_bytes = 0;  ///< a multiple of 16

  int groups() const { return (stride + group - 1) / group; }
  int block_bits() const { return 4 * rate; }
  /// Memory that all rows share: zfp's table of planes.
  Size shared_bytes() const { return format == ValueFormat::zfp ? 1024 : 0; }
  Size bytes(Size rows) const { return rows * row_bytes; }
  /// "double", "float", "int32", "int16", "zfp-32"
  std::string name() const;
};

/// `rate`: of zfp, 4 to 64. `group`: of integers, a multiple of 4; 0: a scale a row. Error(input) for others.
RowLayout make_row_layout(ValueFormat format, int width, int rate = 32, int group = 0);

}  // namespace tutti
