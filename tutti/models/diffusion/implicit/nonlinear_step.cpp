// Implicit steps and steady solutions where K or the source names u, or where rows change in time.
//
// F(u) = L(u) u + b + s(u) is linearised at the last iterate v: K is that of v (Picard), the source is
// s(v) + s'(v) (u - v) (Newton). (sigma - L(v) - s'(v)) u = known + b + s(v) - s'(v) v has at u = v the residual of the
// equation itself, which ends the iteration. Fluxes that u bounds are those of v, too; Picard's iteration is then
// accelerated.
#include "tutti/models/diffusion/diffusion.hpp"
#include "tutti/models/diffusion/implicit/vectors.hpp"

namespace tutti::diffusion {

/// Rows and right-hand side at u. `again`: not for the first time in this solution.
void Diffusion::linearise(double sigma, double time, bool again) {
  renew_rows(0, time, true);
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const Term known = method_ == TimeMethod::steady ? Term{0, parts_[p].u[0].data()} : Term{1, parts_[p].known.data()};
    combine(*domain_.streams[p].compute, domain_.maps[p].owned_rows(), solver_->right(p), known, {1, forcing(p)});
  }
  solver_->begin(sigma, again);
  linearised_ = true;
}

/// One linear solution: as much better as makes sense before the next.
void Diffusion::solve_linear(double less) {
  const Values before = acceleration_ ? state() : Values{};
  const double goal = less * solver_->residual();
  solver_->renew(domain_.region_tags, parallel_for(*devices_.threads));
  while (!solver_->done() && solver_->residual() > goal) solver_->iterate();
  iterations_ += solver_->iterations();
  ++linearisations_;
  if (acceleration_) set_state(acceleration_->next(before, state()));
  exchange_now(0);
}

Diffusion::Values Diffusion::state() {
  Values now(parts_.size());
  for (std::size_t p = 0; p < parts_.size(); ++p) now[p] = values(static_cast<int>(p));
  return now;
}

void Diffusion::set_state(const Values& values) {
  for (std::size_t p = 0; p < parts_.size(); ++p)
    upload(*domain_.streams[p].compute, parts_[p].u[0].buffer(), std::span<const double>(values[p]));
}

void Diffusion::nonlinear_step(double time, double dt) {
  constexpr double less = 0.01;
  if (method_ == TimeMethod::steady) {
    if (!linearised_) linearise(0, 0, linearisations_ > 0);
    if (solver_->solved()) return;
    solve_linear(less);
    linearise(0, 0, true);
    return;
  }
  linearisations_ = 0;
  if (acceleration_) acceleration_->forget();
  const double sigma = fill_right(time, dt);
  linearise(sigma, time + dt, false);
  while (!solver_->solved() && linearisations_ < most_linearisations()) {
    solve_linear(less);
    linearise(sigma, time + dt, true);
  }
  if (!solver_->solved()) not_solved_ = time + dt;
}

double Diffusion::most_linearisations() const {
  return static_cast<double>(options_.integer("solver.linearisations"));
}

}  // namespace tutti::diffusion
