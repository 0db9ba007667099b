#include "tutti/models/compressible/elements/operator_sizes.hpp"

#include <set>

#include "tutti/mesh/elements/element_tables.hpp"

namespace tutti::compressible {
namespace {

class Counter {
 public:
  Counter(const LocalElementMesh& mesh, const IndexMap& map, const OperatorOptions& options)
      : mesh_(mesh), map_(map), options_(options), n_(basis_size(options.order)), columns_(padded(n_)) {}

  OperatorSizes count() {
    for (Lid e = 0; e < map_.local(); ++e) add_element(e);
    for (const LocalElementFace& face : mesh_.faces) add_face(face);
    return sizes_;
  }

 private:
  ElementType type(Lid e) const { return mesh_.types[e]; }
  bool straight(Lid e) const { return straight_[e]; }
  bool shared(Lid e) const { return straight(e) && !options_.stored; }

  int volume_points(ElementType of, bool flat) {
    const auto [at, is_new] = volume_points_.try_emplace({of, flat});
    if (is_new) at->second = padded(volume_rule(of, options_.order, flat).size());
    return at->second;
  }
  int face_points(int corners, bool flat) {
    const auto [at, is_new] = face_points_.try_emplace({corners, flat});
    if (is_new) at->second = padded(face_rule(corners, options_.order, flat).size());
    return at->second;
  }

  void add_element(Lid e) {
    straight_.push_back(ElementMap(type(e), mesh_.element_nodes(e)).affine());
    const Size points = volume_points(type(e), straight(e));
    if (e < map_.owned) sizes_.source_points += points;
    if (shared(e) && !volumes_.insert(type(e)).second) return;
    if (!shared(e) && e < map_.owned) ++sizes_.own_volumes;
    if (shared(e) || e < map_.owned)
      sizes_.tables += points + (options_.apart ? 0 : points * n_ + 3 * points * columns_);
    if (options_.derivatives) sizes_.tables += Size{3} * n_ * columns_;
  }

  void add_face(const LocalElementFace& face) {
    const int corners = face_corner_count(type(face.left), face.left_face);
    const bool flat = straight(face.left) || (face.right >= 0 && straight(face.right));
    const Size points = face_points(corners, flat), side = points * (n_ + columns_);
    ++sizes_.faces;
    sizes_.flux += variables * points;
    sizes_.normals += flat ? 3 : 3 * points;
    if (!shared(face.left) || sides_.insert({type(face.left), face.left_face, -1}).second) sizes_.tables += side;
    if (face.right < 0)
      sizes_.boundary_points += points;
    else if (!shared(face.right) || sides_.insert({type(face.right), face.right_face, face.orientation}).second)
      sizes_.tables += side;
  }

  const LocalElementMesh& mesh_;
  const IndexMap& map_;
  const OperatorOptions& options_;
  const int n_, columns_;
  std::vector<bool> straight_;
  std::set<ElementType> volumes_;
  std::set<std::tuple<ElementType, int, int>> sides_;
  std::map<std::pair<ElementType, bool>, int> volume_points_;
  std::map<std::pair<int, bool>, int> face_points_;
  OperatorSizes sizes_;
};

}  // namespace

OperatorSizes count_operators(const LocalElementMesh& mesh, const IndexMap& map, const OperatorOptions& options) {
  return Counter(mesh, map, options).count();
}

}  // namespace tutti::compressible
