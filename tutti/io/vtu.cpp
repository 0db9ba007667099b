#include "tutti/io/vtu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <string_view>
#include <utility>

#include "tutti/base/error.hpp"
#include "tutti/io/atomic_file.hpp"
#include "tutti/io/vtk_blocks.hpp"
#include "tutti/io/vtk_xml.hpp"

namespace tutti {
namespace {

static_assert(std::endian::native == std::endian::little, "the writer gives the memory's bytes as little endian");

constexpr int vtk_tetra = 10;

template <class T>
std::span<const char> bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}
template <class T>
std::span<const char> bytes_of(const std::vector<T>& values) {
  return bytes_of(std::span<const T>(values));
}

const char* type_name(const VtuArray& array) {
  static constexpr const char* names[] = {"Float64", "Int64", "Int32"};
  return names[array.values.index()];
}

/// A compressed array and what its XML element says.
struct Packed {
  std::string name;
  const char* type;
  int components;
  std::string data;
};

std::string data_array(const Packed& packed, Size offset) {
  return fmt::format(
      "<DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" format=\"appended\" offset=\"{}\"/>\n", packed.type,
      escape_xml(packed.name), packed.components, offset);
}

Packed pack_offsets(Size cells, const VtuOptions& options) {
  const auto fill = [&](auto zero) {
    std::vector<decltype(zero)> ends(static_cast<std::size_t>(cells));
    for (std::size_t i = 0; i < ends.size(); ++i) ends[i] = static_cast<decltype(zero)>(4 * (i + 1));
    return compress_blocks(bytes_of(ends), options.level, options.threads);
  };
  const bool small = 4 * cells <= std::numeric_limits<std::int32_t>::max();
  return {"offsets", small ? "Int32" : "Int64", 1, small ? fill(std::int32_t{}) : fill(std::int64_t{})};
}

constexpr std::string_view vtk_file_head =
    "<?xml version=\"1.0\"?>\n"
    "<VTKFile type=\"{}\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\"{}>\n";

std::string time_field(std::optional<double> time) {
  if (!time) return "";
  return fmt::format(
      "<FieldData>\n<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">{:.17g}"
      "</DataArray>\n</FieldData>\n",
      *time);
}

}  // namespace

struct VtuGrid::Arrays {
  Packed points, connectivity, offsets, types;
};

VtuGrid::VtuGrid(std::span<const Vec3> points, std::span<const std::array<Lid, 4>> tets, const VtuOptions& options)
    : points_(static_cast<Size>(points.size())), cells_(static_cast<Size>(tets.size())) {
  static_assert(sizeof(Vec3) == 24 && sizeof(std::array<Lid, 4>) == 16);
  for (std::size_t c = 0; c < tets.size(); ++c) {
    for (const Lid v : tets[c]) {
      if (v < 0 || v >= points_)
        fail(ErrorKind::input, "mesh: cell {} names point {}; there are {} points, numbered from 0", c, v, points_);
    }
  }
  const auto pack = [&](std::span<const char> bytes) { return compress_blocks(bytes, options.level, options.threads); };
  const std::vector<std::uint8_t> types(tets.size(), vtk_tetra);
  arrays_ = std::make_unique<Arrays>(Arrays{{"Points", "Float64", 3, pack(bytes_of(points))},
                                            {"connectivity", "Int32", 1, pack(bytes_of(tets))},
                                            pack_offsets(cells_, options),
                                            {"types", "UInt8", 1, pack(bytes_of(types))}});
}

VtuGrid::VtuGrid(VtuGrid&&) noexcept = default;
VtuGrid& VtuGrid::operator=(VtuGrid&&) noexcept = default;
VtuGrid::~VtuGrid() = default;

