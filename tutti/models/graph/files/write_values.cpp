#include "tutti/models/graph/files/write_values.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <numeric>
#include <optional>
#include <span>

#include "tutti/models/graph/files/parquet.hpp"

namespace tutti::graph {
namespace {

static_assert(std::endian::native == std::endian::little, "NumPy's arrays are written as they lie in memory");

template <class T>
void append(std::string& bytes, const T& value) {
  char raw[sizeof(T)];
  std::memcpy(raw, &value, sizeof(T));
  bytes.append(raw, sizeof(T));
}
template <class T>
void append_all(std::string& bytes, std::span<const T> values) {
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
}

/// The header of version 1.0 of the format: its length is a multiple of 64, so that values are aligned.
std::string npy_header(const std::string& type, std::size_t count) {
  std::string text = fmt::format("{{'descr': {}, 'fortran_order': False, 'shape': ({},), }}", type, count);
  constexpr std::size_t fixed = 10, align = 64;
  text.resize((fixed + text.size() + 1 + align - 1) / align * align - fixed - 1, ' ');
  text += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  append(bytes, static_cast<std::uint16_t>(text.size()));
  return bytes + text;
}

std::vector<Gid> names_of(const VertexValues& v) {
  std::vector<Gid> names(v.size());
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = v.names.of(static_cast<Vertex>(i));
  return names;
}

const char* type_of(const VertexValues& v) {
  return v.labels.empty() ? "'<f8'" : "'<i8'";
}

/// Files stored in a zip archive as they are, with its numbers of 64 bits. The same bytes whenever it is written.
class ZipArchive {
 public:
  void add(const std::string& name, const std::string& content) {
    const auto begin = static_cast<std::uint64_t>(bytes_.size());
    append(bytes_, std::uint32_t{0x04034b50});
    append_entry(bytes_, name, content, {});
    bytes_ += content;
    append(directory_, std::uint32_t{0x02014b50});
    append(directory_, reader);  // made by
    append_entry(directory_, name, content, begin);
    ++files_;
  }
  std::string finish() && {
    const auto begin = static_cast<std::uint64_t>(bytes_.size());
    const auto length = static_cast<std::uint64_t>(directory_.size());
    bytes_ += directory_;
    const auto end = static_cast<std::uint64_t>(bytes_.size());
    append(bytes_, std::uint32_t{0x06064b50});  // the end of the directory
    append(bytes_, std::uint64_t{44});
    append(bytes_, reader);
    append(bytes_, reader);
    append(bytes_, std::uint64_t{0});
    for (const std::uint64_t number : {files_, files_, length, begin}) append(bytes_, number);
    append(bytes_, std::uint32_t{0x07064b50});  // where that stands
    append(bytes_, std::uint32_t{0});
    append(bytes_, end);
    append(bytes_, std::uint32_t{1});
    append(bytes_, std::uint32_t{0x06054b50});  // the end as it was before there were 64 bits
    append(bytes_, std::uint32_t{0});
    append(bytes_, static_cast<std::uint16_t>(files_));
    append(bytes_, static_cast<std::uint16_t>(files_));
    append(bytes_, static_cast<std::uint32_t>(length));
    append(bytes_, elsewhere);
    append(bytes_, std::uint16_t{0});
    return std::move(bytes_);
  }

 private:
  static constexpr std::uint16_t reader = 45;                ///< version 4.5 of the format knows 64 bits
  static constexpr std::uint32_t elsewhere = 0xffffffffu;    ///< the number stands behind the name
  static constexpr std::uint32_t day = 1u << 21 | 1u << 16;  ///< 1 January 1980
  /// `begin`: of the file in the archive; in the directory only.
  static void append_entry(std::string& to, const std::string& name, const std::string& content,
                           std::optional<std::uint64_t> begin) {
    const auto size = static_cast<std::uint64_t>(content.size());
    append(to, reader);
    append(to, std::uint32_t{0});  // no flags, stored
    append(to, day);
    append(to, static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size())));
    append(to, elsewhere);
    append(to, elsewhere);
    append(to, static_cast<std::uint16_t>(name.size()));
    append(to, static_cast<std::uint16_t>(begin ? 28 : 20));
    if (begin) {
      to.append(10, '\0');  // no comment, first disk, attributes
      append(to, elsewhere);
    }
    to += name;
    append(to, std::uint16_t{1});
    append(to, static_cast<std::uint16_t>(begin ? 24 : 16));
    append(to, size);
    append(to, size);
    if (begin) append(to, *begin);
  }
  std::string bytes_, directory_;
  std::uint64_t files_ = 0;
};

}  // namespace

std::string csv_of(const VertexValues& v) {
  std::string text = fmt::format("vertex,{}\n", v.name);
  for (std::size_t i = 0; i < v.size(); ++i) {
    fmt::format_to(std::back_inserter(text), "{},", v.names.of(static_cast<Vertex>(i)));
    if (!v.labels.empty())
      fmt::format_to(std::back_inserter(text), "{}", v.labels[i]);
    else if (!std::isnan(v.values[i]))
      fmt::format_to(std::back_inserter(text), "{}", v.values[i]);
    text += '\n';
  }
  return text;
}

std::string npy_of(const VertexValues& v) {
  std::string bytes = npy_header(fmt::format("[('vertex', '<i8'), ('{}', {})]", v.name, type_of(v)), v.size());
  for (std::size_t i = 0; i < v.size(); ++i) {
    append(bytes, v.names.of(static_cast<Vertex>(i)));
    if (v.labels.empty())
      append(bytes, v.values[i]);
    else
      append(bytes, v.labels[i]);
  }
  return bytes;
}

std::string npz_of(const VertexValues& v) {
  const std::vector<Gid> names = names_of(v);
  std::string vertices = npy_header("'<i8'", v.size()), column = npy_header(type_of(v), v.size());
  append_all(vertices, std::span(names));
  append_all(column, std::span<const double>(v.values));
  append_all(column, std::span<const Gid>(v.labels));
  ZipArchive zip;
  zip.add("vertex.npy", vertices);
  zip.add(v.name + ".npy", column);
  return std::move(zip).finish();
}

std::string parquet_of(const VertexValues& v) {
  const std::vector<Gid> names = names_of(v);
  ParquetColumn column{v.name, std::span<const double>(v.values)};
  if (!v.labels.empty()) column.values = std::span<const Gid>(v.labels);
  return parquet_of(std::vector<ParquetColumn>{{"vertex", std::span<const Gid>(names)}, column});
}

void write_values(const VertexValues& values, const std::filesystem::path& path, Place place) {
  const std::string ending = path.extension().string();
  write_file(path,
             ending == ".npy"       ? npy_of(values)
             : ending == ".npz"     ? npz_of(values)
             : ending == ".parquet" ? parquet_of(values)
                                    : csv_of(values),
             place);
}

std::string top_list(const VertexValues& v, int count) {
  std::vector<std::size_t> order(v.values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto end = order.begin() + std::min<std::ptrdiff_t>(count, static_cast<std::ptrdiff_t>(order.size()));
  const auto value = [&](std::size_t i) { return std::isnan(v.values[i]) ? -1.0 : v.values[i]; };
  std::partial_sort(order.begin(), end, order.end(), [&](std::size_t a, std::size_t b) {
    return value(a) > value(b) || (value(a) == value(b) && a < b);
  });
  std::string text;
  for (auto i = order.begin(); i != end; ++i)
    fmt::format_to(std::back_inserter(text), "{}{:>20}  {}", text.empty() ? "" : "\n",
                   v.names.of(static_cast<Vertex>(*i)), v.values[*i]);
  return text;
}

}  // namespace tutti::graph
