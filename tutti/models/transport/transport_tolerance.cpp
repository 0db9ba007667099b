// The automatic time step: no longer than the case's tolerance allows.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "tutti/base/log.hpp"
#include "tutti/models/transport/transport.hpp"

namespace tutti::transport {

/// The error that steps of length dt_ make in the initial tracers while the fastest node goes around the sphere,
/// relative to the integral of their magnitudes: some steps beside twice as many of half their length, by Richardson's
/// extrapolation. Collective.
double SphereTransport::error_of_step() {
  constexpr int settling = 10, window = 10;  // at first tracers lose what the stencils cannot carry
  double time = 0;
  const auto advance = [&](int steps, double dt) {
    for (int k = 0; k < steps; ++k) step(time + k * dt, dt);
    pass_->step().wait();
  };
  const auto put = [&](const std::vector<std::vector<double>>& q) {
    for (std::size_t p = 0; p < parts_.size(); ++p)
      upload(stream(p), parts_[p].q[0].buffer(), std::span<const double>(q[p]));
    exchange_now(0);
  };
  const auto all_values = [&] {
    std::vector<std::vector<double>> q;
    for (std::size_t p = 0; p < parts_.size(); ++p) q.push_back(values(p));
    return q;
  };
  put_initial();
  advance(settling, dt_);
  time = settling * dt_;
  const auto start = all_values();
  std::vector<double> sizes;
  for (int t = 0; t < tracers(); ++t) sizes.push_back(mass(t, true));
  advance(window, dt_);
  const auto whole = all_values();
  put(start);
  advance(2 * window, dt_ / 2);
  auto difference = all_values();
  for (std::size_t p = 0; p < difference.size(); ++p)
    for (std::size_t i = 0; i < difference[p].size(); ++i) difference[p][i] -= whole[p][i];
  put(difference);
  double error = 0;
  for (int t = 0; t < tracers(); ++t)
    if (sizes[t] > 0) error = std::max(error, mass(t, true) / sizes[t]);
  const double of_halves = std::exp2(-order_of(transport_.method));
  return error / (1 - of_halves) * 2 * std::numbers::pi / (speed_ * dt_ * window);
}

/// Bounds dt by time.tolerance, for operators with so much damping. Collective.
void SphereTransport::shorten_to_tolerance(const Weights& weights, double strength) {
  const double tolerance = options_.number("time.tolerance");
  if (tolerance == 0 || speed_ == 0 || spectrum_.advection == 0) return;
  choose_time_step(strength);
  comm_.together([&] { make_operators(weights); });
  // The stencils' own errors of rough tracers are left by any step: shorter ones are not worth what they cost.
  constexpr double shortest = 0.5, margin = 0.95;
  const double error = error_of_step();
  if (error > tolerance)
    accurate_dt_ = dt_ * std::max(shortest, margin * std::pow(tolerance / error, 1 / order_of(transport_.method)));
  verbose("a step of {:.6g} has an error of {:.3g} a turn; {}", dt_, error,
          error > tolerance ? fmt::format("{:.6g} is taken", accurate_dt_) : "it is taken");
}

}  // namespace tutti::transport
