// Where points lie in a mesh of elements, and its elements in files.
#include <algorithm>

#include "tutti/domain/element_domain.hpp"
#include "tutti/domain/vtu_pieces.hpp"
#include "tutti/mesh/elements/element_tables.hpp"

namespace tutti {
namespace {

/// VTK's number of the type, and how many of its nodes VTK wants: it has no pyramid of 14 nodes.
struct VtkCell {
  std::uint8_t type;
  int nodes;
};
VtkCell vtk_cell(ElementType type, std::size_t nodes) {
  constexpr std::array<std::uint8_t, 4> straight = {10, 12, 13, 14}, curved = {24, 29, 32, 27};
  const auto t = static_cast<std::size_t>(type);
  if (geometry_order(type, nodes) == 1) return {straight[t], static_cast<int>(nodes)};
  return {curved[t], type == ElementType::pyramid ? 13 : static_cast<int>(nodes)};
}

class ElementPieces final : public VtuPieces {
 public:
  ElementPieces(const ElementDomain& domain, const VtkOptions& options) : VtuPieces(domain), domain_(domain) {
    for (std::size_t p = 0; p < domain.mine(); ++p) {
      const PieceCells piece = cells(p);
      const std::vector<Lid> connectivity(piece.connectivity.begin(), piece.connectivity.end());
      grids_.push_back(
          VtuGrid::of_cells(piece.points, connectivity, std::span(piece.offsets).subspan(1), piece.types, options));
    }
  }
  PieceCells cells(std::size_t i) const override {
    const LocalElementMesh& mesh = domain_.meshes[i];
    PieceCells piece;
    for (Lid row = 0; row < domain_.maps[i].owned; ++row) {
      const auto nodes = mesh.element_nodes(row);
      const VtkCell cell = vtk_cell(mesh.types[row], nodes.size());
      for (int k = 0; k < cell.nodes; ++k) {
        piece.connectivity.push_back(static_cast<std::int64_t>(piece.points.size()));
        piece.points.push_back(nodes[k]);
      }
      piece.offsets.push_back(static_cast<std::int64_t>(piece.connectivity.size()));
      piece.types.push_back(cell.type);
    }
    return piece;
  }
  std::vector<VtkArray> arrays(std::optional<std::size_t> i) const override {
    return {{"part", 1, i ? std::span<const std::int32_t>(owner_[*i]) : std::span<const std::int32_t>()}};
  }

 private:
  const ElementDomain& domain_;
};

/// Whether the straight element of the same corners holds a point: it is inside of, or on, all faces, which are cut
/// into triangles.
bool contains(ElementType type, std::span<const Vec3> nodes, Vec3 point) {
  for (int f = 0; f < face_count(type); ++f) {
    const int corners = face_corner_count(type, f);
    Vec3 middle;
    for (int k = 0; k < corners; ++k) middle = middle + (1.0 / corners) * nodes[face_corner(type, f, k)];
    Vec3 area;
    for (int k = 0; k < corners; ++k) {
      const Vec3 a = nodes[face_corner(type, f, k)] - middle,
                 b = nodes[face_corner(type, f, (k + 1) % corners)] - middle;
      area = area + cross(a, b);
    }
    const double scale = std::sqrt(norm(area));
    if (dot(point - middle, area) > 1e-12 * scale * scale * scale) return false;
  }
  return true;
}

}  // namespace

std::unique_ptr<Pieces> ElementDomain::pieces(const VtkOptions& options) const {
  return std::make_unique<ElementPieces>(*this, options);
}

std::vector<RowPlace> ElementDomain::locate(const Comm& comm, std::span<const Vec3> points,
                                            std::span<const std::string> labels) const {
  return rows_at(comm, maps, points, labels, "an element", [&](std::size_t p, Lid row, Vec3 point) {
    return contains(meshes[p].types[row], meshes[p].element_nodes(row), point);
  });
}

std::vector<Vec3> ElementDomain::middles(std::size_t p) const {
  std::vector<Vec3> points;
  for (Lid row = 0; row < maps[p].owned; ++row) points.push_back(meshes[p].centre(row));
  return points;
}

std::vector<std::int32_t> ElementDomain::region_of_rows(std::size_t p) const {
  return {meshes[p].regions.begin(), meshes[p].regions.begin() + maps[p].owned};
}

}  // namespace tutti
