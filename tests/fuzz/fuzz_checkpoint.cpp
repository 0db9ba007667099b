// The header of a checkpoint and its table of segments: what is read before any checksum of the data is known.
//
// The input: a byte that says which checksums are made right (random bytes would never fit one), a header, a table.
#include <algorithm>
#include <span>
#include <vector>

#include "fuzz.hpp"
#include "tutti/base/hash.hpp"
#include "tutti/io/checkpoint/checkpoint_header.hpp"

using namespace tutti;

namespace {

/// Puts the checksum of the lines before it into the header's last line.
void mend_header(std::string& header) {
  const std::size_t last = header.find("\nheader ");
  if (last == std::string::npos || last + 24 > header.size()) return;
  const std::string hash = fmt::format("{:016x}", hash_bytes(std::span(header.data(), last + 1)));
  header.replace(last + 8, 16, hash);
}

/// Puts the checksum of the table into the header's line "table OFFSET COUNT HASH".
void mend_table_hash(std::string& header, std::span<const char> table) {
  const std::size_t line = header.find("\ntable ");
  if (line == std::string::npos) return;
  const std::size_t end = header.find('\n', line + 1);
  if (end == std::string::npos || end - line < 24) return;
  header.replace(end - 16, 16, fmt::format("{:016x}", hash_bytes(table)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto cut = static_cast<std::size_t>(checkpoint_header_bytes);
  std::string header(input.substr(0, cut));
  const std::string_view table = input.size() > cut ? input.substr(cut) : std::string_view();
  if ((data[0] & 2) != 0) mend_table_hash(header, table);
  if ((data[0] & 1) != 0) mend_header(header);
  fuzz::accepts({ErrorKind::input}, [&] {
    // The size that the header itself names, so that the rest is reached; else an arbitrary one.
    const std::size_t at = header.find("\nsize ");
    const Size file_bytes = (data[0] & 4) != 0 && at != std::string::npos
                                ? std::strtoll(header.c_str() + at + 6, nullptr, 10)
                                : static_cast<Size>(input.size());
    const CheckpointHeader parsed = parse_checkpoint_header(header, file_bytes, "step.h5");
    fuzz::check(parsed.file_bytes == file_bytes && parsed.step >= 0 && parsed.segments >= 1,
                "a header that contradicts");
    fuzz::check(parsed.table_offset >= checkpoint_header_bytes && parsed.table_offset <= file_bytes,
                "no table's place");
    const auto segments = parse_segment_table(table, parsed, "step.h5");
    fuzz::check(static_cast<Size>(segments.size()) == parsed.segments, "segments are missing");
    Size end = checkpoint_header_bytes;
    for (const Segment& segment : segments) {
      fuzz::check(segment.offset == end && segment.bytes >= 0 && segment.bytes <= parsed.table_offset - end, "a gap");
      end += segment.bytes;
    }
    fuzz::check(end == parsed.table_offset, "segments that do not cover the file");
  });
  return 0;
}
