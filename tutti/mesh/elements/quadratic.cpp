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
        if (lattice[a][d] + lattice[b][d] != 2 * lattice[n][d]) return false;
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

/// The nodes of which each missing node is a mixture: its corners alone, or, where `middles` are there, these too.
struct Mixture {
  std::vector<int> corners, middles;
  double of_corner = 0, of_middle = 0;
};

std::vector<Mixture> mixtures(ElementType type, bool middles) {
  const auto around = node_corners(type);
  std::vector<Mixture> result;
  for (const auto& corners : around) {
    Mixture m{corners, {}, 1.0 / static_cast<double>(corners.size()), 0};
    if (middles && corners.size() >= 4) {
      for (std::size_t n = 0; n < around.size(); ++n)
        if (around[n].size() == 2 && std::includes(corners.begin(), corners.end(), around[n].begin(), around[n].end()))
          m.middles.push_back(static_cast<int>(n));
      m.of_corner = -0.25;
      m.of_middle = corners.size() == 4 ? 0.5 : 0.25;
    }
    result.push_back(std::move(m));
  }
  return result;
}

/// A node to be made: its corners, ascending (-1 behind two), the point it gets, and where it goes.
struct NewNode {
  std::array<Gid, 4> corners;
  std::size_t place;
  Vec3 point;
  Gid number = -1;  ///< of a point that is there: in a quadrangle of an element that has it
  auto key() const { return std::tuple(corners, number < 0, place); }
};

class Completion {
 public:
  /// `first_order`: elements of first order are raised; else those of serendipity_node_count() are completed.
  Completion(const ElementMesh& mesh, bool first_order) : mesh_(mesh), first_order_(first_order) {
    for (std::size_t t = 0; t < 4; ++t) mixtures_[t] = mixtures(static_cast<ElementType>(t), !first_order);
  }

  ElementMesh run() {
    result_ = mesh_;
    result_.nodes.clear();
    result_.node_offsets = {0};
    for (Gid e = 0; e < mesh_.element_count(); ++e) {
      const auto old = mesh_.element_nodes(e);
      const std::size_t first = result_.nodes.size();
      result_.nodes.insert(result_.nodes.end(), old.begin(), old.end());
      const int wanted = first_order_ ? corner_count(mesh_.type(e)) : serendipity_node_count(mesh_.type(e));
      if (static_cast<int>(old.size()) == wanted)
        add_nodes(e, first);
      else
        keep_nodes(e, first);
      result_.node_offsets.push_back(static_cast<Gid>(result_.nodes.size()));
    }
    number_nodes();
    return std::move(result_);
  }

 private:
  void add_nodes(Gid e, std::size_t first) {
    const auto old = mesh_.element_nodes(e);
    const auto& nodes = mixtures_[static_cast<std::size_t>(mesh_.type(e))];
    result_.nodes.resize(first + nodes.size(), -1);
    for (std::size_t n = old.size(); n < nodes.size(); ++n) {
      const Mixture& m = nodes[n];
      NewNode node{{-1, -1, -1, -1}, first + n, {}, -1};
      const auto point = [&](int k) { return mesh_.points[old[k]]; };
      for (const int k : m.corners) node.point = node.point + m.of_corner * point(k);
      for (const int k : m.middles) node.point = node.point + m.of_middle * point(k);
      if (m.corners.size() == 8) {
        centres_.push_back(node);
        continue;
      }
      node.corners = corners_of(e, m);
      shared_.push_back(node);
    }
  }

  /// The points in quadrangles, which a neighbour may lack.
  void keep_nodes(Gid e, std::size_t first) {
    if (first_order_) return;
    const auto old = mesh_.element_nodes(e);
    const auto& nodes = mixtures_[static_cast<std::size_t>(mesh_.type(e))];
    for (std::size_t n = 0; n < std::min(old.size(), nodes.size()); ++n)
      if (nodes[n].corners.size() == 4) shared_.push_back({corners_of(e, nodes[n]), first + n, {}, old[n]});
  }

  std::array<Gid, 4> corners_of(Gid e, const Mixture& m) const {
    std::array<Gid, 4> corners = {-1, -1, -1, -1};
    for (std::size_t k = 0; k < m.corners.size(); ++k) corners[k] = mesh_.element_nodes(e)[m.corners[k]];
    std::sort(corners.begin(), corners.begin() + static_cast<std::ptrdiff_t>(m.corners.size()));
    return corners;
  }

  void number_nodes() {
    std::sort(shared_.begin(), shared_.end(), [](const NewNode& a, const NewNode& b) { return a.key() < b.key(); });
    Gid number = -1;
    for (std::size_t i = 0; i < shared_.size(); ++i) {
      const bool first = i == 0 || shared_[i].corners != shared_[i - 1].corners;
      if (shared_[i].number >= 0) {
        if (first) number = shared_[i].number;
        continue;
      }
      if (first) {
        number = result_.point_count();
        result_.points.push_back(shared_[i].point);
      }
      result_.nodes[shared_[i].place] = number;
    }
    for (const NewNode& node : centres_) {
      result_.nodes[node.place] = result_.point_count();
      result_.points.push_back(node.point);
    }
  }

  const ElementMesh& mesh_;
  bool first_order_;
  std::array<std::vector<Mixture>, 4> mixtures_;
  ElementMesh result_;
  std::vector<NewNode> shared_, centres_;  ///< centres: of hexahedra, which no other element has
};

}  // namespace

ElementMesh make_quadratic(const ElementMesh& mesh) {
  return Completion(mesh, true).run();
}

ElementMesh complete_serendipity(const ElementMesh& mesh) {
  return Completion(mesh, false).run();
}

}  // namespace tutti
