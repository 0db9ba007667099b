#include "tutti/models/compressible/elements/element_map.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tutti/base/error.hpp"
#include "tutti/mesh/elements/element_tables.hpp"

namespace tutti::compressible {
namespace {

double integer_power(double x, int n) {
  double y = 1;
  for (int k = 0; k < std::abs(n); ++k) y *= x;
  return n < 0 ? 1 / y : y;
}

/// The inverse of a small matrix, row by row, by Gauss and Jordan with pivots.
std::vector<double> inverse_of(std::vector<double> a, std::size_t n) {
  std::vector<double> inverse(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) inverse[i * n + i] = 1;
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c; r < n; ++r)
      if (std::abs(a[r * n + c]) > std::abs(a[pivot * n + c])) pivot = r;
    require(std::abs(a[pivot * n + c]) > 1e-12, "nodes of an element do not fix its shape functions");
    for (std::size_t k = 0; k < n; ++k) {
      std::swap(a[c * n + k], a[pivot * n + k]);
      std::swap(inverse[c * n + k], inverse[pivot * n + k]);
    }
    const double scale = 1 / a[c * n + c];
    for (std::size_t k = 0; k < n; ++k) {
      a[c * n + k] *= scale;
      inverse[c * n + k] *= scale;
    }
    for (std::size_t r = 0; r < n; ++r) {
      const double factor = a[r * n + c];
      if (r == c || factor == 0) continue;
      for (std::size_t k = 0; k < n; ++k) {
        a[r * n + k] -= factor * a[c * n + k];
        inverse[r * n + k] -= factor * inverse[c * n + k];
      }
    }
  }
  return inverse;
}

bool in_space(ElementType type, int order, int i, int j, int k) {
  switch (type) {
    case ElementType::tetrahedron:
      return i + j + k <= order;
    case ElementType::hexahedron:
      return true;
    case ElementType::prism:
      return i + j <= order;
    case ElementType::pyramid:
      break;
  }
  return std::max(i, j) + k <= order;
}

}  // namespace

NodalSpace::NodalSpace(ElementType type, int order) : type_(type) {
  for (int k = 0; k <= order; ++k)
    for (int j = 0; j <= order; ++j)
      for (int i = 0; i <= order; ++i)
        if (in_space(type, order, i, j, k))
          powers_.push_back({i, j, k, type == ElementType::pyramid ? std::max(i, j) - i - j : 0});
  const std::size_t n = powers_.size();
  const int nodes = order == 1 ? corner_count(type) : quadratic_node_count(type);
  require(static_cast<std::size_t>(nodes) == n, "{} shape functions of {} nodes", n, nodes);
  std::vector<double> vandermonde(n * n);
  for (std::size_t node = 0; node < n; ++node)
    for (std::size_t k = 0; k < n; ++k) vandermonde[node * n + k] = at_node(powers_[k], static_cast<int>(node));
  coefficients_ = inverse_of(std::move(vandermonde), n);
}

/// At a pyramid's apex: the limit along its axis.
double NodalSpace::at_node(const Power& p, int node) const {
  const Vec3 at = node_reference(type_, node);
  if (type_ == ElementType::pyramid && at.z == 1) return p.i == 0 && p.j == 0 ? 1 : 0;
  return power(p, at);
}

double NodalSpace::power(const Power& p, Vec3 at) const {
  return integer_power(at.x, p.i) * integer_power(at.y, p.j) * integer_power(at.z, p.k) *
         integer_power(1 - at.z, p.m);
}

Vec3 NodalSpace::slope(const Power& p, Vec3 at) const {
  const auto less = [](int n, double x) { return n == 0 ? 0.0 : n * integer_power(x, n - 1); };
  const double x = integer_power(at.x, p.i), y = integer_power(at.y, p.j), z = integer_power(at.z, p.k),
               c = integer_power(1 - at.z, p.m);
  return {less(p.i, at.x) * y * z * c, x * less(p.j, at.y) * z * c,
          x * y * (less(p.k, at.z) * c - z * less(p.m, 1 - at.z))};
}

