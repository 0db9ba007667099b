// The format: "HDF5 File Format Specification Version 3.0", The HDF Group: superblock 0 (II.A), B-trees 1 (III.A.1),
// symbol tables (III.B, III.C), local heaps (III.D), object headers 1 (IV.A.1.a) and their messages (IV.A.2).
#include "tutti/io/checkpoint/checkpoint_layout.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "tutti/base/error.hpp"
#include "tutti/io/checkpoint/checkpoint_header.hpp"

namespace tutti {
namespace {

static_assert(std::endian::native == std::endian::little, "checkpoints are little-endian");

/// Addresses in the file count from behind the user block, tutti's header.
constexpr Size base = checkpoint_header_bytes;
constexpr std::uint64_t undefined = std::numeric_limits<std::uint64_t>::max();
// Far more than a model needs; they bound what a forged file can ask for.
constexpr Size max_arrays = 10000, max_nodes = 2000, longest_header = 1 << 16, longest_heap = 1 << 20;

enum Message : std::uint16_t {
  nil = 0x00,
  dataspace = 0x01,
  datatype = 0x03,
  old_fill_value = 0x04,
  fill_value = 0x05,
  data_layout = 0x08,
  continuation = 0x10,
  symbol_table = 0x11,
  modified = 0x12,
};

/// A piece of the file in memory, with its place for messages.
struct Piece {
  std::vector<char> bytes;
  Size offset = 0;
};

class Layout {
 public:
  Layout(const ReadBytes& read, Size end, const std::string& name) : read_(read), end_(end), name_(name) {}

  std::map<std::string, CheckpointArray> run() {
    constexpr std::array<unsigned char, 16> start{0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n', 0, 0, 0, 0, 0, 8, 8, 0};
    const Piece superblock = take(0, 96);
    if (std::memcmp(superblock.bytes.data(), start.data(), start.size()) != 0 ||
        number<std::uint64_t>(superblock, 24) != static_cast<std::uint64_t>(base) ||
        number<std::uint64_t>(superblock, 48) != undefined)
      refuse(base, "the superblock is another one");
    group(number<std::uint64_t>(superblock, 64), "", 0);
    return std::move(arrays_);
  }

 private:
  [[noreturn]] void refuse(Size at, const std::string& what) const {
    fail(ErrorKind::input, "{}: byte {}: {}: this checkpoint was not written by this tutti; use one that was", name_,
         at, what);
  }

  /// `count` bytes at an address.
  Piece take(std::uint64_t address, Size count) const {
    const auto room = static_cast<std::uint64_t>(end_ - base);
    if (end_ < base || address > room || static_cast<std::uint64_t>(count) > room - address)
      refuse(base, fmt::format("{} bytes at address {} are outside of the file", count, address));
    Piece piece{std::vector<char>(count), base + static_cast<Size>(address)};
    if (read_(piece.bytes, piece.offset) != piece.bytes.size()) refuse(piece.offset, "the file ends");
    return piece;
  }
  template <class T>
  T number(const Piece& piece, std::size_t at) const {
    T value{};
    if (at > piece.bytes.size() || sizeof(T) > piece.bytes.size() - at) refuse(piece.offset, "a record is cut off");
    std::memcpy(&value, piece.bytes.data() + at, sizeof(T));
    return value;
  }
  void expect_signature(const Piece& piece, std::string_view signature, unsigned version) const {
    if (std::string_view(piece.bytes.data(), 4) != signature || number<std::uint8_t>(piece, 4) != version)
      refuse(piece.offset, fmt::format("no '{}' of version {} is there", signature, version));
  }

  /// The messages of the object header at an address, each type once.
  std::map<std::uint16_t, Piece> messages(std::uint64_t address) {
    const Piece head = take(address, 16);
    if (number<std::uint8_t>(head, 0) != 1) refuse(head.offset, "no object header of version 1 is there");
    std::map<std::uint16_t, Piece> found;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> blocks{{address + 16, number<std::uint32_t>(head, 8)}};
    Size taken = 0;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const auto [at, length] = blocks[b];
      if (length > static_cast<std::uint64_t>(longest_header - taken) || blocks.size() > 64)
        refuse(head.offset, "an object header is too long");
      taken += static_cast<Size>(length);
      const Piece block = take(at, static_cast<Size>(length));
      for (std::size_t k = 0; k + 8 <= block.bytes.size();) {
        const auto type = number<std::uint16_t>(block, k);
        const std::size_t size = number<std::uint16_t>(block, k + 2), body = k + 8;
        if ((number<std::uint8_t>(block, k + 4) & 2) != 0) refuse(block.offset, "a message is shared");
        if (size > block.bytes.size() - body) refuse(block.offset, "a message is cut off");
        const auto first = block.bytes.begin() + static_cast<std::ptrdiff_t>(body);
        Piece one{{first, first + static_cast<std::ptrdiff_t>(size)}, block.offset + static_cast<Size>(body)};
        k = body + size;
        if (type == continuation) {
          blocks.emplace_back(number<std::uint64_t>(one, 0), number<std::uint64_t>(one, 8));
        } else if (type == dataspace || type == datatype || type == data_layout || type == symbol_table) {
          if (!found.emplace(type, std::move(one)).second) refuse(block.offset, "a message is there twice");
        } else if (type != nil && type != old_fill_value && type != fill_value && type != modified) {
          refuse(block.offset, fmt::format("a message of type {} is there", type));
        }
      }
    }
    return found;
  }

