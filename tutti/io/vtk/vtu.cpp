#include "tutti/io/vtk/vtu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "tutti/base/error.hpp"
#include "tutti/base/system/atomic_file.hpp"
#include "tutti/io/vtk/vtk_file.hpp"
#include "tutti/io/vtk/vtk_xml.hpp"

namespace tutti {
namespace {

constexpr int vtk_vertex = 1, vtk_tetra = 10, vtk_lagrange_hexahedron = 72;

/// Where each cell's points end, by `end` of its number.
template <class End>
PackedArray pack_ends(Size cells, const End& end, const VtkOptions& options) {
  const auto fill = [&](auto zero) {
    std::vector<decltype(zero)> ends(static_cast<std::size_t>(cells));
    for (std::size_t i = 0; i < ends.size(); ++i) ends[i] = static_cast<decltype(zero)>(end(i));
    return pack_array("offsets", sizeof(zero) == 4 ? "Int32" : "Int64", 1, bytes_of(ends), options);
  };
  const bool small = cells == 0 || static_cast<Size>(end(static_cast<std::size_t>(cells) - 1)) <=
                                       std::numeric_limits<std::int32_t>::max();
  return small ? fill(std::int32_t{}) : fill(std::int64_t{});
}

PackedArray pack_offsets(Size cells, int points_a_cell, const VtkOptions& options) {
  return pack_ends(
      cells, [&](std::size_t i) { return static_cast<std::size_t>(points_a_cell) * (i + 1); }, options);
}

}  // namespace

struct VtuGrid::Arrays {
  PackedArray points, connectivity, offsets, types;
  const char* version = "1.0";
};

VtuGrid::VtuGrid(std::span<const Vec3> points, std::span<const std::array<Lid, 4>> tets, const VtkOptions& options)
    : points_(static_cast<Size>(points.size())), cells_(static_cast<Size>(tets.size())) {
  static_assert(sizeof(Vec3) == 24 && sizeof(std::array<Lid, 4>) == 16);
  for (std::size_t c = 0; c < tets.size(); ++c) {
    for (const Lid v : tets[c]) {
      if (v < 0 || v >= points_)
        fail(ErrorKind::input, "mesh: cell {} names point {}; there are {} points, numbered from 0", c, v, points_);
    }
  }
  const std::vector<std::uint8_t> types(tets.size(), vtk_tetra);
  arrays_ = std::make_unique<Arrays>(Arrays{pack_array("Points", "Float64", 3, bytes_of(points), options),
                                            pack_array("connectivity", "Int32", 1, bytes_of(tets), options),
                                            pack_offsets(cells_, 4, options),
                                            pack_array("types", "UInt8", 1, bytes_of(types), options)});
}

VtuGrid::VtuGrid() = default;

VtuGrid VtuGrid::of_points(std::span<const Vec3> points, const VtkOptions& options) {
  VtuGrid grid;
  grid.points_ = grid.cells_ = static_cast<Size>(points.size());
  std::vector<Lid> numbers(points.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  const std::vector<std::uint8_t> types(points.size(), vtk_vertex);
  grid.arrays_ = std::make_unique<Arrays>(Arrays{pack_array("Points", "Float64", 3, bytes_of(points), options),
                                                 pack_array("connectivity", "Int32", 1, bytes_of(numbers), options),
                                                 pack_offsets(grid.cells_, 1, options),
                                                 pack_array("types", "UInt8", 1, bytes_of(types), options)});
  return grid;
}

VtuGrid VtuGrid::of_cells(std::span<const Vec3> points, std::span<const Lid> connectivity, std::span<const Size> ends,
                          std::span<const std::uint8_t> types, const VtkOptions& options) {
  require(ends.size() == types.size() && (ends.empty() ? 0 : ends.back()) == static_cast<Size>(connectivity.size()),
          "{} ends and {} types of cells, {} points of cells", ends.size(), types.size(), connectivity.size());
  VtuGrid grid;
  grid.points_ = static_cast<Size>(points.size());
  grid.cells_ = static_cast<Size>(types.size());
  grid.arrays_ =
      std::make_unique<Arrays>(Arrays{pack_array("Points", "Float64", 3, bytes_of(points), options),
                                      pack_array("connectivity", "Int32", 1, bytes_of(connectivity), options),
                                      pack_ends(
                                          grid.cells_, [&](std::size_t i) { return ends[i]; }, options),
                                      pack_array("types", "UInt8", 1, bytes_of(types), options)});
  const bool new_order = std::find(types.begin(), types.end(), vtk_lagrange_hexahedron) != types.end();
  if (new_order) grid.arrays_->version = "2.2";
  return grid;
}

VtuGrid::VtuGrid(VtuGrid&&) noexcept = default;
VtuGrid& VtuGrid::operator=(VtuGrid&&) noexcept = default;
VtuGrid::~VtuGrid() = default;

void write_vtu(const std::filesystem::path& path, const VtuGrid& grid, std::span<const VtkArray> cell_arrays,
               const VtkOptions& options) {
  write_vtu(path, grid, {}, cell_arrays, options);
}

void write_vtu(const std::filesystem::path& path, const VtuGrid& grid, std::span<const VtkArray> point_arrays,
               std::span<const VtkArray> cell_arrays, const VtkOptions& options) {
  const std::vector<PackedArray> at_points = pack_cell_arrays(point_arrays, grid.points(), options),
                                 fields = pack_cell_arrays(cell_arrays, grid.cells(), options);
  AppendedFile file("UnstructuredGrid", "", options.time, grid.arrays_->version);
  file.add(fmt::format("<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n", grid.points(), grid.cells()));
  file.add("<Points>\n");
  file.add(grid.arrays_->points);
  file.add("</Points>\n<Cells>\n");
  file.add(grid.arrays_->connectivity);
  file.add(grid.arrays_->offsets);
  file.add(grid.arrays_->types);
  file.add("</Cells>\n");
  if (!at_points.empty()) {
    file.add("<PointData>\n");
    file.add(at_points);
    file.add("</PointData>\n");
  }
  file.add("<CellData>\n");
  file.add(fields);
  file.add("</CellData>\n</Piece>\n");
  file.write(path);
}

void write_vtu(const std::filesystem::path& path, const VtuPiece& piece, const VtkOptions& options) {
  write_vtu(path, VtuGrid(piece.points, piece.tets, options), piece.cell_arrays, options);
}

void write_pvtu(const std::filesystem::path& path, std::span<const std::string> piece_files,
                std::span<const VtkArray> arrays, std::optional<double> time, std::span<const VtkArray> point_arrays) {
  std::string text = parallel_head("PUnstructuredGrid", "", time);
  text += "<PPoints>\n<PDataArray type=\"Float64\" Name=\"Points\" NumberOfComponents=\"3\"/>\n</PPoints>\n";
  if (!point_arrays.empty()) text += parallel_point_data(point_arrays);
  text += parallel_cell_data(arrays);
  for (const auto& file : piece_files) text += fmt::format("<Piece Source=\"{}\"/>\n", escape_xml(file));
  write_file(path, text + parallel_end("PUnstructuredGrid"));
}

CompactTets compact_tets(std::span<const Vec3> points, std::span<const std::array<Lid, 4>> tets) {
  std::vector<Lid> renumbered(points.size(), no_lid);
  for (const auto& tet : tets) {
    for (const Lid v : tet) renumbered[v] = 0;
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
    for (std::size_t i = 0; i < 4; ++i) renamed[i] = renumbered[tet[i]];
  }
  return compact;
}

}  // namespace tutti
