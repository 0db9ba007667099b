// A VTK file of an unstructured grid, or of points: its XML and its arrays. Inside the mesh floor only.
#pragma once

#include <array>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tutti/base/types.hpp"
#include "tutti/base/vec3.hpp"
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

/// A piece's cells: the points of cell c are connectivity[ends[c - 1] .. ends[c]).
struct Cells {
  Array connectivity_array, types_array;
  std::vector<Size> types, ends, connectivity;
};

/// Cell data that may hold the tags; the first one that is there counts.
inline constexpr std::array<std::string_view, 4> tag_names = {"region", "CellEntityIds", "gmsh:physical", "medit:ref"};

/// What the file is read for: an UnstructuredGrid with cells, the points of one or of PolyData, or the values of any
/// grid.
enum class Wanted { mesh, points, values };

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

  /// The points of a piece that has `n`. Errors: no finite numbers, other than 3 components.
  std::vector<Vec3> piece_points(pugi::xml_node piece, Size n);
  /// The cells of a piece that has `n`. Errors: ends that do not ascend.
  Cells piece_cells(pugi::xml_node piece, Size n);
  /// The tag of a cell among the values of `array`. Errors: a number other than 0 to 2147483645.
  std::int32_t tag(const Array& array, const std::vector<Size>& values, std::size_t cell) const;
  /// Fails where an array of ghost marks has any.
  void refuse_ghosts(const Array& array, Size cells);
  /// Whether the file's format is older than `major`.`minor`; files without a version are the oldest.
  bool is_older_than(int major, int minor) const;

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