  /// The object at an address: a group in the root group, or an array.
  void object(std::uint64_t address, const std::string& path, int depth) {
    const auto all = messages(address);
    if (all.count(symbol_table) == 0) return array(all, path);
    if (depth != 1 || all.size() != 1) refuse(base, "/" + path + " is no group that tutti makes");
    group(address, path + "/", depth);
  }

  void group(std::uint64_t address, const std::string& path, int depth) {
    const auto all = messages(address);
    const auto table = all.find(symbol_table);
    if (table == all.end() || all.size() != 1) refuse(base, "/" + path + " is no group");
    const Piece heap = take(number<std::uint64_t>(table->second, 8), 32);
    expect_signature(heap, "HEAP", 0);
    const auto length = number<std::uint64_t>(heap, 8);
    if (length > static_cast<std::uint64_t>(longest_heap)) refuse(heap.offset, "the names are too long");
    const Piece names = take(number<std::uint64_t>(heap, 24), static_cast<Size>(length));
    tree(number<std::uint64_t>(table->second, 0), {}, names, path, depth);
  }

  /// A node of the tree of names; its children are one level lower, so that there is an end.
  void tree(std::uint64_t address, std::optional<int> expected_level, const Piece& names, const std::string& path,
            int depth) {
    if (++nodes_ > max_nodes) refuse(base, "there are too many names");
    const Piece head = take(address, 24);
    expect_signature(head, "TREE", 0);  // the node's type: names
    const int level = number<std::uint8_t>(head, 5), used = number<std::uint16_t>(head, 6);
    if (level > 8 || (expected_level && level != *expected_level)) refuse(head.offset, "the tree of names is no tree");
    const Piece keys = take(address + 24, 8 + Size{16} * used);
    for (int k = 0; k < used; ++k) {
      const auto child = number<std::uint64_t>(keys, 8 + 16 * static_cast<std::size_t>(k));
      if (level > 0)
        tree(child, level - 1, names, path, depth);
      else
        symbols(child, names, path, depth);
    }
  }

  void symbols(std::uint64_t address, const Piece& names, const std::string& path, int depth) {
    if (++nodes_ > max_nodes) refuse(base, "there are too many names");
    const Piece head = take(address, 8);
    expect_signature(head, "SNOD", 1);
    const int count = number<std::uint16_t>(head, 6);
    const Piece entries = take(address + 8, Size{40} * count);
    for (int k = 0; k < count; ++k) {
      const std::size_t at = 40 * static_cast<std::size_t>(k);
      const auto place = number<std::uint64_t>(entries, at);
      if (place >= names.bytes.size()) refuse(entries.offset, "a name is outside of the heap");
      const char* first = names.bytes.data() + place;
      const std::size_t length = ::strnlen(first, names.bytes.size() - static_cast<std::size_t>(place));
      const std::string name(first, length);
      if (place + length >= names.bytes.size() || name.empty() || name.find('/') != std::string::npos)
        refuse(names.offset, "a name is no name");
      if (number<std::uint32_t>(entries, at + 16) > 1) refuse(entries.offset, "a link is there");  // 2: symbolic
      object(number<std::uint64_t>(entries, at + 8), path + name, depth + 1);
    }
  }

