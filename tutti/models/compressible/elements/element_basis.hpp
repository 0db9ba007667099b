// The basis of one element, and the tables of its volume.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tutti/models/compressible/elements/basis.hpp"

namespace tutti::compressible {

/// An element's map, points and size, without its basis, which takes kilobytes.
class ElementShape {
 public:
  /// `stored`: affine elements have bases of their own, too.
  ElementShape(const ElementMap& map, int order, bool stored);
  const ElementMap& map() const { return map_; }
  /// It shares the basis of its type's reference element.
  bool affine() const { return affine_; }
  const Quadrature& rule() const { return rule_->rule; }
  const ElementRule& element_rule() const { return *rule_; }
  double volume() const { return volume_; }
  /// The smallest determinant of the map's Jacobian at the points of the rule.
  double smallest_jacobian() const { return smallest_jacobian_; }
  LocalFrame frame() const { return LocalFrame(map_); }
  MappedRule mapped_rule() const { return rule_->map(map_); }

 private:
  ElementMap map_;
  bool affine_;
  const ElementRule* rule_;
  double volume_ = 0, smallest_jacobian_ = 0;
};

/// The basis of one element. Of affine elements it is that of the reference element: all of a type share it.
class ElementBasis : public ElementShape {
 public:
  ElementBasis(const ElementMap& map, int order, bool stored) : ElementBasis(ElementShape(map, order, stored), order) {}
  ElementBasis(const ElementShape& shape, int order);
  /// At reference coordinates.
  std::vector<double> values(Vec3 reference) const;
  /// At a place in physical space.
  std::vector<double> values_at(Vec3 place) const;
  /// In physical space; in reference space where it is affine.
  std::vector<Vec3> gradients(Vec3 reference) const;

  /// Whose places are those of physical space, or of the reference element where it is affine.
  const Basis& basis() const { return shared_->basis; }
  Vec3 place(Vec3 reference) const { return affine() ? reference : map().point(reference); }
  const MappedRule& mapped() const { return shared_->mapped; }
  /// Places of the points of the rule and their shares of the volume, padded: the first point again, with no share.
  struct Points {
    std::vector<Vec3> at;
    std::vector<double> shares;
  };
  Points points() const;

 private:
  std::vector<double> row_at(Vec3 at) const;
  struct Made {
    Basis basis;
    MappedRule mapped;
  };

  std::shared_ptr<const Made> shared_;
};

/// The shares of a flat face's points, padded: those of the rule.
std::vector<double> shares_of_face(const Quadrature& rule);

/// Doubles of the tables `values` and `projection` (kernels/view.hpp) of a volume with so many points, padded.
int volume_table_size(int points, int order);
/// Writes them: values first.
void make_volume_tables(const ElementBasis& element, int order, double* values, double* projection);
/// `derivative`, from those of so many points.
void make_derivatives(int points, int order, const double* values, const double* projection, double* to);

}  // namespace tutti::compressible
