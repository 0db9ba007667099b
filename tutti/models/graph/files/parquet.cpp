#include "tutti/models/graph/files/parquet.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

namespace tutti::graph {
namespace {

static_assert(std::endian::native == std::endian::little, "Parquet's plain values are written as they lie in memory");

/// Thrift's compact protocol: a field is its distance from the last one and its type in a byte, and whole numbers are
/// zigzag varints. Ours are at most 15 fields apart.
class Compact {
 public:
  Compact& i32(int field, std::int32_t value) { return head(field, 5).number(value); }
  Compact& i64(int field, std::int64_t value) { return head(field, 6).number(value); }
  Compact& text(int field, const std::string& value) { return head(field, 8).bare_text(value); }
  Compact& begin_struct(int field) { return head(field, 12).begin_element(); }
  Compact& begin_structs(int field, std::size_t count) { return head(field, 9).list_head(12, count); }
  Compact& numbers(int field, std::initializer_list<std::int32_t> values) {
    head(field, 9).list_head(5, values.size());
    for (const std::int32_t value : values) number(value);
    return *this;
  }
  Compact& texts(int field, std::initializer_list<std::string> values) {
    head(field, 9).list_head(8, values.size());
    for (const std::string& value : values) bare_text(value);
    return *this;
  }
  /// An element of a list of structs.
  Compact& begin_element() {
    last_.push_back(0);
    return *this;
  }
  Compact& end_struct() {
    last_.pop_back();
    bytes_ += '\0';
    return *this;
  }
  /// The outermost struct ends, too.
  std::string finish() && { return std::move(end_struct().bytes_); }

 private:
  Compact& head(int field, int type) {
    bytes_ += static_cast<char>((field - last_.back()) << 4 | type);
    last_.back() = field;
    return *this;
  }
  Compact& list_head(int type, std::size_t count) {
    bytes_ += static_cast<char>(std::min<std::size_t>(count, 15) << 4 | static_cast<unsigned>(type));
    if (count >= 15) varint(count);
    return *this;
  }
  Compact& number(std::int64_t value) {
    varint(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
    return *this;
  }
  Compact& bare_text(const std::string& value) {
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
  std::vector<int> last_{0};  ///< field of each struct that is open
};

// Words of parquet.thrift.
constexpr std::int32_t type_int64 = 2, type_double = 5, required = 0, plain = 0, rle = 3, uncompressed = 0,
                       data_page = 0;

std::int32_t type_of(const ParquetColumn& column) {
  return column.values.index() == 0 ? type_int64 : type_double;
}

/// Where the values of a column and group stand.
struct Chunk {
  std::size_t rows, begin, bytes;
};

/// One page: its header and the values.
Chunk append_page(std::string& file, const ParquetColumn& column, std::size_t first, std::size_t rows) {
  const auto bytes = static_cast<std::int32_t>(rows * 8);
  Compact header;
  header.i32(1, data_page).i32(2, bytes).i32(3, bytes).begin_struct(5);
  header.i32(1, static_cast<std::int32_t>(rows)).i32(2, plain).i32(3, rle).i32(4, rle).end_struct();
  const std::size_t begin = file.size();
  file += std::move(header).finish();
  std::visit([&](auto v) { file.append(reinterpret_cast<const char*>(v.data() + first), rows * 8); }, column.values);
  return {rows, begin, file.size() - begin};
}

void append_chunk(Compact& meta, const ParquetColumn& column, const Chunk& chunk) {
  const auto begin = static_cast<std::int64_t>(chunk.begin), bytes = static_cast<std::int64_t>(chunk.bytes);
  meta.begin_element().i64(2, begin).begin_struct(3);
  meta.i32(1, type_of(column)).numbers(2, {plain}).texts(3, {column.name}).i32(4, uncompressed);
  meta.i64(5, static_cast<std::int64_t>(chunk.rows)).i64(6, bytes).i64(7, bytes).i64(9, begin);
  meta.end_struct().end_struct();
}

}  // namespace

std::string parquet_of(std::span<const ParquetColumn> columns, std::size_t group) {
  const std::size_t rows = columns.empty() ? 0 : columns.front().size();
  std::string file = "PAR1";
  file.reserve(rows * 8 * columns.size() + 4096);
  std::vector<std::vector<Chunk>> groups;
  for (std::size_t first = 0; first < rows; first += group) {
    groups.emplace_back();
    for (const ParquetColumn& column : columns)
      groups.back().push_back(append_page(file, column, first, std::min(group, rows - first)));
  }
  Compact meta;
  meta.i32(1, 1).begin_structs(2, columns.size() + 1);
  meta.begin_element().text(4, "schema").i32(5, static_cast<std::int32_t>(columns.size())).end_struct();
  for (const ParquetColumn& column : columns)
    meta.begin_element().i32(1, type_of(column)).i32(3, required).text(4, column.name).end_struct();
  meta.i64(3, static_cast<std::int64_t>(rows)).begin_structs(4, groups.size());
  for (const std::vector<Chunk>& chunks : groups) {
    std::size_t bytes = 0;
    meta.begin_element().begin_structs(1, columns.size());
    for (std::size_t c = 0; c < columns.size(); ++c) {
      append_chunk(meta, columns[c], chunks[c]);
      bytes += chunks[c].bytes;
    }
    meta.i64(2, static_cast<std::int64_t>(bytes)).i64(3, static_cast<std::int64_t>(chunks.front().rows)).end_struct();
  }
  const std::string footer = std::move(meta).finish();
  const auto length = std::bit_cast<std::array<char, 4>>(static_cast<std::uint32_t>(footer.size()));
  return file.append(footer).append(length.data(), length.size()).append("PAR1");
}

}  // namespace tutti::graph
