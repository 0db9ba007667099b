// The arithmetic of one row: rate_i = sum_j a_ij (u_j - u_i) + d_i u_i + b_i, and what a time step makes of it.
#pragma once

#include <cmath>

#include "tutti/base/types.hpp"

namespace tutti::diffusion {

/// One term of a row: difference form, one rounding.
TUTTI_HD inline double add_term(double a, double neighbour, double own, double sum) {
  return std::fma(a, neighbour - own, sum);
}

/// A row's terms in four running sums, entry j in sum j % 4. Every format and device adds like this, entries by global
/// column number, so all have the same bits in double; padding adds exact zeros. Four sums keep a CPU's and a GPU's
/// units busy.
struct RowSum {
  double part[4] = {0, 0, 0, 0};
  TUTTI_HD double total() const { return (part[0] + part[1]) + (part[2] + part[3]); }
};

/// The row's rate from the sum of its terms. `forcing` is null where there is none.
TUTTI_HD inline double row_rate(double sum, double diagonal, double own, const double* forcing, Lid row) {
  const double rate = std::fma(diagonal, own, sum);
  return forcing == nullptr ? rate : rate + forcing[row];
}

/// Forward Euler: next = u + dt rate.
struct EulerUpdate {
  double* next;
  double dt;
  TUTTI_HD void operator()(Lid row, double own, double rate) const { next[row] = std::fma(dt, rate, own); }
};

/// The rate itself, for the power iteration.
struct RateOnly {
  double* rates;
  TUTTI_HD void operator()(Lid row, double, double rate) const { rates[row] = rate; }
};

/// (sigma - L) u, of an implicit step; sigma is 0 for a steady solution.
struct ShiftedUpdate {
  double* out;
  double sigma;
  TUTTI_HD void operator()(Lid row, double own, double rate) const { out[row] = std::fma(sigma, own, -rate); }
};

/// What is left of (sigma - L) u = right.
struct ResidualUpdate {
  double* out;
  const double* right;
  double sigma;
  TUTTI_HD void operator()(Lid row, double own, double rate) const {
    out[row] = std::fma(-sigma, own, right[row]) + rate;
  }
};

/// A step of Chebyshev's iteration, scaled by the diagonal: next = u + carry (u - before) + gain (right - (sigma - L)
/// u) / (sigma + diagonal). `before` is `next` itself, or 0.
struct ChebyshevUpdate {
  double* next;
  const double* right;
  const double* diagonal;
  double sigma, carry, gain;
  bool from_zero;  ///< `before` is 0
  TUTTI_HD void operator()(Lid row, double own, double rate) const {
    const double residual = std::fma(-sigma, own, right[row]) + rate;
    const double moved = std::fma(carry, from_zero ? own : own - next[row], own);
    next[row] = moved + gain * residual / (sigma + diagonal[row]);
  }
};

/// First stage of RKC2 (Sommeijer, Shampine, Verwer, J. Comput. Appl. Math. 88, 1998, eq. 2.6): keeps F_0.
struct RkcFirst {
  double* next;
  double* first_rate;
  double weight;  ///< mu~_1 dt
  TUTTI_HD void operator()(Lid row, double own, double rate) const {
    first_rate[row] = rate;
    next[row] = std::fma(weight, rate, own);
  }
};

/// Stage j of RKC2, in differences to y_0 so that constants stay constant:
/// next = y0 + mu (y_{j-1} - y0) + nu (y_{j-2} - y0) + mu~ dt F_{j-1} + gamma~ dt F_0.
struct RkcStage {
  double* next;
  const double* before;  ///< y_{j-2}; may be `next` itself
  const double* start;   ///< y_0
  const double* first_rate;
  double mu, nu, rate_weight, first_weight;
  TUTTI_HD void operator()(Lid row, double own, double rate) const {
    const double y0 = start[row];
    double sum = mu * (own - y0);
    sum = std::fma(nu, before[row] - y0, sum);
    sum = std::fma(rate_weight, rate, sum);
    sum = std::fma(first_weight, first_rate[row], sum);
    next[row] = y0 + sum;
  }
};

}  // namespace tutti::diffusion
