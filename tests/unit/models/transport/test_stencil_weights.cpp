// Weights against a solution in long double, and on functions whose derivatives are known.
#include "tutti/models/transport/stencils/stencil_weights.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "sphere_nodes.hpp"
#include "tests/support/elimination.hpp"
#include "tutti/base/error.hpp"
#include "tutti/device/threads.hpp"
#include "tutti/models/transport/paper_parameters.hpp"

namespace tutti::transport {
namespace {

using testing::HasSubstr;
using Real = long double;
using Matrix = test::Rows<Real>;

struct Direction {
  Real x, y, z;
};
Direction operator-(const Direction& a, const Direction& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
Direction operator*(Real factor, const Direction& a) {
  return {factor * a.x, factor * a.y, factor * a.z};
}
Real dot(const Direction& a, const Direction& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
Direction cross(const Direction& a, const Direction& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
Real squared(const Direction& a) {
  return dot(a, a);
}

Matrix zeros(int rows, int columns) {
  return test::zero_rows<Real>(static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
}

StencilBasis gaussian(int n, double epsilon, int k) {
  StencilBasis basis;
  basis.kind = StencilBasis::Kind::gaussian;
  basis.size = n;
  basis.epsilon = epsilon;
  basis.hyper = k;
  return basis;
}

StencilBasis paper_basis(int n, Gid nodes) {
  const PaperParameters& p = *find_parameters(vortex_parameters, n);
  return gaussian(n, p.epsilon(nodes), p.k);
}

std::vector<Vec3> points_of(const std::vector<Vec3>& nodes, const std::vector<Lid>& numbers) {
  std::vector<Vec3> points;
  for (const Lid j : numbers) points.push_back(nodes[j]);
  return points;
}

Direction real(Vec3 v) {
  return {v.x, v.y, v.z};
}

/// Delta^k at the centre of a Gaussian in the plane: by its series.
Real delta(int k, Real epsilon, Real r2) {
  Real sum = 0;
  for (int j = k; j < 120; ++j) {
    Real term = 1;
    for (int i = 1; i <= j; ++i) term *= -epsilon * epsilon / i;
    for (int i = 0; i < k; ++i) term *= Real{4} * (j - i) * (j - i);
    for (int i = k; i < j; ++i) term *= r2;
    sum += term;
  }
  return sum;
}

/// The paper's equation 2, with the projected gradient, as it stands there.
Matrix gaussian_reference(const StencilBasis& basis, const std::vector<Vec3>& points) {
  const int n = basis.size;
  const Real e2 = Real{basis.epsilon} * basis.epsilon;
  Matrix a = zeros(n + 1, n + 1), b = zeros(n + 1, operators);
  const Direction c = real(points[0]);
  for (int i = 0; i < n; ++i) {
    const Direction x = real(points[i]);
    for (int j = 0; j < n; ++j) a[i][j] = std::exp(-e2 * squared(x - real(points[j])));
    a[i][n] = a[n][i] = 1;
    const Real phi = std::exp(-e2 * squared(c - x)), r2 = squared(c - x), t = 1 - r2 / 2;
    const Direction gradient = -2 * e2 * phi * (dot(c, x) * c - x);
    b[i][gradient_x] = gradient.x, b[i][gradient_y] = gradient.y, b[i][gradient_z] = gradient.z;
    // (1 - t^2) phi'' - 2 t phi', phi(t) = exp(-2 eps^2 (1 - t)).
    b[i][laplacian] = ((1 - t * t) * 4 * e2 * e2 - 2 * t * 2 * e2) * phi;
    b[i][hyper] = delta(basis.hyper, basis.epsilon, r2);
  }
  return test::solve_by_elimination(std::move(a), std::move(b));
}

/// Other tangents than the library's, no scaling, polynomials by other means.
Matrix polyharmonic_reference(const StencilBasis& basis, const std::vector<Vec3>& points) {
  const int n = basis.size, count = polynomial_count(basis);
  const Direction c = real(points[0]), aside = cross(c, {0.6L, -0.2L, 0.7L}),
                  first = 1 / std::sqrt(squared(aside)) * aside, second = cross(c, first);
  const auto x = [&](int i) { return dot(first, real(points[i])); };
  const auto y = [&](int i) { return dot(second, real(points[i])); };
  // Without a unit of length the system is beyond long double, too: any length of the stencil's size will do.
  Real unit = 0;
  for (int i = 0; i < n; ++i) unit = std::max(unit, std::abs(x(i)));
  Matrix a = zeros(n + count, n + count), b = zeros(n + count, operators), plane = zeros(n + count, 2);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) a[i][j] = std::pow(std::hypot(x(i) - x(j), y(i) - y(j)) / unit, Real(basis.exponent));
    int q = n;
    for (int p = 0; p <= basis.degree; ++p)
      for (int s = 0; s <= p; ++s, ++q) a[q][i] = a[i][q] = std::pow(x(i) / unit, p - s) * std::pow(y(i) / unit, s);
    const Real r = std::hypot(x(i), y(i)) / unit, m = basis.exponent;
    plane[i][0] = -m * std::pow(r, m - 2) * x(i) / unit;
    plane[i][1] = -m * std::pow(r, m - 2) * y(i) / unit;
    b[i][laplacian] = m * m * std::pow(r, m - 2);
    Real factor = 1;
    for (int k = 0; k < basis.hyper; ++k) factor *= (m - 2 * k) * (m - 2 * k);
    b[i][hyper] = factor * std::pow(r, m - 2 * basis.hyper);
  }
  plane[n + 1][0] = plane[n + 2][1] = 1;
  b[n + 3][laplacian] = b[n + 5][laplacian] = 2;
  // (d_xx + d_yy)^3 at the origin, of x^6, x^4 y^2, x^2 y^4, y^6: 6!, 3 4! 2!, 3 2! 4!, 6!.
  EXPECT_EQ(basis.hyper, 3);
  b[n + 21][hyper] = b[n + 27][hyper] = 720;
  b[n + 23][hyper] = b[n + 25][hyper] = 144;
  for (int i = 0; i < n + count; ++i) {
    b[i][gradient_x] = (plane[i][0] * first.x + plane[i][1] * second.x) / unit;
    b[i][gradient_y] = (plane[i][0] * first.y + plane[i][1] * second.y) / unit;
    b[i][gradient_z] = (plane[i][0] * first.z + plane[i][1] * second.z) / unit;
    b[i][laplacian] /= unit * unit;
    b[i][hyper] /= std::pow(unit, Real{6});
  }
  return test::solve_by_elimination(std::move(a), std::move(b));
}

/// The largest difference of an operator's weights, over the largest of them; what is expected may have rows of
/// polynomials behind those of the nodes.
double difference(const std::vector<double>& weights, const Matrix& expected, int op) {
  Real worst = 0, scale = 0;
  const std::size_t n = weights.size() / operators;
  for (std::size_t j = 0; j < n; ++j) {
    worst = std::max(worst, std::abs(weights[static_cast<std::size_t>(op) * n + j] - expected[j][op]));
    scale = std::max(scale, std::abs(expected[j][op]));
  }
  return static_cast<double>(worst / scale);
}

TEST(StencilWeights, AreThoseOfLongDouble) {
  const std::vector<Vec3> nodes = test::shaken(test::fibonacci_sphere(2500), 0.01);
  const std::vector<StencilBasis> bases = {gaussian(17, 2.4, 2), gaussian(31, 3.1, 4), gaussian(31, 6, 8),
                                           StencilBasis{}};
  StencilWork work;
  for (const StencilBasis& basis : bases)
    for (const Lid centre : {0, 777, 1250, 2499}) {
      SCOPED_TRACE(fmt::format("n = {}, node {}", basis.size, centre));
      const std::vector<Vec3> points = points_of(nodes, test::nearest(nodes, centre, basis.size));
      std::vector<double> weights(operators * basis.size);
      const double condition = stencil_weights(basis, points, weights, work);
      const Matrix expected = basis.kind == StencilBasis::Kind::gaussian ? gaussian_reference(basis, points)
                                                                         : polyharmonic_reference(basis, points);
      for (int op = 0; op < operators; ++op)
        EXPECT_LT(difference(weights, expected, op), std::min(0.05, 1e-15 * condition)) << "operator " << op;
    }
}

TEST(StencilWeights, ConditionIsAnEstimateFromBelow) {
  const std::vector<Vec3> nodes = test::shaken(test::fibonacci_sphere(2500), 0.01);
  StencilWork work;
  for (const double epsilon : {3.0, 5.0, 10.0, 20.0})
    for (const Lid centre : {3, 1000}) {
      const StencilBasis basis = gaussian(31, epsilon, 4);
      const std::vector<Vec3> points = points_of(nodes, test::nearest(nodes, centre, 31));
      Matrix a(32, std::vector<Real>(32, 1)), unit = zeros(32, 32);
      a[31][31] = 0;
      for (int i = 0; i < 32; ++i) unit[i][i] = 1;
      for (int i = 0; i < 31; ++i)
        for (int j = 0; j < 31; ++j)
          a[i][j] = std::exp(-Real{epsilon} * epsilon * squared(real(points[i]) - real(points[j])));
      const auto row_norm = [](const Matrix& m) {
        Real most = 0;
        for (const auto& row : m) {
          Real sum = 0;
          for (const Real value : row) sum += std::abs(value);
          most = std::max(most, sum);
        }
        return most;
      };
      const auto exact = static_cast<double>(row_norm(a) * row_norm(test::solve_by_elimination(a, unit)));
      std::vector<double> weights(5 * 31);
      const double estimate = stencil_weights(basis, points, weights, work);
      EXPECT_LT(estimate, 1.01 * exact) << epsilon;
      EXPECT_GT(estimate, 0.1 * exact) << epsilon;
    }
}

/// f = Re (x + i y)^3 z, a spherical harmonic of degree 4, its gradient on the sphere and its Laplacian, -4 (4 + 1) f.
double harmonic(Vec3 p) {
  return (p.x * p.x * p.x - 3 * p.x * p.y * p.y) * p.z;
}
Vec3 harmonic_gradient(Vec3 p) {
  const Vec3 g{3 * (p.x * p.x - p.y * p.y) * p.z, -6 * p.x * p.y * p.z, p.x * p.x * p.x - 3 * p.x * p.y * p.y};
  return g - dot(g, p) * p;
}

struct Errors {
  double gradient = 0, laplacian = 0, constants = 0, normal = 0;
  WeightReport report;
};

/// The largest errors on the harmonic; of the weights' sums, over the sum of their sizes.
Errors measure(const StencilBasis& basis, const std::vector<Vec3>& nodes, Lid step) {
  const std::vector<Lid> columns = test::stencils(nodes, basis.size, step);
  std::vector<double> weights(columns.size() * operators);
  Errors errors;
  errors.report = make_weights<Lid>(basis, nodes, columns, weights);
  const auto n = static_cast<std::size_t>(basis.size);
  for (std::size_t row = 0; row < columns.size() / n; ++row) {
    double applied[operators] = {}, sum[operators] = {}, size[operators] = {};
    for (int op = 0; op < operators; ++op)
      for (std::size_t j = 0; j < n; ++j) {
        const double w = weights[(row * operators + static_cast<std::size_t>(op)) * n + j];
        applied[op] += w * harmonic(nodes[columns[row * n + j]]);
        sum[op] += w;
        size[op] += std::fabs(w);
      }
    const Vec3 c = nodes[columns[row * n]];
    const Vec3 gradient{applied[gradient_x], applied[gradient_y], applied[gradient_z]};
    errors.gradient = std::max(errors.gradient, norm(gradient - harmonic_gradient(c)));
    errors.laplacian = std::max(errors.laplacian, std::fabs(applied[laplacian] + 20 * harmonic(c)));
    errors.normal = std::max(errors.normal, std::fabs(dot(gradient, c)) / (size[0] + size[1] + size[2]));
    for (int op = 0; op < operators; ++op)
      errors.constants = std::max(errors.constants, std::fabs(sum[op]) / (size[op] > 0 ? size[op] : 1));
  }
  return errors;
}

TEST(StencilWeights, PolyharmonicConvergesOnFibonacciNodes) {
  Errors before;
  for (const int nodes : {1000, 4000, 16000}) {
    const Errors now = measure(StencilBasis{}, test::fibonacci_sphere(nodes), nodes / 250);
    EXPECT_LT(now.constants, 1e-12);
    EXPECT_LT(now.normal, 1e-15);
    if (before.gradient > 0) {
      EXPECT_GT(std::log2(before.gradient / now.gradient), 5.5) << nodes;
      EXPECT_GT(std::log2(before.laplacian / now.laplacian), 4.5) << nodes;
    }
    before = now;
  }
  EXPECT_LT(before.gradient, 1e-7);
  EXPECT_LT(before.laplacian, 1e-4);
}

TEST(StencilWeights, OfThreeHundredNodes) {
  StencilBasis basis;
  basis.size = max_stencil_size;
  basis.exponent = 9;
  basis.degree = 12;
  EXPECT_EQ(unknown_count(basis), max_stencil_unknowns);
  const std::vector<Vec3> nodes = test::fibonacci_sphere(4000);
  std::vector<double> weights(operators * max_stencil_size);
  StencilWork work;
  const std::vector<Vec3> points = points_of(nodes, test::nearest(nodes, 777, max_stencil_size));
  const double condition = stencil_weights(basis, points, weights, work);
  const Matrix expected = polyharmonic_reference(basis, points);
  for (int op = 0; op < operators; ++op) EXPECT_LT(difference(weights, expected, op), 1e-15 * condition) << op;
  const Errors large = measure(basis, nodes, 200), small = measure(StencilBasis{}, nodes, 200);
  EXPECT_LT(large.gradient, 1e-2 * small.gradient);
  EXPECT_LT(large.laplacian, 1e-2 * small.laplacian);
}

TEST(StencilWeights, GaussiansOfThePaperAreAccurate) {
  const std::vector<Vec3> nodes = test::fibonacci_sphere(4096);
  double gradient_before = 1, laplacian_before = 100;
  for (const int n : {17, 31, 50, 101}) {
    const Errors errors = measure(paper_basis(n, 4096), nodes, 32);
    EXPECT_LT(errors.constants, 1e-12) << n;
    EXPECT_LT(errors.normal, 1e-15) << n;
    EXPECT_LT(errors.gradient, gradient_before) << n;
    EXPECT_LT(errors.laplacian, laplacian_before) << n;
    gradient_before = errors.gradient;
    laplacian_before = errors.laplacian;
  }
  EXPECT_LT(gradient_before, 1e-5);
  EXPECT_LT(laplacian_before, 1e-3);
}

TEST(StencilWeights, OnTheNodesOfThePaper) {
  std::ifstream file(TUTTI_NODE_SETS "/md/md10201.xyzw.f64", std::ios::binary);
  if (!file) GTEST_SKIP() << "no node sets beside the project";
  std::vector<double> values(10201 * 4);
  file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(double)));
  ASSERT_TRUE(file);
  std::vector<Vec3> nodes;
  for (std::size_t i = 0; i < values.size(); i += 4) nodes.push_back({values[i], values[i + 1], values[i + 2]});
  // The shape parameters keep the condition numbers where the paper's authors wanted them, whatever N.
  struct Expected {
    int n;
    double least_condition, max_condition, gradient;
  };
  for (const Expected& e :
       {Expected{17, 1e10, 1e11, 1e-4}, {31, 1e12, 1e13, 2e-5}, {50, 1e13, 1e14, 6e-6}, {101, 1e14, 1e15, 2e-6}}) {
    const Errors errors = measure(paper_basis(e.n, 10201), nodes, 100);
    EXPECT_GT(errors.report.mean_condition, e.least_condition) << e.n;
    EXPECT_LT(errors.report.mean_condition, e.max_condition) << e.n;
    EXPECT_LT(errors.gradient, e.gradient) << e.n;
    EXPECT_LT(errors.constants, 1e-14) << e.n;
  }
  const Errors errors = measure(StencilBasis{}, nodes, 100);
  EXPECT_LT(errors.report.max_condition, 1e8);
  EXPECT_LT(errors.gradient, 2e-8);
  EXPECT_LT(errors.laplacian, 2e-6);
  EXPECT_LT(errors.constants, 1e-14);
}

TEST(StencilWeights, BitsAreTheSameForAnyNumberOfThreads) {
  const std::vector<Vec3> nodes = test::fibonacci_sphere(700);
  const std::vector<Lid> columns = test::stencils(nodes, 57);
  const std::vector<Gid> wide(columns.begin(), columns.end());
  std::vector<double> one(columns.size() * operators), three(one.size());
  const WeightReport report = make_weights<Lid>(StencilBasis{}, nodes, columns, one);
  Threads threads(3);
  const WeightReport again = make_weights<Gid>(StencilBasis{}, nodes, wide, three, parallel_for(threads));
  EXPECT_EQ(std::memcmp(one.data(), three.data(), one.size() * sizeof(double)), 0);
  EXPECT_EQ(report.stencils, 700);
  EXPECT_EQ(report.max_condition, again.max_condition);
  EXPECT_EQ(report.mean_condition, again.mean_condition);
  EXPECT_EQ(report.worst, again.worst);
}

std::string complaint(ErrorKind kind, const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  return "no complaint";
}

TEST(StencilWeights, SingularStencilNamesItsNode) {
  for (const StencilBasis& basis : {StencilBasis{}, gaussian(31, 5, 4)}) {
    std::vector<Vec3> nodes = test::fibonacci_sphere(400);
    nodes[200] = nodes[205];
    const std::vector<Lid> columns = test::stencils(nodes, basis.size);
    std::vector<double> out(columns.size() * operators);
    std::vector<Gid> numbers;
    for (Gid i = 0; i < 400; ++i) numbers.push_back(1000 + i);
    Threads threads(2);
    const std::string message = complaint(
        ErrorKind::numerical, [&] { make_weights<Lid>(basis, nodes, columns, out, parallel_for(threads), numbers); });
    EXPECT_THAT(message, HasSubstr("singular"));
    // The first whose stencil reads both.
    Gid first = 0;
    const auto n = static_cast<std::size_t>(basis.size);
    const auto reads = [&](Lid node) {
      const auto row = columns.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(first) * n);
      return std::find(row, row + basis.size, node) != row + basis.size;
    };
    while (!(reads(200) && reads(205))) ++first;
    EXPECT_THAT(message, HasSubstr(fmt::format("node {} at (", 1000 + first)));
  }
  // All nodes on one circle: polynomials cannot tell them apart.
  std::vector<Vec3> circle;
  for (int i = 0; i < 57; ++i) circle.push_back({std::cos(0.1 * i), std::sin(0.1 * i), 0});
  StencilWork work;
  std::vector<double> out(57 * operators);
  EXPECT_THAT(complaint(ErrorKind::numerical, [&] { stencil_weights(StencilBasis{}, circle, out, work); }),
              HasSubstr("singular"));
  circle[5].x = std::nan("");
  EXPECT_THAT(complaint(ErrorKind::numerical, [&] { stencil_weights(StencilBasis{}, circle, out, work); }),
              HasSubstr("singular"));
}

TEST(StencilWeights, BasesWithoutWeightsAreRefused) {
  const auto refused = [](const StencilBasis& basis) {
    return complaint(ErrorKind::input, [&] { check_basis(basis); });
  };
  const auto with = [](auto change) {
    StencilBasis basis;
    change(basis);
    return basis;
  };
  EXPECT_EQ(refused(StencilBasis{}), "no complaint");
  EXPECT_EQ(refused(paper_basis(101, 10201)), "no complaint");
  EXPECT_THAT(refused(with([](StencilBasis& b) { b.size = 27; })), HasSubstr("n >= 28"));
  EXPECT_THAT(refused(with([](StencilBasis& b) { b.exponent = 6; })), HasSubstr("the exponent of r is 6"));
  EXPECT_THAT(refused(with([](StencilBasis& b) { b.hyper = 4; })), HasSubstr("degree 2k = 8"));
  EXPECT_THAT(refused(with([](StencilBasis& b) { b.degree = 1; })), HasSubstr("degree 1"));
  EXPECT_THAT(refused(with([](StencilBasis& b) { b.size = 400; })), HasSubstr("428 unknowns"));
  EXPECT_THAT(refused(gaussian(31, 0, 4)), HasSubstr("shape parameter"));
  EXPECT_THAT(refused(gaussian(31, 2, 0)), HasSubstr("k = 0"));
  EXPECT_THAT(refused(gaussian(2, 2, 1)), HasSubstr("n >= 3"));
}

}  // namespace
}  // namespace tutti::transport
