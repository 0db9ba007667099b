#include "tutti/mesh/tet_checks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"

namespace tutti {
namespace {

/// What rounding alone may leave in cross(a, b) . c: small against the sum of its terms' sizes. Cells that are flat
/// because the mesh is stretched along an axis are not taken for plane ones, as their terms are small too; but below
/// the smallest normal number digits are lost.
double rounding_of_determinant(Vec3 a, Vec3 b, Vec3 c) {
  const auto size = [](Vec3 v) { return Vec3{std::abs(v.x), std::abs(v.y), std::abs(v.z)}; };
  const Vec3 p = size(a), q = size(b), r = size(c);
  const double terms = r.x * (p.y * q.z + p.z * q.y) + r.y * (p.z * q.x + p.x * q.z) + r.z * (p.x * q.y + p.y * q.x);
  return std::max(4 * std::numeric_limits<double>::epsilon() * terms, std::numeric_limits<double>::min());
}

}  // namespace

TetDefect orient_tet(std::span<const Vec3> vertices, std::array<Gid, 4>& cell, MeshReport& report) {
  const auto [a, b, c, d] = cell;
  if (a == b || a == c || a == d || b == c || b == d || c == d) return TetDefect::vertex_twice;
  const auto point = [&](Gid v) { return vertices[v]; };
  const Vec3 e1 = point(b) - point(a), e2 = point(c) - point(a), e3 = point(d) - point(a);
  const double determinant = dot(cross(e1, e2), e3);
  if (!(std::abs(determinant) > rounding_of_determinant(e1, e2, e3))) return TetDefect::flat;
  if (determinant < 0) {
    if (!report.keep_inverted) std::swap(cell[2], cell[3]);
    ++report.inverted_cells;
  }
  return TetDefect::none;
}

void drop_untagged(TetMesh& mesh, std::size_t first) {
  std::size_t kept = first;
  for (std::size_t i = first; i < mesh.boundary.size(); ++i) {
    if (mesh.boundary_tags[i] == 0) continue;
    mesh.boundary[kept] = mesh.boundary[i];
    mesh.boundary_tags[kept++] = mesh.boundary_tags[i];
  }
  mesh.boundary.resize(kept);
  mesh.boundary_tags.resize(kept);
}

Size drop_unused_vertices(TetMesh& mesh) {
  std::vector<std::uint8_t> used(mesh.vertices.size(), 0);
  for (const auto& cell : mesh.cells)
    for (const Gid v : cell) used[v] = 1;
  for (const auto& triangle : mesh.boundary)
    for (const Gid v : triangle) used[v] = 1;
  const Size unused = std::count(used.begin(), used.end(), 0);
  if (unused > 0) {
    std::vector<Gid> renumbered(used.size());
    Gid next = 0;
    for (std::size_t v = 0; v < used.size(); ++v) {
      renumbered[v] = next;
      if (used[v]) mesh.vertices[next++] = mesh.vertices[v];
    }
    mesh.vertices.resize(next);
    for (auto& cell : mesh.cells)
      for (Gid& v : cell) v = renumbered[v];
    for (auto& triangle : mesh.boundary)
      for (Gid& v : triangle) v = renumbered[v];
  }
  return unused;
}

void finish_mesh(TetMesh& mesh, const std::string& name, MeshReport& report) {
  if (mesh.is_surface()) {
    for (const CellData& data : mesh.cell_data) report.skipped_data.push_back(data.name);
    mesh.cell_data.clear();
  }
  report.unused_vertices = drop_unused_vertices(mesh);
  const auto warn_count = [&](Size n, const char* what) {
    if (n > 0) warn("{}: {} {}", name, format_count(n), what);
  };
  warn_count(report.inverted_cells, report.keep_inverted ? "tetrahedra have a negative volume"
                                                         : "tetrahedra had a negative volume and were reoriented");
  warn_count(report.unused_vertices, mesh.cells.empty() ? "nodes belong to no triangle and were dropped"
                                                        : "nodes belong to no tetrahedron and were dropped");
  warn_count(report.extra_groups, "volumes or surfaces are in several physical groups; the first one counts");
  warn_count(report.negative_markers, "faces have a negative boundary marker, which does not count as a tag");
  for (const std::string& data : report.skipped_data)
    warn("{}: the data '{}' are not numbers on tetrahedra with 1, 3 or 9 components; they were left out", name, data);
}

}  // namespace tutti
