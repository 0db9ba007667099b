// Numerical fluxes through a face with unit normal n, from left to right. Consistent: flux(q, q) is the flux of q;
// conservative: what leaves the left enters the right.
#pragma once

#include "tutti/base/vec3.hpp"
#include "tutti/models/compressible/flux/gas.hpp"

namespace tutti::compressible {

enum class FluxKind : std::uint8_t { llf, roe, hllc };

/// One side of a face.
template <class T>
struct FaceState {
  T inverse;  ///< 1 / rho
  T p;
  T speed;  ///< along the normal
  T sound;
};
template <class T, class N>
TUTTI_HD inline FaceState<T> face_state(const Gas& gas, const T* q, const N& n) {
  FaceState<T> s;
  s.inverse = inverse_of(q[0]);
  s.p = pressure(gas, q, s.inverse);
  s.speed = fused(q[3], n.z, fused(q[2], n.y, q[1] * n.x)) * s.inverse;
  s.sound = root(gas.gamma * s.p * s.inverse);
  return s;
}
/// The flux of q along n.
template <class T, class N>
TUTTI_HD inline void normal_flux(const T* q, const FaceState<T>& s, const N& n, T* f) {
  f[0] = q[0] * s.speed;
  f[1] = fused(q[1], s.speed, s.p * n.x);
  f[2] = fused(q[2], s.speed, s.p * n.y);
  f[3] = fused(q[3], s.speed, s.p * n.z);
  f[4] = (q[4] + s.p) * s.speed;
}

/// Twice the local Lax-Friedrichs flux. With the sides exchanged and the normal reversed it is the opposite, to the bit
/// but for the sign of zeros; larger(a, b), of the speeds of l and r, must then choose the same side, also where a
/// speed is no number.
template <class T, class N, class Larger>
TUTTI_HD inline void twice_llf_flux(const Gas& gas, const T* l, const T* r, const N& n, const Larger& larger, T* f) {
  const FaceState<T> a = face_state(gas, l, n), b = face_state(gas, r, n);
  const T left = absolute(a.speed) + a.sound, right = absolute(b.speed) + b.sound;
  const T fastest = larger(left, right);
  T g[variables];
  normal_flux(l, a, n, f);
  normal_flux(r, b, n, g);
  for (int v = 0; v < variables; ++v) f[v] = fused(-fastest, r[v] - l[v], f[v] + g[v]);
}
/// Local Lax-Friedrichs (Rusanov, USSR Comput. Math. Math. Phys. 1, 1961).
template <class T, class N>
TUTTI_HD inline void llf_flux(const Gas& gas, const T* l, const T* r, const N& n, T* f) {
  twice_llf_flux(
      gas, l, r, n, [](T left, T right) { return choose(left > right, left, right); }, f);
  for (int v = 0; v < variables; ++v) f[v] = 0.5 * f[v];
}

/// Roe (J. Comput. Phys. 43, 1981) with the entropy fix of Harten and Hyman (J. Comput. Phys. 50, 1983) for sound
/// waves.
template <class T, class N>
TUTTI_HD inline void roe_flux(const Gas& gas, const T* l, const T* r, const N& n, T* f) {
  const FaceState<T> a = face_state(gas, l, n), b = face_state(gas, r, n);
  T g[variables];
  normal_flux(l, a, n, f);
  normal_flux(r, b, n, g);
  // Roe's averages.
  const T wl = root(l[0]), wr = root(r[0]), share = wl / (wl + wr), rest = 1 - share;
  const T u = share * l[1] * a.inverse + rest * r[1] * b.inverse,
          v = share * l[2] * a.inverse + rest * r[2] * b.inverse,
          w = share * l[3] * a.inverse + rest * r[3] * b.inverse,
          h = share * (l[4] + a.p) * a.inverse + rest * (r[4] + b.p) * b.inverse;
  const T kinetic = 0.5 * (u * u + v * v + w * w), c2 = (gas.gamma - 1) * (h - kinetic), c = root(c2);
  const T speed = u * n.x + v * n.y + w * n.z, rho = wl * wr;
  // Strengths of the waves.
  const T dp = b.p - a.p, dn = b.speed - a.speed, dr = r[0] - l[0];
  const T minus = (dp - rho * c * dn) / (2 * c2), plus = (dp + rho * c * dn) / (2 * c2), middle = dr - dp / c2;
  const auto fixed = [](T lambda, T low, T high) {
    const T size = absolute(lambda);
    const T larger = choose(lambda - low > high - lambda, lambda - low, high - lambda);
    const T width = choose(larger > T(0), larger, T(0));
    return choose(width > size, 0.5 * (lambda * lambda / width + width), size);
  };
  const T slow = fixed(speed - c, a.speed - a.sound, b.speed - b.sound) * minus,
          fast = fixed(speed + c, a.speed + a.sound, b.speed + b.sound) * plus, still = absolute(speed);
  const T du = r[1] * b.inverse - l[1] * a.inverse - dn * n.x, dv = r[2] * b.inverse - l[2] * a.inverse - dn * n.y,
          dw = r[3] * b.inverse - l[3] * a.inverse - dn * n.z;
  const T shear = still * rho, entropy = still * middle;
  const T d[variables] = {
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
template <class T, class N>
TUTTI_HD inline void hllc_flux(const Gas& gas, const T* l, const T* r, const N& n, T* f) {
  const FaceState<T> a = face_state(gas, l, n), b = face_state(gas, r, n);
  const T wl = root(l[0]), wr = root(r[0]), share = wl / (wl + wr), rest = 1 - share;
  const T u = share * l[1] * a.inverse + rest * r[1] * b.inverse,
          v = share * l[2] * a.inverse + rest * r[2] * b.inverse,
          w = share * l[3] * a.inverse + rest * r[3] * b.inverse,
          h = share * (l[4] + a.p) * a.inverse + rest * (r[4] + b.p) * b.inverse;
  const T c = root((gas.gamma - 1) * (h - 0.5 * (u * u + v * v + w * w))), speed = u * n.x + v * n.y + w * n.z;
  const T from_left = a.speed - a.sound, from_right = b.speed + b.sound;
  const T sl = choose(speed - c > from_left, from_left, speed - c),
          sr = choose(from_right > speed + c, from_right, speed + c);
  const T ml = l[0] * (sl - a.speed), mr = r[0] * (sr - b.speed);
  const T contact = (b.p - a.p + ml * a.speed - mr * b.speed) / (ml - mr);
  const auto left = contact >= T(0);
  const T wave = choose(left, sl, sr), mass = choose(left, ml, mr);
  T q[variables];
  for (int k = 0; k < variables; ++k) q[k] = choose(left, l[k], r[k]);
  const FaceState<T> s{choose(left, a.inverse, b.inverse), choose(left, a.p, b.p), choose(left, a.speed, b.speed),
                       choose(left, a.sound, b.sound)};
  T of_left[variables], of_right[variables];
  normal_flux(q, s, n, f);
  normal_flux(l, a, n, of_left);
  normal_flux(r, b, n, of_right);
  const T rho = mass / (wave - contact), rise = contact - s.speed;
  const T star[variables] = {
      rho,
      rho * (q[1] * s.inverse + rise * n.x),
      rho * (q[2] * s.inverse + rise * n.y),
      rho * (q[3] * s.inverse + rise * n.z),
      rho * (q[4] * s.inverse + rise * (contact + s.p / mass)),
  };
  const auto all_left = sl >= T(0), all_right = T(0) >= sr;
  for (int k = 0; k < variables; ++k)
    f[k] = choose(all_left, of_left[k], choose(all_right, of_right[k], f[k] + wave * (star[k] - q[k])));
}

template <class T, class N>
TUTTI_HD inline void numerical_flux(FluxKind kind, const Gas& gas, const T* l, const T* r, const N& n, T* f) {
  if (kind == FluxKind::llf) return llf_flux(gas, l, r, n, f);
  if (kind == FluxKind::roe) return roe_flux(gas, l, r, n, f);
  hllc_flux(gas, l, r, n, f);
}

}  // namespace tutti::compressible
