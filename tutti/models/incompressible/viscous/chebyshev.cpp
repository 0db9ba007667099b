#include "tutti/models/incompressible/viscous/chebyshev.hpp"

#include <algorithm>
#include <cmath>

#include "tutti/base/error.hpp"

namespace tutti::incompressible {

ChebyshevWeights ChebyshevIteration::next() {
  if (rho_ < 0) {
    rho_ = delta_ / theta_;
    return {0, 1 / theta_};
  }
  const double denominator = 2 * theta_ - delta_ * rho_, before = rho_;
  rho_ = delta_ / denominator;
  return {rho_ * before, 2 / denominator};
}

int chebyshev_sweeps(double bound, double tolerance) {
  require(bound >= 0 && tolerance > 0 && tolerance < 1, "bounds of Chebyshev's iteration");
  if (bound == 0) return 1;
  return std::max(1, static_cast<int>(std::ceil(std::acosh(1 / tolerance) / std::acosh(1 + 2 / bound))));
}

}  // namespace tutti::incompressible
