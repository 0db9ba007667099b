#include "tutti/models/compressible/elements/basis.hpp"

#include <algorithm>
#include <array>
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

Quadrature volume_rule(ElementType type, int order, bool affine, bool stored) {
  const bool straight = affine && (type == ElementType::tetrahedron || !stored);
  const int degree = straight ? 2 * order : 2 * order + 3;
  switch (type) {
    case ElementType::tetrahedron:
      return tetrahedron_rule(degree);
    case ElementType::hexahedron:
      return straight ? parallelepiped_rule(degree) : hexahedron_rule(degree);
    case ElementType::prism:
      return prism_rule(degree, degree);
    case ElementType::pyramid:
      break;
  }
  return pyramid_rule(degree);
}

Quadrature face_rule(int corners, int order, bool affine, bool stored) {
  const bool straight = affine && (corners == 3 || !stored);
  const int degree = straight ? 2 * order : 2 * order + 3;
  if (corners == 3) return triangle_rule(degree);
  return straight ? parallelogram_rule(degree) : quadrangle_rule(degree);
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

void clear_rounding(std::span<double> numbers) {
  double largest = 0;
  for (const double x : numbers) largest = std::max(largest, std::fabs(x));
  for (double& x : numbers)
    if (std::fabs(x) < 1e-13 * largest) x = 0;
}

void Basis::monomials(Vec3 x, double* to, int stride) const {
  const Vec3 at = local(x);
  const Powers r(at.x), s(at.y), t(at.z);
  for_each_power(order_, [&](int i, int j, int k) {
    *to = r[i] * s[j] * t[k];
    to += stride;
  });
}

namespace {

/// Memory that a thread uses again for each element: pages that the system gives anew cost more than what is computed.
double* scratch(std::size_t which, Size size, bool zeros) {
  thread_local std::array<std::vector<double>, 4> all;
  std::vector<double>& one = all[which];
  if (static_cast<Size>(one.size()) < size) one.resize(static_cast<std::size_t>(size));
  if (zeros) std::fill_n(one.data(), size, 0.0);
  return one.data();
}

/// Rows of so many places: not all in the same lines of caches.
int apart(int places) {
  return padded(places) + 8;
}

/// y[i] -= factor x[i]
inline void subtract(double* __restrict y, double factor, const double* __restrict x, int count) {
  for (int i = 0; i < count; ++i) y[i] = std::fma(-factor, x[i], y[i]);
}

/// C := L^-1 C, with L L^T = g, of which the lower triangle is given, in rows of `columns`; destroys g.
void divide_by_root(double* g, int n, int columns, double* c) {
  for (int m = 0; m < n; ++m)
    for (int l = m + 1; l < n; ++l) g[m * columns + l] = g[l * columns + m];
  for (int m = 0; m < n; ++m) {
    double *row = g + m * columns, *c_row = c + m * n;
    const double scale = 1 / std::sqrt(row[m]);
    for (int l = m; l < n; ++l) row[l] *= scale;
    for (int k = 0; k <= m; ++k) c_row[k] *= scale;
    for (int l = m + 1; l < n; ++l) {
      subtract(g + l * columns + l, row[l], row + l, n - l);
      subtract(c + l * n, row[l], c_row, m + 1);
    }
  }
}

}  // namespace

Basis::Basis(const ElementMap& map, int order, const MappedRule& rule, const std::array<Vec3, 3>* axes)
    : size_(basis_size(order)),
      order_(order),
      centre_(map.point(map.centre())),
      inverse_(axes != nullptr ? *axes : map.jacobian(map.centre()).inverse()) {
  const int n = size_, columns = padded(n), points = static_cast<int>(rule.at.size()), stride = apart(points);
  require(points >= n || order == 0, "{} points for {} basis functions", points, n);
  for (const double w : rule.weights) volume_ += w;
  c_.assign(static_cast<std::size_t>(n) * static_cast<std::size_t>(n), 0.0);
  for (int l = 0; l < n; ++l) c_[l * n + l] = 1;
  const Size wide = Size{n} * stride;
  double* m = scratch(0, wide, true);
  for (int q = 0; q < points; ++q) monomials(rule.at[q], m + q, stride);
  // Twice is enough (Yamamoto et al., Electron. Trans. Numer. Anal. 44, 2015): what the first products' rounding was
  // worth is mended by the second's.
  for (int pass = 0; pass < 2; ++pass) {
    double* phi = m;
    if (pass > 0) {
      phi = scratch(1, wide, true);
      add_matrix_product(m, stride, n, c_.data(), n, n, padded(points), phi, stride, Lower::x);
    }
    double* weighted = scratch(2, Size{points} * columns, true);
    for (int begin = 0; begin < points; begin += 8)
      for (int l = 0; l < n; ++l)
        for (int q = begin; q < std::min(begin + 8, points); ++q)
          weighted[q * columns + l] = rule.weights[q] / volume_ * phi[l * stride + q];
    double* g = scratch(3, Size{n} * columns, true);
    add_matrix_product(weighted, columns, points, phi, stride, n, columns, g, columns, Lower::y);
    divide_by_root(g, n, columns, c_.data());
  }
  c_[0] = 1;
  for (int l = 0; l < n; ++l) clear_rounding({c_.data() + l * n, static_cast<std::size_t>(l) + 1});
  transposed_.assign(static_cast<std::size_t>(n) * static_cast<std::size_t>(columns), 0.0);
  for (int l = 0; l < n; ++l)
    for (int k = 0; k <= l; ++k) transposed_[k * columns + l] = c_[l * n + k];
}

void Basis::matrices(double* to) const {
  const int columns = padded(size_);
  std::fill_n(to, Size{size_} * columns, 0.0);
  for (int l = 0; l < size_; ++l) std::copy_n(c_.data() + l * size_, l + 1, to + Size{l} * columns);
  std::copy(transposed_.begin(), transposed_.end(), to + Size{size_} * columns);
}

void Basis::values_by_function(std::span<const Vec3> at, double* to, int stride) const {
  const int wide = apart(static_cast<int>(at.size()));
  double* m = scratch(0, Size{size_} * wide, true);
  for (std::size_t q = 0; q < at.size(); ++q) monomials(at[q], m + q, wide);
  std::fill_n(to, Size{size_} * stride, 0.0);
  add_matrix_product(m, wide, size_, c_.data(), size_, size_, stride, to, stride, Lower::x);
}

void Basis::combine(const double* rows, int count, double* to) const {
  const int columns = padded(size_);
  std::fill_n(to, Size{count} * columns, 0.0);
  // Function l has monomials up to the l-th only.
  constexpr int together = 24;
  for (int first = 0; first < columns; first += together) {
    const int some = std::min(together, columns - first);
    add_matrix_product(transposed_.data() + first, columns, std::min(size_, first + some), rows, size_, count, some,
                       to + first, columns);
  }
}

void Basis::values_by_point(std::span<const Vec3> at, std::span<const double> factors, double* to) const {
  const auto n = static_cast<std::size_t>(size_);
  double* rows = scratch(0, static_cast<Size>(at.size() * n), false);
  for (std::size_t q = 0; q < at.size(); ++q) {
    monomials(at[q], rows + q * n, 1);
    for (std::size_t k = 0; k < n; ++k) rows[q * n + k] *= factors[q];
  }
  combine(rows, static_cast<int>(at.size()), to);
}

void Basis::gradients_by_point(std::span<const Vec3> at, std::span<const double> factors, double* to) const {
  const auto n = static_cast<std::size_t>(size_), count = at.size();
  double* rows = scratch(0, static_cast<Size>(3 * count * n), false);
  for (std::size_t q = 0; q < count; ++q) {
    const Vec3 d = at[q] - centre_;
    const Powers r(dot(inverse_[0], d)), s(dot(inverse_[1], d)), t(dot(inverse_[2], d));
    double *x = rows + q * n, *y = x + count * n, *z = y + count * n;
    for_each_power(order_, [&](int i, int j, int k) {
      const Vec3 slope = r.slope(i) * s[j] * t[k] * inverse_[0] + r[i] * s.slope(j) * t[k] * inverse_[1] +
                         r[i] * s[j] * t.slope(k) * inverse_[2];
      *x++ = factors[q] * slope.x;
      *y++ = factors[q] * slope.y;
      *z++ = factors[q] * slope.z;
    });
  }
  combine(rows, 3 * static_cast<int>(count), to);
}

}  // namespace tutti::compressible
