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

namespace {

/// Memory that a thread uses again for each element: pages that the system gives anew cost more than what is computed.
/// Until its number is asked for again.
double* scratch(std::size_t which, Size size) {
  thread_local std::array<std::vector<double>, 5> all;
  std::vector<double>& one = all[which];
  if (static_cast<Size>(one.size()) < size) one.resize(static_cast<std::size_t>(size));
  return one.data();
}
double* zeros(std::size_t which, Size size) {
  return std::fill_n(scratch(which, size), size, 0.0) - size;
}

/// As many as the rows of kernels have: the last ones are the first again.
std::vector<Vec3> with_padding(std::vector<Vec3> points) {
  points.resize(static_cast<std::size_t>(padded(static_cast<int>(points.size()))), points[0]);
  return points;
}

}  // namespace

ElementRule::ElementRule(ElementType type, Quadrature points)
    : rule(std::move(points)), shapes{{type, 1, with_padding(rule.points)}, {type, 2, with_padding(rule.points)}} {}

MappedRule ElementRule::map(const ElementMap& map) const {
  const ShapeTable& table = shapes[map.geometry_order() - 1];
  const std::size_t row = table.points();
  double* const all = scratch(0, static_cast<Size>(12 * row));
  table.map_all(map.nodes(), all);
  MappedRule mapped;
  mapped.places.assign(all, all + 3 * row);
  mapped.weights.resize(rule.points.size());
  const double *__restrict const dr = all + 3 * row, *const ds = dr + 3 * row, *const dt = ds + 3 * row;
  double* __restrict const weights = mapped.weights.data();
  for (std::size_t q = 0; q < mapped.weights.size(); ++q) {
    const MappedPoint p{{},
                        {dr[q], dr[row + q], dr[2 * row + q]},
                        {ds[q], ds[row + q], ds[2 * row + q]},
                        {dt[q], dt[row + q], dt[2 * row + q]}};
    weights[q] = rule.weights[q] * p.determinant();
  }
  return mapped;
}

void clear_rounding(std::span<double> numbers) {
  double largest = 0;
  for (const double x : numbers) largest = std::max(largest, std::fabs(x));
  for (double& x : numbers)
    if (std::fabs(x) < 1e-13 * largest) x = 0;
}

LocalFrame::LocalFrame(const ElementMap& map)
    : origin(map.point(map.centre())), axes(map.jacobian(map.centre()).inverse()) {}

void LocalFrame::at(const double* places, std::size_t count, std::size_t stride, double* to) const {
  const LocalFrame frame = *this;  // a copy: the compiler sees that writing to `to` does not change it
  for (std::size_t q = 0; q < count; q += 4) {
    Vec3 d[4];
    for (std::size_t i = 0; i < 4; ++i)
      d[i] = Vec3{places[q + i], places[stride + q + i], places[2 * stride + q + i]} - frame.origin;
    for (std::size_t r = 0; r < 3; ++r)
      for (std::size_t i = 0; i < 4; ++i) to[r * stride + q + i] = dot(frame.axes[r], d[i]);
  }
}

void Basis::monomials(Vec3 x, double* to) const {
  const Vec3 at = frame_.at(x);
  const Powers r(at.x), s(at.y), t(at.z);
  for_each_power(order_, [&](int i, int j, int k) { *to++ = r[i] * s[j] * t[k]; });
}

