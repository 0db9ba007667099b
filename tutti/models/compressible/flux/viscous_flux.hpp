// Viscous stress and heat conduction of a Newtonian gas.
#pragma once

#include "tutti/models/compressible/flux/boundary.hpp"

namespace tutti::compressible {

/// The viscous flux f[d][variable] of the state q with gradients g[d][variable]; the equation has minus its divergence.
/// `conducts`: 0 leaves the heat flux out.
TUTTI_HD inline void viscous_flux(const Gas& gas, const double* q, const double (*g)[variables], double conducts,
                                  double (*f)[variables]) {
  const double inverse = 1 / q[0];
  const double u[3] = {q[1] * inverse, q[2] * inverse, q[3] * inverse}, energy = q[4] * inverse;
  double slope[3][3], heat[3];  // d u_i / dx_d; of the internal energy
  for (int d = 0; d < 3; ++d) {
    heat[d] = std::fma(-energy, g[d][0], g[d][4]) * inverse;
    for (int i = 0; i < 3; ++i) {
      slope[d][i] = std::fma(-u[i], g[d][0], g[d][1 + i]) * inverse;
      heat[d] = std::fma(-u[i], slope[d][i], heat[d]);
    }
  }
  const double mu =
      gas.law == ViscosityLaw::sutherland ? gas.viscosity_at(pressure(gas, q) * inverse / gas.constant) : gas.viscosity;
  // kappa dT = mu gamma / Pr de
  const double conductivity = conducts * mu * gas.gamma / gas.prandtl;
  const double dilatation = -2.0 / 3 * (slope[0][0] + slope[1][1] + slope[2][2]);
  for (int d = 0; d < 3; ++d) {
    f[d][0] = 0;
    double work = conductivity * heat[d];
    for (int i = 0; i < 3; ++i) {
      const double stress = mu * (slope[d][i] + slope[i][d] + (i == d ? dilatation : 0));
      f[d][1 + i] = stress;
      work = std::fma(u[i], stress, work);
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