std::vector<double> NodalSpace::values(Vec3 at) const {
  const std::size_t n = powers_.size();
  std::vector<double> all(n, 0.0);
  for (std::size_t k = 0; k < n; ++k) {
    const double m = power(powers_[k], at);
    for (std::size_t node = 0; node < n; ++node) all[node] += m * coefficients_[k * n + node];
  }
  return all;
}

std::vector<Vec3> NodalSpace::gradients(Vec3 at) const {
  const std::size_t n = powers_.size();
  std::vector<Vec3> all(n);
  for (std::size_t k = 0; k < n; ++k) {
    const Vec3 m = slope(powers_[k], at);
    for (std::size_t node = 0; node < n; ++node) all[node] = all[node] + coefficients_[k * n + node] * m;
  }
  return all;
}

const NodalSpace& nodal_space(ElementType type, int order) {
  static const std::array<std::array<NodalSpace, 2>, 4> all = {{
      {{NodalSpace(ElementType::tetrahedron, 1), NodalSpace(ElementType::tetrahedron, 2)}},
      {{NodalSpace(ElementType::hexahedron, 1), NodalSpace(ElementType::hexahedron, 2)}},
      {{NodalSpace(ElementType::prism, 1), NodalSpace(ElementType::prism, 2)}},
      {{NodalSpace(ElementType::pyramid, 1), NodalSpace(ElementType::pyramid, 2)}},
  }};
  return all[static_cast<std::size_t>(type)][static_cast<std::size_t>(order - 1)];
}

ElementMap::ElementMap(ElementType type, std::span<const Vec3> nodes)
    : space_(&nodal_space(type, geometry_order(type, nodes.size()))), nodes_(nodes.begin(), nodes.end()) {}

Vec3 ElementMap::point(Vec3 reference) const {
  const auto values = space_->values(reference);
  Vec3 x;
  for (std::size_t n = 0; n < nodes_.size(); ++n) x = x + values[n] * nodes_[n];
  return x;
}

Jacobian ElementMap::jacobian(Vec3 reference) const {
  const auto gradients = space_->gradients(reference);
  Jacobian j;
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    j.r = j.r + gradients[n].x * nodes_[n];
    j.s = j.s + gradients[n].y * nodes_[n];
    j.t = j.t + gradients[n].z * nodes_[n];
  }
  return j;
}

Vec3 ElementMap::centre() const {
  switch (type()) {
    case ElementType::tetrahedron:
      return {0.25, 0.25, 0.25};
    case ElementType::hexahedron:
      return {0.5, 0.5, 0.5};
    case ElementType::prism:
      return {1.0 / 3, 1.0 / 3, 0.5};
    case ElementType::pyramid:
      break;
  }
  return {0.4, 0.4, 0.2};
}

bool ElementMap::affine() const {
  const int corners = corner_count(type());
  if (type() == ElementType::tetrahedron && nodes_.size() == 4) return true;
  // The affine map through corner 0 and the ends of r, s and t.
  const Vec3 origin = nodes_[0];
  std::array<Vec3, 3> ends{};
  double size = 0;
  for (int n = 0; n < corners; ++n) {
    const Vec3 at = node_reference(type(), n), x = nodes_[static_cast<std::size_t>(n)] - origin;
    size = std::max(size, norm(x));
    for (int d = 0; d < 3; ++d)
      if (at[d] == 1 && at[(d + 1) % 3] == 0 && at[(d + 2) % 3] == 0) ends[static_cast<std::size_t>(d)] = x;
  }
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const Vec3 at = node_reference(type(), static_cast<int>(n));
    const Vec3 should = origin + at.x * ends[0] + at.y * ends[1] + at.z * ends[2];
    if (!(norm(nodes_[n] - should) <= 1e-12 * size)) return false;
  }
  return true;
}

Vec3 ElementMap::area_vector(int face, double u, double v) const {
  const ElementType t = type();
  const Vec3 at = face_reference(t, face, u, v), origin = face_reference(t, face, 0, 0);
  const Vec3 along_u = face_reference(t, face, 1, 0) - origin, along_v = face_reference(t, face, 0, 1) - origin;
  const Jacobian j = jacobian(at);
  const auto map = [&](Vec3 d) { return d.x * j.r + d.y * j.s + d.z * j.t; };
  return cross(map(along_u), map(along_v));
}

}  // namespace tutti::compressible