void write_vtu(const std::filesystem::path& path, const VtuGrid& grid, std::span<const VtuArray> cell_arrays,
               const VtuOptions& options) {
  std::vector<Packed> fields;
  for (const auto& array : cell_arrays) {
    const auto bytes = std::visit([](auto values) { return bytes_of(values); }, array.values);
    const auto size = std::visit([](auto values) { return static_cast<Size>(values.size()); }, array.values);
    require(size == grid.cells() * array.components, "array '{}': {} values for {} cells of {} components", array.name,
            size, grid.cells(), array.components);
    fields.push_back(
        {array.name, type_name(array), array.components, compress_blocks(bytes, options.level, options.threads)});
  }

  std::vector<std::string_view> pieces(1);  // the XML head comes first
  Size offset = 0;
  const auto append = [&](const Packed& packed) {
    std::string element = data_array(packed, offset);
    pieces.push_back(packed.data);
    offset += static_cast<Size>(packed.data.size());
    return element;
  };
  std::string head = fmt::format(vtk_file_head, "UnstructuredGrid", " compressor=\"vtkZLibDataCompressor\"");
  head += "<UnstructuredGrid>\n" + time_field(options.time);
  head += fmt::format("<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n", grid.points(), grid.cells());
  head += "<Points>\n" + append(grid.arrays_->points) + "</Points>\n<Cells>\n" + append(grid.arrays_->connectivity);
  head += append(grid.arrays_->offsets) + append(grid.arrays_->types) + "</Cells>\n<CellData>\n";
  for (const auto& field : fields) head += append(field);
  head += "</CellData>\n</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_";
  pieces[0] = head;
  pieces.push_back("\n</AppendedData>\n</VTKFile>\n");
  write_file_atomically(path, pieces);
}

void write_vtu(const std::filesystem::path& path, const VtuPiece& piece, const VtuOptions& options) {
  write_vtu(path, VtuGrid(piece.points, piece.tets, options), piece.cell_arrays, options);
}

void write_pvtu(const std::filesystem::path& path, std::span<const std::string> piece_files,
                std::span<const VtuArray> arrays, std::optional<double> time) {
  std::string text = fmt::format(vtk_file_head, "PUnstructuredGrid", "");
  text += "<PUnstructuredGrid GhostLevel=\"0\">\n" + time_field(time);
  text +=
      "<PPoints>\n<PDataArray type=\"Float64\" Name=\"Points\" NumberOfComponents=\"3\"/>\n</PPoints>\n<PCellData>\n";
  for (const auto& array : arrays) {
    text += fmt::format("<PDataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\"/>\n", type_name(array),
                        escape_xml(array.name), array.components);
  }
  text += "</PCellData>\n";
  for (const auto& file : piece_files) text += fmt::format("<Piece Source=\"{}\"/>\n", escape_xml(file));
  write_file_atomically(path, text + "</PUnstructuredGrid>\n</VTKFile>\n");
}

void PvdSeries::add(double time, const std::string& file) {
  entries_.emplace_back(time, file);
  std::string text = fmt::format(vtk_file_head, "Collection", "") + "<Collection>\n";
  for (const auto& [when, what] : entries_) {
    text += fmt::format("<DataSet timestep=\"{:.17g}\" group=\"\" part=\"0\" file=\"{}\"/>\n", when, escape_xml(what));
  }
  write_file_atomically(path_, text + "</Collection>\n</VTKFile>\n");
}

std::string vtu_piece_name(const std::string& stem, Size output, int part) {
  return fmt::format("{}_{:06d}_p{:04d}.vtu", stem, output, part);
}
std::string pvtu_name(const std::string& stem, Size output) {
  return fmt::format("{}_{:06d}.pvtu", stem, output);
}

CompactTets compact_tets(std::span<const Vec3> points, std::span<const std::array<Lid, 4>> tets) {
  std::vector<Lid> renumbered(points.size(), no_lid);
  for (const auto& tet : tets) {
    for (const Lid v : tet) renumbered[static_cast<std::size_t>(v)] = 0;
  }
  CompactTets compact;
  for (std::size_t p = 0; p < points.size(); ++p) {
    if (renumbered[p] == no_lid) continue;
    renumbered[p] = static_cast<Lid>(compact.points.size());
    compact.points.push_back(points[p]);
    compact.old_point.push_back(static_cast<Lid>(p));
  }
  compact.tets.reserve(tets.size());
  for (const auto& tet : tets) {
    auto& renamed = compact.tets.emplace_back();
    for (std::size_t i = 0; i < 4; ++i) renamed[i] = renumbered[static_cast<std::size_t>(tet[i])];
  }
  return compact;
}

}  // namespace tutti