namespace {

/// Points that are worked on together: whole vector registers. Rows have room for the last ones.
constexpr int together = 8;

/// Room of a row of so many points: rows are not all in the same lines of caches.
int apart(int points) {
  return padded(points) + together;
}

/// y[i] -= factor x[i], begin <= i < end, and before and behind as far as vector registers go: what is there is zero
/// or not read again.
inline void subtract(double* y, double factor, const double* x, int begin, int end) {
  for (int i = begin / together * together; i < end; i += lane_count) {
    const LanePoints at{i, lane_count};
    at.store(y, fused(NumberOf<LanePoints>(-factor), at.load(x), at.load(y)));
  }
}

/// C := L^-1 C, with L L^T = g, of which the lower triangle is given; destroys g. Rows of `stride`, a multiple of
/// `together`. Returns the smallest pivot over the largest diagonal entry of g: what rounding makes of the result grows
/// with its inverse.
double divide_by_root(double* g, int n, int stride, double* c) {
  for (int m = 0; m < n; ++m)
    for (int l = m + 1; l < n; ++l) g[m * stride + l] = g[l * stride + m];
  double smallest = g[0], largest = g[0];
  for (int m = 0; m < n; ++m) largest = std::max(largest, g[m * stride + m]);
  for (int m = 0; m < n; ++m) {
    double *row = g + m * stride, *c_row = c + m * stride;
    smallest = std::min(smallest, row[m]);
    const double scale = 1 / std::sqrt(row[m]);
    for (int l = m; l < n; ++l) row[l] *= scale;
    for (int k = 0; k <= m; ++k) c_row[k] *= scale;
    for (int l = m + 1; l < n; ++l) {
      subtract(g + l * stride, row[l], row, l, n);
      subtract(c + l * stride, row[l], c_row, 0, m + 1);
    }
  }
  return smallest / largest;
}

}  // namespace

void Basis::monomial_rows(const double* local, int count, int stride, double* to) const {
  for (int begin = 0; begin < count; begin += together) {
    double powers[3][max_order + 1][together];
    for (int d = 0; d < 3; ++d) {
      for (int q = 0; q < together; ++q) powers[d][0][q] = 1;
      for (int k = 1; k <= order_; ++k)
        for (int q = 0; q < together; ++q) powers[d][k][q] = powers[d][k - 1][q] * local[d * stride + begin + q];
    }
    double* row = to + begin;
    for_each_power(order_, [&](int i, int j, int k) {
      for (int q = 0; q < together; ++q) row[q] = powers[0][i][q] * powers[1][j][q] * powers[2][k][q];
      row += stride;
    });
  }
}

Basis::Basis(const LocalFrame& frame, int order, const MappedRule& rule, const Basis* near)
    : size_(basis_size(order)), order_(order), frame_(frame) {
  const int n = size_, columns = padded(n), points = static_cast<int>(rule.weights.size()), stride = apart(points),
            c_stride = (n + together - 1) / together * together;
  require(points >= n || order == 0, "{} points for {} basis functions", points, n);
  for (const double w : rule.weights) volume_ += w;
  double* c = zeros(4, Size{n} * c_stride);
  for (int l = 0; l < n; ++l)
    if (near == nullptr)
      c[l * c_stride + l] = 1;
    else
      std::copy_n(near->c_.data() + l * columns, l + 1, c + l * c_stride);
  const Size wide = Size{n} * stride;
  double *coordinates = zeros(1, Size{3} * stride), *m = scratch(0, wide);
  for (int d = 0; d < 3; ++d)
    std::copy_n(rule.places.data() + static_cast<std::size_t>(d) * rule.row(), rule.row(), coordinates + d * stride);
  frame_.at(coordinates, rule.row(), static_cast<std::size_t>(stride), coordinates);
  monomial_rows(coordinates, padded(points), stride, m);
  const auto functions = [&] {
    double* phi = zeros(1, wide);
    add_matrix_product(m, stride, n, c, c_stride, n, padded(points), phi, stride, Lower::x);
    return phi;
  };
  const auto orthonormalize = [&](const double* phi) {
    double* weighted = scratch(2, Size{points} * columns);
    for (int begin = 0; begin < points; begin += together) {
      const int end = std::min(begin + together, points);
      double shares[together];
      for (int q = begin; q < end; ++q) shares[q - begin] = rule.weights[q] / volume_;
      for (int l = 0; l < n; ++l)
        for (int q = begin; q < end; ++q) weighted[q * columns + l] = shares[q - begin] * phi[l * stride + q];
      for (int l = n; l < columns; ++l)
        for (int q = begin; q < end; ++q) weighted[q * columns + l] = 0;
    }
    double* g = zeros(3, Size{n} * c_stride);
    add_matrix_product(weighted, columns, points, phi, stride, n, columns, g, c_stride, Lower::y);
    return divide_by_root(g, n, c_stride, c);
  };
  // Twice is enough (Yamamoto et al., Electron. Trans. Numer. Anal. 44, 2015): what the first products' rounding was
  // worth is mended by the second's. Once is, where it begins with functions that are far from dependent.
  constexpr double independent = 0.05;
  const double least = orthonormalize(near == nullptr ? m : functions());
  if (near == nullptr || !(least > independent)) orthonormalize(functions());
  c[0] = 1;
  c_.assign(2 * static_cast<std::size_t>(n) * static_cast<std::size_t>(columns), 0.0);
  double* transposed = c_.data() + n * columns;
  for (int l = 0; l < n; ++l) {
    clear_rounding({c + l * c_stride, static_cast<std::size_t>(l) + 1});
    std::copy_n(c + l * c_stride, l + 1, c_.data() + l * columns);
    for (int k = 0; k <= l; ++k) transposed[k * columns + l] = c[l * c_stride + k];
  }
}

