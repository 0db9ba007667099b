#include "tutti/models/transport/stencils/stencil_weights.hpp"

#include <algorithm>
#include <cmath>

#include "tutti/base/error.hpp"
#include "tutti/models/transport/stencils/dense_lu.hpp"
#include "tutti/models/transport/stencils/stencil_system.hpp"

namespace tutti::transport {
namespace {

/// The places that entries of the matrix are made of; sets the frame's unit of length.
StencilFrame place_points(const StencilBasis& basis, std::span<const Vec3> points, StencilWork& work) {
  StencilFrame frame = make_frame(points[0]);
  work.points.assign(points.begin(), points.end());
  if (basis.kind == StencilBasis::Kind::gaussian) return frame;
  double largest = 0;
  for (Vec3& p : work.points) {
    p = project(frame, p);
    largest = std::max(largest, p.x * p.x + p.y * p.y);
  }
  frame.radius = std::sqrt(largest);
  const double scale = 1 / frame.radius;
  for (Vec3& p : work.points) p = scale * p;
  return frame;
}

/// Row i, columns [i, size), of the radial functions.
template <class Phi>
void fill_radial_row(const Phi& phi, const std::vector<Vec3>& points, int i, double* __restrict row) {
  const Vec3* __restrict place = points.data();
  const Vec3 x = place[i];
  const int size = static_cast<int>(points.size());
  for (int j = i; j < size; ++j) row[j] = phi.value(rbf::distance_squared(x, place[j]));
}

/// r^m with m known to the compiler.
template <int m>
struct KnownPower {
  static double value(double r2) { return rbf::Polyharmonic{m}.value(r2); }
};

/// The upper half of Phi.
void fill_radial(const StencilBasis& basis, const dense::Augmented& a, const std::vector<Vec3>& points) {
  const auto fill = [&](const auto& phi) {
    for (int i = 0; i < basis.size; ++i) fill_radial_row(phi, points, i, a.row(i));
  };
  if (basis.kind == StencilBasis::Kind::gaussian) return fill(rbf::Gaussian{basis.epsilon});
  switch (basis.exponent) {
    case 3:
      return fill(KnownPower<3>{});
    case 5:
      return fill(KnownPower<5>{});
    case 7:
      return fill(KnownPower<7>{});
    default:
      return fill(rbf::Polyharmonic{basis.exponent});
  }
}

/// The polynomials at each node.
void fill_polynomials(const StencilBasis& basis, const dense::Augmented& a, const StencilWork& work) {
  const int n = basis.size, count = polynomial_count(basis);
  for (int q = 0; q < count; ++q) {
    const auto m = basis.kind == StencilBasis::Kind::gaussian ? rbf::Monomial{0, 0} : rbf::Monomial::number(q);
    double* __restrict row = a.row(n + q);
    for (int i = 0; i < n; ++i) row[i] = m.value(work.points[i].x, work.points[i].y);
    for (int i = 0; i < count; ++i) row[n + i] = 0;
  }
  for (int i = 0; i < n; ++i)
    for (int q = 0; q < count; ++q) a.row(i)[n + q] = a.row(n + q)[i];
}

void fill_system(const StencilBasis& basis, const StencilFrame& frame, const dense::Augmented& a,
                 const StencilWork& work) {
  fill_radial(basis, a, work.points);
  for (int i = 1; i < basis.size; ++i)
    for (int j = 0; j < i; ++j) a.row(i)[j] = a.row(j)[i];
  fill_polynomials(basis, a, work);
  for (int i = 0; i < a.size; ++i) {
    double* sides = a.row(i) + a.size;
    for (int s = 0; s < right_sides; ++s)
      sides[s] = system_right_side(basis, frame, work.points.data(), a.row(0)[i], i, static_cast<RightSide>(s));
    std::fill(sides + right_sides, sides + dense::side_places, 0);
  }
}

double largest_size(std::span<const double> x) {
  double largest = 0;
  for (const double value : x) largest = std::max(largest, std::fabs(value));
  return largest;
}

/// Of a symmetric matrix: its largest sum of sizes along a column, which is one along a row.
double matrix_norm(const dense::Augmented& a, StencilWork& work) {
  work.solution.assign(a.size, 0);
  double* __restrict sum = work.solution.data();
  for (int i = 0; i < a.size; ++i) {
    const double* __restrict row = a.row(i);
    for (int j = 0; j < a.size; ++j) sum[j] += std::fabs(row[j]);
  }
  return largest_size(work.solution);
}

/// How much larger the inverse can make a vector, at least: it is tried with the solution for random signs.
double inverse_norm(const dense::Augmented& a, StencilWork& work) {
  work.solution.resize(a.size);
  for (int i = 0; i < a.size; ++i) work.solution[i] = a.row(i)[a.size + static_cast<int>(RightSide::probe)];
  const double before = largest_size(work.solution);
  dense::solve_again(a, work.pivots.data(), work.solution.data());
  return largest_size(work.solution) / before;
}

/// False: one is no finite number.
bool write_weights(const StencilBasis& basis, const StencilFrame& frame, const dense::Augmented& a, double* out) {
  double total = 0;
  for (int j = 0; j < basis.size; ++j) {
    double solution[right_sides - 1], weights[operators];
    std::copy_n(a.row(j) + a.size, right_sides - 1, solution);
    solution_to_weights(basis, frame, solution, weights);
    for (int op = 0; op < operators; ++op) {
      out[op * basis.size + j] = weights[op];
      total += std::fabs(weights[op]);
    }
  }
  return std::isfinite(total);
}

}  // namespace

void check_basis(const StencilBasis& basis) {
  const int count = polynomial_count(basis);
  if (basis.hyper < 1 || basis.hyper > 10)
    fail(ErrorKind::input, "stencils: hyperviscosity of order k = {}; choose 1 to 10", basis.hyper);
  if (basis.kind == StencilBasis::Kind::gaussian) {
    if (!(basis.epsilon > 0) || !std::isfinite(basis.epsilon))
      fail(ErrorKind::input, "stencils: the shape parameter {} of the Gaussians is not a positive number; give one",
           basis.epsilon);
  } else {
    if (basis.exponent < 3 || basis.exponent > 15 || basis.exponent % 2 == 0)
      fail(ErrorKind::input, "stencils: the exponent of r is {}; choose 3, 5, 7, ... or 15", basis.exponent);
    if (basis.degree < 2 || basis.degree > 12)
      fail(ErrorKind::input, "stencils: polynomials of degree {}; choose 2 to 12", basis.degree);
    if (2 * basis.hyper > basis.degree || 2 * basis.hyper >= basis.exponent)
      fail(
          ErrorKind::input,
          "stencils: hyperviscosity of order k = {} needs polynomials of degree 2k = {} and r to a power above it, not "
          "degree {} and r^{}; choose a smaller k or larger ones",
          basis.hyper, 2 * basis.hyper, basis.degree, basis.exponent);
  }
  if (basis.size < std::max(count, 3))
    fail(ErrorKind::input, "stencils: n = {} nodes cannot determine {} polynomials; choose n >= {}", basis.size, count,
         std::max(count, 3));
  if (unknown_count(basis) > max_stencil_unknowns)
    fail(ErrorKind::input, "stencils: n = {} nodes and {} polynomials are {} unknowns, more than {}; choose fewer",
         basis.size, count, unknown_count(basis), max_stencil_unknowns);
}

double try_stencil_weights(const StencilBasis& basis, std::span<const Vec3> points, std::span<double> out,
                           StencilWork& work) {
  require(static_cast<int>(points.size()) == basis.size && static_cast<int>(out.size()) >= operators * basis.size,
          "a stencil of {} nodes, {} points, {} places", basis.size, points.size(), out.size());
  const StencilFrame frame = place_points(basis, points, work);
  const int unknowns = unknown_count(basis), stride = unknowns + dense::side_places;
  work.matrix.resize(static_cast<std::size_t>(unknowns) * static_cast<std::size_t>(stride));
  work.pivots.resize(unknowns);
  const dense::Augmented a{work.matrix.data(), unknowns, right_sides, stride};
  fill_system(basis, frame, a, work);
  const double norm = matrix_norm(a, work);
  if (!dense::eliminate(a, work.pivots.data())) return -1;
  dense::substitute_back(a);
  const double condition = norm * inverse_norm(a, work);
  return write_weights(basis, frame, a, out.data()) && condition < singular_condition ? condition : -1;
}

double stencil_weights(const StencilBasis& basis, std::span<const Vec3> points, std::span<double> out,
                       StencilWork& work) {
  const double condition = try_stencil_weights(basis, points, out, work);
  if (condition < 0) fail_singular_stencil(basis, "a node", points[0]);
  return condition;
}

void fail_singular_stencil(const StencilBasis& basis, const std::string& node, Vec3 place) {
  fail(ErrorKind::numerical,
       "{} at ({:.6g}, {:.6g}, {:.6g}): the weights of its stencil of {} nodes have a singular system; look for "
       "nodes that coincide{}",
       node, place.x, place.y, place.z, basis.size,
       basis.kind == StencilBasis::Kind::gaussian ? ", or choose a larger shape parameter" : ", or choose a larger n");
}

void WeightReport::add(const WeightReport& other) {
  if (other.stencils == 0) return;
  const Size sum = stencils + other.stencils;
  mean_condition =
      (mean_condition * static_cast<double>(stencils) + other.mean_condition * static_cast<double>(other.stencils)) /
      static_cast<double>(sum);
  if (other.max_condition > max_condition) {
    max_condition = other.max_condition;
    worst = other.worst;
  }
  stencils = sum;
}

template <class Index>
WeightReport report_conditions(const StencilBasis& basis, std::span<const Vec3> nodes, std::span<const Index> columns,
                               std::span<const double> conditions, std::span<const Gid> numbers) {
  WeightReport report;
  double sum = 0;
  for (std::size_t row = 0; row < conditions.size(); ++row) {
    const Index centre = columns[row * static_cast<std::size_t>(basis.size)];
    const auto at = static_cast<std::size_t>(centre);
    if (conditions[row] < 0)
      fail_singular_stencil(basis, fmt::format("node {}", numbers.empty() ? Gid{centre} : numbers[at]), nodes[at]);
    sum += conditions[row];
    if (conditions[row] > report.max_condition) {
      report.max_condition = conditions[row];
      report.worst = numbers.empty() ? Gid{centre} : numbers[at];
    }
  }
  report.stencils = static_cast<Size>(conditions.size());
  report.mean_condition = conditions.empty() ? 0 : sum / static_cast<double>(conditions.size());
  return report;
}

template <class Index>
WeightReport make_weights(const StencilBasis& basis, std::span<const Vec3> nodes, std::span<const Index> columns,
                          std::span<double> out, const ParallelFor& parallel, std::span<const Gid> numbers) {
  check_basis(basis);
  const auto size = static_cast<std::size_t>(basis.size);
  const std::size_t rows = columns.size() / size;
  require(columns.size() == rows * size && out.size() >= columns.size() * operators,
          "{} columns of stencils of {} nodes, {} places for weights", columns.size(), size, out.size());
  std::vector<double> conditions(rows);
  for_ranges(parallel, static_cast<Size>(rows), [&](Size begin, Size end) {
    StencilWork work;
    std::vector<Vec3> points(size);
    for (auto row = static_cast<std::size_t>(begin); row < static_cast<std::size_t>(end); ++row) {
      for (std::size_t j = 0; j < size; ++j) points[j] = nodes[columns[row * size + j]];
      conditions[row] = try_stencil_weights(basis, points, out.subspan(row * operators * size, operators * size), work);
    }
  });
  return report_conditions(basis, nodes, columns, conditions, numbers);
}

template WeightReport make_weights(const StencilBasis&, std::span<const Vec3>, std::span<const Lid>, std::span<double>,
                                   const ParallelFor&, std::span<const Gid>);
template WeightReport make_weights(const StencilBasis&, std::span<const Vec3>, std::span<const Gid>, std::span<double>,
                                   const ParallelFor&, std::span<const Gid>);
template WeightReport report_conditions(const StencilBasis&, std::span<const Vec3>, std::span<const Lid>,
                                        std::span<const double>, std::span<const Gid>);
template WeightReport report_conditions(const StencilBasis&, std::span<const Vec3>, std::span<const Gid>,
                                        std::span<const double>, std::span<const Gid>);

double hyper_length(const double* weights_of_node, std::size_t n) {
  double squares = 0;
  for (const double* w = weights_of_node + hyper * n; w < weights_of_node + (hyper + 1) * n; ++w)
    squares = std::fma(*w, *w, squares);
  return std::sqrt(squares);
}

double damping_scale(const double* weights_of_node, std::size_t n, bool local) {
  const double length = local ? hyper_length(weights_of_node, n) : 1;
  return length > 0 ? 1 / length : 1;
}

}  // namespace tutti::transport
