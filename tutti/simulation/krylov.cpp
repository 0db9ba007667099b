#include "tutti/simulation/krylov.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>

#include "tutti/base/dense_matrix.hpp"
#include "tutti/base/log.hpp"
#include "tutti/base/mpi/over_ranks.hpp"

namespace tutti {

namespace {

/// Short vectors are not worth a team.
const ParallelFor& team_for(const ParallelFor& parallel, std::size_t length) {
  static const ParallelFor alone;
  return length < 65536 ? alone : parallel;
}

}  // namespace

Krylov::Krylov(const Comm& comm, KrylovVector vector, int dimension, ParallelFor parallel, Wanted wanted)
    : comm_(comm), vector_(std::move(vector)), dimension_(dimension), parallel_(std::move(parallel)), wanted_(wanted) {}

Krylov::Parts Krylov::read() const {
  Parts x;
  for (std::size_t p = 0; p < vector_.lengths.size(); ++p) {
    x.emplace_back(static_cast<std::size_t>(vector_.lengths[p]));
    vector_.read(p, x.back());
  }
  return x;
}

void Krylov::write(const Parts& x) const {
  for (std::size_t p = 0; p < x.size(); ++p) vector_.write(p, x[p]);
}

double Krylov::product(const Parts& a, const Parts& b) const {
  ExactSum sum;
  std::mutex mutex;
  for (std::size_t p = 0; p < a.size(); ++p)
    for_ranges(team_for(parallel_, a[p].size()), static_cast<Size>(a[p].size()), [&](Size begin, Size end) {
      ExactSum piece;
      for (Size i = begin; i < end; ++i)
        piece.add(a[p][static_cast<std::size_t>(i)] * b[p][static_cast<std::size_t>(i)]);
      const std::lock_guard lock(mutex);
      sum.merge(piece);
    });
  return sum_over_ranks(comm_, sum);
}

void Krylov::add(Parts& y, double factor, const Parts& x) const {
  for (std::size_t p = 0; p < y.size(); ++p)
    for_ranges(team_for(parallel_, y[p].size()), static_cast<Size>(y[p].size()), [&](Size begin, Size end) {
      for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
        y[p][i] = std::fma(factor, x[p][i], y[p][i]);
    });
}

Krylov::Parts Krylov::combine(const std::vector<double>& weights) const {
  Parts sum;
  for (const Size length : vector_.lengths) sum.emplace_back(static_cast<std::size_t>(length), 0.0);
  for (std::size_t k = 0; k < weights.size(); ++k) add(sum, weights[k], basis_[k]);
  return sum;
}

Krylov::Parts Krylov::applied(const Parts& x) const {
  write(x);
  vector_.apply();
  return read();
}

std::vector<RitzPair> Krylov::cycle(bool accurate) {
  basis_.clear();
  for (Parts next = read();;) {
    const double before = std::sqrt(product(next, next));
    // Twice is enough (Giraud, Langou, Rozloznik, van den Eshof, Numer. Math. 101, 2005).
    for (int turn = 0; turn < 2; ++turn)
      for (const Parts& v : basis_) add(next, -product(v, next), v);
    const double norm = std::sqrt(product(next, next));
    if (!std::isfinite(norm)) return {};
    if (!(norm > 1e-12 * before)) break;  // the space is invariant
    for (std::vector<double>& part : next)
      for (double& x : part) x /= norm;
    basis_.push_back(std::move(next));
    if (static_cast<int>(basis_.size()) == dimension_) break;
    write(basis_.back());
    vector_.filter();
    next = read();
  }
  const Size n = std::ssize(basis_);
  if (n == 0) return {};
  DenseMatrix projected(n);
  for (Size j = 0; j < n; ++j) {
    const Parts image = applied(basis_[static_cast<std::size_t>(j)]);
    for (Size i = 0; i < n; ++i) projected(i, j) = product(basis_[static_cast<std::size_t>(i)], image);
  }
  for (const double x : projected.values)
    if (!std::isfinite(x)) return {};
  const std::optional<Eigenpairs> found = find_eigenpairs(projected, true);
  if (!found) return {};
  std::vector<std::size_t> order(basis_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const std::complex<double> x = found->values[a], y = found->values[b];
    return wanted_ == Wanted::rightmost ? x.real() > y.real() : std::abs(x) > std::abs(y);
  });
  std::vector<RitzPair> pairs;
  for (const std::size_t k : order) pairs.push_back({found->values[k], -1});
  const auto weights_of = [&](std::size_t k, bool imaginary) {
    std::vector<double> weights;
    for (const std::complex<double>& y : found->vectors[k]) weights.push_back(imaginary ? y.imag() : y.real());
    return weights;
  };
  const std::complex<double> value = pairs.front().value;
  const Parts real = combine(weights_of(order.front(), false)), imaginary = combine(weights_of(order.front(), true));
  if (accurate) {
    // A (a + i b) - (c + i d)(a + i b)
    Parts r = applied(real), s = applied(imaginary);
    add(r, -value.real(), real), add(r, value.imag(), imaginary);
    add(s, -value.real(), imaginary), add(s, -value.imag(), real);
    pairs.front().residual = std::sqrt(product(r, r) + product(s, s));
  }
  mode_ = real;
  for (std::size_t p = 0; p < mode_.size(); ++p)
    for (std::size_t i = 0; i < mode_[p].size(); ++i) mode_[p][i] = std::hypot(real[p][i], imaginary[p][i]);
  constexpr std::size_t kept = 4;
  std::vector<double> sum(basis_.size(), 0.0);
  for (std::size_t k = 0; k < std::min(kept, order.size()); ++k) {
    const auto one = weights_of(order[k], false), other = weights_of(order[k], true);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += one[i] + other[i];
  }
  write(combine(sum));
  return pairs;
}

