// Excitable cells of two variables: FitzHugh-Nagumo and Mitchell-Schaeffer. u is about 0 at rest, about 1 when excited.
#pragma once

#include "tutti/base/short_exp.hpp"
#include "tutti/base/types.hpp"

namespace tutti::diffusion {

/// What a cell keeps, u first. Constant indices only, so that it stays in registers.
template <int n>
struct CellState {
  static constexpr int size = n;
  double value[n];
  TUTTI_HD double& operator[](int k) { return value[k]; }
  TUTTI_HD double operator[](int k) const { return value[k]; }
};

/// What a step needs to know of a cell besides its state.
struct CellInput {
  double dt;
  double stimulus = 0;  ///< mean rate of u in this step
  double endo = 0;      ///< 1 in endocardial cells
  double mid = 0;       ///< 1 in mid-myocardial cells
};

/// A variable that goes to `limit` at this rate, exactly where both stay (Rush and Larsen, IEEE Trans. Biomed. Eng. 25,
/// 1978).
TUTTI_HD inline double relax(double from, double limit, double rate, double dt) {
  return limit + (from - limit) * portable::short_exp(-dt * rate);
}

/// du/dt = rate (u (1 - u) (u - a) - w), dw/dt = rate epsilon (u - gamma w) (FitzHugh, Biophys. J. 1, 1961, with rest
/// at 0). For epsilon = 0 fronts have speed (1 - 2 a) sqrt(rate K / 2).
struct FitzHughNagumo {
  double a, epsilon, gamma, rate;
  using State = CellState<2>;

  /// The step from `base` with all rates as they are in `at`.
  TUTTI_HD State advance(const State& base, const State& at, const CellInput& in) const {
    const double u = at[0], w = at[1];
    const double du = rate * (u * (1 - u) * (u - a) - w) + in.stimulus;
    return {{base[0] + in.dt * du, base[1] + in.dt * (rate * epsilon * (u - gamma * w))}};
  }
};

/// du/dt = h u^2 (1 - u) / tau_in - u / tau_out; h opens below the gate and closes above (Mitchell and Schaeffer, Bull.
/// Math. Biol. 65, 2003, eq. 3.1). The longest action potential takes tau_close ln(tau_out / (4 tau_in)), about.
struct MitchellSchaeffer {
  double tau_in, tau_out, tau_open, tau_close, gate;
  using State = CellState<2>;

  TUTTI_HD State advance(const State& base, const State& at, const CellInput& in) const {
    const double u = at[0], h = at[1];
    const double du = h * u * u * (1 - u) / tau_in - u / tau_out + in.stimulus;
    const bool opens = u < gate;
    return {{base[0] + in.dt * du, relax(base[1], opens ? 1.0 : 0.0, 1 / (opens ? tau_open : tau_close), in.dt)}};
  }
};

}  // namespace tutti::diffusion
