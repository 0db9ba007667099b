// The first bytes of a checkpoint, which tell whether the rest is whole. Nothing else of the file is looked at before.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tutti/base/types.hpp"

namespace tutti {

/// A checkpoint is an HDF5 file with this header in its user block (the bytes that HDF5 leaves to others) and a table
/// of segments behind its end. `head -n 6 FILE` shows the header. Checksums are 64-bit XXH3.
inline constexpr Size checkpoint_header_bytes = 512;
inline constexpr int checkpoint_format = 1;

struct CheckpointHeader {
  std::string version;           ///< of the tutti that wrote it
  Size step = 0;                 ///< steps done
  Size file_bytes = 0;           ///< of the whole file
  Size table_offset = 0;         ///< of the segment table [byte]
  Size segments = 0;             ///< entries of the table
  std::uint64_t table_hash = 0;  ///< of the table's bytes
};

/// A run of bytes with its checksum. The segments of a file follow each other without a gap, from the end of the header
/// to the table.
struct Segment {
  Size offset = 0;
  Size bytes = 0;
  std::uint64_t hash = 0;
};

/// The header as it is written: text lines, filled up with zeros, the checksum of the lines in the last one.
/// Error(input): the version is too long.
std::array<char, checkpoint_header_bytes> format_checkpoint_header(const CheckpointHeader& header);

/// Reads a header; `bytes` are the first of a file of `file_bytes`, `name` its name for messages. Error(input) with
/// what was found and what was expected: no checkpoint, another format, damaged, or cut off.
CheckpointHeader parse_checkpoint_header(std::span<const char> bytes, Size file_bytes, const std::string& name);

/// Reads the table of segments and checks that it covers the file. Error(input).
std::vector<Segment> parse_segment_table(std::span<const char> bytes, const CheckpointHeader& header,
                                         const std::string& name);
/// The table as it is written.
std::vector<char> format_segment_table(std::span<const Segment> segments);

}  // namespace tutti
