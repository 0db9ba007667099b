#include "tutti/io/vtk/vtk_file.hpp"

#include <fmt/format.h>

#include <bit>

#include "tutti/base/error.hpp"
#include "tutti/base/system/atomic_file.hpp"
#include "tutti/io/vtk/vtk_blocks.hpp"
#include "tutti/io/vtk/vtk_xml.hpp"

namespace tutti {
namespace {

static_assert(std::endian::native == std::endian::little, "the writer gives the memory's bytes as little endian");

constexpr std::string_view vtk_file_head =
    "<?xml version=\"1.0\"?>\n"
    "<VTKFile type=\"{}\" version=\"{}\" byte_order=\"LittleEndian\" header_type=\"UInt64\"{}>\n";

std::string time_field(std::optional<double> time) {
  if (!time) return "";
  return fmt::format(
      "<FieldData>\n<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">{:.17g}"
      "</DataArray>\n</FieldData>\n",
      *time);
}

}  // namespace

const char* vtk_type(const VtkArray& array) {
  static constexpr const char* names[] = {"Float64", "Float32", "Int64", "Int32"};
  return names[array.values.index()];
}

PackedArray pack_array(std::string name, const char* type, int components, std::span<const char> bytes,
                       const VtkOptions& options) {
  return {std::move(name), type, components, compress_blocks(bytes, options.level, options.threads)};
}

std::vector<PackedArray> pack_cell_arrays(std::span<const VtkArray> arrays, Size cells, const VtkOptions& options) {
  std::vector<PackedArray> packed;
  for (const VtkArray& array : arrays) {
    const auto size = std::visit([](auto values) { return static_cast<Size>(values.size()); }, array.values);
    require(size == cells * array.components, "array '{}': {} values for {} cells of {} components", array.name, size,
            cells, array.components);
    const auto bytes = std::visit(
        [](auto values) {
          return std::span<const char>(reinterpret_cast<const char*>(values.data()), values.size_bytes());
        },
        array.values);
    packed.push_back(pack_array(array.name, vtk_type(array), array.components, bytes, options));
  }
  return packed;
}

AppendedFile::AppendedFile(std::string type, const std::string& attributes, std::optional<double> time,
                           const char* version)
    : type_(std::move(type)) {
  head_ = fmt::format(vtk_file_head, type_, version, " compressor=\"vtkZLibDataCompressor\"");
  head_ += fmt::format("<{}{}>\n", type_, attributes) + time_field(time);
}

void AppendedFile::add(const PackedArray& packed) {
  head_ +=
      fmt::format("<DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" format=\"appended\" offset=\"{}\"/>\n",
                  packed.type, escape_xml(packed.name), packed.components, offset_);
  data_.push_back(packed.data);
  offset_ += static_cast<Size>(packed.data.size());
}

void AppendedFile::add(std::span<const PackedArray> packed) {
  for (const PackedArray& array : packed) add(array);
}

void AppendedFile::write(const std::filesystem::path& path, Place place) const {
  const std::string head = fmt::format("{}</{}>\n<AppendedData encoding=\"raw\">\n_", head_, type_);
  std::vector<std::string_view> pieces = {head};
  pieces.insert(pieces.end(), data_.begin(), data_.end());
  pieces.push_back("\n</AppendedData>\n</VTKFile>\n");
  write_file(path, pieces, place);
}

std::string parallel_head(const std::string& type, const std::string& attributes, std::optional<double> time) {
  return fmt::format(vtk_file_head, type, "1.0", "") + fmt::format("<{} GhostLevel=\"0\"{}>\n", type, attributes) +
         time_field(time);
}

namespace {

std::string parallel_data(std::string_view element, std::span<const VtkArray> arrays) {
  std::string text = fmt::format("<{}>\n", element);
  for (const VtkArray& array : arrays) {
    text += fmt::format("<PDataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\"/>\n", vtk_type(array),
                        escape_xml(array.name), array.components);
  }
  return text + fmt::format("</{}>\n", element);
}

}  // namespace

std::string parallel_cell_data(std::span<const VtkArray> arrays) {
  return parallel_data("PCellData", arrays);
}
std::string parallel_point_data(std::span<const VtkArray> arrays) {
  return parallel_data("PPointData", arrays);
}

std::string parallel_end(const std::string& type) {
  return fmt::format("</{}>\n</VTKFile>\n", type);
}

void PvdSeries::add(double time, const std::string& file) {
  entries_.emplace_back(time, file);
  std::string text = fmt::format(vtk_file_head, "Collection", "1.0", "") + "<Collection>\n";
  for (const auto& [when, what] : entries_) {
    text += fmt::format("<DataSet timestep=\"{:.17g}\" group=\"\" part=\"0\" file=\"{}\"/>\n", when, escape_xml(what));
  }
  write_file(path_, text + "</Collection>\n</VTKFile>\n");
}

std::string piece_file_name(const std::string& stem, Size output, int part, const std::string& suffix) {
  return fmt::format("{}_{:06d}_p{:04d}.{}", stem, output, part, suffix);
}

std::string joined_file_name(const std::string& stem, Size output, const std::string& suffix) {
  return fmt::format("{}_{:06d}.p{}", stem, output, suffix);
}

}  // namespace tutti
