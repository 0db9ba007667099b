#include "tutti/models/diffusion/implicit/implicit_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tutti/base/mpi/over_ranks.hpp"
#include "tutti/device/sums/reductions.hpp"
#include "tutti/models/diffusion/diffusion.hpp"
#include "tutti/models/diffusion/implicit/vectors.hpp"

namespace tutti::diffusion {

ImplicitSolver::ImplicitSolver(SolverProblem problem, const SolverOptions& options)
    : problem_(std::move(problem)), options_(options), parts_(problem_.parts.size()) {
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    Device& device = problem_.domain.device(p);
    const Size owned = rows(p).end;
    Part& part = parts_[p];
    part.right = Buffer<double>(device, owned, "right-hand side");
    part.residual = Buffer<double>(device, owned, "solver, r");
    part.shadow = Buffer<double>(device, owned, "solver, r^");
    part.direction = Buffer<double>(device, owned, "solver, p");
    part.image = Buffer<double>(device, owned, "solver, A p");
    part.other = Buffer<double>(device, owned, "solver, A s");
  }
}

void ImplicitSolver::set_up(const std::set<std::int32_t>& regions, const ParallelFor& parallel) {
  constexpr int most = 30, window = 10;
  constexpr double margin = 1.1;
  double before = 1, now = 1;
  for (int k = 1; k <= most; ++k) {
    sigma_ = 0;
    apply(0, &Part::image);
    problem_.run(0, [&](std::size_t p, Kernels& to) {
      DiffusionPart& part = problem_.parts[p];
      to.add(ScaledRight{part.u[0].data(), parts_[p].image.data(), part.jacobi.data(), 0, 1});
    });
    if (k != most && k != most - window) continue;
    double largest = 0;
    for (std::size_t p = 0; p < parts_.size(); ++p)
      largest = std::max(largest, max_magnitude(stream(p), rows(p), problem_.parts[p].u[0].data()));
    before = now;
    now = max_over_ranks(problem_.comm, largest);
  }
  const double found = std::pow(now / before, 1.0 / window);
  // Nothing is above 4: the diagonal is at least half of its row's entries (Gershgorin).
  largest_ = std::isfinite(found) && found > 0 ? std::clamp(margin * found, 0.5, 4.0) : 4.0;
  renew(regions, parallel);
}

void ImplicitSolver::renew(const std::set<std::int32_t>& regions, const ParallelFor& parallel) {
  coarse_.reset();
  if (options_.multigrid) coarse_ = std::make_unique<CoarseCorrection>(problem_, regions, parallel);
}

double ImplicitSolver::product(Vector a, Vector b) {
  ExactSum sum;
  for (std::size_t p = 0; p < parts_.size(); ++p)
    sum.merge(weighted_product(stream(p), rows(p), problem_.volumes(p), (parts_[p].*a).data(), (parts_[p].*b).data()));
  return sum_over_ranks(problem_.comm, sum);
}

/// to = (sigma - L) of a copy of u, whose ghosts are up to date.
void ImplicitSolver::apply(std::size_t copy, Vector to) {
  problem_.run(-1, [&](std::size_t p, Kernels& kernels) {
    DiffusionPart& part = problem_.parts[p];
    part.rows.add(kernels, part.u[copy].data(), nullptr, ShiftedUpdate{(parts_[p].*to).data(), sigma_});
  });
}

/// Chebyshev's iteration (Saad, Iterative Methods for Sparse Linear Systems, 2003, algorithm 12.1) for eigenvalues of
/// D^-1 (sigma - L) in the upper part of their interval: from 0, or from what the coarse levels say, which have the
/// lower part. The copy that has the result.
std::size_t ImplicitSolver::precondition(Vector right) {
  // Lower ends let the polynomial grow at eigenvalues beside the real axis (seen at 9:1: no convergence at 1/32).
  constexpr double interval = 8;
  const double upper = std::max(1.0, largest_), lower = upper / interval;
  const double centre = 0.5 * (upper + lower), radius = 0.5 * (upper - lower);
  if (coarse_)
    coarse_->apply(
        sigma_, [&](std::size_t p) { return (parts_[p].*right).data(); }, 1);
  else
    problem_.run(1, [&](std::size_t p, Kernels& to) {
      DiffusionPart& part = problem_.parts[p];
      to.add(ScaledRight{part.u[1].data(), (parts_[p].*right).data(), part.jacobi.data(), sigma_, 1 / centre});
    });
  std::size_t now = 1;
  double rho = radius / centre;
  for (int k = coarse_ ? 0 : 1; k < SolverOptions::degree; ++k) {
    const double next_rho = 1 / (2 * centre / radius - rho);
    const double carry = k == 0 ? 0 : next_rho * rho, gain = k == 0 ? 1 / centre : 2 * next_rho / radius;
    const bool from_zero = coarse_ ? k == 0 : k == 1;
    const std::size_t next = 3 - now;
    problem_.run(static_cast<int>(next), [&](std::size_t p, Kernels& to) {
      DiffusionPart& part = problem_.parts[p];
      part.rows.add(to, part.u[now].data(), nullptr,
                    ChebyshevUpdate{part.u[next].data(), (parts_[p].*right).data(), part.jacobi.data(), sigma_, carry,
                                    gain, from_zero});
    });
    if (k > 0) rho = next_rho;
    now = next;
  }
  return now;
}

