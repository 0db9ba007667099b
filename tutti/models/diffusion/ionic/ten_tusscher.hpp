// The human ventricular cell of ten Tusscher and Panfilov, Am. J. Physiol. Heart Circ. Physiol. 291, 2006, H1088, with
// the constants of its CellML form, which Niederer et al. 2011 use, too: there tau_f2 is not the paper's.
#pragma once

#include "tutti/models/diffusion/ionic/excitable.hpp"

namespace tutti::diffusion {

/// u is the membrane's potential in mV, times are in ms, concentrations in mM, currents in pA/pF.
///
/// Gates and RyR's fraction relax by Rush and Larsen, the rest takes Euler's steps: dt up to about 0.05 ms.
/// Exponentials of V by multiples of a length are powers of one: exp(V/20), its square exp(V/10), and so on.
struct TenTusscher {
  enum : int { V, xr1, xr2, xs, m, h, j, d, f, f2, fcass, s, r, released, ca, ca_sr, ca_ss, na, k };
  using State = CellState<19>;

  /// At rest, as Niederer et al. 2011 begin.
  static constexpr State rest() {
    return {{-85.23, 0.00621, 0.4712, 0.0095, 0.00172, 0.7444, 0.7045, 3.373e-5, 0.7888, 0.9755, 0.9953, 0.999998,
             2.42e-8, 0.9073, 0.000126, 3.64, 0.00036, 8.604, 136.89}};
  }

  static constexpr double R = 8314.472, T = 310, F = 96485.3415, RT_F = R * T / F;
  static constexpr double capacitance = 0.185, volume = 0.016404, volume_sr = 0.001094, volume_ss = 0.00005468;
  static constexpr double k_out = 5.4, na_out = 140, ca_out = 2;

  /// Currents through the membrane.
  struct Currents {
    double na, k1, to, kr, ks, ca_l, na_k, na_ca, p_ca, p_k, b_ca, b_na;
    TUTTI_HD double all() const {
      return ((k1 + to) + (kr + ks)) + ((ca_l + na_k) + (na + b_na)) + ((na_ca + b_ca) + (p_k + p_ca));
    }
  };

  TUTTI_HD static double exp(double x) { return portable::short_exp(x); }
  TUTTI_HD static double square(double x) { return x * x; }

  TUTTI_HD static Currents currents(const State& at, const CellInput& in) {
    using portable::log;
    const double v = at[V], x = v / RT_F;
    Currents i;
    const double e_na = RT_F * log(na_out / at[na]), e_k = RT_F * log(k_out / at[k]);
    const double e_ks = RT_F * log((k_out + 0.03 * na_out) / (at[k] + 0.03 * at[na]));
    const double e_ca = 0.5 * RT_F * log(ca_out / at[ca]);
    i.na = 14.838 * (at[m] * at[m] * at[m]) * (at[h] * at[j]) * (v - e_na);
    i.b_na = 0.00029 * (v - e_na);
    i.b_ca = 0.000592 * (v - e_ca);

    const double from_k = v - e_k, e10 = exp(0.1 * from_k), e2 = square(square(e10)) * e10;
    const double alpha = 0.1 / (1 + exp(0.06 * (from_k - 200)));
    const double beta = (3 * exp(0.0002 * (from_k + 100)) + 0.36787944117144233 * e10) * e2 / (e2 + 1);
    i.k1 = 5.405 * (alpha / (alpha + beta)) * from_k;
    i.kr = 0.153 * at[xr1] * at[xr2] * from_k;
    i.p_k = 0.0146 * from_k / (1 + exp((25 - v) / 5.98));
    i.to = (0.294 + in.endo * (0.073 - 0.294)) * at[r] * at[s] * from_k;
    i.ks = (0.392 + in.mid * (0.098 - 0.392)) * square(at[xs]) * (v - e_ks);

    // Goldman, Hodgkin and Katz: y / (e^y - 1) is 1 - y/2 + y^2/12 where the quotient has no digits.
    const double y = 2 * (v - 15) / RT_F, e_y = exp(y);
    const double quotient = portable::magnitude(y) < 1e-3 ? 1 - y * (0.5 - y / 12) : y / (e_y - 1);
    i.ca_l = 2 * F * 0.0000398 * at[d] * at[f] * at[f2] * at[fcass] * quotient * (0.25 * at[ca_ss] * e_y - ca_out);

    const double e_x = exp(-x), e_gamma = exp(0.35 * x), e_back = e_gamma * e_x;
    i.na_k = 2.724 * (k_out / (k_out + 1)) * at[na] / ((at[na] + 40) * (1 + 0.1245 * exp(-0.1 * x) + 0.0353 * e_x));
    constexpr double na3 = na_out * na_out * na_out, km3 = 87.5 * 87.5 * 87.5;
    i.na_ca = 1000 * (e_gamma * (at[na] * at[na] * at[na]) * ca_out - e_back * na3 * at[ca] * 2.5) /
              ((km3 + na3) * (1.38 + ca_out) * (1 + 0.1 * e_back));
    i.p_ca = 0.1238 * at[ca] / (at[ca] + 0.0005);
    return i;
  }

