#include "tutti/mesh/info.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "tutti/base/error.hpp"
#include "tutti/base/printable.hpp"
#include "tutti/base/units.hpp"

namespace tutti {
namespace {

/// Neumaier's sum: millions of cells must not cost digits.
struct Sum {
  double value = 0, carry = 0;
  void add(double x) {
    const double t = value + x;
    carry += std::abs(value) >= std::abs(x) ? (value - t) + x : (x - t) + value;
    value = t;
  }
  double total() const { return value + carry; }
};

/// Running sums of what goes into a MeshInfo.
struct Sums {
  Sum volume, aspect;
  std::map<std::int32_t, Sum> regions, boundary;  ///< boundary tag 0: untagged
};

struct Shape {
  double volume = 0, max_cosine = -1, aspect = 0;
  std::array<double, 4> area{};
};

Shape shape_of(const TetMesh& mesh, std::size_t cell) {
  const auto at = [&](int i) { return mesh.vertices[mesh.cells[cell][i]]; };
  Shape s;
  s.volume = tet_volume(at(0), at(1), at(2), at(3));
  std::array<Vec3, 4> normal;
  double surface = 0, longest = 0;
  for (std::size_t f = 0; f < 4; ++f) {
    const auto [a, b, c] = tet_faces[f];
    normal[f] = cross(at(b) - at(a), at(c) - at(a));
    s.area[f] = 0.5 * norm(normal[f]);
    surface += s.area[f];
  }
  for (int i = 0; i < 4; ++i)
    for (int j = i + 1; j < 4; ++j) {
      longest = std::max(longest, norm(at(i) - at(j)));
      // The angle between two faces is the supplement of that between their outward normals.
      const auto fi = static_cast<std::size_t>(i), fj = static_cast<std::size_t>(j);
      s.max_cosine = std::max(s.max_cosine, -dot(normal[fi], normal[fj]) / (4 * s.area[fi] * s.area[fj]));
    }
  s.aspect = longest * surface / (6 * std::sqrt(6.0) * s.volume);
  return s;
}

Size count_components(const FaceNeighbours& neighbours) {
  std::vector<std::uint8_t> seen(neighbours.size(), 0);
  std::vector<Gid> open;
  Size components = 0;
  for (std::size_t start = 0; start < neighbours.size(); ++start) {
    if (seen[start]) continue;
    ++components;
    seen[start] = 1;
    open.push_back(static_cast<Gid>(start));
    while (!open.empty()) {
      const auto cell = static_cast<std::size_t>(open.back());
      open.pop_back();
      for (const Gid n : neighbours[cell]) {
        if (n < 0 || seen[n]) continue;
        seen[n] = 1;
        open.push_back(n);
      }
    }
  }
  return components;
}

std::string name_in(const std::map<std::int32_t, std::string>& names, std::int32_t tag) {
  const auto hit = names.find(tag);
  return hit == names.end() ? std::string() : hit->second;
}

void inspect_faces(MeshInfo& info, Sums& sums, const std::array<Gid, 4>& behind, const std::array<double, 4>& area) {
  std::size_t boundary_faces = 0;
  for (std::size_t f = 0; f < 4; ++f) {
    if (behind[f] >= 0) continue;
    ++boundary_faces;
    const std::int32_t tag = boundary_tag(behind[f]);
    MeshInfo::Group& group = tag == 0 ? info.untagged : info.boundary[tag];
    ++group.count;
    sums.boundary[tag].add(area[f]);
  }
  ++info.cells_by_boundary_faces[boundary_faces];
  info.boundary_faces += static_cast<Size>(boundary_faces);
}

}  // namespace

MeshInfo inspect(const TetMesh& mesh, const FaceNeighbours& neighbours) {
  require(neighbours.size() == mesh.cells.size(), "{} rows of neighbours for {} cells", neighbours.size(),
          mesh.cells.size());
  MeshInfo info;
  info.cells = mesh.cell_count();
  info.vertices = mesh.vertex_count();
  if (!mesh.vertices.empty()) info.lower = info.upper = mesh.vertices.front();
  for (const Vec3& v : mesh.vertices)
    for (int d = 0; d < 3; ++d) {
      info.lower[d] = std::min(info.lower[d], v[d]);
      info.upper[d] = std::max(info.upper[d], v[d]);
    }
  if (mesh.cells.empty()) return info;
  double max_cosine = -1;
  Sums sums;
  info.min_volume = info.min_aspect = std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < mesh.cells.size(); ++c) {
    const Shape s = shape_of(mesh, c);
    sums.volume.add(s.volume);
    info.min_volume = std::min(info.min_volume, s.volume);
    info.max_volume = std::max(info.max_volume, s.volume);
    max_cosine = std::max(max_cosine, s.max_cosine);
    info.min_aspect = std::min(info.min_aspect, s.aspect);
    info.max_aspect = std::max(info.max_aspect, s.aspect);
    sums.aspect.add(s.aspect);
    ++info.regions[mesh.regions[c]].count;
    sums.regions[mesh.regions[c]].add(s.volume);
    inspect_faces(info, sums, neighbours[c], s.area);
  }
  info.volume = sums.volume.total();
  info.mean_aspect = sums.aspect.total() / static_cast<double>(info.cells);
  info.min_dihedral_degrees = std::acos(std::clamp(max_cosine, -1.0, 1.0)) * 180 / std::numbers::pi;
  for (auto& [tag, group] : info.regions) {
    group.name = name_in(mesh.region_names, tag);
    group.measure = sums.regions[tag].total();
  }
  info.untagged.measure = sums.boundary[0].total();
  Size tagged = 0;
  for (auto& [tag, group] : info.boundary) {
    group.name = name_in(mesh.boundary_names, tag);
    group.measure = sums.boundary[tag].total();
    tagged += group.count;
  }
  // A triangle listed twice counts once too much here; it is as superfluous as an interior one.
  info.interior_triangles = static_cast<Size>(mesh.boundary.size()) - tagged;
  info.components = count_components(neighbours);
  return info;
}