void Basis::values_by_function(std::span<const Vec3> at, double* to, int stride) const {
  const int wide = apart(static_cast<int>(at.size()));
  double *coordinates = zeros(1, Size{3} * wide), *m = scratch(0, Size{size_} * wide);
  for (std::size_t q = 0; q < at.size(); ++q) {
    const Vec3 r = frame_.at(at[q]);
    for (int d = 0; d < 3; ++d) coordinates[d * wide + static_cast<int>(q)] = r[d];
  }
  monomial_rows(coordinates, static_cast<int>(at.size()), wide, m);
  std::fill_n(to, Size{size_} * stride, 0.0);
  add_matrix_product(m, wide, size_, c_.data(), padded(size_), size_, stride, to, stride, Lower::x);
}

void Basis::combine(const double* rows, int count, double* to) const {
  const int columns = padded(size_);
  std::fill_n(to, Size{count} * columns, 0.0);
  // Function l has monomials up to the l-th only.
  constexpr int at_once = 24;
  for (int first = 0; first < columns; first += at_once) {
    const int some = std::min(at_once, columns - first);
    add_matrix_product(transposed() + first, columns, std::min(size_, first + some), rows, size_, count, some,
                       to + first, columns);
  }
}

void Basis::values_by_point(std::span<const Vec3> at, std::span<const double> factors, double* to) const {
  const auto n = static_cast<std::size_t>(size_);
  double* rows = scratch(0, static_cast<Size>(at.size() * n));
  for (std::size_t q = 0; q < at.size(); ++q) {
    monomials(at[q], rows + q * n);
    for (std::size_t k = 0; k < n; ++k) rows[q * n + k] *= factors[q];
  }
  combine(rows, static_cast<int>(at.size()), to);
}

void Basis::gradients_by_point(std::span<const Vec3> at, std::span<const double> factors, double* to) const {
  const auto n = static_cast<std::size_t>(size_), count = at.size();
  const std::array<Vec3, 3>& g = frame_.axes;
  double* rows = scratch(0, static_cast<Size>(3 * count * n));
  for (std::size_t q = 0; q < count; ++q) {
    const Vec3 place = frame_.at(at[q]);
    const Powers r(place.x), s(place.y), t(place.z);
    double *x = rows + q * n, *y = x + count * n, *z = y + count * n;
    for_each_power(order_, [&](int i, int j, int k) {
      const Vec3 slope =
          r.slope(i) * s[j] * t[k] * g[0] + r[i] * s.slope(j) * t[k] * g[1] + r[i] * s[j] * t.slope(k) * g[2];
      *x++ = factors[q] * slope.x;
      *y++ = factors[q] * slope.y;
      *z++ = factors[q] * slope.z;
    });
  }
  combine(rows, 3 * static_cast<int>(count), to);
}

}  // namespace tutti::compressible
