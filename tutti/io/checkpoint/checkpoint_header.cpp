#include "tutti/io/checkpoint/checkpoint_header.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>

#include "tutti/base/error.hpp"
#include "tutti/base/hash.hpp"

namespace tutti {
namespace {

constexpr std::string_view first_words = "tutti checkpoint, format ";
constexpr Size entry_bytes = 24;  // offset, bytes, hash: 8 each
constexpr const char* advice = "use the previous checkpoint (--fallback), or start a new run";

/// Walks through the header's lines. Every line is "<words> <value>...".
class Lines {
 public:
  Lines(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  /// The rest of the next line behind `words`.
  std::string_view after(std::string_view words) {
    const std::size_t end = text_.find('\n', at_);
    if (end == std::string_view::npos || text_.substr(at_, words.size()) != words || at_ + words.size() > end)
      fail(ErrorKind::input, "{}: byte {}: the checkpoint's header is damaged: expected '{}'; {}", name_, at_, words,
           advice);
    const std::string_view rest = text_.substr(at_ + words.size(), end - at_ - words.size());
    line_ = at_;
    at_ = end + 1;
    return rest;
  }
  /// A number at the front of `rest`, taken off it.
  template <class T>
  T number(std::string_view& rest, int base = 10) const {
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    T value{};
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value, base);
    if (error != std::errc{})
      fail(ErrorKind::input, "{}: byte {}: the checkpoint's header is damaged: expected a number; {}", name_, line_,
           advice);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    return value;
  }
  std::size_t position() const { return at_; }

 private:
  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0, line_ = 0;
};

}  // namespace

std::array<char, checkpoint_header_bytes> format_checkpoint_header(const CheckpointHeader& header) {
  std::string text = fmt::format("{}{}\nversion {}\nstep {}\nsize {}\ntable {} {} {:016x}\n", first_words,
                                 checkpoint_format, header.version, header.step, header.file_bytes, header.table_offset,
                                 header.segments, header.table_hash);
  text += fmt::format("header {:016x}\n", hash_bytes(text));
  require(static_cast<Size>(text.size()) <= checkpoint_header_bytes, "a checkpoint header of {} bytes", text.size());
  std::array<char, checkpoint_header_bytes> bytes{};
  std::copy(text.begin(), text.end(), bytes.begin());
  return bytes;
}

CheckpointHeader parse_checkpoint_header(std::span<const char> bytes, Size file_bytes, const std::string& name) {
  const std::string_view text(bytes.data(), bytes.size());
  if (!text.starts_with(first_words))
    fail(ErrorKind::input,
         "{}: byte 0: not a checkpoint of tutti: it does not begin with '{}'; give a file step-*.h5 of a run", name,
         first_words.substr(0, first_words.find(',')));
  if (static_cast<Size>(text.size()) < checkpoint_header_bytes)
    fail(ErrorKind::input, "{}: the checkpoint is truncated: it has {} bytes, its header alone {}; {}", name,
         file_bytes, checkpoint_header_bytes, advice);

  Lines lines(text.substr(0, checkpoint_header_bytes), name);
  std::string_view rest = lines.after(first_words);
  const int format = lines.number<int>(rest);
  CheckpointHeader header;
  header.version = std::string(lines.after("version "));
  rest = lines.after("step ");
  header.step = lines.number<Size>(rest);
  rest = lines.after("size ");
  header.file_bytes = lines.number<Size>(rest);
  rest = lines.after("table ");
  header.table_offset = lines.number<Size>(rest);
  header.segments = lines.number<Size>(rest);
  header.table_hash = lines.number<std::uint64_t>(rest, 16);
  const std::size_t end = lines.position();
  rest = lines.after("header ");
  const auto padding =
      text.substr(lines.position(), static_cast<std::size_t>(checkpoint_header_bytes) - lines.position());
  // The text itself is compared: a number may be written in several ways, and each but one is damage.
  if (rest != fmt::format("{:016x}", hash_bytes(bytes.first(end))) ||
      padding.find_first_not_of('\0') != std::string_view::npos)
    fail(ErrorKind::input, "{}: byte 0: the checkpoint's header is damaged: its checksum does not match; {}", name,
         advice);
  if (format != checkpoint_format)
    fail(ErrorKind::input, "{}: the checkpoint has format {}, this tutti reads format {}; use tutti {}", name, format,
         checkpoint_format, header.version);
  if (header.file_bytes != file_bytes)
    fail(ErrorKind::input, "{}: the checkpoint {}: it has {} bytes, {} were written; {}", name,
         file_bytes < header.file_bytes ? "is truncated" : "has grown", file_bytes, header.file_bytes, advice);
  // Sizes that a checksum protects can still be nonsense when someone made the file; nothing is allocated by them.
  if (header.step < 0 || header.segments < 1 || header.table_offset < checkpoint_header_bytes ||
      header.table_offset > file_bytes || header.segments != (file_bytes - header.table_offset) / entry_bytes ||
      (file_bytes - header.table_offset) % entry_bytes != 0)
    fail(ErrorKind::input, "{}: byte 0: the checkpoint's header contradicts itself; {}", name, advice);
  return header;
}

std::vector<Segment> parse_segment_table(std::span<const char> bytes, const CheckpointHeader& header,
                                         const std::string& name) {
  const auto damaged = [&](const char* why) {
    fail(ErrorKind::input, "{}: byte {}: the checkpoint's table of checksums is damaged: {}; {}", name,
         header.table_offset, why, advice);
  };
  if (static_cast<Size>(bytes.size()) != header.segments * entry_bytes) damaged("it has another size");
  if (hash_bytes(bytes) != header.table_hash) damaged("its own checksum does not match");
  std::vector<Segment> segments(header.segments);
  Size expected = checkpoint_header_bytes;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    std::memcpy(&segments[i], bytes.data() + i * static_cast<std::size_t>(entry_bytes), sizeof(Segment));
    if (segments[i].offset != expected || segments[i].bytes < 0 || segments[i].bytes > header.table_offset - expected)
      damaged("it does not cover the file");
    expected += segments[i].bytes;
  }
  if (expected != header.table_offset) damaged("it does not cover the file");
  return segments;
}

std::vector<char> format_segment_table(std::span<const Segment> segments) {
  static_assert(sizeof(Segment) == entry_bytes);
  std::vector<char> bytes(segments.size_bytes());
  if (!bytes.empty()) std::memcpy(bytes.data(), segments.data(), bytes.size());
  return bytes;
}

}  // namespace tutti
