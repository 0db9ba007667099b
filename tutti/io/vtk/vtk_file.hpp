// What VTK's XML files have in common: arrays with appended raw data, time, and series in time.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tutti/base/system/atomic_file.hpp"
#include "tutti/base/types.hpp"

namespace tutti {

/// A named array with `components` values a cell, cell-major. It does not own its values.
struct VtkArray {
  std::string name;
  int components = 1;
  std::variant<std::span<const double>, std::span<const float>, std::span<const std::int64_t>,
               std::span<const std::int32_t>>
      values;
};

struct VtkOptions {
  int level = 1;               ///< zlib, 0 to 9
  int threads = 1;             ///< that compress
  std::optional<double> time;  ///< written into the file as TimeValue
};

/// "Float64", "Float32", "Int64" or "Int32".
const char* vtk_type(const VtkArray& array);

/// An array compressed in zlib blocks (compress_blocks) and what its XML element says.
struct PackedArray {
  std::string name;
  const char* type;
  int components;
  std::string data;
};

/// The bytes of an array.
template <class Values>
std::span<const char> bytes_of(const Values& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(*values.data())};
}

/// `bytes` are little endian. Error(resource): no memory.
PackedArray pack_array(std::string name, const char* type, int components, std::span<const char> bytes,
                       const VtkOptions& options);
/// Arrays of `cells` cells (or points); another number of values is a std::logic_error.
std::vector<PackedArray> pack_cell_arrays(std::span<const VtkArray> arrays, Size cells, const VtkOptions& options);

/// A file of one data set, put together from its head to its end: 64-bit headers, little endian.
class AppendedFile {
 public:
  /// `type` is "UnstructuredGrid", ...; `attributes` of its element begin with a space, if there are any. `version`: of
  /// the format; 2.2 says that Lagrange hexahedra are numbered as since VTK 9.
  AppendedFile(std::string type, const std::string& attributes, std::optional<double> time,
               const char* version = "1.0");
  void add(std::string_view text) { head_ += text; }
  /// The element of an array. `packed` must live until write().
  void add(const PackedArray& packed);
  void add(std::span<const PackedArray> packed);
  /// The file appears whole or not at all. Error(io) names the path, the bytes written and the cause.
  void write(const std::filesystem::path& path, Place place = Place::results) const;

 private:
  std::string type_, head_;
  std::vector<std::string_view> data_;
  Size offset_ = 0;
};

/// Text of the file of type "P..." that joins pieces: its head with the time, the cell arrays' names, its end.
std::string parallel_head(const std::string& type, const std::string& attributes, std::optional<double> time);
std::string parallel_cell_data(std::span<const VtkArray> arrays);
std::string parallel_point_data(std::span<const VtkArray> arrays);
std::string parallel_end(const std::string& type);

/// A .pvd: which file belongs to which time. Rewritten whole at every `add`, so it is valid while the run goes on.
class PvdSeries {
 public:
  explicit PvdSeries(std::filesystem::path path) : path_(std::move(path)) {}
  /// `file` is relative to the .pvd's folder. Error(io).
  void add(double time, const std::string& file);
  /// An entry that an earlier run has written; the next add() writes it again.
  void remember(double time, const std::string& file) { entries_.emplace_back(time, file); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::vector<std::pair<double, std::string>> entries_;
};

/// "fields/u_000050_p0003.vtu" for stem "fields/u", output 50, part 3, suffix "vtu".
std::string piece_file_name(const std::string& stem, Size output, int part, const std::string& suffix);
/// "fields/u_000050.pvtu", for suffix "vtu", too.
std::string joined_file_name(const std::string& stem, Size output, const std::string& suffix);

}  // namespace tutti