  TUTTI_HD static void advance_gates(const State& base, const State& at, const CellInput& in, State& next) {
    const double v = at[V], dt = in.dt;
    const double e20 = exp(v / 20), e10 = e20 * e20, e5 = e10 * e10;
    const double e14 = exp(v / 14), e7 = e14 * e14, e15 = exp(v / 15), e6 = exp(v / 6);
    // Powers of e that stand before those of V.
    constexpr double p3 = 20.085536923187668, m3 = 0.049787068367863944, p2_5 = 12.182493960703473;
    constexpr double p4 = 54.598150033144236, m4 = 0.01831563888873418, p5 = 148.4131591025766;

    // 450 / (1 + exp((-45 - V)/10)) times 6 / (1 + exp((V + 30)/11.5))
    next[xr1] = relax(base[xr1], e7 / (e7 + 0.0243728440732796),
                      (e10 + 0.011108996538242306) * (1 + exp((v + 30) / 11.5)) / (2700 * e10), dt);
    // 3 / (1 + exp((-60 - V)/20)) times 1.12 / (1 + exp((V - 60)/20))
    next[xr2] = relax(base[xr2], 1 / (1 + exp((v + 88) / 24)), (e20 + m3) * (1 + m3 * e20) / (3.36 * e20), dt);
    // 1400 / sqrt(1 + exp((5 - V)/6)) times 1 / (1 + exp((V - 35)/15)), plus 80
    next[xs] = relax(base[xs], e14 / (e14 + 0.6996725373751304),
                     1 / (1400 / (std::sqrt(1 + 2.300975890892825 / e6) * (1 + 0.09697196786440505 * e15)) + 80), dt);
    // 1 / (1 + exp((-60 - V)/5)) times the sum
    next[m] = relax(
        base[m], 1 / square(1 + exp((-56.86 - v) / 9.03)),
        (e5 + 6.14421235332821e-06) / (e5 * (0.1 / (1 + 1096.6331584284585 * e5) + 0.1 / (1 + exp((v - 50) / 200)))),
        dt);

    const bool low = v < -40;
    const double inactive = 1 / square(1 + exp((v + 71.55) / 7.43));
    const double a = exp(low ? -(v + 80) / 6.8 : -(v + 10.66) / 11.1);
    next[h] = relax(base[h], inactive,
                    low ? 0.057 * a + 2.7 * exp(0.079 * v) + 310000 * exp(0.3485 * v) : 0.77 / (0.13 * (1 + a)), dt);
    const double b = (low ? 0.02424 : 0.6) * exp((low ? -0.01052 : 0.057) * v) /
                     (1 + exp(-(low ? 0.1378 : 0.1) * (v + (low ? 40.14 : 32))));
    const double alpha_j =
        (-25428 * exp(0.2444 * v) - 6.948e-6 * exp(-0.04391 * v)) * (v + 37.78) / (1 + exp(0.311 * (v + 79.23)));
    next[j] = relax(base[j], inactive, b + (low ? alpha_j : 0), dt);

    // (1.4 / (1 + exp((-35 - V)/13)) + 0.25) times 1.4 / (1 + exp((V + 5)/5)), plus 1 / (1 + exp((50 - V)/20))
    const double tau_d =
        (1.4 / (1 + exp((-35 - v) / 13)) + 0.25) * 1.4 / (1 + 2.718281828459045 * e5) + e20 / (e20 + p2_5);
    next[d] = relax(base[d], e15 * e15 / (e15 * e15 + 0.34415378686541237), 1 / tau_d, dt);
    const double q = square(v + 27), falls = 1 / (1 + p3 * e10);  // of exp((V + 30)/10)
    const double tau_f = 1102.5 * exp(-q / 225) + 200 * e10 / (e10 + 3.6692966676192444) + 180 * falls + 20;
    next[f] = relax(base[f], 1 / (1 + 17.41170806332765 * e7), 1 / tau_f, dt);
    const double tau_f2 = 562 * exp(-q / 240) + 31 * e10 / (e10 + p2_5) + 80 * falls;
    next[f2] = relax(base[f2], 0.67 / (1 + p5 * e7) + 0.33, 1 / tau_f2, dt);
    const double bound = 1 / (1 + square(20 * at[ca_ss]));
    next[fcass] = relax(base[fcass], 0.6 * bound + 0.4, 1 / (80 * bound + 2), dt);

    const bool endo = in.endo > 0;
    const double bell = exp(-square(v + (endo ? 67 : 45)) * (endo ? 1.0 / 1000 : 1.0 / 320));
    next[s] = relax(base[s], 1 / (1 + (endo ? 270.42640742615254 : p4) * e5),
                    1 / (endo ? 1000 * bell + 8 : 85 * bell + 5 / (1 + m4 * e5) + 3), dt);
    next[r] = relax(base[r], e6 / (e6 + 28.03162489452614), 1 / (9.5 * exp(-square(v + 40) / 1800) + 0.8), dt);
  }

