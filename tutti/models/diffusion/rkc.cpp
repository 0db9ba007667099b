#include "tutti/models/diffusion/rkc.hpp"

#include <algorithm>
#include <cmath>

namespace tutti::diffusion {
namespace {

// The usual 2/13 leaves a strip around the real axis that is too narrow for the operator's complex eigenvalues on real
// meshes: noise grew on a heart mesh at 9:1. Verwer, Sommeijer, Hundsdorfer (J. Comput. Phys. 201, 2004) take 10 for
// problems with advection; the strip then is several times wider and the real limit about half.
constexpr double damping = 10;

}  // namespace

RkcCoefficients rkc_coefficients(int stages) {
  const auto s = static_cast<std::size_t>(stages);
  const double w0 = 1.0 + damping / (static_cast<double>(stages) * stages);
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
  // (w0 + 1) T''(w0) / T'(w0): the far end of the region on the real axis.
  const double w0 = 1.0 + damping / (static_cast<double>(stages) * stages);
  double t0 = 1, t1 = w0, d0 = 0, d1 = 1, e0 = 0, e1 = 0;
  for (int j = 2; j <= stages; ++j) {
    const double t = 2 * w0 * t1 - t0, d = 2 * t1 + 2 * w0 * d1 - d0, e = 4 * d1 + 2 * w0 * e1 - e0;
    t0 = t1;
    t1 = t;
    d0 = d1;
    d1 = d;
    e0 = e1;
    e1 = e;
  }
  return (w0 + 1) * e1 / d1;
}

int rkc_stages(double dt_rho, int most) {
  int low = 2, high = most;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (rkc_limit(middle) >= dt_rho)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

}  // namespace tutti::diffusion
