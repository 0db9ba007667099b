// What lies beyond a face at the boundary.
#pragma once

#include "tutti/base/portable_math.hpp"
#include "tutti/models/compressible/flux/numerical_flux.hpp"

namespace tutti::compressible {

enum class BoundaryKind : std::uint8_t {
  slip,               ///< slip wall, or plane of symmetry
  adiabatic,          ///< no-slip wall that takes no heat: velocity
  isothermal,         ///< no-slip wall of given temperature: velocity, temperature
  far_field,          ///< rho, velocity, p by Riemann's invariants
  inflow,             ///< subsonic: rho, velocity
  total_inflow,       ///< subsonic: total pressure p and temperature, along the velocity's direction
  outflow,            ///< subsonic: p
  supersonic_inflow,  ///< rho, velocity, p
  supersonic_outflow  ///< nothing
};

/// What the case says at a point.
struct BoundaryData {
  double rho = 1, u = 0, v = 0, w = 0, p = 1, temperature = 1;
};
inline constexpr int boundary_values = 6;

TUTTI_HD inline bool is_wall(BoundaryKind kind) {
  return kind == BoundaryKind::slip || kind == BoundaryKind::adiabatic || kind == BoundaryKind::isothermal;
}

/// The state of the same gas with the normal velocity, as seen from a wall that moves, turned round.
TUTTI_HD inline void mirror(const double* l, Vec3 n, Vec3 wall, double* r) {
  const double rho = l[0],
               normal = (l[1] - rho * wall.x) * n.x + (l[2] - rho * wall.y) * n.y + (l[3] - rho * wall.z) * n.z;
  const double before = l[1] * l[1] + l[2] * l[2] + l[3] * l[3];
  r[0] = rho;
  r[1] = l[1] - 2 * normal * n.x;
  r[2] = l[2] - 2 * normal * n.y;
  r[3] = l[3] - 2 * normal * n.z;
  const double after = r[1] * r[1] + r[2] * r[2] + r[3] * r[3];
  r[4] = l[4] + 0.5 * (after - before) / rho;
}

/// Riemann's invariants of the far field, e.g. Blazek, Computational Fluid Dynamics, 8.3.
TUTTI_HD inline void far_field(const Gas& gas, const BoundaryData& data, const double* l, Vec3 n, double* r) {
  const Primitive in = to_primitive(gas, l), out{data.rho, data.u, data.v, data.w, data.p};
  const double in_normal = in.u * n.x + in.v * n.y + in.w * n.z, out_normal = out.u * n.x + out.v * n.y + out.w * n.z;
  const double in_sound = sound_speed(gas, in.rho, in.p), out_sound = sound_speed(gas, out.rho, out.p);
  const double g = gas.gamma - 1;
  if (out_normal >= out_sound || in_normal >= in_sound) {  // everything leaves
    for (int k = 0; k < variables; ++k) r[k] = l[k];
    return;
  }
  if (out_normal <= -out_sound) return to_conserved(gas, out, r);
  const double plus = in_normal + 2 * in_sound / g, minus = out_normal - 2 * out_sound / g;
  const double normal = 0.5 * (plus + minus), sound = 0.25 * g * (plus - minus);
  const bool enters = normal < 0;
  const Primitive& from = enters ? out : in;
  const double shift = normal - (enters ? out_normal : in_normal);
  const double entropy = from.p / portable::pow(from.rho, gas.gamma);
  Primitive at;
  at.rho = portable::pow(sound * sound / (gas.gamma * entropy), 1 / g);
  at.p = at.rho * sound * sound / gas.gamma;
  at.u = from.u + shift * n.x;
  at.v = from.v + shift * n.y;
  at.w = from.w + shift * n.z;
  to_conserved(gas, at, r);
}

/// Isentropic from the total state to the pressure inside.
TUTTI_HD inline void total_inflow(const Gas& gas, const BoundaryData& data, const double* l, double* r) {
  const double g = gas.gamma - 1, inside = pressure(gas, l), p = inside < data.p ? inside : data.p;
  const double ratio = portable::pow(data.p / p, g / gas.gamma);  // 1 + (gamma - 1)/2 M^2
  const double temperature = data.temperature / ratio;
  const double speed = std::sqrt(2 * gas.gamma * gas.constant * (data.temperature - temperature) / g);
  const double length = std::sqrt(data.u * data.u + data.v * data.v + data.w * data.w),
               scale = length > 0 ? speed / length : 0;
  to_conserved(gas, {p / (gas.constant * temperature), scale * data.u, scale * data.v, scale * data.w, p}, r);
}

/// The right state of the inviscid flux.
TUTTI_HD inline void boundary_state(BoundaryKind kind, const Gas& gas, const BoundaryData& data, const double* l,
                                    Vec3 n, double* r) {
  const Primitive in = to_primitive(gas, l);
  switch (kind) {
    case BoundaryKind::slip:
      return mirror(l, n, {0, 0, 0}, r);
    case BoundaryKind::adiabatic:
    case BoundaryKind::isothermal:
      return mirror(l, n, {data.u, data.v, data.w}, r);
    case BoundaryKind::far_field:
      return far_field(gas, data, l, n, r);
    case BoundaryKind::inflow:
      return to_conserved(gas, {data.rho, data.u, data.v, data.w, in.p}, r);
    case BoundaryKind::total_inflow:
      return total_inflow(gas, data, l, r);
    case BoundaryKind::outflow: {
      const double normal = in.u * n.x + in.v * n.y + in.w * n.z;
      const double p = normal >= sound_speed(gas, in.rho, in.p) ? in.p : data.p;
      return to_conserved(gas, {in.rho, in.u, in.v, in.w, p}, r);
    }
    case BoundaryKind::supersonic_inflow:
      return to_conserved(gas, {data.rho, data.u, data.v, data.w, data.p}, r);
    case BoundaryKind::supersonic_outflow:
      break;
  }
  for (int k = 0; k < variables; ++k) r[k] = l[k];
}

}  // namespace tutti::compressible
