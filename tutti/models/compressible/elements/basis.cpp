#include "tutti/models/compressible/elements/basis.hpp"

#include <cmath>

#include "tutti/base/error.hpp"
#include "tutti/mesh/elements/element_faces.hpp"
#include "tutti/models/compressible/elements/matrix_product.hpp"

namespace tutti::compressible {
namespace {

/// Calls f(i, j, k) for the exponents of each monomial, by total degree.
template <class F>
void for_each_power(int order, const F& f) {
  for (int total = 0; total <= order; ++total)
    for (int i = total; i >= 0; --i)
      for (int j = total - i; j >= 0; --j) f(i, j, total - i - j);
}

struct Powers {
  explicit Powers(double x) {
    for (std::size_t k = 1; k < at.size(); ++k) at[k] = at[k - 1] * x;
  }
  double operator[](int k) const { return at[k]; }
  double slope(int k) const { return k == 0 ? 0 : k * at[k - 1]; }
  std::array<double, max_order + 1> at{1};
};

}  // namespace

Quadrature volume_rule(ElementType type, int order, bool affine) {
  const int gauss = 2 * order + 3;
  switch (type) {
    case ElementType::tetrahedron:
      return tetrahedron_rule(affine ? 2 * order : gauss);
    case ElementType::hexahedron:
      return hexahedron_rule(gauss);
    case ElementType::prism:
      return prism_rule(affine ? 2 * order : gauss, gauss);
    case ElementType::pyramid:
      break;
  }
  return pyramid_rule(gauss);
}

Quadrature face_rule(int corners, int order, bool affine) {
  if (corners == 4) return quadrangle_rule(2 * order + 3);
  return triangle_rule(affine ? 2 * order : 2 * order + 3);
}

std::vector<std::uint8_t> turned_points(const Quadrature& rule, int corners, int orientation) {
  constexpr double near = 1e-10;
  std::vector<std::uint8_t> turned(rule.points.size(), 0);
  std::size_t found = 0;
  for (std::size_t k = 0; k < turned.size(); ++k) {
    const FacePoint at = right_face_point(corners, orientation, rule.points[k].x, rule.points[k].y);
    for (std::size_t q = 0; q < turned.size(); ++q) {
      if (norm(rule.points[q] - Vec3{at.u, at.v, 0}) > near) continue;
      turned[q] = static_cast<std::uint8_t>(k);
      ++found;
    }
  }
  if (found != turned.size()) turned.clear();
  return turned;
}

ElementRule::ElementRule(ElementType type, Quadrature points)
    : rule(std::move(points)), shapes{{type, 1, rule.points}, {type, 2, rule.points}} {}

MappedRule ElementRule::map(const ElementMap& map) const {
  MappedRule mapped;
  const ShapeTable& table = shapes[map.geometry_order() - 1];
  for (std::size_t q = 0; q < rule.points.size(); ++q) {
    const MappedPoint p = table.map(q, map.nodes());
    mapped.at.push_back(p.x);
    mapped.weights.push_back(rule.weights[q] * p.determinant());
  }
  return mapped;
}

void Basis::monomials(Vec3 x, double* to, int stride) const {
  const Vec3 d = x - centre_;
  const Powers r(dot(inverse_[0], d)), s(dot(inverse_[1], d)), t(dot(inverse_[2], d));
  for_each_power(order_, [&](int i, int j, int k) {
    *to = r[i] * s[j] * t[k];
    to += stride;
  });
}

namespace {

/// C := L^-1 C, with L L^T = the products g, in rows of `columns`. Destroys g.
void divide_by_root(std::vector<double>& g, int n, int columns, std::vector<double>& c) {
  for (int l = 0; l < n; ++l) {
    double* row = &g[static_cast<std::size_t>(l) * columns];
    double* c_row = &c[static_cast<std::size_t>(l) * n];
    for (int m = 0; m < l; ++m) {
      const double* other = &g[static_cast<std::size_t>(m) * columns];
      double sum = row[m];
      for (int k = 0; k < m; ++k) sum = std::fma(-row[k], other[k], sum);
      row[m] = sum * other[m];  // a diagonal holds the root's inverse
      const double* c_other = &c[static_cast<std::size_t>(m) * n];
      for (int k = 0; k <= m; ++k) c_row[k] = std::fma(-row[m], c_other[k], c_row[k]);
    }
    double left = row[l];
    for (int k = 0; k < l; ++k) left = std::fma(-row[k], row[k], left);
    row[l] = 1 / std::sqrt(left);
    for (int k = 0; k <= l; ++k) c_row[k] *= row[l];
  }
}

}  // namespace

Basis::Basis(const ElementMap& map, int order, const MappedRule& rule)
    : size_(basis_size(order)),
      order_(order),
      centre_(map.point(map.centre())),
      inverse_(map.jacobian(map.centre()).inverse()) {
  const int n = size_, columns = padded(n), points = static_cast<int>(rule.at.size()), stride = padded(points);
  require(points >= n || order == 0, "{} points for {} basis functions", points, n);
  for (const double w : rule.weights) volume_ += w;
  c_.assign(static_cast<std::size_t>(n) * static_cast<std::size_t>(n), 0.0);
  for (int l = 0; l < n; ++l) c_[l * n + l] = 1;
  const auto wide = static_cast<std::size_t>(n) * static_cast<std::size_t>(stride);
  std::vector<double> m(wide, 0.0), phi = m, g;
  std::vector<double> weighted(static_cast<std::size_t>(points) * static_cast<std::size_t>(columns), 0.0);
  for (int q = 0; q < points; ++q) monomials(rule.at[q], m.data() + q, stride);
  phi = m;
  // The first two may leave what the products' rounding was worth; what is left after the third is its own rounding.
  for (int pass = 0; pass < 3; ++pass) {
    if (pass > 0) {
      phi.assign(wide, 0.0);
      add_matrix_product(m.data(), stride, n, c_.data(), n, n, stride, phi.data(), stride, Lower::x);
    }
    for (int q = 0; q < points; ++q) {
      const double share = rule.weights[q] / volume_;
      for (int l = 0; l < n; ++l) weighted[q * columns + l] = share * phi[l * stride + q];
    }
    g.assign(static_cast<std::size_t>(n) * static_cast<std::size_t>(columns), 0.0);
    add_matrix_product(weighted.data(), columns, points, phi.data(), stride, n, columns, g.data(), columns, Lower::y);
    divide_by_root(g, n, columns, c_);
  }
  c_[0] = 1;
  transposed_.assign(static_cast<std::size_t>(n) * static_cast<std::size_t>(columns), 0.0);
  for (int l = 0; l < n; ++l)
    for (int k = 0; k <= l; ++k) transposed_[k * columns + l] = c_[l * n + k];
}

void Basis::values_by_function(std::span<const Vec3> at, double* to, int stride) const {
  std::vector<double> m(static_cast<std::size_t>(size_) * static_cast<std::size_t>(stride), 0.0);
  for (std::size_t q = 0; q < at.size(); ++q) monomials(at[q], m.data() + q, stride);
  std::fill(to, to + m.size(), 0.0);
  add_matrix_product(m.data(), stride, size_, c_.data(), size_, size_, stride, to, stride, Lower::x);
}

void Basis::combine(const std::vector<double>& rows, double* to) const {
  const int columns = padded(size_), count = static_cast<int>(rows.size()) / size_;
  std::fill(to, to + Size{count} * columns, 0.0);
  add_matrix_product(transposed_.data(), columns, size_, rows.data(), size_, count, columns, to, columns);
}

void Basis::values_by_point(std::span<const Vec3> at, std::span<const double> factors, double* to) const {
  const auto n = static_cast<std::size_t>(size_);
  std::vector<double> rows(at.size() * n);
  for (std::size_t q = 0; q < at.size(); ++q) {
    monomials(at[q], rows.data() + q * n, 1);
    for (std::size_t k = 0; k < n; ++k) rows[q * n + k] *= factors[q];
  }
  combine(rows, to);
}

void Basis::gradients_by_point(std::span<const Vec3> at, std::span<const double> factors, double* to) const {
  const auto n = static_cast<std::size_t>(size_), count = at.size();
  std::vector<double> rows(3 * count * n);
  for (std::size_t q = 0; q < count; ++q) {
    const Vec3 d = at[q] - centre_;
    const Powers r(dot(inverse_[0], d)), s(dot(inverse_[1], d)), t(dot(inverse_[2], d));
    double *x = rows.data() + q * n, *y = x + count * n, *z = y + count * n;
    for_each_power(order_, [&](int i, int j, int k) {
      const Vec3 slope = r.slope(i) * s[j] * t[k] * inverse_[0] + r[i] * s.slope(j) * t[k] * inverse_[1] +
                         r[i] * s[j] * t.slope(k) * inverse_[2];
      *x++ = factors[q] * slope.x;
      *y++ = factors[q] * slope.y;
      *z++ = factors[q] * slope.z;
    });
  }
  combine(rows, to);
}

}  // namespace tutti::compressible
