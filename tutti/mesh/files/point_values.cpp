#include "tutti/mesh/files/point_values.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>

#include "tutti/base/error.hpp"
#include "tutti/mesh/files/file_bytes.hpp"
#include "tutti/mesh/files/number_table.hpp"
#include "tutti/mesh/files/vtu_file_internal.hpp"

namespace tutti {
namespace {

namespace fs = std::filesystem;

/// "velocity[2]" is component 2 of velocity.
struct Quantity {
  std::string name;
  Size component = 0;

  explicit Quantity(const std::string& text) : name(text) {
    const auto open = text.rfind('[');
    if (open == std::string::npos || !text.ends_with(']')) return;
    const char *begin = text.data() + open + 1, *end = text.data() + text.size() - 1;
    Size index = 0;
    if (std::from_chars(begin, end, index).ptr != end || begin == end) return;
    name = text.substr(0, open);
    component = index;
  }
};

PointValues from_table(const fs::path& path, const std::string& name) {
  const NumberTable table = read_number_table(path);
  const auto &x = table.column("x"), &y = table.column("y"), &z = table.column("z");
  const auto first = std::find_if(table.names.begin(), table.names.end(),
                                  [](const std::string& n) { return n != "x" && n != "y" && n != "z"; });
  if (first == table.names.end())
    fail(ErrorKind::input, "{}: there is no column besides x, y and z; at least one is expected", table.file);
  PointValues result{{}, table.column(name.empty() ? *first : name)};
  for (std::size_t i = 0; i < table.rows(); ++i) result.points.push_back({x[i], y[i], z[i]});
  return result;
}

template <class T, std::size_t n>
std::array<T, n> numbers_of(vtu::File& file, pugi::xml_node node, const char* attribute) {
  std::array<T, n> numbers{};
  const char* at = node.attribute(attribute).value();
  const char* const end = at + std::char_traits<char>::length(at);
  for (T& number : numbers) {
    while (at < end && *at == ' ') ++at;
    const auto result = std::from_chars(at, end, number);
    if (result.ec != std::errc()) file.error(node, "'{}' has to be {} numbers", attribute, n);
    at = result.ptr;
  }
  return numbers;
}

/// The middles of a piece of a grid, x fastest.
std::vector<Vec3> grid_middles(vtu::File& file, pugi::xml_node piece) {
  const auto extent = numbers_of<Size, 6>(file, piece, "Extent");
  std::array<std::vector<double>, 3> middles;
  const bool uniform = std::string_view(file.grid().name()) == "ImageData";
  std::array<double, 3> origin{}, spacing{};
  if (uniform) {
    origin = numbers_of<double, 3>(file, file.grid(), "Origin");
    spacing = numbers_of<double, 3>(file, file.grid(), "Spacing");
  }
  auto lines = piece.child("Coordinates").child("DataArray");
  for (std::size_t d = 0; d < 3; ++d) {
    const Size begin = extent[2 * d], end = extent[2 * d + 1];
    if (begin < 0 || end < begin || end > (Size{1} << 31)) file.error(piece, "the extent is none");
    std::vector<double> faces;
    if (!uniform) {
      faces = file.reals(file.describe(lines), end - begin + 1);
      lines = lines.next_sibling("DataArray");
    }
    for (Size i = begin; i < end; ++i) {
      const auto k = static_cast<std::size_t>(i - begin);
      middles[d].push_back(uniform ? origin[d] + (static_cast<double>(i) + 0.5) * spacing[d]
                                   : 0.5 * (faces[k] + faces[k + 1]));
    }
  }
  std::vector<Vec3> points;
  for (const double z : middles[2])
    for (const double y : middles[1])
      for (const double x : middles[0]) points.push_back({x, y, z});
  return points;
}

std::vector<Vec3> cell_middles(vtu::File& file, pugi::xml_node piece) {
  const auto nodes = file.piece_points(piece, file.count(piece, "NumberOfPoints"));
  const auto cells = file.piece_cells(piece, file.count(piece, "NumberOfCells"));
  std::vector<Vec3> middles;
  Size begin = 0;
  for (const Size end : cells.ends) {
    Vec3 sum;
    for (Size k = begin; k < end; ++k) {
      const Size node = cells.connectivity[static_cast<std::size_t>(k)];
      if (node < 0 || node >= static_cast<Size>(nodes.size())) file.error(piece, "a cell has no such point, {}", node);
      sum = sum + nodes[static_cast<std::size_t>(node)];
    }
    middles.push_back((1.0 / static_cast<double>(std::max<Size>(1, end - begin))) * sum);
    begin = end;
  }
  return middles;
}

/// Arrays that tutti adds to say who owns a cell are no quantity.
bool is_quantity(const std::string& name) {
  return name != "part" && name != "region" && name != "node";
}

void add_piece(vtu::File& file, pugi::xml_node piece, const std::string& name, PointValues& to) {
  const bool grid = std::string_view(file.grid().name()) != "UnstructuredGrid";
  Quantity wanted(name);
  std::vector<std::string> known;
  for (const char* kind : {"CellData", "PointData"}) {
    for (const pugi::xml_node node : piece.child(kind).children("DataArray")) {
      const vtu::Array array = file.describe(node);
      if (!is_quantity(array.name)) continue;
      known.push_back(array.name);
      if (!wanted.name.empty() && array.name != wanted.name) continue;
      if (wanted.component < 0 || wanted.component >= array.components)
        file.error(array, "there is no component {}; take one of 0 to {}", wanted.component, array.components - 1);
      const bool of_cells = kind[0] == 'C';
      if (grid && !of_cells) file.error(array, "point data of grids are not read; cell data are expected");
      const auto points = grid       ? grid_middles(file, piece)
                          : of_cells ? cell_middles(file, piece)
                                     : file.piece_points(piece, file.count(piece, "NumberOfPoints"));
      const auto values = file.reals(array, static_cast<Size>(points.size()));
      for (std::size_t i = 0; i < points.size(); ++i) {
        const double value =
            values[i * static_cast<std::size_t>(array.components) + static_cast<std::size_t>(wanted.component)];
        if (!std::isfinite(value)) file.error(array, "value {} is {}; finite numbers are expected", i, value);
        to.points.push_back(points[i]);
        to.values.push_back(value);
      }
      return;
    }
  }
  file.error(piece, "there is no quantity '{}'; take one of {}", name, fmt::join(known, ", "));
}

void add_vtk(const fs::path& path, const std::string& name, PointValues& to) {
  const FileBytes bytes(path, "file of results");
  vtu::File file(bytes.view(), path.string(), vtu::Wanted::values);
  for (const pugi::xml_node piece : file.grid().children("Piece"))
    if (piece.attribute("NumberOfPoints").as_llong(1) > 0) add_piece(file, piece, name, to);
}

/// The files that a .pvd or a parallel file of VTK names.
std::vector<fs::path> named_files(const fs::path& path, const char* xpath, const char* attribute) {
  const FileBytes bytes(path, "file of results");
  pugi::xml_document document;
  if (!document.load_buffer(bytes.view().data(), bytes.view().size()))
    fail(ErrorKind::input, "{}: this is no XML; a file that ParaView reads is expected", path.string());
  std::vector<fs::path> files;
  for (const auto& found : document.select_nodes(xpath))
    files.push_back(path.parent_path() / found.node().attribute(attribute).value());
  if (files.empty()) fail(ErrorKind::input, "{}: it names no files of results; one is expected", path.string());
  return files;
}

}  // namespace

PointValues read_point_values(const fs::path& path, const std::string& name) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    if (fs::exists(path / "results.vtkhdf", error))
      fail(ErrorKind::input, "{}: its results are VTKHDF, which is not read; take a run with output.format = \"vtk\"",
           path.string());
    return read_point_values(path / "results.pvd", name);
  }
  const std::string extension = path.extension().string();
  if (extension == ".csv" || extension == ".txt") return from_table(path, name);
  if (extension == ".pvd") {
    const fs::path last = named_files(path, "//DataSet", "file").back();
    if (last.extension() == ".pvd")
      fail(ErrorKind::input, "{}: it names {}; a file of VTK is expected", path.string(), last.filename().string());
    return read_point_values(last, name);
  }
  PointValues result;
  if (extension == ".pvtu" || extension == ".pvti" || extension == ".pvtr") {
    for (const auto& piece : named_files(path, "//Piece", "Source")) add_vtk(piece, name, result);
  } else if (extension == ".vtu" || extension == ".vti" || extension == ".vtr") {
    add_vtk(path, name, result);
  } else {
    fail(ErrorKind::input, "{}: unsupported format of values; known are {}", path.string(), point_value_formats);
  }
  if (result.points.empty()) fail(ErrorKind::input, "{}: there are no values; at least one is expected", path.string());
  return result;
}

}  // namespace tutti
