#include "tutti/models/compressible/elements/operators.hpp"

#include <algorithm>
#include <cmath>

#include "tutti/base/error.hpp"
#include "tutti/base/portable_math.hpp"
#include "tutti/mesh/elements/element_tables.hpp"

namespace tutti::compressible {
namespace {

/// The reference element itself, whose map is the identity.
ElementMap reference_element(ElementType type) {
  std::vector<Vec3> nodes;
  for (int n = 0; n < corner_count(type); ++n) nodes.push_back(node_reference(type, n));
  return {type, nodes};
}

/// Rule and basis of all affine elements of a type and order.
struct Shared {
  std::shared_ptr<const Quadrature> rule;
  std::shared_ptr<const Basis> basis;
};
const Shared& shared_basis(ElementType type, int order) {
  static const auto all = [] {
    std::vector<Shared> made;
    for (int t = 0; t < 4; ++t)
      for (int p = 0; p <= max_order; ++p) {
        const auto kind = static_cast<ElementType>(t);
        Shared s;
        s.rule = std::make_shared<const Quadrature>(volume_rule(kind, p, true));
        s.basis = std::make_shared<const Basis>(reference_element(kind), p, *s.rule);
        made.push_back(std::move(s));
      }
    return made;
  }();
  return all[static_cast<int>(type) * (max_order + 1) + order];
}

/// The point of a face's coordinates in its right element.
Vec3 right_reference(ElementType type, const LocalElementFace& face, double u, double v) {
  const FacePoint at = right_face_point(face_corner_count(type, face.right_face), face.orientation, u, v);
  return face_reference(type, face.right_face, at.u, at.v);
}

class Maker {
 public:
  Maker(const LocalElementMesh& mesh, const IndexMap& map, const OperatorOptions& options)
      : mesh_(mesh), map_(map), options_(options), n_(basis_size(options.order)), columns_(padded(n_)) {}

  Operators make() {
    for (int q = 0; q < max_face_points; ++q) made_.turns.push_back(static_cast<std::uint8_t>(q));
    const auto rows = static_cast<std::size_t>(map_.local());
    made_.elements.resize(rows);
    made_.metric.assign(9 * rows, 0.0);
    made_.face_of.assign(max_faces * rows, -1);
    for (Lid e = 0; e < map_.local(); ++e) {
      const ElementMap element(mesh_.types[e], mesh_.element_nodes(e));
      bases_.emplace_back(element, options_.order, options_.stored);
      add_element(e);
    }
    for (const LocalElementFace& face : mesh_.faces) add_face(face);
    return std::move(made_);
  }

 private:
  const ElementBasis& basis(Lid e) const { return bases_[e]; }
  Size end() const { return static_cast<Size>(made_.tables.size()); }
  double* grow(int rows, int columns) {
    const std::size_t at = made_.tables.size();
    made_.tables.resize(at + static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns), 0.0);
    return made_.tables.data() + at;
  }

  void add_element(Lid e) {
    const ElementBasis& b = basis(e);
    ElementRecord& record = made_.elements[e];
    if (!(b.volume() > 0))
      fail(ErrorKind::input,
           "mesh: element {} is turned over or has no volume; use a mesh whose elements have positive volumes",
           map_.global[e]);
    const Size place = e;
    if (b.affine()) {
      const auto g = b.map().jacobian(b.map().centre()).inverse();
      for (int r = 0; r < 3; ++r)
        for (int d = 0; d < 3; ++d) made_.metric[9 * place + 3 * r + d] = g[r][d];
      const auto [at, is_new] = volumes_.try_emplace(b.map().type());
      if (is_new) at->second = volume_tables(b, e);
      record = at->second;
    } else {
      record = volume_tables(b, e);
    }
    record.affine = b.affine() ? 1 : 0;
    record.volume = b.volume();
    record.size = portable::pow(b.volume(), 1.0 / 3);
  }

  ElementRecord volume_tables(const ElementBasis& b, Lid e) {
    const Quadrature& rule = b.rule();
    ElementRecord record;
    const int points = rule.size(), all = padded(points);
    record.points = all;
    std::vector<double> shares(all, 0.0);
    std::vector<std::vector<double>> values;
    std::vector<std::vector<Vec3>> gradients;
    const double reference = reference_volume(b.map().type());
    for (int q = 0; q < all; ++q) {
      const auto k = static_cast<std::size_t>(q < points ? q : 0);
      values.push_back(b.values(rule.points[k]));
      gradients.push_back(b.gradients(rule.points[k]));
      if (q >= points) continue;
      const double determinant = b.map().jacobian(rule.points[k]).determinant();
      if (!(determinant > 0))
        fail(ErrorKind::input,
             "mesh: element {} is folded: its Jacobian is {:g} inside; move its nodes, or make it straight",
             map_.global[e], determinant);
      shares[k] = b.affine() ? rule.weights[k] / reference : rule.weights[k] * determinant / b.volume();
    }
    record.values = end();
    double* to = grow(n_, all);
    for (int l = 0; l < n_; ++l)
      for (int q = 0; q < all; ++q) to[l * all + q] = values[q][l];
    record.weights = end();
    std::copy(shares.begin(), shares.end(), grow(1, all));
    record.projection = end();
    to = grow(3 * all, columns_);
    for (int begin = 0; begin < all; begin += chunk_points) {
      const int count = std::min(chunk_points, all - begin);
      for (int d = 0; d < 3; ++d)
        for (int q = 0; q < count; ++q) {
          const auto k = static_cast<std::size_t>(begin + q);
          double* row = to + (3 * begin + d * count + q) * columns_;
          for (int l = 0; l < n_; ++l) row[l] = shares[k] * gradients[k][l][d];
        }
    }
    if (options_.derivatives) add_derivatives(record, shares, values, gradients);
    return record;
  }