std::string describe(const MeshInfo& info) {
  std::string s = fmt::format("{} tetrahedra, {} vertices, {} boundary faces, {} connected {}\n",
                              format_count(info.cells), format_count(info.vertices), format_count(info.boundary_faces),
                              format_count(info.components), info.components == 1 ? "piece" : "pieces");
  s += fmt::format("box          [{:.6g}, {:.6g}] x [{:.6g}, {:.6g}] x [{:.6g}, {:.6g}]\n", info.lower.x, info.upper.x,
                   info.lower.y, info.upper.y, info.lower.z, info.upper.z);
  s += fmt::format("volume       {:.6g}, of a cell {:.3g} to {:.3g}\n", info.volume, info.min_volume, info.max_volume);
  s += fmt::format(
      "quality      smallest dihedral angle {:.2f} degrees; aspect ratio {:.2f} to {:.2f}, mean {:.2f} (1 is "
      "regular)\n",
      info.min_dihedral_degrees, info.min_aspect, info.max_aspect, info.mean_aspect);
  s += fmt::format("cells with   1 boundary face: {}, 2: {}, 3: {}, 4: {}\n",
                   format_count(info.cells_by_boundary_faces[1]), format_count(info.cells_by_boundary_faces[2]),
                   format_count(info.cells_by_boundary_faces[3]), format_count(info.cells_by_boundary_faces[4]));
  const auto quoted = [](const MeshInfo::Group& g) {
    return g.name.empty() ? std::string("(no name)") : '"' + printable(g.name) + '"';
  };
  for (const auto& [tag, g] : info.regions)
    s += fmt::format("region {:<5} {:<20} {:>12} cells, volume {:.6g}\n", tag, quoted(g), format_count(g.count),
                     g.measure);
  for (const auto& [tag, g] : info.boundary)
    s += fmt::format("surface {:<4} {:<20} {:>12} faces, area {:.6g}\n", tag, quoted(g), format_count(g.count),
                     g.measure);
  if (info.untagged.count > 0)
    s += fmt::format("untagged     {:<20} {:>12} faces, area {:.6g}\n", "", format_count(info.untagged.count),
                     info.untagged.measure);
  if (info.interior_triangles > 0)
    s += fmt::format("note: {} tagged triangles lie between two cells and are not boundaries\n",
                     format_count(info.interior_triangles));
  return s;
}

}  // namespace tutti
