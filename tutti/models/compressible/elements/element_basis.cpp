#include "tutti/models/compressible/elements/element_basis.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>

#include "tutti/mesh/elements/element_tables.hpp"
#include "tutti/models/compressible/elements/matrix_product.hpp"
#include "tutti/models/compressible/elements/tetrahedron_symmetry.hpp"

namespace tutti::compressible {
namespace {

/// Made once in a process; addresses stay. A thread that asks for the same again waits for no other.
template <class Key, class Value, class Make>
const Value& kept(std::map<Key, Value>& all, const Key& key, const Make& make) {
  static std::mutex mutex;
  thread_local const std::pair<const Key, Value>* last = nullptr;
  if (last != nullptr && last->first == key) return last->second;
  const std::lock_guard lock(mutex);
  auto at = all.find(key);
  if (at == all.end()) at = all.emplace(key, make()).first;
  last = &*at;
  return at->second;
}

const ElementRule& rule_of(ElementType type, int order, bool affine, bool stored) {
  static std::map<std::tuple<ElementType, int, bool, bool>, ElementRule> all;
  return kept(all, {type, order, affine, stored},
              [&] { return ElementRule(type, volume_rule(type, order, affine, stored)); });
}

/// The reference element itself, whose map is the identity.
ElementMap reference_element(ElementType type) {
  std::vector<Vec3> nodes;
  for (int n = 0; n < corner_count(type); ++n) nodes.push_back(node_reference(type, n));
  return {type, nodes};
}

}  // namespace

ElementShape::ElementShape(const ElementMap& map, int order, bool stored)
    : map_(map), affine_(!stored && map.affine()), rule_(&rule_of(map.type(), order, map.affine(), stored)) {
  if (affine_) {
    smallest_jacobian_ = map.jacobian(map.centre()).determinant();
    volume_ = smallest_jacobian_ * reference_volume(map.type());
    return;
  }
  const std::vector<double> weights = mapped_rule().weights;
  for (std::size_t q = 0; q < weights.size(); ++q) {
    volume_ += weights[q];
    const double determinant = weights[q] / rule_->rule.weights[q];
    if (q == 0 || !(determinant >= smallest_jacobian_)) smallest_jacobian_ = determinant;
  }
}

ElementBasis::ElementBasis(const ElementShape& shape, int order) : ElementShape(shape) {
  using Key = std::pair<ElementType, int>;
  const ElementType type = map().type();
  if (affine()) {
    using Shared = std::shared_ptr<const Made>;
    static std::map<Key, Shared> all;
    shared_ = kept(all, {type, order}, [&]() -> Shared {
      const ElementShape reference(reference_element(type), order, false);
      MappedRule mapped = reference.mapped_rule();
      LocalFrame frame = reference.frame();
      if (has_symmetric_basis(type, order)) frame.axes = symmetric_axes;
      Basis basis(frame, order, mapped);
      return std::make_shared<const Made>(Made{std::move(basis), std::move(mapped)});
    });
    return;
  }
  static std::map<Key, Basis> references;
  const Basis& near = kept(references, {type, order}, [&] {
    const ElementMap reference = reference_element(type);
    return Basis(LocalFrame(reference), order, rule_of(type, order, false, false).map(reference));
  });
  MappedRule mapped = mapped_rule();
  Basis basis(frame(), order, mapped, &near);
  shared_ = std::make_shared<const Made>(Made{std::move(basis), std::move(mapped)});
}

std::vector<double> ElementBasis::values_at(Vec3 place) const {
  Vec3 at = place;
  if (affine()) at = map().centre() + frame().at(place);
  return row_at(at);
}

std::vector<double> ElementBasis::values(Vec3 reference) const {
  return row_at(place(reference));
}

std::vector<double> ElementBasis::row_at(Vec3 at) const {
  const double one = 1;
  std::vector<double> row(padded(basis().size()));
  basis().values_by_point({&at, 1}, {&one, 1}, row.data());
  row.resize(basis().size());
  return row;
}

std::vector<Vec3> ElementBasis::gradients(Vec3 reference) const {
  const Vec3 at = place(reference);
  const double one = 1;
  const auto columns = static_cast<std::size_t>(padded(basis().size()));
  std::vector<double> rows(3 * columns);
  basis().gradients_by_point({&at, 1}, {&one, 1}, rows.data());
  std::vector<Vec3> all;
  for (int l = 0; l < basis().size(); ++l) all.push_back({rows[l], rows[columns + l], rows[2 * columns + l]});
  return all;
}

ElementBasis::Points ElementBasis::points() const {
  const MappedRule& mapped = shared_->mapped;
  Points points{{}, mapped.weights};
  for (std::size_t q = 0; q < mapped.row(); ++q) points.at.push_back(mapped.at(q));
  for (double& share : points.shares) share /= basis().volume();
  points.shares.resize(mapped.row(), 0.0);
  return points;
}

std::vector<double> shares_of_face(const Quadrature& rule) {
  double measure = 0;
  for (const double w : rule.weights) measure += w;
  std::vector<double> shares(static_cast<std::size_t>(padded(rule.size())), 0.0);
  for (std::size_t q = 0; q < rule.weights.size(); ++q) shares[q] = rule.weights[q] / measure;
  return shares;
}

int volume_table_size(int points, int order) {
  const int n = basis_size(order);
  return points * (n + 3 * padded(n));
}

void make_volume_tables(const ElementBasis& element, int order, double* values, double* projection) {
  const auto points = element.points();
  const int all = static_cast<int>(points.at.size()), columns = padded(basis_size(order));
  element.basis().values_by_function(points.at, values, all);
  for (int begin = 0; begin < all; begin += chunk_points) {
    const auto first = static_cast<std::size_t>(begin),
               count = std::min<std::size_t>(chunk_points, points.at.size() - first);
    element.basis().gradients_by_point(std::span(points.at).subspan(first, count),
                                       std::span(points.shares).subspan(first, count),
                                       projection + Size{3} * begin * columns);
  }
}

/// Exact: the derivatives of the basis are in its space.
void make_derivatives(int points, int order, const double* values, const double* projection, double* to) {
  const int n = basis_size(order), columns = padded(n);
  const Size wide = Size{n} * columns;
  thread_local std::vector<double> sums;  // [d][m][l]
  sums.assign(static_cast<std::size_t>(3 * wide), 0.0);
  for (int begin = 0; begin < points; begin += chunk_points)
    for (int d = 0; d < 3; ++d) {
      const int count = std::min(chunk_points, points - begin);
      add_matrix_product(projection + (Size{3} * begin + Size{d} * count) * columns, columns, count, values + begin,
                         points, n, columns, sums.data() + d * wide, columns);
    }
  std::fill(to, to + 3 * wide, 0.0);
  for (int l = 0; l < n; ++l)
    for (int d = 0; d < 3; ++d)
      for (int m = 0; m < n; ++m) to[(Size{3} * l + d) * columns + m] = sums[d * wide + Size{m} * columns + l];
  clear_rounding({to, static_cast<std::size_t>(3 * wide)});
}

}  // namespace tutti::compressible
