#include "tutti/models/compressible/elements/quadrature.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "tutti/base/error.hpp"
#include "tutti/base/portable_math.hpp"

namespace tutti::compressible {
namespace {

struct Jacobi {
  double value, slope;
};

/// The Jacobi polynomial P_n^(alpha, 0) at x in [-1, 1], and its derivative.
Jacobi jacobi(int n, double alpha, double x) {
  double before = 0, now = 1;
  for (int k = 1; k <= n; ++k) {
    const double s = 2 * k + alpha;
    const double next =
        k == 1 ? 0.5 * ((alpha + 2) * x + alpha)
               : ((s - 1) * (s * (s - 2) * x + alpha * alpha) * now - 2 * (k + alpha - 1) * (k - 1) * s * before) /
                     (2 * k * (k + alpha) * (s - 2));
    before = now;
    now = next;
  }
  const double s = 2 * n + alpha;
  const double slope = n == 0 ? 0 : (n * (alpha - s * x) * now + 2 * (n + alpha) * n * before) / (s * (1 - x * x));
  return {now, slope};
}

/// Points of a triangle or tetrahedron that symmetry makes of one, each with the same weight: barycentric coordinates.
/// Weights are relative to the measure.
struct Orbit {
  double weight;
  std::array<double, 4> at;
};

/// All distinct permutations of the coordinates; the first coordinate is left out.
void add_orbit(Quadrature& rule, const Orbit& orbit, int dimension) {
  std::array<double, 4> at = orbit.at;
  const auto end = at.begin() + dimension + 1;
  std::sort(at.begin(), end);
  do {
    rule.points.push_back({at[1], at[2], dimension == 3 ? at[3] : 0});
    rule.weights.push_back(orbit.weight / (dimension == 3 ? 6 : 2));
  } while (std::next_permutation(at.begin(), end));
}

Quadrature symmetric_rule(int degree, int dimension, std::initializer_list<Orbit> orbits) {
  Quadrature rule;
  rule.degree = degree;
  for (const Orbit& orbit : orbits) add_orbit(rule, orbit, dimension);
  return rule;
}
Orbit triangle_orbit(double a, double weight) {
  return {weight, {a, a, 1 - 2 * a, 0}};
}
Orbit corner_orbit(double a, double weight) {
  return {weight, {a, a, a, 1 - 3 * a}};
}

/// Points that the symmetry of [-1, 1]^d makes of one of which `count` coordinates are the root of `square`, the others
/// zero. Weights sum to 2^d.
struct CubeOrbit {
  double weight, square;
  int count;
};

/// In the unit square or cube.
Quadrature cube_rule(int degree, int dimension, std::initializer_list<CubeOrbit> orbits) {
  Quadrature rule;
  rule.degree = degree;
  for (const CubeOrbit& orbit : orbits) {
    const double at = std::sqrt(orbit.square);
    // Every coordinate is -at, 0 or at.
    for (int code = 0; code < (dimension == 3 ? 27 : 9); ++code) {
      const std::array<int, 3> sign = {code % 3 - 1, code / 3 % 3 - 1, dimension == 3 ? code / 9 - 1 : 0};
      if (std::abs(sign[0]) + std::abs(sign[1]) + std::abs(sign[2]) != orbit.count) continue;
      rule.points.push_back(
          {0.5 * (1 + sign[0] * at), 0.5 * (1 + sign[1] * at), dimension == 3 ? 0.5 * (1 + sign[2] * at) : 0});
      rule.weights.push_back(orbit.weight / (dimension == 3 ? 8 : 4));
    }
  }
  return rule;
}

int points_for(int degree) {
  return std::max(degree, 0) / 2 + 1;
}

void require_degree(int degree) {
  require(degree >= 0 && degree <= 64, "a quadrature rule of degree {}", degree);
}

}  // namespace

Quadrature gauss_jacobi(int n, int alpha) {
  require(n >= 1 && n <= 64 && alpha >= 0 && alpha <= 2, "a Gauss-Jacobi rule of {} points, alpha {}", n, alpha);
  Quadrature rule;
  rule.degree = 2 * n - 1;
  std::vector<double> roots;
  for (int k = 0; k < n; ++k) {
    // Chebyshev's points are near enough; the roots found before are divided out.
    double x = -portable::cos(std::numbers::pi * (2 * k + 1) / (2 * n));
    if (k > 0) x = 0.5 * (x + roots.back());
    for (int iteration = 0; iteration < 100; ++iteration) {
      const Jacobi p = jacobi(n, alpha, x);
      double deflation = 0;
      for (const double root : roots) deflation += 1 / (x - root);
      const double change = p.value / (p.slope - deflation * p.value);
      x -= change;
      if (std::abs(change) < 1e-15) break;
    }
    roots.push_back(x);
  }
  for (const double x : roots) {
    // Abramowitz and Stegun 25.4.33 with beta = 0; on [0, 1] the weight is (1 - x)^alpha.
    const double slope = jacobi(n, alpha, x).slope;
    rule.points.push_back({0.5 * (1 + x), 0, 0});
    rule.weights.push_back(1 / ((1 - x * x) * slope * slope));
  }
  return rule;
}

Quadrature triangle_rule(int degree) {
  require_degree(degree);
  constexpr double third = 1.0 / 3;
  if (degree <= 1) return symmetric_rule(1, 2, {{1, {third, third, third, 0}}});
  if (degree <= 2) return symmetric_rule(2, 2, {triangle_orbit(1.0 / 6, third)});
  if (degree <= 4)
    return symmetric_rule(4, 2,
                          {triangle_orbit(0.445948490915964886318, 0.223381589678011465695),
                           triangle_orbit(0.0915762135097707434596, 0.109951743655321867638)});
  if (degree <= 6) {
    constexpr double b = 0.0531450498448169473532, c = 0.310352451033784405417;
    return symmetric_rule(6, 2,
                          {triangle_orbit(0.249286745170910421292, 0.116786275726379366025),
                           triangle_orbit(0.0630890144915022283403, 0.0508449063702068169209),
                           {0.0828510756183735751936, {b, c, 1 - b - c, 0}}});
  }
  const int n = points_for(degree);
  const Quadrature a = gauss_jacobi(n, 0), b = gauss_jacobi(n, 1);
  Quadrature rule;
  rule.degree = 2 * n - 1;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      const auto k = static_cast<std::size_t>(i), l = static_cast<std::size_t>(j);
      rule.points.push_back({a.points[k].x * (1 - b.points[l].x), b.points[l].x, 0});
      rule.weights.push_back(a.weights[k] * b.weights[l]);
    }
  return rule;
}

