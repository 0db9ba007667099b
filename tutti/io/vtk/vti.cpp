#include "tutti/io/vtk/vti.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "tutti/base/atomic_file.hpp"
#include "tutti/base/error.hpp"
#include "tutti/io/vtk/vtk_xml.hpp"

namespace tutti {
namespace {

double spacing(const std::vector<double>& faces) {
  return (faces.back() - faces.front()) / static_cast<double>(faces.size() - 1);
}

/// Numbers of faces, as VTK counts: the piece's points. An empty box of cells must not become a plane of faces.
std::string extent(const CellBox& box) {
  if (box.empty()) return "0 -1 0 -1 0 -1";
  return fmt::format("{} {} {} {} {} {}", box.lower[0], box.upper[0], box.lower[1], box.upper[1], box.lower[2],
                     box.upper[2]);
}

/// Attributes of the data set's element. Reference: the VTK file formats, docs.vtk.org, "ImageData".
std::string attributes(const BoxGridShape& grid, const CellBox& whole) {
  std::string text = fmt::format(" WholeExtent=\"{}\"", extent(whole));
  if (!grid.uniform()) return text;
  const auto& [x, y, z] = std::tie(grid.faces(0), grid.faces(1), grid.faces(2));
  return text + fmt::format(" Origin=\"{:.17g} {:.17g} {:.17g}\" Spacing=\"{:.17g} {:.17g} {:.17g}\"", x.front(),
                            y.front(), z.front(), spacing(x), spacing(y), spacing(z));
}

constexpr const char* coordinate_names[] = {"x", "y", "z"};

std::vector<PackedArray> pack_coordinates(const BoxGridShape& grid, const CellBox& piece, const VtkOptions& options) {
  std::vector<PackedArray> packed;
  for (int d = 0; d < 3; ++d) {
    std::span<const double> faces;
    if (!piece.empty())
      faces = std::span(grid.faces(d)).subspan(piece.lower[d], static_cast<std::size_t>(piece.size(d)) + 1);
    packed.push_back(pack_array(coordinate_names[d], "Float64", 1,
                                {reinterpret_cast<const char*>(faces.data()), faces.size_bytes()}, options));
  }
  return packed;
}

}  // namespace

BoxGridShape::BoxGridShape(std::array<std::vector<double>, 3> faces) : faces_(std::move(faces)) {
  for (std::size_t d = 0; d < 3; ++d) {
    const auto& face = faces_[d];
    if (face.size() < 2 || face.size() > static_cast<std::size_t>(std::numeric_limits<Lid>::max()))
      fail(ErrorKind::input, "mesh: {} faces across {}; 2 to 2147483647 are expected", face.size(),
           coordinate_names[d]);
    const double h = spacing(face);
    const double rounding =
        8 * std::numeric_limits<double>::epsilon() * std::max(std::abs(face.front()), std::abs(face.back()));
    for (std::size_t i = 0; i < face.size(); ++i) {
      if (!std::isfinite(face[i]) || (i > 0 && !(face[i] > face[i - 1])))
        fail(ErrorKind::input, "mesh: face {} across {} is at {:g}; finite numbers that ascend are expected", i,
             coordinate_names[d], face[i]);
      if (std::abs(face[i] - (face.front() + static_cast<double>(i) * h)) > rounding) uniform_ = false;
    }
  }
}

void write_box_piece(const std::filesystem::path& path, const BoxGridShape& grid, const CellBox& piece,
                     std::span<const VtkArray> cell_arrays, const VtkOptions& options) {
  for (std::size_t d = 0; d < 3 && !piece.empty(); ++d)
    require(piece.lower[d] >= 0 && piece.upper[d] <= grid.cells(static_cast<int>(d)), "piece outside of the grid");
  const std::vector<PackedArray> fields = pack_cell_arrays(cell_arrays, piece.cells(), options);
  std::vector<PackedArray> coordinates;
  // The whole of this file is its piece, as VTK writes pieces, so that a reader can open it alone.
  AppendedFile file(grid.uniform() ? "ImageData" : "RectilinearGrid", attributes(grid, piece), options.time);
  file.add(fmt::format("<Piece Extent=\"{}\">\n", extent(piece)));
  if (!grid.uniform()) {
    coordinates = pack_coordinates(grid, piece, options);
    file.add("<Coordinates>\n");
    file.add(coordinates);
    file.add("</Coordinates>\n");
  }
  file.add("<CellData>\n");
  file.add(fields);
  file.add("</CellData>\n</Piece>\n");
  file.write(path);
}

void write_joined_boxes(const std::filesystem::path& path, const BoxGridShape& grid,
                        std::span<const BoxPieceFile> pieces, std::span<const VtkArray> arrays,
                        std::optional<double> time) {
  const std::string type = grid.uniform() ? "PImageData" : "PRectilinearGrid";
  std::string text = parallel_head(type, attributes(grid, grid.box()), time);
  if (!grid.uniform()) {
    text += "<PCoordinates>\n";
    for (const char* name : coordinate_names)
      text += fmt::format("<PDataArray type=\"Float64\" Name=\"{}\" NumberOfComponents=\"1\"/>\n", name);
    text += "</PCoordinates>\n";
  }
  text += parallel_cell_data(arrays);
  for (const BoxPieceFile& piece : pieces) {
    if (!piece.box.empty())
      text += fmt::format("<Piece Extent=\"{}\" Source=\"{}\"/>\n", extent(piece.box), escape_xml(piece.file));
  }
  write_file(path, text + parallel_end(type));
}

}  // namespace tutti
