#include "tutti/mesh/files/vtu_file_internal.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <type_traits>

#include "tutti/mesh/tet_checks.hpp"

namespace tutti::vtu {
namespace {

static_assert(std::endian::native == std::endian::little, "LittleEndian files are read without swapping");

constexpr std::array<std::string_view, 10> type_names = {"Int8",   "UInt8", "Int16",  "UInt16",  "Int32",
                                                         "UInt32", "Int64", "UInt64", "Float32", "Float64"};
constexpr std::array<int, 10> type_sizes = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};

std::optional<Size> parse_count(const char* text) {
  const char* end = text + std::strlen(text);
  while (text < end && *text == ' ') ++text;
  while (end > text && end[-1] == ' ') --end;
  Size value = 0;
  const auto [stop, code] = std::from_chars(text, end, value);
  if (code != std::errc() || stop != end || value < 0) return std::nullopt;
  return value;
}

/// An attribute as it may stand in a message.
std::string shown(const char* text) {
  std::string result(text, strnlen(text, 40));
  for (char& c : result)
    if (c < 32 || c == 127) c = '?';
  return result;
}

/// Appends the numbers in `bytes`. Returns the first one that the type To cannot hold, or -1.
template <class From, class To>
Size append_numbers(std::string_view bytes, bool swap, std::vector<To>& out) {
  Size bad = -1;
  for (std::size_t i = 0; i + sizeof(From) <= bytes.size(); i += sizeof(From)) {
    std::array<char, sizeof(From)> raw;
    std::memcpy(raw.data(), bytes.data() + i, sizeof(From));
    if (swap) std::reverse(raw.begin(), raw.end());
    const auto value = std::bit_cast<From>(raw);
    if constexpr (std::is_same_v<From, std::uint64_t> && std::is_same_v<To, Size>)
      if (bad < 0 && value > static_cast<std::uint64_t>(std::numeric_limits<Size>::max()))
        bad = static_cast<Size>(i / sizeof(From));
    out.push_back(static_cast<To>(value));
  }
  return bad;
}

template <class To>
Size append_typed(NumberType type, std::string_view bytes, bool swap, std::vector<To>& out) {
  switch (type) {
    case NumberType::i8:
      return append_numbers<std::int8_t>(bytes, swap, out);
    case NumberType::u8:
      return append_numbers<std::uint8_t>(bytes, swap, out);
    case NumberType::i16:
      return append_numbers<std::int16_t>(bytes, swap, out);
    case NumberType::u16:
      return append_numbers<std::uint16_t>(bytes, swap, out);
    case NumberType::i32:
      return append_numbers<std::int32_t>(bytes, swap, out);
    case NumberType::u32:
      return append_numbers<std::uint32_t>(bytes, swap, out);
    case NumberType::i64:
      return append_numbers<std::int64_t>(bytes, swap, out);
    case NumberType::u64:
      return append_numbers<std::uint64_t>(bytes, swap, out);
    case NumberType::f32:
      if constexpr (std::is_same_v<To, double>) return append_numbers<float>(bytes, swap, out);
      break;
    case NumberType::f64:
      if constexpr (std::is_same_v<To, double>) return append_numbers<double>(bytes, swap, out);
      break;
  }
  return 0;
}

}  // namespace

File::File(std::string_view bytes, const std::string& name, Wanted wanted) : in_(bytes, name) {
  parse(bytes);
  const pugi::xml_node root = document_.document_element();
  if (std::strcmp(root.name(), "VTKFile") != 0)
    error(root, "the file begins with '{}'; a VTK file (VTKFile) is expected", shown(root.name()));
  const char* type = root.attribute("type").value();
  const bool points_only = wanted == Wanted::points && std::strcmp(type, "PolyData") == 0;
  if (wanted == Wanted::points && !points_only && std::strcmp(type, "UnstructuredGrid") != 0)
    error(root,
          "the file holds '{}'; PolyData or UnstructuredGrid is expected (ParaView: save the nodes as .vtp or .vtu)",
          shown(type));
  if (wanted == Wanted::mesh && std::strcmp(type, "UnstructuredGrid") != 0)
    error(root, "the file holds '{}'; UnstructuredGrid is expected (ParaView: save the mesh as .vtu)", shown(type));
  const bool grid = std::strcmp(type, "ImageData") == 0 || std::strcmp(type, "RectilinearGrid") == 0;
  if (wanted == Wanted::values && !grid && std::strcmp(type, "UnstructuredGrid") != 0)
    error(root, "the file holds '{}'; UnstructuredGrid, ImageData or RectilinearGrid is expected", shown(type));
  read_coding(root);
  grid_ = child(root, points_only || (grid && wanted == Wanted::values) ? type : "UnstructuredGrid");
  const pugi::xml_node appended = root.child("AppendedData");
  if (!appended) return;
  const std::string_view encoding = appended.attribute("encoding").value();
  if (encoding != "raw" && encoding != "base64")
    error(appended, "the encoding is '{}'; raw or base64 is expected", shown(appended.attribute("encoding").value()));
  appended_base64_ = encoding == "base64";
}