Quadrature tetrahedron_rule(int degree) {
  require_degree(degree);
  if (degree <= 1) return symmetric_rule(1, 3, {{1, {0.25, 0.25, 0.25, 0.25}}});
  if (degree <= 2) return symmetric_rule(2, 3, {corner_orbit(0.13819660112501051518, 0.25)});
  if (degree <= 5) {
    constexpr double edge = 0.0455037041256496494919;
    return symmetric_rule(5, 3,
                          {corner_orbit(0.310885919263300609797, 0.112687925718015850799),
                           corner_orbit(0.0927352503108912264023, 0.0734930431163619495437),
                           {0.0425460207770814664381, {edge, edge, 0.5 - edge, 0.5 - edge}}});
  }
  if (degree <= 6) {
    constexpr double a = 0.0636610018750175252992, b = 0.269672331458315808034;
    return symmetric_rule(6, 3,
                          {corner_orbit(0.214602871259152029289, 0.0399227502581674920997),
                           corner_orbit(0.0406739585346113531156, 0.010077211055320642948),
                           corner_orbit(0.322337890142275510344, 0.0553571815436547220952),
                           {27.0 / 560, {a, a, b, 1 - 2 * a - b}}});
  }
  const int n = points_for(degree);
  const Quadrature a = gauss_jacobi(n, 0), b = gauss_jacobi(n, 1), c = gauss_jacobi(n, 2);
  Quadrature rule;
  rule.degree = 2 * n - 1;
  for (std::size_t k = 0; k < static_cast<std::size_t>(n); ++k)
    for (std::size_t j = 0; j < static_cast<std::size_t>(n); ++j)
      for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
        const double z = c.points[k].x, y = b.points[j].x * (1 - z), x = a.points[i].x * (1 - b.points[j].x) * (1 - z);
        rule.points.push_back({x, y, z});
        rule.weights.push_back(a.weights[i] * b.weights[j] * c.weights[k]);
      }
  return rule;
}

