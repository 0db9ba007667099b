#include "tutti/mesh/files/vtu_read.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <new>
#include <span>

#include "tutti/mesh/files/file_bytes.hpp"
#include "tutti/mesh/files/vtu_file_internal.hpp"
#include "tutti/mesh/tet_checks.hpp"

namespace tutti {
namespace vtu {
namespace {

/// Cells of a piece that are kept, by their number in the piece.
struct Kept {
  std::vector<std::size_t> tets, triangles;
};

const char* cell_name(Size type) {
  switch (type) {
    case 6:
      return "a triangle strip";
    case 7:
      return "a polygon";
    case 8:
    case 9:
      return "a quadrangle";
    case 11:
    case 12:
      return "a hexahedron";
    case 13:
      return "a prism";
    case 14:
      return "a pyramid";
    case 22:
    case 34:
    case 69:
    case 76:
      return "a triangle of higher order";
    case 24:
    case 71:
    case 78:
      return "a tetrahedron of higher order";
    case 42:
      return "a polyhedron";
    default:
      return "no tetrahedron";
  }
}

/// Types that are left out: nothing, points, lines, lines of higher order.
bool is_ignored(Size type) {
  return (type >= 0 && type <= 4) || type == 21 || type == 35 || type == 68 || type == 75;
}

class Reader {
 public:
  Reader(File& file, TetMesh& mesh, MeshReport& report) : file_(file), mesh_(mesh), report_(report) {}

  void read_piece(pugi::xml_node piece);

 private:
  void read_points(pugi::xml_node piece);
  Kept read_cells(pugi::xml_node piece);
  void read_data(pugi::xml_node piece, const Kept& kept);
  void read_tags(const Array& array, const Kept& kept);
  void keep_data(const Array& array, const Kept& kept, bool first_piece);
  void add_cell(const Array& array, Size cell, Size type, std::span<const Size> points, Kept& kept);

