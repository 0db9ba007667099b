#include "tutti/models/compressible/elements/operator_sizes.hpp"

#include <algorithm>
#include <set>

#include "tutti/mesh/elements/element_tables.hpp"
#include "tutti/models/compressible/elements/line_tables.hpp"

namespace tutti::compressible {
namespace {

class Counter {
 public:
  Counter(const LocalElementMesh& mesh, const IndexMap& map, const OperatorOptions& options)
      : mesh_(mesh), map_(map), options_(options), n_(basis_size(options.order)), columns_(padded(n_)) {}

  OperatorSizes count() {
    for (Lid e = 0; e < map_.local(); ++e) add_element(e);
    for (const LocalElementFace& face : mesh_.faces) add_face(face);
    for (Lid e = 0; options_.apart && e < map_.owned; ++e)
      sizes_.element_row = std::max(sizes_.element_row, static_cast<int>(row_ends_[e]));
    return sizes_;
  }

 private:
  ElementType type(Lid e) const { return mesh_.types[e]; }
  bool straight(Lid e) const { return straight_[e]; }
  bool shared(Lid e) const { return straight(e) && !options_.stored; }
  bool factored(Lid e) const { return is_factored(type(e), shared(e), options_.order); }

  int volume_points(ElementType of, bool flat) {
    const auto [at, is_new] = volume_points_.try_emplace({of, flat});
    if (is_new) at->second = padded(volume_rule(of, options_.order, flat, options_.stored).size());
    return at->second;
  }
  int face_points(int corners, bool flat) {
    const auto [at, is_new] = face_points_.try_emplace({corners, flat});
    if (is_new) at->second = padded(face_rule(corners, options_.order, flat, options_.stored).size());
    return at->second;
  }

  void add_element(Lid e) {
    straight_.push_back(ElementMap(type(e), mesh_.element_nodes(e)).affine());
    const Size points = volume_points(type(e), straight(e));
    if (e < map_.owned) sizes_.source_points += points;
    row_ends_.push_back(volume_table_size(static_cast<int>(points), options_.order));
    if (options_.recomputed && !shared(e)) {
      sizes_.tables += Size{2} * n_ * columns_ + (e < map_.owned ? 4 * points : 0);
      ++sizes_.recomputed;
      return;
    }
    if (factored(e) && !lines_) {
      lines_ = true;
      sizes_.tables += hexahedra::Lines::size;
    }
    if (shared(e) && !volumes_.insert(type(e)).second) return;
    if (!shared(e) && e < map_.owned) ++sizes_.own_volumes;
    if (shared(e) || e < map_.owned)
      sizes_.tables += points + (options_.apart ? 0 : points * n_ + 3 * points * columns_);
    if (!options_.derivatives) return;
    if (have_slopes(type(e), shared(e), options_.order))
      sizes_.tables += points * (Size{3} * n_ + Size{4} * face_points(3, true));
    else
      sizes_.tables += Size{3} * n_ * columns_;
  }

  void add_face(const LocalElementFace& face) {
    const int corners = face_corner_count(type(face.left), face.left_face);
    const bool flat = straight(face.left) || (face.right >= 0 && straight(face.right));
    const Size points = face_points(corners, flat);
    ++sizes_.faces;
    sizes_.flux += variables * points;
    sizes_.normals += flat ? 3 : 3 * points;
    if (options_.recomputed && (!shared(face.left) || (face.right >= 0 && !shared(face.right))))
      sizes_.tables += points;
    add_side(face.left, face.left_face, -1, points, -1);
    if (face.right < 0)
      sizes_.boundary_points += points;
    else
      add_side(face.right, face.right_face, face.orientation, points,
               shared(face.right) && turns(corners, flat, face.orientation) ? -1 : face.orientation);
  }

  void add_side(Lid e, int local, int orientation, Size points, int lift) {
    if (options_.recomputed && !shared(e)) {
      sizes_.tables += 3 * points;
      return;
    }
    if (options_.apart && !shared(e)) {
      row_ends_[e] += points * (columns_ + (options_.limited ? n_ : 0));
      sizes_.face_row = std::max(sizes_.face_row, face_row_width(options_, static_cast<int>(points)));
      return;
    }
    if (factored(e) && grids_.insert({local, orientation}).second) sizes_.turns += max_face_points;
    if (!shared(e) || traces_.insert({type(e), local, orientation}).second) {
      sizes_.tables += points * n_;
      if (shared(e) && options_.derivatives) sizes_.tables += points * (3 * n_ + points);
    }
    if (!shared(e) || lifts_.insert({type(e), local, lift}).second) sizes_.tables += points * columns_;
  }
  /// Do affine right sides lift by the tables of left ones?
  bool turns(int corners, bool flat, int orientation) {
    const auto [at, is_new] = turns_.try_emplace({corners, flat, orientation}, false);
    if (is_new) {
      at->second =
          !turned_points(face_rule(corners, options_.order, flat, options_.stored), corners, orientation).empty();
      if (at->second) sizes_.turns += max_face_points;
    }
    return at->second;
  }

  const LocalElementMesh& mesh_;
  const IndexMap& map_;
  const OperatorOptions& options_;
  const int n_, columns_;
  std::vector<bool> straight_;
  std::vector<Size> row_ends_;
  bool lines_ = false;
  std::set<std::pair<int, int>> grids_;
  std::set<ElementType> volumes_;
  std::set<std::tuple<ElementType, int, int>> traces_, lifts_;
  std::map<std::tuple<int, bool, int>, bool> turns_;
  std::map<std::pair<ElementType, bool>, int> volume_points_;
  std::map<std::pair<int, bool>, int> face_points_;
  OperatorSizes sizes_;
};

}  // namespace

OperatorSizes count_operators(const LocalElementMesh& mesh, const IndexMap& map, const OperatorOptions& options) {
  return Counter(mesh, map, options).count();
}

}  // namespace tutti::compressible
