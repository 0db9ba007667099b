#include "tutti/mesh/files/vtu_payload.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace tutti::vtu {
namespace {

constexpr std::int8_t no_digit = -1;

constexpr std::array<std::int8_t, 256> base64_digits = [] {
  std::array<std::int8_t, 256> values{};
  values.fill(no_digit);
  const std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < digits.size(); ++i)
    values[static_cast<unsigned char>(digits[i])] = static_cast<std::int8_t>(i);
  return values;
}();

/// Where an array's bytes come from. A stream is what was encoded in one go: it begins on a group of four characters.
class Bytes {
 public:
  Bytes(TextSource& in, bool base64) : in_(in), base64_(base64) {}

  /// Bytes that can still follow at most.
  Size room() const { return base64_ ? in_.remaining() / 4 * 3 : in_.remaining(); }

  /// The next n bytes, one stream; they lie in the file or in `storage`.
  std::string_view take(Size n, std::string& storage) {
    if (n > room())
      in_.error(in_.position(), "{} bytes are announced, but at most {} follow; the file is truncated or damaged", n,
                room());
    if (base64_) return decode(static_cast<std::size_t>(n), storage);
    const std::string_view view(in_.position(), static_cast<std::size_t>(n));
    in_.move_to(in_.position() + n);
    return view;
  }

 private:
  /// The value of the next character; 0 for padding, which may stand only where no byte is wanted any more.
  std::uint32_t digit(bool wanted) {
    if (!in_.skip_blank()) {
      if (!wanted) return 0;
      in_.error(in_.position(), "the base64 text ends too early; the file is truncated");
    }
    const char c = in_.peek();
    const std::int8_t value = base64_digits[static_cast<unsigned char>(c)];
    if (value == no_digit && (wanted || c != '='))
      in_.error(in_.position(), "found '{}' in the base64 text; the file is damaged here",
                c > 32 && c < 127 ? std::string(1, c) : "?");
    in_.move_to(in_.position() + 1);
    return value == no_digit ? 0 : static_cast<std::uint32_t>(value);
  }

  std::string_view decode(std::size_t n, std::string& storage) {
    storage.resize(n);
    for (std::size_t done = 0; done < n; done += 3) {
      const std::size_t bytes = std::min<std::size_t>(3, n - done);
      std::uint32_t group = 0;
      for (std::size_t k = 0; k < 4; ++k) group = group << 6 | digit(k <= bytes);
      for (std::size_t k = 0; k < bytes; ++k) storage[done + k] = static_cast<char>(group >> (16 - 8 * k) & 255);
    }
    return storage;
  }

  TextSource& in_;
  bool base64_;
};

/// Number `i` of a header.
std::uint64_t word(std::string_view header, std::size_t i, const Coding& coding) {
  std::array<char, 8> bytes{};
  const auto width = static_cast<std::size_t>(coding.word);
  std::memcpy(bytes.data(), header.data() + i * width, width);
  if (coding.swap) std::reverse(bytes.begin(), bytes.begin() + coding.word);
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

void check_size(const TextSource& in, const char* at, std::uint64_t found, Size expected) {
  if (found != static_cast<std::uint64_t>(expected))
    in.error(at,
             "the array holds {} bytes, but {} are expected from its type, its components and the number of points "
             "or cells",
             found, expected);
}

struct Block {
  std::uint64_t packed, unpacked;
};

/// Blocks of a compressed array. Every number is checked before it counts for anything.
std::vector<Block> read_blocks(TextSource& in, Bytes& bytes, const Coding& coding, Size expected) {
  const char* start = in.position();
  std::string storage;
  const std::uint64_t count = word(bytes.take(coding.word, storage), 0, coding);
  if (count > static_cast<std::uint64_t>(bytes.room() / coding.word))
    in.error(start, "{} compressed blocks are announced, but only {} bytes follow; the file is truncated or damaged",
             count, bytes.room());
  in.move_to(start);
  const std::string_view header = bytes.take(static_cast<Size>(3 + count) * coding.word, storage);
  const std::uint64_t full = word(header, 1, coding), last = word(header, 2, coding);
  std::vector<Block> blocks(count);
  std::uint64_t packed = 0, unpacked = 0;
  for (std::size_t b = 0; b < count; ++b) {
    blocks[b] = {word(header, 3 + b, coding), b + 1 == count && last != 0 ? last : full};
    if (blocks[b].packed > static_cast<std::uint64_t>(bytes.room()) - packed)
      in.error(start, "block {} has {} compressed bytes, but only {} follow; the file is truncated or damaged", b,
               blocks[b].packed, static_cast<std::uint64_t>(bytes.room()) - packed);
    if (blocks[b].unpacked / largest_ratio > blocks[b].packed)
      in.error(start, "block {} claims {} bytes out of {} compressed ones; zlib packs at most {} to one", b,
               blocks[b].unpacked, blocks[b].packed, largest_ratio);
    packed += blocks[b].packed;
    unpacked += blocks[b].unpacked;
  }
  check_size(in, start, unpacked, expected);
  return blocks;
}

}  // namespace

std::string_view read_payload(TextSource& in, const Coding& coding, bool base64, Size expected, std::string& storage) {
  // An empty array has any header, or none.
  if (expected == 0) return {};
  if (base64) in.skip_blank();
  const char* start = in.position();
  Bytes bytes(in, base64);
  if (!coding.zlib) {
    check_size(in, start, word(bytes.take(coding.word, storage), 0, coding), expected);
    // Header and data are one stream.
    in.move_to(start);
    return bytes.take(coding.word + expected, storage).substr(static_cast<std::size_t>(coding.word));
  }
  const std::vector<Block> blocks = read_blocks(in, bytes, coding, expected);
  const char* data_start = in.position();
  std::uint64_t total = 0;
  for (const Block& block : blocks) total += block.packed;
  std::string packed_storage;
  const std::string_view packed = bytes.take(static_cast<Size>(total), packed_storage);
  storage.resize(expected);
  std::size_t from = 0, to = 0;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    uLongf size = blocks[b].unpacked;
    const int status = uncompress(reinterpret_cast<Bytef*>(storage.data() + to), &size,
                                  reinterpret_cast<const Bytef*>(packed.data() + from), blocks[b].packed);
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    if (status != Z_OK || size != blocks[b].unpacked)
      in.error(base64 ? data_start : data_start + from,
               "block {} does not unpack to its {} bytes (zlib status {}); the file is damaged", b, blocks[b].unpacked,
               status);
    from += blocks[b].packed;
    to += blocks[b].unpacked;
  }
  return storage;
}

}  // namespace tutti::vtu