  /// Exact: the derivatives of the basis are in its space.
  void add_derivatives(ElementRecord& record, std::span<const double> shares,
                       const std::vector<std::vector<double>>& values,
                       const std::vector<std::vector<Vec3>>& gradients) {
    record.derivative = end();
    double* to = grow(n_ * 3, columns_);
    for (int l = 0; l < n_; ++l)
      for (int d = 0; d < 3; ++d)
        for (int m = 0; m < n_; ++m) {
          double sum = 0;
          for (std::size_t q = 0; q < shares.size(); ++q) sum += shares[q] * gradients[q][l][d] * values[q][m];
          to[(l * 3 + d) * columns_ + m] = sum;
        }
  }

  /// Tables of a face as seen from one side.
  Size trace_table(const ElementBasis& b, std::span<const Vec3> at) {
    const Size begin = end();
    const int points = static_cast<int>(at.size());
    double* to = grow(n_, points);
    for (int q = 0; q < points; ++q) {
      const auto values = b.values(at[q]);
      for (int l = 0; l < n_; ++l) to[l * points + q] = values[l];
    }
    return begin;
  }
  /// `shares`: what its points weigh.
  Size lift_table(const ElementBasis& b, std::span<const Vec3> at, std::span<const double> shares) {
    const Size begin = end();
    double* to = grow(static_cast<int>(at.size()), columns_);
    for (std::size_t q = 0; q < at.size(); ++q) {
      const auto values = b.values(at[q]);
      for (int l = 0; l < n_; ++l) to[q * columns_ + l] = shares[q] * values[l];
    }
    return begin;
  }

  /// And behind it the spread.
  Size slope_table(const ElementBasis& b, std::span<const Vec3> at, std::span<const double> shares) {
    const Size begin = end();
    const int points = static_cast<int>(at.size());
    double* to = grow(3 * n_ + points, points);
    std::vector<std::vector<double>> values;
    for (int q = 0; q < points; ++q) {
      const auto gradients = b.gradients(at[q]);
      for (int l = 0; l < n_; ++l)
        for (int d = 0; d < 3; ++d) to[(3 * l + d) * points + q] = gradients[l][d];
      values.push_back(b.values(at[q]));
    }
    to += 3 * n_ * points;
    for (int k = 0; k < points; ++k)
      for (int q = 0; q < points; ++q)
        for (int l = 0; l < n_; ++l) to[k * points + q] += shares[k] * values[k][l] * values[q][l];
    return begin;
  }

  /// Of turns: how the right side takes the points of the rule. -1: it has an order of its own.
  std::int32_t turn_of(const Quadrature& rule, int corners, int orientation) {
    const auto [at, is_new] = turns_.try_emplace({corners, rule.size(), orientation}, -1);
    if (!is_new) return at->second;
    const auto turned = turned_points(rule, corners, orientation);
    if (turned.empty()) return -1;
    at->second = static_cast<std::int32_t>(made_.turns.size());
    for (int q = 0; q < max_face_points; ++q)
      made_.turns.push_back(q < rule.size() ? turned[q] : static_cast<std::uint8_t>(q));
    return at->second;
  }

  const Quadrature& rule_of_face(int corners, bool affine) {
    const auto [at, is_new] = face_rules_.try_emplace({corners, affine});
    if (is_new) at->second = face_rule(corners, options_.order, affine);
    return at->second;
  }

  void add_face(const LocalElementFace& face) {
    const ElementBasis& left = basis(face.left);
    const ElementType type = left.map().type();
    const int corners = face_corner_count(type, face.left_face);
    const bool flat = left.map().affine() || (face.right >= 0 && basis(face.right).map().affine());
    const Quadrature& rule = rule_of_face(corners, flat);
    const int points = rule.size(), all = padded(points);

    FaceRecord record;
    record.left = face.left;
    record.right = face.right;
    record.points = all;
    record.actual = points;
    record.at = made_.flux_values;
    made_.flux_values += Size{variables} * all;
    record.normals = static_cast<Size>(made_.normals.size());
    record.normal_step = flat ? 0 : 3;
    // Weights times ratios of areas; padding weighs nothing.
    std::vector<double> areas(all, 0.0);
    double total = 0;
    for (int q = 0; q < all; ++q) {
      const auto k = static_cast<std::size_t>(q < points ? q : 0);
      const Vec3 area = left.map().area_vector(face.left_face, rule.points[k].x, rule.points[k].y);
      const double size = norm(area);
      if (q < points) areas[k] = rule.weights[k] * size;
      if (q < points) total += areas[k];
      if (flat && q > 0) continue;
      for (int d = 0; d < 3; ++d) made_.normals.push_back(area[d] / size);
    }
    for (int side = 0; side < (face.right < 0 ? 1 : 2); ++side) add_side(record, face, side, rule, areas, total);
    if (face.right < 0) add_boundary(record, face, rule);
    const auto number = static_cast<std::int32_t>(made_.faces.size());
    made_.face_of[max_faces * face.left + face.left_face] = 2 * number;
    if (face.right >= 0) made_.face_of[max_faces * face.right + face.right_face] = 2 * number + 1;
    made_.faces.push_back(record);
  }