double growth_of_steps(const Comm& comm, const KrylovVector& vector, int cycles, const ParallelFor& parallel,
                       double slow) {
  constexpr int dimension = 16;
  constexpr double converged = 0.5;
  Krylov krylov(comm, vector, dimension, parallel, Wanted::largest);
  for (int k = 0; k < cycles; ++k) {
    const auto pairs = krylov.cycle();
    if (pairs.empty()) return std::numeric_limits<double>::infinity();
    const RitzPair& first = pairs.front();
    const double beyond = std::abs(first.value) - 1;
    verbose("an eigenvalue of a step: {:.6g} {:+.6g} i, modulus 1 {:+.3g}, residual {:.2g}", first.value.real(),
            first.value.imag(), beyond, first.residual);
    if (beyond <= slow) return 0;
    if (first.residual < converged * beyond) return std::log1p(beyond);
  }
  return 0;
}

FilterEllipse ellipse_around(std::span<const RitzPair> values, double rho) {
  constexpr double wider = 1.1, least = 0.06, most = 0.5, near = 0.3;
  FilterEllipse ellipse;
  for (const RitzPair& pair : values) rho = std::max(rho, std::abs(pair.value));
  ellipse.half_length = 0.5 * wider * rho;
  const double a = ellipse.half_length;
  for (const RitzPair& pair : values) {
    const double x = pair.value.real(), inside = 1 - (x + a) * (x + a) / (a * a);
    // What lies close to the ends says little of the height. A filter higher than it need be sees less: what grows by
    // lambda stands out by exp(lambda / height) an application.
    if (inside > near)
      ellipse.half_height = std::max(ellipse.half_height, wider * std::abs(pair.value.imag()) / std::sqrt(inside));
  }
  // Few of the eigenvalues beside the axis are known; what stands out of too flat an ellipse hides slow growth.
  ellipse.half_height = std::clamp(ellipse.half_height, least * a, most * a);
  return ellipse;
}

EllipseFilter::EllipseFilter(const FilterEllipse& ellipse)
    : centre_(ellipse.half_length),
      focus_(std::sqrt(ellipse.half_length * ellipse.half_length - ellipse.half_height * ellipse.half_height)),
      sigma_(focus_ / centre_) {}

EllipseFilter::Weights EllipseFilter::next() {
  const double sigma = 1 / (2 * centre_ / focus_ - sigma_);
  const Weights weights{-sigma_ * sigma, 2 * sigma / focus_};
  sigma_ = sigma;
  return weights;
}

}  // namespace tutti
