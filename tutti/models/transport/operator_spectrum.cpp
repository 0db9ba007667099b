#include "tutti/models/transport/operator_spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tutti/base/dense_matrix.hpp"
#include "tutti/base/error.hpp"
#include "tutti/base/units.hpp"
#include "tutti/mesh/sphere/nearest.hpp"
#include "tutti/models/transport/stencils/stencil_weights.hpp"
#include "tutti/models/transport/velocity.hpp"
#include "tutti/simulation/evaluate.hpp"

namespace tutti::transport {
namespace {

std::vector<Gid> find_stencils(std::span<const Vec3> nodes, std::size_t size, const ParallelFor& parallel) {
  const NearestNodes nearest(nodes);
  std::vector<Gid> columns(nodes.size() * size);
  for_ranges(parallel, static_cast<Size>(nodes.size()), [&](Size begin, Size end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
      nearest.find(nodes[i], static_cast<int>(size), std::span(columns).subspan(i * size, size));
  });
  return columns;
}

/// How far z may go from 0 along its direction, in the left half-plane, before a step lets it grow.
double reach(RungeKutta method, std::complex<double> direction) {
  constexpr double step = 1e-3, none_goes = 4;  // both methods end before
  double length = step;
  while (length < none_goes && std::abs(amplification(method, length * direction)) <= 1 + 1e-12) length += step;
  return length - step;
}

}  // namespace

std::vector<double> OperatorRows::sum() const {
  std::vector<double> all(advection);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] += damping[i];
  return all;
}

OperatorRows operator_rows(const TransportCase& transport, std::span<const Vec3> nodes, double time, double gamma,
                           bool local, Threads& threads) {
  const ParallelFor parallel = parallel_for(threads);
  const StencilBasis basis = transport.basis_for(static_cast<Gid>(nodes.size()));
  const auto n = static_cast<std::size_t>(basis.size);
  OperatorRows rows;
  rows.size = basis.size;
  rows.columns = find_stencils(nodes, n, parallel);
  std::vector<double> weights(rows.columns.size() * operators);
  make_weights(basis, nodes, std::span<const Gid>(rows.columns), weights, parallel);
  std::vector<std::vector<double>> formulas;
  for (const Expression& formula : transport.velocity) formulas.push_back(evaluate_at(formula, nodes, time, threads));
  const double signed_gamma = (basis.hyper % 2 == 0 ? -1 : 1) * gamma;
  rows.advection.resize(rows.columns.size());
  rows.damping.resize(rows.columns.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    double three[3] = {};
    for (std::size_t c = 0; c < formulas.size(); ++c) three[c] = formulas[c][i];
    const Vec3 velocity = velocity_vector(nodes[i], three, transport.cartesian);
    const double* w = weights.data() + i * operators * n;
    const double scale = signed_gamma * damping_scale(w, n, local);
    double advection = 0, damping = 0;
    for (std::size_t j = 1; j < n; ++j) {
      const std::size_t at = i * n + j;
      rows.advection[at] = -(velocity.x * w[gradient_x * n + j] + velocity.y * w[gradient_y * n + j] +
                             velocity.z * w[gradient_z * n + j]);
      rows.damping[at] = scale * w[hyper * n + j];
      advection -= rows.advection[at];
      damping -= rows.damping[at];
    }
    rows.advection[i * n] = advection;
    rows.damping[i * n] = damping;
  }
  return rows;
}

std::vector<std::complex<double>> dense_eigenvalues(int size, std::span<const Gid> columns,
                                                    std::span<const double> weights) {
  const Size n = std::ssize(columns) / size;
  // Where columns are a power of two long, entries of a row share their places in the caches: ten times slower
  // (measured with 2,048 nodes). An odd length has one row and column of zeros behind the others, whose eigenvalue, 0,
  // is the last.
  DenseMatrix matrix(n | 1);
  for (std::size_t at = 0; at < columns.size(); ++at) matrix(static_cast<Size>(at) / size, columns[at]) += weights[at];
  std::optional<Eigenpairs> found = find_eigenpairs(matrix, false);
  if (!found)
    fail(ErrorKind::numerical,
         "the eigenvalues of {} nodes cannot be found: the iteration does not end; use other nodes", format_count(n));
  found->values.resize(static_cast<std::size_t>(n));
  return std::move(found->values);
}

SpectrumReport assess_spectrum(std::span<const std::complex<double>> eigenvalues, RungeKutta method, double dt) {
  SpectrumReport report;
  report.largest_real = -std::numeric_limits<double>::infinity();
  for (const auto& value : eigenvalues) {
    report.largest_real = std::max(report.largest_real, value.real());
    report.radius = std::max(report.radius, std::abs(value));
    report.amplification = std::max(report.amplification, std::abs(amplification(method, dt * value)));
  }
  report.dt_limit = std::numeric_limits<double>::infinity();
  for (const auto& value : eigenvalues) {
    if (value.real() > SpectrumReport::on_axis * report.radius) ++report.growing;
    const std::complex<double> left(std::min(value.real(), 0.0), value.imag());
    // As near to 0 as rounding leaves them: they bound nothing.
    if (std::abs(left) <= SpectrumReport::on_axis * report.radius) continue;
    report.dt_limit = std::min(report.dt_limit, reach(method, left / std::abs(left)) / std::abs(left));
  }
  return report;
}

}  // namespace tutti::transport
