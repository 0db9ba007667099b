// Cells of any type from VTK's unstructured grids.
#include <algorithm>
#include <new>

#include "tutti/mesh/elements/element_collector.hpp"
#include "tutti/mesh/elements/element_tables.hpp"
#include "tutti/mesh/elements/read_elements.hpp"
#include "tutti/mesh/files/vtu_file_internal.hpp"

namespace tutti {
namespace vtu {
namespace {

/// Types that are left out: nothing, points, lines, lines of higher order.
bool is_ignored(Size type) {
  return (type >= 0 && type <= 4) || type == 21 || type == 35 || type == 68 || type == 75;
}

class Reader {
 public:
  Reader(File& file, ElementCollector& out) : file_(file), out_(out) {}

  void read_piece(pugi::xml_node piece) {
    const Size points = file_.count(piece, "NumberOfPoints"), cells = file_.count(piece, "NumberOfCells");
    if (cells == 0) return;
    const std::vector<Vec3> positions = file_.piece_points(piece, points);
    first_point_ = out_.mesh.point_count();
    out_.mesh.points.insert(out_.mesh.points.end(), positions.begin(), positions.end());
    const Cells c = file_.piece_cells(piece, cells);
    read_tags(piece, cells);
    Size begin = 0;
    for (std::size_t i = 0; i < c.types.size(); ++i) {
      add_cell(c, i, std::span(c.connectivity).subspan(begin, c.ends[i] - begin), points);
      begin = c.ends[i];
    }
  }

 private:
  /// Those of the first array that may have them; also refuses ghost cells.
  void read_tags(pugi::xml_node piece, Size cells) {
    std::size_t best = tag_names.size();
    tag_array_.reset();
    for (const pugi::xml_node node : piece.child("CellData").children()) {
      if (node.type() != pugi::node_element) continue;
      const Array array = file_.describe(node);
      if (!array.is_integer() || array.components != 1) continue;
      if (array.name == "vtkGhostType") file_.refuse_ghosts(array, cells);
      const auto rank =
          static_cast<std::size_t>(std::find(tag_names.begin(), tag_names.end(), array.name) - tag_names.begin());
      if (rank < best) best = rank, tag_array_ = array;
    }
    if (tag_array_) tags_ = file_.integers(*tag_array_, cells);
  }

  void add_cell(const Cells& c, std::size_t cell, std::span<const Size> points, Size count) {
    Size type = c.types[cell];
    if (is_ignored(type)) return;
    const bool voxel = type == 11, pixel = type == 8;
    if (voxel) type = 12;
    if (pixel) type = 9;
    const FileElementKind* kind = vtk_element_kind(type, static_cast<Size>(points.size()));
    if (kind == nullptr)
      file_.error(c.types_array,
                  "cell {} is of VTK type {} with {} points; tutti needs tetrahedra, hexahedra, prisms, pyramids and "
                  "their faces of order 1 or 2",
                  cell, type, points.size());
    if (static_cast<Size>(points.size()) != kind->nodes)
      file_.error(c.connectivity_array, "cell {} has {} points, but {} are expected for its type {}", cell,
                  points.size(), kind->nodes, type);
    std::array<Gid, max_element_nodes> nodes;
    for (std::size_t k = 0; k < points.size(); ++k) {
      if (points[k] < 0 || points[k] >= count)
        file_.error(c.connectivity_array, "cell {} names point {}; there are {} points, numbered from 0", cell,
                    points[k], count);
      nodes[k] = first_point_ + points[k];
    }
    if (voxel || pixel) std::swap(nodes[2], nodes[3]);
    if (voxel) std::swap(nodes[6], nodes[7]);
    // Before VTK 9, two edges of Lagrange hexahedra came in the other order.
    if (type == 72 && points.size() == 27 && file_.is_older_than(2, 1)) std::swap(nodes[18], nodes[19]);
    const std::int32_t tag = tag_array_ ? file_.tag(*tag_array_, tags_, cell) : 0;
    const std::span<const Gid> view(nodes.data(), points.size());
    kind->corners == 0 ? out_.add_volume(*kind, view, tag) : out_.add_surface(*kind, view, tag);
  }

  File& file_;
  ElementCollector& out_;
  std::optional<Array> tag_array_;  ///< of this piece
  std::vector<Size> tags_;
  Gid first_point_ = 0;
};

}  // namespace
}  // namespace vtu

ElementMesh parse_vtu_elements(std::string_view bytes, const std::string& name, MeshReport* report) {
  try {
    vtu::File file(bytes, name);
    ElementCollector collector;
    vtu::Reader reader(file, collector);
    for (const pugi::xml_node piece : file.grid().children("Piece")) reader.read_piece(piece);
    MeshReport found;
    ElementMesh mesh = collector.finish(name, found);
    if (report != nullptr) *report = found;
    return mesh;
  } catch (const std::bad_alloc&) {
    fail(ErrorKind::resource, "{}: no memory for the mesh; about 300 bytes per element are needed", name);
  }
}

}  // namespace tutti
