#include "tutti/io/vtk/mesh_vtu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/base/error.hpp"
#include "tutti/base/system/atomic_file.hpp"
#include "tutti/io/vtk/vtk_blocks.hpp"
#include "tutti/io/vtk/vtk_xml.hpp"
#include "tutti/mesh/files/write_check.hpp"

namespace tutti {
namespace {

constexpr const char* tag_array = "region";
constexpr int vtk_triangle = 5, vtk_tetra = 10;
constexpr int zlib_level = 6;

/// "DataArray"s one after the other: into the XML as text, or behind it as zlib blocks.
class Writer {
 public:
  Writer(MeshVtuEncoding encoding, int threads) : ascii_(encoding == MeshVtuEncoding::ascii), threads_(threads) {}

  void xml(std::string_view text) { head_ += text; }

  template <class T>
  void array(const char* type, const std::string& name, int components, std::span<const T> values) {
    head_ += fmt::format("<DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" ", type, escape_xml(name),
                         components);
    if (ascii_) {
      head_ += "format=\"ascii\">\n";
      numbers(values, static_cast<std::size_t>(components));
      head_ += "</DataArray>\n";
      return;
    }
    head_ += fmt::format("format=\"appended\" offset=\"{}\"/>\n", offset_);
    appended_.push_back(
        compress_blocks({reinterpret_cast<const char*>(values.data()), values.size_bytes()}, zlib_level, threads_));
    offset_ += appended_.back().size();
  }

  void write(const std::filesystem::path& path) {
    std::vector<std::string_view> pieces = {head_};
    if (!appended_.empty()) {
      head_ += "<AppendedData encoding=\"raw\">\n_";
      pieces[0] = head_;
      pieces.insert(pieces.end(), appended_.begin(), appended_.end());
      pieces.emplace_back("\n</AppendedData>\n");
    }
    pieces.emplace_back("</VTKFile>\n");
    write_file(path, pieces, Place::given);
  }

 private:
  template <class T>
  void numbers(std::span<const T> values, std::size_t in_line) {
    std::array<char, 32> digits;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), values[i]).ptr;
      head_.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
      head_ += (i + 1) % in_line == 0 ? '\n' : ' ';
    }
  }

  bool ascii_;
  int threads_;
  std::string head_;
  std::vector<std::string> appended_;
  std::size_t offset_ = 0;
};

/// Point numbers of all cells, and where each cell's end.
template <class T>
void write_topology(Writer& out, const char* type, const TetMesh& mesh) {
  std::vector<T> connectivity, ends;
  connectivity.reserve(4 * mesh.cells.size() + 3 * mesh.boundary.size());
  ends.reserve(mesh.cells.size() + mesh.boundary.size());
  const auto add = [&](const auto& cells) {
    for (const auto& cell : cells) {
      for (const Gid v : cell) connectivity.push_back(static_cast<T>(v));
      ends.push_back(static_cast<T>(connectivity.size()));
    }
  };
  add(mesh.cells);
  add(mesh.boundary);
  out.array<T>(type, "connectivity", 1, connectivity);
  out.array<T>(type, "offsets", 1, ends);
}

void check(const TetMesh& mesh, const std::filesystem::path& path) {
  check_writable(mesh, path);
  const auto refuse = [&](const std::string& why) {
    fail(ErrorKind::input, "{}: the mesh cannot be written: {}", path.string(), why);
  };
  for (const CellData& d : mesh.cell_data) {
    if (d.name == tag_array)
      refuse(fmt::format("its data '{}' have the name that the tags need in a VTU file; rename them", d.name));
    if (std::any_of(d.name.begin(), d.name.end(), [](char c) { return (c >= 0 && c < 32) || c == 127; }))
      refuse("the name of its data has a control character; rename them");
    if (d.name.empty()) refuse("some of its data have no name; give them one");
  }
}

}  // namespace

void write_mesh_vtu(const TetMesh& mesh, const std::filesystem::path& path, MeshVtuEncoding encoding, int threads) {
  static_assert(sizeof(Vec3) == 3 * sizeof(double));
  check(mesh, path);
  const std::size_t cells = mesh.cells.size() + mesh.boundary.size();
  Writer out(encoding, threads);
  out.xml(
      fmt::format("<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" "
                  "byte_order=\"LittleEndian\" header_type=\"UInt64\"{}>\n",
                  encoding == MeshVtuEncoding::zlib ? " compressor=\"vtkZLibDataCompressor\"" : ""));
  out.xml(fmt::format("<UnstructuredGrid>\n<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n<Points>\n",
                      mesh.vertices.size(), cells));
  out.array<double>("Float64", "Points", 3,
                    {reinterpret_cast<const double*>(mesh.vertices.data()), 3 * mesh.vertices.size()});
  out.xml("</Points>\n<Cells>\n");
  const bool small = std::max(4 * cells, mesh.vertices.size()) <= std::numeric_limits<std::int32_t>::max();
  small ? write_topology<std::int32_t>(out, "Int32", mesh) : write_topology<std::int64_t>(out, "Int64", mesh);
  std::vector<std::uint8_t> types(mesh.cells.size(), vtk_tetra);
  types.resize(cells, vtk_triangle);
  out.array<std::uint8_t>("UInt8", "types", 1, types);
  out.xml(fmt::format("</Cells>\n<CellData Scalars=\"{}\">\n", tag_array));
  std::vector<std::int32_t> tags = mesh.regions;
  tags.insert(tags.end(), mesh.boundary_tags.begin(), mesh.boundary_tags.end());
  out.array<std::int32_t>("Int32", tag_array, 1, tags);
  for (const CellData& d : mesh.cell_data) {
    std::vector<double> values = d.values;
    values.resize(cells * static_cast<std::size_t>(d.components), 0.0);
    out.array<double>("Float64", d.name, d.components, values);
  }
  out.xml("</CellData>\n</Piece>\n</UnstructuredGrid>\n");
  out.write(path);
}

}  // namespace tutti