  void add_side(FaceRecord& record, const LocalElementFace& face, int side, const Quadrature& rule,
                std::span<const double> areas, double total) {
    const ElementBasis& b = basis(side == 0 ? face.left : face.right);
    const ElementType type = b.map().type();
    const int local = side == 0 ? face.left_face : face.right_face;
    std::vector<Vec3> own, at;  // points as a left side has them; as this one has
    for (int q = 0; q < record.points; ++q) {
      const Vec3 p = rule.points[q < rule.size() ? q : 0];
      own.push_back(face_reference(type, local, p.x, p.y));
      at.push_back(side == 0 ? own.back() : right_reference(type, face, p.x, p.y));
    }
    std::vector<double> shares(areas.begin(), areas.end());
    if (!b.affine()) {
      for (double& s : shares) s /= b.volume();
      record.trace[side] = trace_table(b, at);
      record.lift[side] = lift_table(b, at, shares);
      return;
    }
    // The shares of a flat face's points are those of the rule.
    const double measure = face_corner_count(type, local) == 3 ? 0.5 : 1;
    for (std::size_t q = 0; q < shares.size(); ++q)
      shares[q] = static_cast<int>(q) < rule.size() ? rule.weights[q] / measure : 0;
    const int kind = static_cast<int>(type), orientation = side == 0 ? -1 : static_cast<int>(face.orientation);
    const int turn = side == 0 ? 0 : turn_of(rule, face_corner_count(type, local), orientation);
    record.turn = std::max(turn, 0);
    const auto [trace, new_trace] = traces_.try_emplace({kind, local, orientation});
    if (new_trace) trace->second = trace_table(b, at);
    const auto [lift, new_lift] = lifts_.try_emplace({kind, local, turn < 0 ? orientation : -1});
    if (new_lift) lift->second = lift_table(b, turn < 0 ? at : own, shares);
    record.trace[side] = trace->second;
    record.lift[side] = lift->second;
    if (options_.derivatives) {
      const auto [slope, new_slope] = slopes_.try_emplace({kind, local, orientation});
      if (new_slope) slope->second = slope_table(b, at, shares);
      record.slope[side] = slope->second;
    }
    record.scale[side] = total / b.volume();
  }

  void add_boundary(FaceRecord& record, const LocalElementFace& face, const Quadrature& rule) {
    const ElementMap& map = basis(face.left).map();
    record.tag = face.tag;
    record.boundary = static_cast<Size>(made_.boundary.places.size());
    for (int q = 0; q < record.points; ++q) {
      const Vec3 p = rule.points[q < rule.size() ? q : 0];
      made_.boundary.places.push_back(map.point(face_reference(map.type(), face.left_face, p.x, p.y)));
      made_.boundary.tags.push_back(face.tag);
    }
  }

  const LocalElementMesh& mesh_;
  const IndexMap& map_;
  const OperatorOptions& options_;
  const int n_, columns_;
  std::vector<ElementBasis> bases_;
  std::map<ElementType, ElementRecord> volumes_;
  std::map<std::tuple<int, int, int>, Size> traces_, lifts_, slopes_;
  std::map<std::tuple<int, int, int>, std::int32_t> turns_;
  std::map<std::pair<int, bool>, Quadrature> face_rules_;
  Operators made_;
};

}  // namespace

ElementBasis::ElementBasis(const ElementMap& map, int order, bool stored)
    : map_(map), affine_(!stored && map.affine()) {
  if (affine_) {
    const Shared& shared = shared_basis(map.type(), order);
    rule_ = shared.rule;
    basis_ = shared.basis;
    volume_ = map.jacobian(map.centre()).determinant() * reference_volume(map.type());
    return;
  }
  rule_ = std::make_shared<const Quadrature>(volume_rule(map.type(), order, map.affine()));
  auto basis = std::make_shared<const Basis>(map, order, *rule_);
  volume_ = basis->volume();
  basis_ = std::move(basis);
}

std::vector<double> ElementBasis::values(Vec3 reference) const {
  return basis_->values(affine_ ? reference : map_.point(reference));
}

std::vector<Vec3> ElementBasis::gradients(Vec3 reference) const {
  return basis_->gradients(affine_ ? reference : map_.point(reference));
}

Operators make_operators(const LocalElementMesh& mesh, const IndexMap& map, const OperatorOptions& options) {
  return Maker(mesh, map, options).make();
}

}  // namespace tutti::compressible