void File::parse(std::string_view bytes) {
  // Raw data are no XML: the parser gets what stands before them.
  const std::size_t mark = bytes.find("<AppendedData");
  head_ = bytes.substr(0, mark);
  if (mark != std::string_view::npos) {
    const std::size_t close = bytes.find('>', mark);
    if (close == std::string_view::npos)
      in_.error(bytes.data() + mark, "the element AppendedData does not end; the file is truncated");
    head_ += bytes.substr(mark, close + 1 - mark);
    head_ += "</AppendedData></VTKFile>";
    std::size_t first = close + 1;
    while (first < bytes.size() && std::string_view(" \t\r\n").find(bytes[first]) != std::string_view::npos) ++first;
    if (first == bytes.size() || bytes[first] != '_')
      in_.error(
          bytes.data() + first, "found {}, but an underscore must come before the appended data",
          first == bytes.size() ? std::string("the end of the file") : "'" + in_.excerpt(bytes.data() + first) + "'");
    appended_ = first + 1;
  }
  const auto result =
      document_.load_buffer_inplace(head_.data(), head_.size(), pugi::parse_escapes, pugi::xml_encoding::encoding_utf8);
  if (result.status == pugi::status_out_of_memory) throw std::bad_alloc();
  if (result) return;
  const auto at = std::min(static_cast<std::size_t>(std::max<std::ptrdiff_t>(result.offset, 0)), bytes.size());
  in_.error(bytes.data() + at, "not a VTK file, or truncated or damaged here (XML: {})", result.description());
}

void File::read_coding(pugi::xml_node root) {
  const auto order = root.attribute("byte_order");
  const std::string_view order_name = order ? order.value() : "LittleEndian";
  if (order_name != "LittleEndian" && order_name != "BigEndian")
    error(root, "the byte order is '{}'; LittleEndian or BigEndian is expected", shown(order.value()));
  coding_.swap = order_name == "BigEndian";
  const auto header = root.attribute("header_type");
  const std::string_view header_name = header ? header.value() : "UInt32";
  if (header_name != "UInt32" && header_name != "UInt64")
    error(root, "the header type is '{}'; UInt32 or UInt64 is expected", shown(header.value()));
  coding_.word = header_name == "UInt64" ? 8 : 4;
  const auto compressor = root.attribute("compressor");
  const std::string_view compressor_name = compressor.value();
  if (!compressor_name.empty() && compressor_name != "vtkZLibDataCompressor")
    error(root, "the compressor is '{}'; save with zlib or without compression (ParaView: Compressor Type)",
          shown(compressor.value()));
  coding_.zlib = !compressor_name.empty();
}

const char* File::place_of(pugi::xml_node node) const {
  const std::ptrdiff_t offset = node ? node.offset_debug() : 0;
  return in_.bytes().data() +
         std::min(static_cast<std::size_t>(std::max<std::ptrdiff_t>(offset, 0)), in_.bytes().size());
}

pugi::xml_node File::child(pugi::xml_node parent, const char* element) const {
  const pugi::xml_node found = parent.child(element);
  if (!found) error(parent, "the element {} has no element {}; the file is incomplete", parent.name(), element);
  return found;
}

Size File::count(pugi::xml_node node, const char* attribute) const {
  const char* text = node.attribute(attribute).value();
  const auto value = parse_count(text);
  if (!value) error(node, "{} is '{}'; a whole number is expected", attribute, shown(text));
  // Each point or cell needs at least a byte.
  const auto room = static_cast<Size>(in_.bytes().size());
  if (*value / largest_ratio > room)
    error(node, "{} is {}, but the file has only {} bytes; the number is wrong or the file truncated", attribute,
          *value, room);
  return *value;
}

