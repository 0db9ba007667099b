// The ideal gas: what pressure, temperature and viscosity are of conserved values.
#pragma once

#include "tutti/models/compressible/flux/lanes.hpp"

namespace tutti::compressible {

/// rho, rho u, rho v, rho w, rho E: density, momentum, total energy a volume.
inline constexpr int variables = 5;

enum class ViscosityLaw : std::uint8_t { none, constant, sutherland };

struct Gas {
  double gamma = 1.4;     ///< ratio of specific heats
  double constant = 1;    ///< R of p = rho R T [J/(kg K)]
  double prandtl = 0.72;  ///< mu c_p / conductivity
  double viscosity = 0;   ///< mu, with Sutherland's law at reference_temperature [Pa s]
  double reference_temperature = 273.15;
  double sutherland_temperature = 110.4;
  ViscosityLaw law = ViscosityLaw::none;

  TUTTI_HD bool viscous() const { return law != ViscosityLaw::none; }
  /// mu(T); Sutherland, Phil. Mag. 36, 1893.
  template <class T>
  TUTTI_HD T viscosity_at(T temperature) const {
    if (law != ViscosityLaw::sutherland) return viscosity;
    const T ratio = temperature / reference_temperature;
    return viscosity * ratio * root(ratio) * (reference_temperature + sutherland_temperature) /
           (temperature + sutherland_temperature);
  }
};

struct Primitive {
  double rho = 0, u = 0, v = 0, w = 0, p = 0;
};

TUTTI_HD inline double pressure(const Gas& gas, const double* q) {
  const double kinetic = std::fma(q[3], q[3], std::fma(q[2], q[2], q[1] * q[1]));
  return (gas.gamma - 1) * std::fma(-0.5 / q[0], kinetic, q[4]);
}
/// With 1 / rho.
template <class T>
TUTTI_HD inline T pressure(const Gas& gas, const T* q, T inverse) {
  const T kinetic = fused(q[3], q[3], fused(q[2], q[2], q[1] * q[1]));
  return (gas.gamma - 1) * fused(-0.5 * inverse, kinetic, q[4]);
}
TUTTI_HD inline Primitive to_primitive(const Gas& gas, const double* q) {
  const double inverse = 1 / q[0];
  return {q[0], q[1] * inverse, q[2] * inverse, q[3] * inverse, pressure(gas, q)};
}
TUTTI_HD inline void to_conserved(const Gas& gas, const Primitive& s, double* q) {
  q[0] = s.rho;
  q[1] = s.rho * s.u;
  q[2] = s.rho * s.v;
  q[3] = s.rho * s.w;
  q[4] = s.p / (gas.gamma - 1) + 0.5 * s.rho * (s.u * s.u + s.v * s.v + s.w * s.w);
}
TUTTI_HD inline double sound_speed(const Gas& gas, double rho, double p) {
  return std::sqrt(gas.gamma * p / rho);
}

/// The inviscid flux f[d][variable] of q, d = x, y, z.
template <class T>
TUTTI_HD inline void euler_flux(const T* q, T inverse, T p, T (*f)[variables]) {
  const T enthalpy = q[4] + p;
  for (int d = 0; d < 3; ++d) {
    const T speed = q[1 + d] * inverse;
    f[d][0] = q[1 + d];
    f[d][1] = q[1] * speed;
    f[d][2] = q[2] * speed;
    f[d][3] = q[3] * speed;
    f[d][4] = enthalpy * speed;
    f[d][1 + d] = f[d][1 + d] + p;
  }
}

/// The flux of q along a vector k of any length.
template <class T, class K>
TUTTI_HD inline void flux_along(const T* q, T inverse, T p, const K* k, T* f) {
  const T mass = fused(q[3], k[2], fused(q[2], k[1], q[1] * k[0])), speed = mass * inverse;
  f[0] = mass;
  f[1] = fused(q[1], speed, p * k[0]);
  f[2] = fused(q[2], speed, p * k[1]);
  f[3] = fused(q[3], speed, p * k[2]);
  f[4] = (q[4] + p) * speed;
}

}  // namespace tutti::compressible
