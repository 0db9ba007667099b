#include "tutti/mesh/elements/element_collector.hpp"

#include <algorithm>
#include <array>

#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"
#include "tutti/mesh/elements/element_checks.hpp"
#include "tutti/mesh/elements/element_tables.hpp"
#include "tutti/mesh/elements/quadratic.hpp"
#include "tutti/mesh/elements/reference_rules.hpp"

namespace tutti {
namespace {

using enum ElementType;

constexpr FileElementKind volume(ElementType type, int nodes) {
  return {type, nodes, 0};
}
constexpr FileElementKind surface(int corners, int nodes) {
  return {tetrahedron, nodes, corners};
}
struct Entry {
  int code;
  FileElementKind kind;
};

constexpr std::array gmsh_kinds = {Entry{4, volume(tetrahedron, 4)},  Entry{11, volume(tetrahedron, 10)},
                                   Entry{5, volume(hexahedron, 8)},   Entry{17, volume(hexahedron, 20)},
                                   Entry{12, volume(hexahedron, 27)}, Entry{6, volume(prism, 6)},
                                   Entry{18, volume(prism, 15)},      Entry{13, volume(prism, 18)},
                                   Entry{7, volume(pyramid, 5)},      Entry{19, volume(pyramid, 13)},
                                   Entry{14, volume(pyramid, 14)},    Entry{2, surface(3, 3)},
                                   Entry{9, surface(3, 6)},           Entry{3, surface(4, 4)},
                                   Entry{16, surface(4, 8)},          Entry{10, surface(4, 9)}};

// vtkCellType.h; 69 to 73 are Lagrange cells of any order.
constexpr std::array vtk_kinds = {Entry{10, volume(tetrahedron, 4)}, Entry{24, volume(tetrahedron, 10)},
                                  Entry{71, volume(tetrahedron, 4)}, Entry{71, volume(tetrahedron, 10)},
                                  Entry{12, volume(hexahedron, 8)},  Entry{25, volume(hexahedron, 20)},
                                  Entry{29, volume(hexahedron, 27)}, Entry{72, volume(hexahedron, 8)},
                                  Entry{72, volume(hexahedron, 27)}, Entry{13, volume(prism, 6)},
                                  Entry{26, volume(prism, 15)},      Entry{32, volume(prism, 18)},
                                  Entry{73, volume(prism, 6)},       Entry{73, volume(prism, 18)},
                                  Entry{14, volume(pyramid, 5)},     Entry{27, volume(pyramid, 13)},
                                  Entry{5, surface(3, 3)},           Entry{22, surface(3, 6)},
                                  Entry{34, surface(3, 7)},          Entry{69, surface(3, 3)},
                                  Entry{69, surface(3, 6)},          Entry{9, surface(4, 4)},
                                  Entry{23, surface(4, 8)},          Entry{28, surface(4, 9)},
                                  Entry{70, surface(4, 4)},          Entry{70, surface(4, 9)}};

/// The node that has the place of `node` in the element's mirror image.
std::vector<std::size_t> mirrored_nodes(ElementType type) {
  const auto lattice = node_lattice(type);
  std::vector<std::size_t> result;
  for (auto l : lattice) {
    if (type == tetrahedron) std::swap(l[1], l[2]);
    if (type == pyramid) std::swap(l[0], l[1]);
    if (type == hexahedron || type == prism) l[2] = static_cast<std::int8_t>(2 - l[2]);
    result.push_back(static_cast<std::size_t>(std::find(lattice.begin(), lattice.end(), l) - lattice.begin()));
  }
  return result;
}

Size turn_inverted(ElementMesh& mesh) {
  std::array<std::vector<std::size_t>, 4> mirrored;
  for (std::size_t t = 0; t < 4; ++t) mirrored[t] = mirrored_nodes(static_cast<ElementType>(t));
  const VolumeRule rule;
  Size turned = 0;
  for (Gid e = 0; e < mesh.element_count(); ++e) {
    const auto t = static_cast<std::size_t>(mesh.type(e));
    if (!(rule.volume(mesh, e) < 0)) continue;
    ++turned;
    const auto old = mesh.element_nodes(e);
    const std::vector<Gid> before(old.begin(), old.end());
    Gid* now = mesh.nodes.data() + mesh.node_offsets[e];
    for (std::size_t n = 0; n < before.size(); ++n) now[n] = before[mirrored[t][n]];
  }
  return turned;
}

Size drop_unused(ElementMesh& mesh, std::vector<PeriodicLink>& links) {
  std::vector<Gid> number(mesh.points.size(), -1);
  for (const Gid v : mesh.nodes) number[v] = 0;
  for (const auto& face : mesh.boundary)
    for (const Gid v : face)
      if (v >= 0) number[v] = 0;
  Gid next = 0;
  for (std::size_t v = 0; v < number.size(); ++v) {
    if (number[v] < 0) continue;
    mesh.points[next] = mesh.points[v];
    number[v] = next++;
  }
  const Size dropped = mesh.point_count() - next;
  mesh.points.resize(next);
  for (Gid& v : mesh.nodes) v = number[v];
  for (auto& face : mesh.boundary)
    for (Gid& v : face)
      if (v >= 0) v = number[v];
  for (PeriodicLink& link : links) {
    for (auto& [a, b] : link.points) a = number[a], b = number[b];
    std::erase_if(link.points, [](const auto& pair) { return pair.first < 0 || pair.second < 0; });
  }
  return dropped;
}

}  // namespace

int gmsh_node(ElementType type, int node) {
  // Gmsh's edges: tetrahedron ... 2 3, 1 3; others in ascending order of their corners; then faces in its own order.
  static constexpr std::array<std::int8_t, 10> tets = {0, 1, 2, 3, 4, 5, 6, 7, 9, 8};
  static constexpr std::array<std::int8_t, 27> hexes = {0,  1,  2,  3,  4,  5,  6,  7,  8,  11, 13, 9,  16, 18,
                                                        19, 17, 10, 12, 14, 15, 22, 23, 21, 24, 20, 25, 26};
  static constexpr std::array<std::int8_t, 18> prisms = {0, 1, 2, 3, 4, 5, 6, 9, 7, 12, 14, 13, 8, 10, 11, 15, 17, 16};
  static constexpr std::array<std::int8_t, 14> pyramids = {0, 1, 2, 3, 4, 5, 8, 10, 6, 7, 9, 11, 12, 13};
  const auto n = static_cast<std::size_t>(node);
  switch (type) {
    case tetrahedron:
      return tets[n];
    case hexahedron:
      return hexes[n];
    case prism:
      return prisms[n];
    case pyramid:
      break;
  }
  return pyramids[n];
}

const FileElementKind* gmsh_element_kind(Size type) {
  for (const Entry& e : gmsh_kinds)
    if (e.code == type) return &e.kind;
  return nullptr;
}

const FileElementKind* vtk_element_kind(Size type, Size points) {
  const FileElementKind* found = nullptr;
  for (const Entry& e : vtk_kinds) {
    if (e.code != type) continue;
    if (e.kind.nodes == points) return &e.kind;
    if (type < 69) found = &e.kind;  // the reader tells of the other number
  }
  return found;
}

void ElementCollector::add_surface(const FileElementKind& kind, std::span<const Gid> nodes, std::int32_t tag) {
  if (tag == 0) return;
  mesh.boundary.push_back({nodes[0], nodes[1], nodes[2], kind.corners == 4 ? nodes[3] : -1});
  mesh.boundary_tags.push_back(tag);
}

ElementMesh ElementCollector::finish(const std::string& name, MeshReport& report) {
  mesh = complete_serendipity(mesh);
  report.inverted_cells = turn_inverted(mesh);
  report.unused_vertices = drop_unused(mesh, links);
  if (report.inverted_cells > 0)
    warn("{}: {} elements had a negative volume and were reoriented", name, format_count(report.inverted_cells));
  if (report.unused_vertices > 0)
    warn("{}: {} nodes belong to no element and were dropped", name, format_count(report.unused_vertices));
  if (report.extra_groups > 0)
    warn("{}: {} volumes or surfaces are in several physical groups; the first one counts", name,
         format_count(report.extra_groups));
  check_elements(mesh, name);
  if (!links.empty()) pair_links(mesh, name, std::move(links));
  return std::move(mesh);
}

}  // namespace tutti
