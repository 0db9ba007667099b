// Coefficients of the stabilised Runge-Kutta-Chebyshev method of second order (Sommeijer, Shampine, Verwer, J. Comput.
// Appl. Math. 88, 1998): s rates a step, stable up to dt rho of about 0.35 s^2 with the damping chosen here.
#pragma once

#include <vector>

namespace tutti::diffusion {

struct RkcCoefficients {
  double mu1 = 0;  ///< mu~_1
  struct Stage {
    double mu, nu, rate_weight, first_weight;  ///< mu_j, nu_j, mu~_j, gamma~_j
  };
  std::vector<Stage> stages;  ///< j = 2..s
  std::vector<double> times;  ///< c_0..c_{s-1}: where stage j's rate is taken, in steps
};

/// s >= 2 stages.
RkcCoefficients rkc_coefficients(int stages);
/// dt rho must stay below this.
double rkc_limit(int stages);
/// Fewest stages for dt rho, at most `most`.
int rkc_stages(double dt_rho, int most);

}  // namespace tutti::diffusion