  TUTTI_HD State advance(const State& base, const State& at, const CellInput& in) const {
    State next;
    const Currents i = currents(at, in);
    advance_gates(base, at, in, next);
    const double dt = in.dt;
    next[V] = base[V] + dt * (in.stimulus - i.all());

    // Calcium: released from its store (SR) into the subspace, leaking and pumped back.
    const double k_sr = 2.5 - 1.5 / (1 + square(1.5 / at[ca_sr]));
    const double k1_ca2 = 0.15 / k_sr * square(at[ca_ss]), k2_ca = 0.045 * k_sr * at[ca_ss];
    const double open = k1_ca2 * at[released] / (0.06 + k1_ca2);
    next[released] = relax(base[released], 0.005 / (k2_ca + 0.005), k2_ca + 0.005, dt);
    const double release = 0.102 * open * (at[ca_sr] - at[ca_ss]);
    const double up = 0.006375 / (1 + square(0.00025 / at[ca])), leak = 0.00036 * (at[ca_sr] - at[ca]);
    const double transfer = 0.0038 * (at[ca_ss] - at[ca]);
    constexpr double by_charge = capacitance / (volume * F), by_charge_ss = capacitance / (2 * volume_ss * F);
    const auto unbound = [](double buffer, double half, double c) {
      return 1 / (1 + buffer * half / square(c + half));
    };
    next[ca] = base[ca] + dt * unbound(0.2, 0.001, at[ca]) *
                              ((leak - up) * (volume_sr / volume) + transfer -
                               (i.b_ca + i.p_ca - 2 * i.na_ca) * (0.5 * by_charge));
    next[ca_sr] = base[ca_sr] + dt * unbound(10, 0.3, at[ca_sr]) * (up - release - leak);
    next[ca_ss] =
        base[ca_ss] + dt * unbound(0.4, 0.00025, at[ca_ss]) *
                          (release * (volume_sr / volume_ss) - transfer * (volume / volume_ss) - i.ca_l * by_charge_ss);
    next[na] = base[na] - dt * by_charge * (i.na + i.b_na + 3 * (i.na_k + i.na_ca));
    // A stimulus is carried by potassium.
    next[k] = base[k] - dt * by_charge * (i.k1 + i.to + i.kr + i.ks - 2 * i.na_k + i.p_k - in.stimulus);
    return next;
  }
};

}  // namespace tutti::diffusion