/// u += factor copy, and what this takes from the residual.
void ImplicitSolver::move(double factor, std::size_t copy, Vector image) {
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    auto& u = problem_.parts[p].u;
    combine(stream(p), rows(p), u[0].data(), {1, u[0].data()}, {factor, u[copy].data()});
    double* r = parts_[p].residual.data();
    combine(stream(p), rows(p), r, {1, r}, {-factor, (parts_[p].*image).data()});
  }
}

void ImplicitSolver::find_residual() {
  problem_.run(-1, [&](std::size_t p, Kernels& to) {
    DiffusionPart& part = problem_.parts[p];
    part.rows.add(to, part.u[0].data(), nullptr,
                  ResidualUpdate{parts_[p].residual.data(), parts_[p].right.data(), sigma_});
  });
  norm_ = std::sqrt(product(&Part::residual, &Part::residual));
  checked_ = 1;
}

void ImplicitSolver::start_again() {
  for (std::size_t p = 0; p < parts_.size(); ++p)
    for (Vector to : {&Part::shadow, &Part::direction})
      combine(stream(p), rows(p), (parts_[p].*to).data(), {1, parts_[p].residual.data()});
  rho_ = norm_ * norm_;
  before_ = norm_;
}

void ImplicitSolver::begin(double sigma, bool again) {
  sigma_ = sigma;
  iterations_ = stalled_ = 0;
  find_residual();
  const double before = again ? reference_ : 0;
  reference_ = std::sqrt(product(&Part::right, &Part::right));
  if (reference_ == 0) reference_ = before > 0 ? before : norm_;
  if (!std::isfinite(norm_) || !std::isfinite(reference_)) stalled_ = 1;
  start_again();
}

/// From the residual itself: it is good, or the iteration is started again, unless that did not help before.
void ImplicitSolver::break_down() {
  problem_.exchange(0);
  find_residual();
  if (solved()) return;
  stalled_ = norm_ < 0.5 * before_ ? 0 : 1;
  checked_ = 0;
  start_again();
}

void ImplicitSolver::iterate() {
  if (done()) return;
  ++iterations_;
  const std::size_t p_copy = precondition(&Part::direction);
  apply(p_copy, &Part::image);
  const double alpha = rho_ / product(&Part::shadow, &Part::image);
  if (!std::isfinite(alpha)) return break_down();
  move(alpha, p_copy, &Part::image);
  const std::size_t s_copy = precondition(&Part::residual);
  apply(s_copy, &Part::other);
  const double square = product(&Part::other, &Part::other);
  const double omega = square > 0 ? product(&Part::other, &Part::residual) / square : 0;
  if (!std::isfinite(omega)) return break_down();
  move(omega, s_copy, &Part::other);
  checked_ = 0;
  norm_ = std::sqrt(product(&Part::residual, &Part::residual));
  const double rho = product(&Part::shadow, &Part::residual), beta = rho / rho_ * (alpha / omega);
  if (norm_ <= options_.tolerance * reference_ || !std::isfinite(norm_) || !std::isfinite(beta) || beta == 0)
    return break_down();
  rho_ = rho;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    double* const d = parts_[p].direction.data();
    combine(stream(p), rows(p), d, {1, parts_[p].residual.data()}, {beta, d}, {-beta * omega, parts_[p].image.data()});
  }
}

void ImplicitSolver::solve(double sigma) {
  begin(sigma);
  while (!done()) iterate();
  if (!solved()) problem_.exchange(0);
}

std::vector<ModelField> ImplicitSolver::fields() {
  std::vector<ModelField> all;
  const auto add = [&](const char* name, Vector vector) {
    ModelField field{.name = name, .restart = true};
    field.read = [this, vector](std::size_t p, const RowSet& rows, std::span<double> to) {
      download(problem_.domain.stream(p), to, (parts_[p].*vector).data() + rows.rows.begin);
    };
    field.write = [this, vector](std::size_t p, std::span<const double> from) {
      upload(problem_.domain.stream(p), parts_[p].*vector, from);
    };
    all.push_back(std::move(field));
  };
  add("solver_r", &Part::residual);
  add("solver_shadow", &Part::shadow);
  add("solver_p", &Part::direction);
  return all;
}

std::vector<StateNumber> ImplicitSolver::numbers() {
  std::vector<StateNumber> all;  // not a list: as TetModel::numbers
  all.push_back({"solver_rho", &rho_});
  all.push_back({"solver_norm", &norm_});
  all.push_back({"solver_reference", &reference_});
  all.push_back({"solver_before", &before_});
  all.push_back({"solver_checked", &checked_});
  all.push_back({"solver_iterations", &iterations_});
  all.push_back({"solver_stalled", &stalled_});
  return all;
}

}  // namespace tutti::diffusion
