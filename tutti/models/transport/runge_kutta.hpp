// Runge-Kutta's methods of the model, as a linear problem sees them.
#pragma once

#include <complex>
#include <cstdint>

namespace tutti::transport {

enum class RungeKutta : std::uint8_t { rk4, ssp_rk3 };

/// p of an error dt^p over a given time.
inline double order_of(RungeKutta method) {
  return method == RungeKutta::rk4 ? 4 : 3;
}

/// What a step of length dt multiplies a solution of du/dt = lambda u by; z = dt lambda.
inline std::complex<double> amplification(RungeKutta method, std::complex<double> z) {
  const std::complex<double> cubic = 1.0 + z + z * z / 2.0 + z * z * z / 6.0;
  return method == RungeKutta::rk4 ? cubic + z * z * z * z / 24.0 : cubic;
}

}  // namespace tutti::transport
