#include "tutti/mesh/elements/quadratic.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "tutti/mesh/elements/element_tables.hpp"

namespace tutti {
namespace {

/// The corners around which each node of second order lies: itself; two; four; or all, for a hexahedron's centre.
/// Found from the lattice: corners that share the coordinates which are not in the middle.
std::vector<std::vector<int>> node_corners(ElementType type) {
  const auto lattice = node_lattice(type);
  const int corners = corner_count(type);
  std::vector<std::vector<int>> result;
  for (int n = 0; n < quadratic_node_count(type); ++n) {
    const auto sum_to = [&](int a, int b) {
      for (std::size_t d = 0; d < 3; ++d)
        if (lattice[static_cast<std::size_t>(a)][d] + lattice[static_cast<std::size_t>(b)][d] !=
            2 * lattice[static_cast<std::size_t>(n)][d])
          return false;
      return true;
    };
    std::vector<int> around;
    if (n < corners) around = {n};
    // A node in the middle of two corners; of a quadrangle or hexahedron, of every pair of opposite ones.
    for (int a = 0; n >= corners && a < corners; ++a)
      for (int b = 0; b < corners; ++b)
        if (a != b && sum_to(a, b)) {
          around.push_back(a);
          break;
        }
    result.push_back(std::move(around));
  }
  return result;
}

/// A node to be made: its corners, ascending (-1 behind two), and where it goes.
struct NewNode {
  std::array<Gid, 4> corners;
  std::size_t place;
  auto key() const { return std::tie(corners, place); }
};

}  // namespace

ElementMesh make_quadratic(const ElementMesh& mesh) {
  std::array<std::vector<std::vector<int>>, 4> around;
  for (std::size_t t = 0; t < 4; ++t) around[t] = node_corners(static_cast<ElementType>(t));
  ElementMesh result = mesh;
  result.nodes.clear();
  result.node_offsets = {0};
  std::vector<NewNode> wanted;
  std::vector<std::size_t> centres;  // places of hexahedra's centres, which no other element has
  for (Gid e = 0; e < mesh.element_count(); ++e) {
    const auto old = mesh.element_nodes(e);
    const std::size_t first = result.nodes.size();
    result.nodes.insert(result.nodes.end(), old.begin(), old.end());
    if (geometry_order(mesh.type(e), old.size()) == 1) {
      const auto& nodes = around[static_cast<std::size_t>(mesh.type(e))];
      result.nodes.resize(first + nodes.size(), -1);
      for (std::size_t n = old.size(); n < nodes.size(); ++n) {
        if (nodes[n].size() == 8) {
          centres.push_back(first + n);
          continue;
        }
        NewNode node{{-1, -1, -1, -1}, first + n};
        for (std::size_t k = 0; k < nodes[n].size(); ++k) node.corners[k] = old[static_cast<std::size_t>(nodes[n][k])];
        std::sort(node.corners.begin(), node.corners.begin() + static_cast<std::ptrdiff_t>(nodes[n].size()));
        wanted.push_back(node);
      }
    }
    result.node_offsets.push_back(static_cast<Gid>(result.nodes.size()));
  }
  std::sort(wanted.begin(), wanted.end(), [](const NewNode& a, const NewNode& b) { return a.key() < b.key(); });
  const auto point = [&](Gid v) { return mesh.points[static_cast<std::size_t>(v)]; };
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (i == 0 || wanted[i].corners != wanted[i - 1].corners) {
      const int n = wanted[i].corners[2] < 0 ? 2 : 4;
      Vec3 middle;
      for (int k = 0; k < n; ++k) middle = middle + (1.0 / n) * point(wanted[i].corners[static_cast<std::size_t>(k)]);
      result.points.push_back(middle);
    }
    result.nodes[wanted[i].place] = result.point_count() - 1;
  }
  for (const std::size_t place : centres) {
    const Gid* corners = result.nodes.data() + place - 26;
    Vec3 middle;
    for (int k = 0; k < 8; ++k) middle = middle + 0.125 * point(corners[k]);
    result.nodes[place] = result.point_count();
    result.points.push_back(middle);
  }
  return result;
}

}  // namespace tutti
