// Where the rows of an array lie on a device with so much room: which stay there, and which come and go.
#pragma once

#include <string>

#include "tutti/residency/row_layout.hpp"

namespace tutti {

/// resident: all rows, as doubles. compressed: all rows, in fewer bits. The others keep as many rows as fit on the
/// device and bring the rest from the host, chunk by chunk, at each pass: overlaid copies them into one buffer between
/// the kernels (Choi 2019, 3.3); streamed into two, behind the kernels; managed has them in unified memory and
/// prefetches them. automatic: the fastest of them that fits (choose.hpp).
enum class Policy : std::uint8_t { resident, compressed, overlaid, streamed, managed, automatic };

/// "resident" ... "managed", "auto".
std::string policy_name(Policy policy);
/// Error(input) for another word; `key` is what it was given for.
Policy policy_of(const std::string& word, const std::string& key);
/// "double", "float", "int32", "int16", "zfp"; Error(input) for another word.
ValueFormat format_of(const std::string& word, const std::string& key);

/// Rows [0, resident) stay on the device. The others, if any, come in chunks of `chunk` rows into `buffers` buffers.
struct Placement {
  Policy policy = Policy::resident;
  Lid rows = 0;
  Lid resident = 0;
  Lid chunk = 0;
  int buffers = 0;
  Size device_bytes = 0;  ///< of the rows, the buffers and what they share
  Size host_bytes = 0;    ///< of the rows that stay on the host

  bool fits() const { return resident == rows; }
  Lid chunks() const { return fits() ? 0 : (rows - resident + chunk - 1) / chunk; }
  /// Chunk k, the last one may be shorter.
  Range rows_of(Lid k) const {
    const Lid begin = resident + k * chunk;
    return {begin, rows - begin < chunk ? rows : begin + chunk};
  }
};

/// The placement of `rows` rows in `room` bytes. A chunk has `chunk_bytes` bytes at most, and all buffers together no
/// more than half of a small room. Error(resource) names `owner` (the device) and `name` (the array) when it does not
/// fit: all rows for resident and compressed, a row a buffer for the others.
Placement place_rows(const RowLayout& layout, Lid rows, Policy policy, Size room, Size chunk_bytes,
                     const std::string& owner, const std::string& name);

}  // namespace tutti