  File& file_;
  TetMesh& mesh_;
  MeshReport& report_;
  std::map<std::string, std::size_t> data_;  ///< position in mesh_.cell_data
  bool have_piece_ = false;
  Size points_ = 0, cells_ = 0;  ///< of this piece
  std::size_t first_point_ = 0;  ///< of this piece in the mesh
};

void Reader::read_points(pugi::xml_node piece) {
  const std::vector<Vec3> points = file_.piece_points(piece, points_);
  first_point_ = mesh_.vertices.size();
  mesh_.vertices.insert(mesh_.vertices.end(), points.begin(), points.end());
}

void Reader::add_cell(const Array& array, Size cell, Size type, std::span<const Size> points, Kept& kept) {
  const std::size_t expected = type == 10 ? 4 : 3;
  if (points.size() != expected)
    file_.error(array, "cell {} has {} points, but {} are expected for its type {}", cell, points.size(), expected,
                type);
  std::array<Gid, 4> corners{};
  for (std::size_t k = 0; k < expected; ++k) {
    if (points[k] < 0 || points[k] >= points_)
      file_.error(array, "cell {} names point {}; there are {} points, numbered from 0", cell, points[k], points_);
    corners[k] = static_cast<Gid>(first_point_) + points[k];
  }
  if (type == 5) {
    if (points[0] == points[1] || points[0] == points[2] || points[1] == points[2])
      file_.error(array, "the triangle {} has a point twice: {} {} {}; three different ones are expected", cell,
                  points[0], points[1], points[2]);
    // Kept or not: its tag decides.
    kept.triangles.push_back(static_cast<std::size_t>(cell));
    mesh_.boundary.push_back({corners[0], corners[1], corners[2]});
    mesh_.boundary_tags.push_back(0);
    return;
  }
  const TetDefect defect = orient_tet(mesh_.vertices, corners, report_);
  if (defect != TetDefect::none)
    file_.error(array, "the tetrahedron {} (points {} {} {} {}) {}", cell, points[0], points[1], points[2], points[3],
                defect == TetDefect::flat ? "has no volume, its points lie in a plane; improve the mesh there"
                                          : "has a point twice; four different ones are expected");
  kept.tets.push_back(static_cast<std::size_t>(cell));
  mesh_.cells.push_back(corners);
  mesh_.regions.push_back(0);
}

Kept Reader::read_cells(pugi::xml_node piece) {
  const auto [connectivity_array, types_array, types, ends, connectivity] = file_.piece_cells(piece, cells_);
  Kept kept;
  Size begin = 0;
  for (std::size_t c = 0; c < types.size(); ++c) {
    const Size type = types[c];
    if (type == 10 || type == 5)
      add_cell(connectivity_array, static_cast<Size>(c), type, std::span(connectivity).subspan(begin, ends[c] - begin),
               kept);
    else if (!is_ignored(type))
      file_.error(types_array,
                  "cell {} is {} (VTK type {}); tutti needs tetrahedra of first order (type 10) and triangles (type 5)",
                  c, cell_name(type), type);
    begin = ends[c];
  }
  return kept;
}

void Reader::read_tags(const Array& array, const Kept& kept) {
  const std::vector<Size> values = file_.integers(array, cells_);
  const std::size_t tets = mesh_.cells.size() - kept.tets.size(),
                    triangles = mesh_.boundary.size() - kept.triangles.size();
  for (std::size_t i = 0; i < kept.tets.size(); ++i) mesh_.regions[tets + i] = file_.tag(array, values, kept.tets[i]);
  for (std::size_t i = 0; i < kept.triangles.size(); ++i)
    mesh_.boundary_tags[triangles + i] = file_.tag(array, values, kept.triangles[i]);
}

void Reader::keep_data(const Array& array, const Kept& kept, bool first_piece) {
  const bool usable = array.type && (array.components == 1 || array.components == 3 || array.components == 9);
  if (!usable || !array.node.attribute("Name")) {
    if (first_piece) report_.skipped_data.push_back(array.name);
    return;
  }
  const auto width = static_cast<std::size_t>(array.components);
  if (first_piece) {
    if (!data_.emplace(array.name, mesh_.cell_data.size()).second)
      file_.error(array, "this cell data is listed twice; remove or rename one");
    mesh_.cell_data.push_back({array.name, static_cast<int>(array.components), {}});
  }
  const auto entry = data_.find(array.name);
  if (entry == data_.end()) file_.error(array, "the first piece has no such cell data; all pieces need the same");
  CellData& data = mesh_.cell_data[entry->second];
  if (data.components != array.components)
    file_.error(array, "{} components here, but {} in the first piece; all pieces need the same", array.components,
                data.components);
  if (data.values.size() != (mesh_.cells.size() - kept.tets.size()) * width)
    file_.error(array, "this cell data is listed twice or missing in an earlier piece; all pieces need it once");
  const std::vector<double> values = file_.reals(array, cells_);
  data.values.reserve(mesh_.cells.size() * width);
  for (const std::size_t cell : kept.tets) {
    for (std::size_t k = 0; k < width; ++k) {
      const double value = values[cell * width + k];
      if (!std::isfinite(value))
        file_.error(array, "cell {} has the value {}; finite numbers are expected", cell, value);
      data.values.push_back(value);
    }
  }
}

void Reader::read_data(pugi::xml_node piece, const Kept& kept) {
  std::vector<Array> arrays;
  std::size_t best = tag_names.size();
  for (const pugi::xml_node node : piece.child("CellData").children()) {
    if (node.type() != pugi::node_element) continue;
    arrays.push_back(file_.describe(node));
    if (!arrays.back().is_integer() || arrays.back().components != 1) continue;
    const auto found = std::find(tag_names.begin(), tag_names.end(), arrays.back().name);
    best = std::min(best, static_cast<std::size_t>(found - tag_names.begin()));
  }
  bool have_tags = false;
  for (const Array& array : arrays) {
    if (best < tag_names.size() && array.name == tag_names[best]) {
      if (have_tags) file_.error(array, "this cell data is listed twice; remove or rename one");
      read_tags(array, kept);
      have_tags = true;
    } else if (array.name == "vtkGhostType" && array.is_integer() && array.components == 1) {
      file_.refuse_ghosts(array, cells_);
    } else {
      keep_data(array, kept, !have_piece_);
    }
  }
  for (const CellData& data : mesh_.cell_data)
    if (data.values.size() != mesh_.cells.size() * static_cast<std::size_t>(data.components))
      file_.error(piece, "the piece has no cell data '{}', which an earlier piece has; all pieces need the same",
                  data.name);
}

void Reader::read_piece(pugi::xml_node piece) {
  points_ = file_.count(piece, "NumberOfPoints");
  cells_ = file_.count(piece, "NumberOfCells");
  if (cells_ == 0) return;
  read_points(piece);
  const std::size_t triangles = mesh_.boundary.size();
  const Kept kept = read_cells(piece);
  read_data(piece, kept);
  // Kept until it is known whether there are tetrahedra, where a mesh of triangles is wanted.
  if (!report_.take_surface) drop_untagged(mesh_, triangles);
  have_piece_ = true;
}

}  // namespace
}  // namespace vtu

TetMesh parse_vtu(std::string_view bytes, const std::string& name, MeshReport* report) {
  try {
    vtu::File file(bytes, name);
    TetMesh mesh;
    MeshReport found;
    found.keep_inverted = report != nullptr && report->keep_inverted;
    found.take_surface = report != nullptr && report->take_surface;
    vtu::Reader reader(file, mesh, found);
    for (const pugi::xml_node piece : file.grid().children("Piece")) reader.read_piece(piece);
    if (!mesh.cells.empty()) drop_untagged(mesh);
    if (mesh.cells.empty() && !(found.take_surface && !mesh.boundary.empty()))
      file.error(file.grid(), "there are no tetrahedra (VTK type 10); a mesh in 3D is expected");
    finish_mesh(mesh, name, found);
    if (report != nullptr) *report = found;
    return mesh;
  } catch (const std::bad_alloc&) {
    fail(ErrorKind::resource, "{}: no memory for the mesh; about 150 bytes per tetrahedron are needed", name);
  }
}

TetMesh read_vtu(const std::filesystem::path& path, MeshReport* report) {
  const FileBytes file(path);
  return parse_vtu(file.view(), path.string(), report);
}

}  // namespace tutti