Array File::describe(pugi::xml_node data_array) const {
  Array array;
  array.node = data_array;
  array.name = data_array.attribute("Name").value();
  if (array.name.empty()) array.name = data_array.name();
  const auto type =
      std::find(type_names.begin(), type_names.end(), std::string_view(data_array.attribute("type").value()));
  if (type != type_names.end()) array.type = static_cast<NumberType>(type - type_names.begin());
  const auto components = data_array.attribute("NumberOfComponents");
  if (components) {
    const auto value = parse_count(components.value());
    if (!value) error(array, "NumberOfComponents is '{}'; a whole number is expected", shown(components.value()));
    array.components = std::max<Size>(*value, 1);
  }
  return array;
}

Array File::find(pugi::xml_node parent, const char* array_name) const {
  for (const pugi::xml_node node : parent.children("DataArray")) {
    if (array_name != nullptr && std::strcmp(node.attribute("Name").value(), array_name) != 0) continue;
    return describe(node);
  }
  error(parent, "the element {} has no DataArray{}; the file is incomplete", parent.name(),
        array_name == nullptr ? std::string() : fmt::format(" '{}'", array_name));
}

bool File::open_inline(TextSource& in, const Array& array) const {
  // An array's text may stand before or behind child elements such as InformationKey.
  pugi::xml_node text;
  for (const pugi::xml_node part : array.node.children()) {
    if (part.type() != pugi::node_pcdata) continue;
    if (text) error(array, "the text is in several pieces; one is expected");
    text = part;
  }
  if (!text) return false;
  const auto first = static_cast<std::size_t>(place_of(text) - in_.bytes().data());
  const std::size_t close = in_.bytes().find('<', first);
  in.window(first, (close == std::string_view::npos ? in_.bytes().size() : close) - first);
  return in.skip_blank();
}

bool File::open_appended(TextSource& in, const Array& array) const {
  if (!appended_) error(array, "the array is appended, but there is no element AppendedData; the file is truncated");
  const char* text = array.node.attribute("offset").value();
  const auto offset = parse_count(text);
  if (!offset) error(array, "the offset is '{}'; a whole number is expected", shown(text));
  const std::size_t room = in_.bytes().size() - *appended_;
  if (static_cast<std::size_t>(*offset) >= room)
    error(array, "the offset is {}, but only {} bytes of appended data follow; the file is truncated", *offset, room);
  in.binary = true;
  const std::size_t first = *appended_ + static_cast<std::size_t>(*offset);
  const std::size_t close = appended_base64_ ? in_.bytes().find('<', first) : std::string_view::npos;
  in.window(first, (close == std::string_view::npos ? in_.bytes().size() : close) - first);
  return true;
}

template <class T>
void File::read_text(TextSource& in, Size n, std::vector<T>& out) const {
  if (n > in.remaining() / 2 + 1)
    in.error(in.position(), "{} numbers are expected, but only {} bytes of text follow", n, in.remaining());
  out.reserve(n);
  for (Size i = 0; i < n; ++i) {
    in.skip_blank();
    if constexpr (std::is_same_v<T, double>)
      out.push_back(in.text_real("a number"));
    else
      out.push_back(in.text_integer("a whole number"));
  }
  if (in.skip_blank())
    in.error(in.position(), "found '{}' after the {} numbers that are expected", in.excerpt(in.position()), n);
}

