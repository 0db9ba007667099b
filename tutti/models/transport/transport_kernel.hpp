// The arithmetic of one node: its rate from the values of its stencil, and what a stage of a time step makes of it.
#pragma once

#include <cmath>

#include "tutti/base/types.hpp"

namespace tutti::transport {

/// One term of a node's sum, in difference form: constants stay constant, whatever is rounded.
TUTTI_HD inline double add_neighbour(double weight, double neighbour, double own, double sum) {
  return std::fma(weight, neighbour - own, sum);
}

/// How the sums of a node's operators become its rate.
enum class Joined : std::uint8_t {
  summed,    ///< their sum
  velocity,  ///< the first two, derivatives along two tangents, times minus the velocity along them, plus the third
};

/// `along`: minus the velocity along the two tangents of a node.
template <int operators, Joined joined>
TUTTI_HD inline double join_sums(const double (&sums)[operators], const double* along) {
  if constexpr (joined == Joined::velocity) {
    static_assert(operators == 3);
    return std::fma(along[0], sums[0], std::fma(along[1], sums[1], sums[2]));
  } else {
    double rate = sums[0];
    for (int d = 1; d < operators; ++d) rate += sums[d];
    return rate;
  }
}

// What a stage does with a value's place v, its value before the stage, and its rate.

/// Stage 1 of RK4: next = u + a k, total = u + b k.
struct RungeKuttaFirst {
  double *next, *total;
  double a, b;
  TUTTI_HD void operator()(Lid v, double own, double rate) const {
    next[v] = std::fma(a, rate, own);
    total[v] = std::fma(b, rate, own);
  }
};
/// Stages 2 and 3: next = u + a k, total = total + b k.
struct RungeKuttaMiddle {
  const double* start;
  double *next, *total;
  double a, b;
  TUTTI_HD void operator()(Lid v, double, double rate) const {
    next[v] = std::fma(a, rate, start[v]);
    total[v] = std::fma(b, rate, total[v]);
  }
};
/// Stage 4: next = total + b k.
struct RungeKuttaLast {
  const double* total;
  double* next;
  double b;
  TUTTI_HD void operator()(Lid v, double, double rate) const { next[v] = std::fma(b, rate, total[v]); }
};
/// A stage of SSP-RK3 (Shu and Osher, J. Comput. Phys. 77, 1988): next = start + w (own + dt k - start).
struct SspRk3Stage {
  const double* start;
  double* next;
  double w, dt;
  TUTTI_HD void operator()(Lid v, double own, double rate) const {
    const double before = start[v];
    next[v] = std::fma(w, std::fma(dt, rate, own) - before, before);
  }
};
/// The rate itself, for power iterations.
struct StoreRate {
  double* rates;
  TUTTI_HD void operator()(Lid v, double, double rate) const { rates[v] = rate; }
};

}  // namespace tutti::transport