  std::vector<Size> shape_of(const Piece& space) const {
    const auto rank = static_cast<std::size_t>(number<std::uint8_t>(space, 1));
    const auto flags = number<std::uint8_t>(space, 2);
    if (number<std::uint8_t>(space, 0) != 1 || rank > 2 || (flags & ~1) != 0)
      refuse(space.offset, "a shape is no shape");
    std::vector<Size> shape;
    for (std::size_t d = 0; d < rank; ++d) {
      const auto extent = number<std::uint64_t>(space, 8 + 8 * d);
      if (extent > static_cast<std::uint64_t>(std::numeric_limits<Size>::max()) ||
          (flags != 0 && number<std::uint64_t>(space, 8 + 8 * (rank + d)) != extent))
        refuse(space.offset, "a shape is no shape");
      shape.push_back(static_cast<Size>(extent));
    }
    return shape;
  }

  /// Of a text, its length is set, too.
  CheckpointType type_of(const Piece& type, Size& text_bytes) const {
    constexpr std::array<unsigned char, 12> integer{0x10, 8, 0, 0, 8, 0, 0, 0, 0, 0, 64, 0};
    constexpr std::array<unsigned char, 20> real{0x11, 0x20, 0x3f, 0,  8, 0,  0,    0, 0, 0,
                                                 64,   0,    52,   11, 0, 52, 0xff, 3, 0, 0};
    const auto is = [&](const auto& known) {
      return type.bytes.size() >= known.size() && std::memcmp(type.bytes.data(), known.data(), known.size()) == 0;
    };
    if (is(integer)) return CheckpointType::integer;
    if (is(real)) return CheckpointType::real;
    text_bytes = number<std::uint32_t>(type, 4);
    if (number<std::uint8_t>(type, 0) != 0x13 || text_bytes < 1)
      refuse(type.offset, "a type is no type that tutti writes");
    return CheckpointType::text;
  }

  void array(const std::map<std::uint16_t, Piece>& all, const std::string& path) {
    if (all.count(dataspace) == 0 || all.count(datatype) == 0 || all.count(data_layout) == 0)
      refuse(base, "/" + path + " is no array");
    CheckpointArray result;
    Size length = 8;
    result.type = type_of(all.at(datatype), length);
    result.shape = shape_of(all.at(dataspace));
    if ((result.type == CheckpointType::text) != result.shape.empty())
      refuse(all.at(dataspace).offset, "/" + path + " has another shape");
    for (const Size extent : result.shape) {
      if (extent > 0 && length > (end_ - base) / extent) refuse(base, "/" + path + " is larger than the file");
      length *= extent;
    }
    const Piece& layout = all.at(data_layout);
    const auto address = number<std::uint64_t>(layout, 2), bytes = number<std::uint64_t>(layout, 10);
    if (number<std::uint8_t>(layout, 0) != 3 || number<std::uint8_t>(layout, 1) != 1 ||
        bytes != static_cast<std::uint64_t>(length))
      refuse(layout.offset, "/" + path + " does not lie in one piece of its size");
    result.bytes = length;
    const auto room = static_cast<std::uint64_t>(end_ - base);
    if (length > 0) {
      if (address > room || bytes > room - address) refuse(layout.offset, "/" + path + " is outside of the file");
      result.offset = base + static_cast<Size>(address);
    }
    if (static_cast<Size>(arrays_.size()) >= max_arrays || !arrays_.emplace(path, std::move(result)).second)
      refuse(base, "/" + path + " is there twice");
  }

  const ReadBytes& read_;
  Size end_;
  const std::string& name_;
  Size nodes_ = 0;
  std::map<std::string, CheckpointArray> arrays_;
};

}  // namespace

std::map<std::string, CheckpointArray> read_checkpoint_layout(const ReadBytes& read, Size end,
                                                              const std::string& name) {
  return Layout(read, end, name).run();
}

}  // namespace tutti
