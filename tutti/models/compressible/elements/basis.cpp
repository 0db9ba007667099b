#include "tutti/models/compressible/elements/basis.hpp"

#include <cmath>

#include "tutti/base/error.hpp"
#include "tutti/mesh/elements/element_faces.hpp"

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

std::vector<double> Basis::monomials(Vec3 x) const {
  const Vec3 d = x - centre_;
  const Powers r(dot(inverse_[0], d)), s(dot(inverse_[1], d)), t(dot(inverse_[2], d));
  std::vector<double> m;
  m.reserve(size_);
  for_each_power(order_, [&](int i, int j, int k) { m.push_back(r[i] * s[j] * t[k]); });
  return m;
}

Basis::Basis(const ElementMap& map, int order, const Quadrature& rule)
    : size_(basis_size(order)),
      order_(order),
      centre_(map.point(map.centre())),
      inverse_(map.jacobian(map.centre()).inverse()) {
  const auto n = static_cast<std::size_t>(size_), points = rule.points.size();
  require(points >= n || order == 0, "{} points for {} basis functions", points, n);
  std::vector<double> weights(points), at(n * points);
  for (std::size_t q = 0; q < points; ++q) {
    weights[q] = rule.weights[q] * map.jacobian(rule.points[q]).determinant();
    volume_ += weights[q];
    const auto m = monomials(map.point(rule.points[q]));
    for (std::size_t l = 0; l < n; ++l) at[l * points + q] = m[l];
  }
  c_.assign(n * n, 0.0);
  for (std::size_t l = 0; l < n; ++l) c_[l * n + l] = 1;
  const auto mean = [&](std::size_t a, std::size_t b) {
    double sum = 0;
    for (std::size_t q = 0; q < points; ++q) sum = std::fma(weights[q] * at[a * points + q], at[b * points + q], sum);
    return sum / volume_;
  };
  const auto subtract = [&](std::size_t l, std::size_t m, double factor) {
    for (std::size_t q = 0; q < points; ++q) at[l * points + q] -= factor * at[m * points + q];
    for (std::size_t k = 0; k <= m; ++k) c_[l * n + k] -= factor * c_[m * n + k];
  };
  for (int pass = 0; pass < 3; ++pass)
    for (std::size_t l = 0; l < n; ++l) {
      for (std::size_t m = 0; m < l; ++m) subtract(l, m, mean(l, m));
      const double scale = 1 / std::sqrt(mean(l, l));
      for (std::size_t q = 0; q < points; ++q) at[l * points + q] *= scale;
      for (std::size_t k = 0; k <= l; ++k) c_[l * n + k] *= scale;
    }
  c_[0] = 1;
}

std::vector<double> Basis::values(Vec3 x) const {
  const auto n = static_cast<std::size_t>(size_);
  const auto m = monomials(x);
  std::vector<double> phi(n);
  for (std::size_t l = 0; l < n; ++l) {
    double sum = 0;
    for (std::size_t k = 0; k <= l; ++k) sum = std::fma(c_[l * n + k], m[k], sum);
    phi[l] = sum;
  }
  return phi;
}

std::vector<Vec3> Basis::gradients(Vec3 x) const {
  const auto n = static_cast<std::size_t>(size_);
  const Vec3 d = x - centre_;
  const Powers r(dot(inverse_[0], d)), s(dot(inverse_[1], d)), t(dot(inverse_[2], d));
  std::vector<Vec3> slopes;
  for_each_power(order_, [&](int i, int j, int k) {
    slopes.push_back(r.slope(i) * s[j] * t[k] * inverse_[0] + r[i] * s.slope(j) * t[k] * inverse_[1] +
                     r[i] * s[j] * t.slope(k) * inverse_[2]);
  });
  std::vector<Vec3> all(n);
  for (std::size_t l = 0; l < n; ++l)
    for (std::size_t k = 0; k <= l; ++k) all[l] = all[l] + c_[l * n + k] * slopes[k];
  return all;
}

}  // namespace tutti::compressible
