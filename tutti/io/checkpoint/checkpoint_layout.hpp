// What lies where in a checkpoint: the few forms of HDF5 that create_checkpoint_file writes, read by tutti itself.
//
// A checksum tells damage, not who made a file, and the HDF5 library trusts what it parses: a forged table of names
// made it write beside its memory. So it only writes checkpoints (docs/adr/0019-checkpoints-without-the-library.md).
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tutti/base/types.hpp"

namespace tutti {

/// What an array of a checkpoint is made of.
enum class CheckpointType : std::uint8_t {
  integer,  ///< int64, little-endian
  real,     ///< float64, little-endian
  text,     ///< one text of the length of the array, UTF-8
};

/// A contiguous array in the file.
struct CheckpointArray {
  CheckpointType type = CheckpointType::real;
  std::vector<Size> shape;  ///< none for a text
  Size offset = 0;          ///< in the file [byte]; 0 where there are no bytes
  Size bytes = 0;
};

/// Gives `to.size()` bytes of the file from `offset` on, fewer only at its end.
using ReadBytes = std::function<std::size_t(std::span<char> to, Size offset)>;

/// The arrays by their full names without the first "/": "meta", "rows/global", "fields/u". Nothing but groups of
/// symbol tables and contiguous arrays of the types above may be there, two groups deep, all within the first `end`
/// bytes of the file. Error(input) names the byte; it never reads elsewhere and takes little memory whatever it finds.
std::map<std::string, CheckpointArray> read_checkpoint_layout(const ReadBytes& read, Size end, const std::string& name);

}  // namespace tutti