template <class T>
std::vector<T> File::values(const Array& array, Size tuples) {
  if (!array.type)
    error(array, "'{}' is not a numeric type; {} is expected", shown(array.node.attribute("type").value()),
          fmt::join(type_names, ", "));
  if (!std::is_same_v<T, double> && !array.is_integer())
    error(array, "the numbers are {}; an integer type is expected", type_names[static_cast<std::size_t>(*array.type)]);
  // So that no product below leaves 64 bits; nothing that is read has more.
  if (array.components > 9) error(array, "{} components; at most 9 are expected", array.components);
  if (tuples / largest_ratio > static_cast<Size>(in_.bytes().size()))
    error(array, "{} numbers are expected, but the file has only {} bytes", tuples, in_.bytes().size());
  const Size n = tuples * array.components;
  std::vector<T> out;
  TextSource in = in_;
  in.context = fmt::format("'{}': ", array.name);
  const std::string_view format = array.node.attribute("format") ? array.node.attribute("format").value() : "ascii";
  if (format == "ascii") {
    const bool has_text = open_inline(in, array);
    if (!has_text && n > 0) error(array, "there are no numbers; {} are expected", n);
    if (has_text) read_text(in, n, out);
    return out;
  }
  if (format != "binary" && format != "appended")
    error(array, "the format is '{}'; ascii, binary or appended is expected",
          shown(array.node.attribute("format").value()));
  if (n == 0) return out;
  const bool appended = format == "appended";
  if (!(appended ? open_appended(in, array) : open_inline(in, array)))
    error(array, "there are no numbers; {} are expected", n);
  // Several arrays may point to the same bytes: together they may not hold more than the file can.
  const Size bytes = n * type_sizes[static_cast<std::size_t>(*array.type)];
  decoded_ += bytes;
  if (decoded_ / largest_ratio > static_cast<Size>(in_.bytes().size()))
    error(array, "with this array, the arrays hold {} bytes; a file of {} bytes cannot; the file is damaged", decoded_,
          in_.bytes().size());
  std::string storage;
  const std::string_view payload = read_payload(in, coding_, appended ? appended_base64_ : true, bytes, storage);
  out.reserve(n);
  const Size bad = append_typed(*array.type, payload, coding_.swap, out);
  if (bad >= 0) error(array, "number {} is too large for 63 bits; at most 2^63 - 1 is expected", bad);
  return out;
}

std::vector<double> File::reals(const Array& array, Size tuples) {
  return values<double>(array, tuples);
}

std::vector<Size> File::integers(const Array& array, Size tuples) {
  return values<Size>(array, tuples);
}

std::vector<Vec3> File::piece_points(pugi::xml_node piece, Size n) {
  const Array array = find(child(piece, "Points"), nullptr);
  if (array.components != 3) error(array, "points of {} components; 3 are expected", array.components);
  const std::vector<double> values = reals(array, n);
  std::vector<Vec3> points;
  points.reserve(values.size() / 3);
  for (std::size_t i = 0; i + 3 <= values.size(); i += 3) {
    const Vec3 point{values[i], values[i + 1], values[i + 2]};
    if (!is_finite(point))
      error(array, "point {} has the coordinates {} {} {}; finite numbers are expected", i / 3, point.x, point.y,
            point.z);
    points.push_back(point);
  }
  return points;
}

Cells File::piece_cells(pugi::xml_node piece, Size n) {
  const pugi::xml_node cells = child(piece, "Cells");
  Cells c;
  c.connectivity_array = find(cells, "connectivity");
  const Array offsets_array = find(cells, "offsets");
  c.types_array = find(cells, "types");
  for (const Array* array : std::initializer_list<const Array*>{&c.connectivity_array, &offsets_array, &c.types_array})
    if (array->components != 1) error(*array, "{} components; 1 is expected", array->components);
  c.types = integers(c.types_array, n);
  c.ends = integers(offsets_array, n);
  Size before = 0;
  for (std::size_t i = 0; i < c.ends.size(); ++i) {
    if (c.ends[i] < before)
      error(offsets_array, "cell {} ends at {}, before {}; offsets must ascend from 0", i, c.ends[i], before);
    before = c.ends[i];
  }
  c.connectivity = integers(c.connectivity_array, before);
  return c;
}

std::int32_t File::tag(const Array& array, const std::vector<Size>& values, std::size_t cell) const {
  // The largest number stays free: a writer may need a number for cells without a region.
  if (values[cell] < 0 || values[cell] >= std::numeric_limits<std::int32_t>::max() - 1)
    error(array, "cell {} has the tag {}; 0 to 2147483645 is expected", cell, values[cell]);
  return static_cast<std::int32_t>(values[cell]);
}

void File::refuse_ghosts(const Array& array, Size cells) {
  const std::vector<Size> ghosts = integers(array, cells);
  const auto ghost = std::find_if(ghosts.begin(), ghosts.end(), [](Size g) { return g != 0; });
  if (ghost != ghosts.end())
    error(array, "cell {} is a ghost of another piece; save the mesh as one file without ghost cells",
          ghost - ghosts.begin());
}

bool File::is_older_than(int major, int minor) const {
  const std::string_view text = document_.document_element().attribute("version").value();
  int has_major = 0, has_minor = 0;
  const char* end = text.data() + text.size();
  const auto [dot, code] = std::from_chars(text.data(), end, has_major);
  if (code == std::errc() && dot < end && *dot == '.') std::from_chars(dot + 1, end, has_minor);
  return std::pair(has_major, has_minor) < std::pair(major, minor);
}

}  // namespace tutti::vtu
