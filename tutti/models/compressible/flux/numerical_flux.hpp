// Numerical fluxes through a face with unit normal n, from left to right. Consistent: flux(q, q) is the flux of q;
// conservative: what leaves the left enters the right.
#pragma once

#include "tutti/base/vec3.hpp"
#include "tutti/models/compressible/flux/gas.hpp"

namespace tutti::compressible {

enum class FluxKind : std::uint8_t { llf, roe, hllc };

/// One side of a face.
struct FaceState {
  double inverse = 0;  ///< 1 / rho
  double p = 0;
  double speed = 0;  ///< along the normal
  double sound = 0;
};
TUTTI_HD inline FaceState face_state(const Gas& gas, const double* q, Vec3 n) {
  FaceState s;
  s.inverse = 1 / q[0];
  const double kinetic = std::fma(q[3], q[3], std::fma(q[2], q[2], q[1] * q[1]));
  s.p = (gas.gamma - 1) * std::fma(-0.5 * s.inverse, kinetic, q[4]);
  s.speed = std::fma(q[3], n.z, std::fma(q[2], n.y, q[1] * n.x)) * s.inverse;
  s.sound = std::sqrt(gas.gamma * s.p * s.inverse);
  return s;
}
/// The flux of q along n.
TUTTI_HD inline void normal_flux(const double* q, const FaceState& s, Vec3 n, double* f) {
  f[0] = q[0] * s.speed;
  f[1] = std::fma(q[1], s.speed, s.p * n.x);
  f[2] = std::fma(q[2], s.speed, s.p * n.y);
  f[3] = std::fma(q[3], s.speed, s.p * n.z);
  f[4] = (q[4] + s.p) * s.speed;
}

/// Local Lax-Friedrichs (Rusanov, USSR Comput. Math. Math. Phys. 1, 1961).
TUTTI_HD inline void llf_flux(const Gas& gas, const double* l, const double* r, Vec3 n, double* f) {
  const FaceState a = face_state(gas, l, n), b = face_state(gas, r, n);
  const double left = std::fabs(a.speed) + a.sound, right = std::fabs(b.speed) + b.sound;
  const double half = 0.5 * (left > right ? left : right);
  double g[variables];
  normal_flux(l, a, n, f);
  normal_flux(r, b, n, g);
  for (int v = 0; v < variables; ++v) f[v] = std::fma(-half, r[v] - l[v], 0.5 * (f[v] + g[v]));
}

/// Roe (J. Comput. Phys. 43, 1981) with the entropy fix of Harten and Hyman (J. Comput. Phys. 50, 1983) for sound
/// waves.
TUTTI_HD inline void roe_flux(const Gas& gas, const double* l, const double* r, Vec3 n, double* f) {
  const FaceState a = face_state(gas, l, n), b = face_state(gas, r, n);
  double g[variables];
  normal_flux(l, a, n, f);
  normal_flux(r, b, n, g);
  // Roe's averages.
  const double wl = std::sqrt(l[0]), wr = std::sqrt(r[0]), share = wl / (wl + wr), rest = 1 - share;
  const double u = share * l[1] * a.inverse + rest * r[1] * b.inverse,
               v = share * l[2] * a.inverse + rest * r[2] * b.inverse,
               w = share * l[3] * a.inverse + rest * r[3] * b.inverse,
               h = share * (l[4] + a.p) * a.inverse + rest * (r[4] + b.p) * b.inverse;
  const double kinetic = 0.5 * (u * u + v * v + w * w), c2 = (gas.gamma - 1) * (h - kinetic), c = std::sqrt(c2);
  const double speed = u * n.x + v * n.y + w * n.z, rho = wl * wr;
  // Strengths of the waves.
  const double dp = b.p - a.p, dn = b.speed - a.speed, dr = r[0] - l[0];
  const double minus = (dp - rho * c * dn) / (2 * c2), plus = (dp + rho * c * dn) / (2 * c2), middle = dr - dp / c2;
  const auto fixed = [](double lambda, double low, double high) {
    const double size = std::fabs(lambda);
    double width = lambda - low > high - lambda ? lambda - low : high - lambda;
    width = width > 0 ? width : 0;
    return size < width ? 0.5 * (lambda * lambda / width + width) : size;
  };
  const double slow = fixed(speed - c, a.speed - a.sound, b.speed - b.sound) * minus,
               fast = fixed(speed + c, a.speed + a.sound, b.speed + b.sound) * plus, still = std::fabs(speed);
  const double du = r[1] * b.inverse - l[1] * a.inverse - dn * n.x, dv = r[2] * b.inverse - l[2] * a.inverse - dn * n.y,
               dw = r[3] * b.inverse - l[3] * a.inverse - dn * n.z;
  const double shear = still * rho, entropy = still * middle;
  const double d[variables] = {
      slow + fast + entropy,
      slow * (u - c * n.x) + fast * (u + c * n.x) + entropy * u + shear * du,
      slow * (v - c * n.y) + fast * (v + c * n.y) + entropy * v + shear * dv,
      slow * (w - c * n.z) + fast * (w + c * n.z) + entropy * w + shear * dw,
      slow * (h - c * speed) + fast * (h + c * speed) + entropy * kinetic + shear * (u * du + v * dv + w * dw),
  };
  for (int k = 0; k < variables; ++k) f[k] = 0.5 * (f[k] + g[k] - d[k]);
}

/// HLLC (Toro, Spruce and Speares, Shock Waves 4, 1994), wave speeds of Einfeldt as in Batten et al. (SIAM J. Sci.
/// Comput. 18, 1997).
TUTTI_HD inline void hllc_flux(const Gas& gas, const double* l, const double* r, Vec3 n, double* f) {
  const FaceState a = face_state(gas, l, n), b = face_state(gas, r, n);
  const double wl = std::sqrt(l[0]), wr = std::sqrt(r[0]), share = wl / (wl + wr), rest = 1 - share;
  const double u = share * l[1] * a.inverse + rest * r[1] * b.inverse,
               v = share * l[2] * a.inverse + rest * r[2] * b.inverse,
               w = share * l[3] * a.inverse + rest * r[3] * b.inverse,
               h = share * (l[4] + a.p) * a.inverse + rest * (r[4] + b.p) * b.inverse;
  const double c = std::sqrt((gas.gamma - 1) * (h - 0.5 * (u * u + v * v + w * w))),
               speed = u * n.x + v * n.y + w * n.z;
  const double from_left = a.speed - a.sound, from_right = b.speed + b.sound;
  const double sl = from_left < speed - c ? from_left : speed - c, sr = from_right > speed + c ? from_right : speed + c;
  if (sl >= 0) return normal_flux(l, a, n, f);
  if (sr <= 0) return normal_flux(r, b, n, f);
  const double ml = l[0] * (sl - a.speed), mr = r[0] * (sr - b.speed);
  const double contact = (b.p - a.p + ml * a.speed - mr * b.speed) / (ml - mr);
  const bool left = contact >= 0;
  const double* q = left ? l : r;
  const FaceState& s = left ? a : b;
  const double wave = left ? sl : sr, mass = left ? ml : mr;
  normal_flux(q, s, n, f);
  const double rho = mass / (wave - contact), rise = contact - s.speed;
  const double star[variables] = {
      rho,
      rho * (q[1] * s.inverse + rise * n.x),
      rho * (q[2] * s.inverse + rise * n.y),
      rho * (q[3] * s.inverse + rise * n.z),
      rho * (q[4] * s.inverse + rise * (contact + s.p / mass)),
  };
  for (int k = 0; k < variables; ++k) f[k] += wave * (star[k] - q[k]);
}

TUTTI_HD inline void numerical_flux(FluxKind kind, const Gas& gas, const double* l, const double* r, Vec3 n,
                                    double* f) {
  if (kind == FluxKind::llf) return llf_flux(gas, l, r, n, f);
  if (kind == FluxKind::roe) return roe_flux(gas, l, r, n, f);
  hllc_flux(gas, l, r, n, f);
}

}  // namespace tutti::compressible
