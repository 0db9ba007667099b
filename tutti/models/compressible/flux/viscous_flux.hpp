// Viscous stress and heat conduction of a Newtonian gas.
#pragma once

#include "tutti/models/compressible/flux/boundary.hpp"

namespace tutti::compressible {

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
  T mu = gas.viscosity;
  if (gas.law == ViscosityLaw::sutherland) mu = gas.viscosity_at(pressure(gas, q, inverse) * inverse / gas.constant);
  // kappa dT = mu gamma / Pr de
  const T conductivity = conducts * mu * (gas.gamma / gas.prandtl);
  const T dilatation = -2.0 / 3 * (slope[0][0] + slope[1][1] + slope[2][2]);
  for (int d = 0; d < 3; ++d) {
    f[d][0] = 0;
    T work = conductivity * heat[d];
    for (int i = 0; i < 3; ++i) {
      const T stress = mu * (slope[d][i] + slope[i][d] + (i == d ? dilatation : T(0)));
      f[d][1 + i] = stress;
      work = fused(u[i], stress, work);
    }
    f[d][4] = work;
  }
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
