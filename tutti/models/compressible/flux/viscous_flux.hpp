// Viscous stress and heat conduction of a Newtonian gas.
#pragma once

#include "tutti/models/compressible/flux/boundary.hpp"

namespace tutti::compressible {

template <class T>
TUTTI_HD inline T viscosity_of(const Gas& gas, const T* q, T inverse) {
  if (gas.law != ViscosityLaw::sutherland) return gas.viscosity;
  return gas.viscosity_at(pressure(gas, q, inverse) * inverse / gas.constant);
}

/// The viscous flux f[d][variable] of the state q with gradients g[d][variable]; the equation has minus its divergence.
/// `conducts`: 0 leaves the heat flux out.
template <class T>
TUTTI_HD inline void viscous_flux(const Gas& gas, const T* q, T inverse, const T (*g)[variables], double conducts,
                                  T (*f)[variables]) {
  const T u[3] = {q[1] * inverse, q[2] * inverse, q[3] * inverse}, energy = q[4] * inverse;
  T slope[3][3], heat[3];  // d u_i / dx_d; of the internal energy
  for (int d = 0; d < 3; ++d) {
    heat[d] = fused(-energy, g[d][0], g[d][4]) * inverse;
    for (int i = 0; i < 3; ++i) {
      slope[d][i] = fused(-u[i], g[d][0], g[d][1 + i]) * inverse;
      heat[d] = fused(-u[i], slope[d][i], heat[d]);
    }
  }
  const T mu = viscosity_of(gas, q, inverse);
  // kappa dT = mu gamma / Pr de
  const T conductivity = conducts * mu * (gas.gamma / gas.prandtl);
  const T dilatation = -2.0 / 3 * (slope[0][0] + slope[1][1] + slope[2][2]);
  for (int d = 0; d < 3; ++d) {
    f[d][0] = 0;
    T work = conductivity * heat[d];
    for (int i = 0; i < 3; ++i) {
      const T strain = slope[d][i] + slope[i][d], stress = mu * (i == d ? strain + dilatation : strain);
      f[d][1 + i] = stress;
      work = fused(u[i], stress, work);
    }
    f[d][4] = work;
  }
}

/// The same along the unit normal n: f[variable].
template <class T, class N>
TUTTI_HD inline void viscous_flux_along(const Gas& gas, const T* q, T inverse, const T (*g)[variables], const N& n,
                                        T* f) {
  const T u[3] = {q[1] * inverse, q[2] * inverse, q[3] * inverse}, energy = q[4] * inverse;
  const auto dot = [&](T x, T y, T z) { return fused(z, n.z, fused(y, n.y, x * n.x)); };
  const T speed = dot(u[0], u[1], u[2]);
  T along[variables];  // d q / dn
  for (int v = 0; v < variables; ++v) along[v] = dot(g[0][v], g[1][v], g[2][v]);
  T slope[3], across[3];  // d u / dn; the gradient of u . n
  T heat = fused(-energy, along[0], along[4]) * inverse, dilatation = g[0][1] + g[1][2] + g[2][3];
  for (int d = 0; d < 3; ++d) {
    slope[d] = fused(-u[d], along[0], along[1 + d]) * inverse;
    across[d] = fused(-speed, g[d][0], dot(g[d][1], g[d][2], g[d][3])) * inverse;
    heat = fused(-u[d], slope[d], heat);
    dilatation = fused(-u[d], g[d][0], dilatation);
  }
  dilatation = -2.0 / 3 * inverse * dilatation;
  const T mu = viscosity_of(gas, q, inverse);
  T work = mu * (gas.gamma / gas.prandtl) * heat;
  f[0] = 0;
  const auto add = [&](int d, T normal) {
    const T stress = mu * fused(dilatation, normal, slope[d] + across[d]);
    f[1 + d] = stress;
    work = fused(u[d], stress, work);
  };
  add(0, T(n.x));
  add(1, T(n.y));
  add(2, T(n.z));
  f[4] = work;
}

/// The state on the boundary that gradients and viscous fluxes see.
TUTTI_HD inline void viscous_boundary_state(BoundaryKind kind, const Gas& gas, const BoundaryData& data,
                                            const double* l, Vec3 n, double* b) {
  const Primitive in = to_primitive(gas, l);
  if (kind == BoundaryKind::slip) {
    const double normal = in.u * n.x + in.v * n.y + in.w * n.z;
    return to_conserved(gas, {in.rho, in.u - normal * n.x, in.v - normal * n.y, in.w - normal * n.z, in.p}, b);
  }
  if (kind == BoundaryKind::adiabatic) return to_conserved(gas, {in.rho, data.u, data.v, data.w, in.p}, b);
  if (kind == BoundaryKind::isothermal)
    return to_conserved(gas, {in.p / (gas.constant * data.temperature), data.u, data.v, data.w, in.p}, b);
  boundary_state(kind, gas, data, l, n, b);
}

}  // namespace tutti::compressible