Quadrature quadrangle_rule(int degree) {
  require_degree(degree);
  const int n = points_for(degree);
  const Quadrature line = gauss_jacobi(n, 0);
  Quadrature rule;
  rule.degree = 2 * n - 1;
  for (std::size_t j = 0; j < line.points.size(); ++j)
    for (std::size_t i = 0; i < line.points.size(); ++i) {
      rule.points.push_back({line.points[i].x, line.points[j].x, 0});
      rule.weights.push_back(line.weights[i] * line.weights[j]);
    }
  return rule;
}

namespace {

Quadrature times_line(const Quadrature& face, const Quadrature& line) {
  Quadrature rule;
  rule.degree = std::min(face.degree, line.degree);
  for (std::size_t k = 0; k < line.points.size(); ++k)
    for (std::size_t i = 0; i < face.points.size(); ++i) {
      rule.points.push_back({face.points[i].x, face.points[i].y, line.points[k].x});
      rule.weights.push_back(face.weights[i] * line.weights[k]);
    }
  return rule;
}

}  // namespace

Quadrature hexahedron_rule(int degree) {
  return times_line(quadrangle_rule(degree), gauss_jacobi(points_for(degree), 0));
}

Quadrature parallelogram_rule(int degree) {
  if (degree <= 3 || degree > 7) return quadrangle_rule(degree);
  if (degree <= 5) return cube_rule(5, 2, {{40.0 / 49, 7.0 / 15, 1}, {9.0 / 49, 7.0 / 9, 2}});
  const double root = std::sqrt(583.0);
  return cube_rule(7, 2,
                   {{98.0 / 405, 6.0 / 7, 1},
                    {(178981 + 2769 * root) / 472230, (114 - 3 * root) / 287, 2},
                    {(178981 - 2769 * root) / 472230, (114 + 3 * root) / 287, 2}});
}

Quadrature parallelepiped_rule(int degree) {
  if (degree <= 3 || degree > 7) return hexahedron_rule(degree);
  if (degree <= 5) return cube_rule(5, 3, {{320.0 / 361, 19.0 / 30, 1}, {121.0 / 361, 19.0 / 33, 3}});
  const double root = std::sqrt(28798.0), s = (960 - 3 * root) / 2726, t = (960 + 3 * root) / 2726;
  return cube_rule(7, 3,
                   {{1078.0 / 3645, 6.0 / 7, 1},
                    {343.0 / 3645, 6.0 / 7, 2},
                    {(774 * t - 230) / (1215 * (t - s)), s, 3},
                    {(230 - 774 * s) / (1215 * (t - s)), t, 3}});
}

Quadrature prism_rule(int triangle_degree, int line_degree) {
  require_degree(line_degree);
  return times_line(triangle_rule(triangle_degree), gauss_jacobi(points_for(line_degree), 0));
}

Quadrature pyramid_rule(int degree) {
  require_degree(degree);
  Quadrature rule = times_line(quadrangle_rule(degree), gauss_jacobi(points_for(degree), 2));
  for (Vec3& p : rule.points) p = {p.x * (1 - p.z), p.y * (1 - p.z), p.z};
  return rule;
}

}  // namespace tutti::compressible
