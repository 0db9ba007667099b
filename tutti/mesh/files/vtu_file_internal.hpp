// A VTK file of an unstructured grid, or of points: its XML and its arrays. Inside the mesh floor only.
#pragma once

#include <optional>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tutti/base/types.hpp"
#include "tutti/mesh/files/text_source.hpp"
#include "tutti/mesh/files/vtu_payload.hpp"

namespace tutti::vtu {

enum class NumberType { i8, u8, i16, u16, i32, u32, i64, u64, f32, f64 };

/// What a DataArray element says about its array.
struct Array {
  pugi::xml_node node;
  std::string name;
  std::optional<NumberType> type;  ///< none: no numbers (String, Bit)
  Size components = 1;

  bool is_integer() const { return type && *type != NumberType::f32 && *type != NumberType::f64; }
};

/// What the file is read for: an UnstructuredGrid with cells, or the points of one or of PolyData.
enum class Wanted { mesh, points };

class File {
 public:
  /// Parses the XML. The bytes must outlive the file.
  File(std::string_view bytes, const std::string& name, Wanted wanted = Wanted::mesh);
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::string& name() const { return in_.name(); }
  pugi::xml_node grid() const { return grid_; }
  /// Of the whole file, for places.
  const TextSource& source() const { return in_; }
  const char* place_of(pugi::xml_node node) const;
  /// Child of `parent` by element name; it must be there.
  pugi::xml_node child(pugi::xml_node parent, const char* element) const;
  /// A count among the attributes of an element, checked against what a file of this size can hold.
  Size count(pugi::xml_node node, const char* attribute) const;
  Array describe(pugi::xml_node data_array) const;
  /// The array `array_name` (any name if null) of an element such as Cells, which must have it.
  Array find(pugi::xml_node parent, const char* array_name) const;

  /// All tuples * components values. Errors: another number of them; for integers, an array of real numbers.
  std::vector<double> reals(const Array& array, Size tuples);
  std::vector<Size> integers(const Array& array, Size tuples);

  template <class... Args>
  [[noreturn]] void error(pugi::xml_node node, fmt::format_string<Args...> format, Args&&... args) const {
    in_.error(place_of(node), format, std::forward<Args>(args)...);
  }
  template <class... Args>
  [[noreturn]] void error(const Array& array, fmt::format_string<Args...> format, Args&&... args) const {
    in_.error(place_of(array.node), "'{}': {}", array.name, fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  void parse(std::string_view bytes);
  void read_coding(pugi::xml_node root);
  template <class T>
  std::vector<T> values(const Array& array, Size tuples);
  template <class T>
  void read_text(TextSource& in, Size n, std::vector<T>& out) const;
  /// Window on an array's text; true if it is there.
  bool open_inline(TextSource& in, const Array& array) const;
  bool open_appended(TextSource& in, const Array& array) const;

  TextSource in_;     ///< of the whole file: places
  std::string head_;  ///< the XML, where the document lies
  pugi::xml_document document_;
  pugi::xml_node grid_;
  Coding coding_;
  std::optional<std::size_t> appended_;  ///< first byte behind the underscore
  bool appended_base64_ = false;
  Size decoded_ = 0;  ///< bytes of all binary arrays read so far
};

}  // namespace tutti::vtu
