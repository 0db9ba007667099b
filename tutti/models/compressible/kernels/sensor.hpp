// Shocks are found where an element's highest polynomials are too large for a smooth flow, and get a viscosity there
// that spreads them over the element (Persson and Peraire, AIAA 2006-112).
#pragma once

#include "tutti/base/portable_math.hpp"
#include "tutti/models/compressible/kernels/view.hpp"

namespace tutti::compressible {

/// The artificial viscosity [m^2/s] of an element, of the state u; 0 in smooth flow. With s = log10 of the share of the
/// density's square that polynomials of degree p have, it rises as half a sine between threshold - 4 log10 p -+ 1 to
/// strength h/p (|velocity| + a) of the mean state. Of the element's own coefficients only: ghosts have it, too.
TUTTI_HD inline double artificial_viscosity(const PartView& view, Lid e, const double* u) {
  const ShockSensor& sensor = view.sensor;
  const double* x = u + Size{variables} * view.bases * e;
  double lower = 0, highest = 0;
  for (int l = 0; l < sensor.lower_bases; ++l) lower = std::fma(x[l], x[l], lower);
  for (int l = sensor.lower_bases; l < view.bases; ++l) highest = std::fma(x[l], x[l], highest);
  const double share = highest / (lower + highest);
  if (!(share > sensor.share_from)) return 0;
  double mean[variables];
  for (int v = 0; v < variables; ++v) mean[v] = x[v * view.bases];
  const Primitive s = to_primitive(view.gas, mean);
  const double wave = std::sqrt(s.u * s.u + s.v * s.v + s.w * s.w) + sound_speed(view.gas, s.rho, s.p);
  const double most = sensor.strength * view.elements[e].size * wave;
  if (share >= sensor.share_to) return most;
  const double half_pi = 1.57079632679489661923;
  return most * 0.5 * (1 + portable::sin(half_pi * (portable::log10(share) - sensor.middle)));
}

}  // namespace tutti::compressible
