#include "tutti/models/diffusion/rkc.hpp"

#include <algorithm>
#include <cmath>

namespace tutti {

RkcCoefficients rkc_coefficients(int stages) {
  const auto s = static_cast<std::size_t>(stages);
  const double w0 = 1.0 + 2.0 / 13.0 / (stages * stages);
  // Chebyshev polynomials and two derivatives at w0.
  std::vector<double> T(s + 1), dT(s + 1), d2T(s + 1);
  T[0] = 1;
  T[1] = w0;
  dT[1] = 1;
  for (std::size_t j = 2; j <= s; ++j) {
    T[j] = 2 * w0 * T[j - 1] - T[j - 2];
    dT[j] = 2 * T[j - 1] + 2 * w0 * dT[j - 1] - dT[j - 2];
    d2T[j] = 4 * dT[j - 1] + 2 * w0 * d2T[j - 1] - d2T[j - 2];
  }
  const double w1 = dT[s] / d2T[s];
  std::vector<double> b(s + 1), a(s + 1), c(s + 1);
  for (std::size_t j = 2; j <= s; ++j) b[j] = d2T[j] / (dT[j] * dT[j]);
  b[0] = b[1] = b[2];
  for (std::size_t j = 0; j <= s; ++j) a[j] = 1 - b[j] * T[j];
  for (std::size_t j = 2; j <= s; ++j) c[j] = w1 * d2T[j] / dT[j];
  c[1] = c[2] / dT[2];

  RkcCoefficients result;
  result.mu1 = b[1] * w1;
  for (std::size_t j = 2; j <= s; ++j) {
    const double rate_weight = 2 * b[j] * w1 / b[j - 1];
    result.stages.push_back({2 * b[j] * w0 / b[j - 1], -b[j] / b[j - 2], rate_weight, -a[j - 1] * rate_weight});
  }
  result.times.assign(c.begin(), c.end() - 1);
  return result;
}

double rkc_limit(int stages) {
  return 0.653 * (static_cast<double>(stages) * stages - 1);
}

int rkc_stages(double dt_rho) {
  return std::max(2, static_cast<int>(std::ceil(std::sqrt(1 + dt_rho / 0.653))));
}

}  // namespace tutti
