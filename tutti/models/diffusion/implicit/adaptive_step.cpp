// Implicit steps whose error is kept below time.tolerance: a step of dt is made of as many sub-steps as that
// takes.
//
// The local error of a sub-step of length h is its method's error constant times a divided difference of the values at
// its end, its start, and the ends of one (backward Euler) or two sub-steps before (Hairer, Norsett, Wanner, Solving
// Ordinary Differential Equations I, 1993, III.5), largest over all cells and relative to max|u|.
#include <algorithm>
#include <array>
#include <cmath>

#include "tutti/models/diffusion/diffusion.hpp"
#include "tutti/models/diffusion/implicit/vectors.hpp"

namespace tutti::diffusion {
namespace {

/// A sub-step is so much longer than the one before, at most: BDF2 is stable below 1 + sqrt(2).
constexpr double longest_growth = 2, least_growth = 0.2, safety = 0.9;
/// Of dt: shorter sub-steps make no progress.
constexpr double shortest = 1e-12;

}  // namespace

/// Length of the first sub-step, whose error is not known: at the rate of the start u changes by a small share of
/// max|u|; and it is a small share of dt, as rates may be 0 at the start.
double Diffusion::first_substep(double time, double dt) {
  update_forcing(0, time);
  const double size = global_max(0);
  local_->run([&](std::size_t p, Kernels& to) {
    parts_[p].rows.add(to, parts_[p].u[0].data(), forcing(p), RateOnly{parts_[p].u[1].data()});
  });
  const double rate = global_max(1);
  const double share = 0.1 * std::sqrt(adaptive_->tolerance);
  const double length = size > 0 ? share * size / rate : dt;
  return length > 1e-9 * dt ? std::min(length, share * dt) : 1e-9 * dt;
}

/// The error of the sub-step of length h that ended with u[0], relative to max|u|; 0 where too few lie before it.
double Diffusion::substep_error(double h) {
  const double h1 = dt_before_, h2 = adaptive_->dt_earlier;
  const bool second = method_ != TimeMethod::backward_euler;
  if (h1 == 0 || (second && h2 == 0)) return 0;
  // Weights of a divided difference: w[0] of u at the end of the sub-step, w[1] at its start, w[2] and w[3] before.
  std::array<double, 4> w{};
  if (!second) {
    const double span = h + h1;
    w = {1 / (h * span), -(1 / h + 1 / h1) / span, 1 / (h1 * span), 0};
  } else {
    const double a = h + h1, b = h1 + h2, span = a + h2;
    w = {1 / (h * a * span), -((1 / h + 1 / h1) / a + 1 / (h1 * b)) / span,
         (1 / (h1 * a) + (1 / h1 + 1 / h2) / b) / span, -1 / (h2 * b * span)};
  }
  const double constant = method_ == TimeMethod::backward_euler   ? h * h
                          : method_ == TimeMethod::crank_nicolson ? 0.5 * h * h * h
                                                                  : h * h * (h + h1) * (h + h1) / (2 * h + h1);
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const DiffusionPart& part = parts_[p];
    Stream& stream = *domain_.streams[p].compute;
    const Range rows = domain_.maps[p].owned_rows();
    double* const error = part.u[1].data();
    combine(stream, rows, error, {constant * w[0], part.u[0].data()}, {constant * w[1], part.start.data()},
            {constant * w[2], part.before.data()});
    if (second) combine(stream, rows, error, {1, error}, {constant * w[3], part.earlier.data()});
  }
  const double size = global_max(0);
  return size > 0 ? global_max(1) / size : 0;
}

void Diffusion::adaptive_step(double time, double dt) {
  if (adaptive_->next == 0) adaptive_->next = first_substep(time, dt);
  const auto copy = [&](std::size_t p, Buffer<double>& to, const double* from) {
    combine(*domain_.streams[p].compute, domain_.maps[p].owned_rows(), to.data(), {1, from});
  };
  for (double done = 0; done < dt && not_solved_ == 0;) {
    // Equal sub-steps to the end, so that none is left over that is far shorter.
    const double h = (dt - done) / std::ceil((dt - done) / adaptive_->next * (1 - 1e-12));
    const double before = dt_before_;
    for (std::size_t p = 0; p < parts_.size(); ++p) copy(p, parts_[p].start, parts_[p].u[0].data());
    one_implicit_step(time + done, h);
    if (not_solved_ > 0) return;
    dt_before_ = before;  // of the divided difference, and of another try
    const double order = method_ == TimeMethod::backward_euler ? 1 : 2;
    const double error = substep_error(h);
    const double growth =
        error == 0 ? longest_growth : safety * std::pow(adaptive_->tolerance / error, 1 / (order + 1));
    adaptive_->next = h * (growth > least_growth ? std::min(growth, longest_growth) : least_growth);  // NaN: least
    if (!(error <= adaptive_->tolerance)) {
      comm_.together([&] {
        if (!(h > shortest * dt))
          fail(ErrorKind::numerical,
               "{}: at t = {:g} the error of a step of {:.3g} is {:.3g} of max|u|, above {:g}; raise it, lower "
               "solver.tolerance, or give data that do not jump in time",
               options_.where("time.tolerance"), time + done, h, error, adaptive_->tolerance);
      });
      for (std::size_t p = 0; p < parts_.size(); ++p)
        combine(*domain_.streams[p].compute, domain_.maps[p].owned_rows(), parts_[p].u[0].data(),
                {1, parts_[p].start.data()});
      exchange_now(0);
      ++adaptive_->rejected;
      continue;
    }
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      if (method_ != TimeMethod::backward_euler) copy(p, parts_[p].earlier, parts_[p].before.data());
      copy(p, parts_[p].before, parts_[p].start.data());
    }
    adaptive_->dt_earlier = before;
    dt_before_ = h;
    ++adaptive_->accepted;
    done += h;
    if (dt - done < shortest * dt) break;
  }
}

}  // namespace tutti::diffusion
