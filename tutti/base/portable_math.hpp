// Elementary functions that have the same bits on every processor.
//
// exp, sin and their like differ from one mathematical library to the next. These use nothing but + - * /, square roots
// and std::fma, which IEEE 754 rounds in one way, so a CPU and a GPU agree to the last bit (docs/adr/0006, 0010; no
// compiler may fuse or reorder: -ffp-contract=off, -fmad=false, no -ffast-math).
//
// What most arguments take has no branches, so that compilers make vector instructions of a loop, and the threads of a
// GPU stay together; special values are chosen at the end.
//
// The result is within 1 ulp of the exact value (erf: 1.5) for every argument, sin of 1e300 included; the test measures
// that. Special values are those of C's functions. Intermediate results are unevaluated sums of two doubles where one
// is too coarse (Dekker, Numer. Math. 18, 1971); series are Taylor's, on intervals made short enough first (Cody and
// Waite, Software Manual for the Elementary Functions, 1980).
#pragma once

#include <cmath>
#include <cstring>

#include "tutti/base/types.hpp"

namespace tutti::portable {

inline constexpr double infinity = __builtin_huge_val();

TUTTI_HD inline std::uint64_t bits_of(double x) {
  std::uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
TUTTI_HD inline double from_bits(std::uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
TUTTI_HD inline bool is_nan(double x) {
  return x != x;
}
TUTTI_HD inline double not_a_number() {
  return from_bits(0x7ff8000000000000u);
}
TUTTI_HD inline double magnitude(double x) {
  return from_bits(bits_of(x) & 0x7fffffffffffffffu);
}
TUTTI_HD inline bool is_negative(double x) {
  return bits_of(x) >> 63 != 0;
}
TUTTI_HD inline double with_sign(double size, bool negative) {
  return negative ? -size : size;
}
/// 2^k, -1022 <= k <= 1023.
TUTTI_HD inline double power_of_two(int k) {
  return from_bits(static_cast<std::uint64_t>(1023 + k) << 52);
}
/// x 2^k, rounded once; 0.25 < x < 4, |k| <= 1100 or so.
TUTTI_HD inline double scaled(double x, int k) {
  const int half = k >> 1;
  return x * power_of_two(half) * power_of_two(k - half);
}
/// The integer nearest to x, |x| < 2^51.
TUTTI_HD inline double nearest(double x) {
  constexpr double shift = 0x1.8p52;
  return (x + shift) - shift;
}
/// The same as an integer; any number where x is none.
TUTTI_HD inline int nearest_int(double x) {
  return static_cast<int>(static_cast<std::uint32_t>(bits_of(x + 0x1.8p52)));
}

TUTTI_HD inline double polynomial(double, double last) {
  return last;
}
/// c0 + c1 x + c2 x^2 + ...
template <class... Rest>
TUTTI_HD inline double polynomial(double x, double first, Rest... rest) {
  return std::fma(x, polynomial(x, rest...), first);
}

/// hi + lo, |lo| at most half a unit in the last place of hi.
struct Pair {
  double hi = 0, lo = 0;
  TUTTI_HD double value() const { return hi + lo; }
};
/// a + b, |a| >= |b| or a = 0.
TUTTI_HD inline Pair ordered_sum(double a, double b) {
  const double s = a + b;
  return {s, b - (s - a)};
}
TUTTI_HD inline Pair sum(double a, double b) {
  const double s = a + b, t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}
TUTTI_HD inline Pair product(double a, double b) {
  const double p = a * b;
  return {p, std::fma(a, b, -p)};
}
TUTTI_HD inline Pair operator-(Pair a) {
  return {-a.hi, -a.lo};
}
TUTTI_HD inline Pair operator+(Pair a, Pair b) {
  const Pair s = sum(a.hi, b.hi);
  return ordered_sum(s.hi, s.lo + (a.lo + b.lo));
}
TUTTI_HD inline Pair operator-(Pair a, Pair b) {
  return a + -b;
}
TUTTI_HD inline Pair operator*(Pair a, Pair b) {
  const Pair p = product(a.hi, b.hi);
  return ordered_sum(p.hi, p.lo + std::fma(a.hi, b.lo, a.lo * b.hi));
}
TUTTI_HD inline Pair operator/(Pair a, Pair b) {
  const double inverse = 1 / b.hi, q = a.hi * inverse;
  return ordered_sum(q, (std::fma(-q, b.hi, a.hi) + std::fma(-q, b.lo, a.lo)) * inverse);
}
TUTTI_HD inline Pair square_root(Pair a) {
  const double r = std::sqrt(a.hi);
  const Pair root = ordered_sum(r, (std::fma(-r, r, a.hi) + a.lo) / (2 * r));
  return {a.hi > 0 ? root.hi : 0, a.hi > 0 ? root.lo : 0};
}

// Constants as pairs.
TUTTI_HD inline Pair half_pi() {
  return {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
}
TUTTI_HD inline Pair whole_pi() {
  return {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};
}

// Exponentials.

/// mantissa 2^exponent.
struct Scaled {
  Pair mantissa;
  int exponent = 0;
};

/// e^x, |x| <= 750: mantissa in [0.7, 1.42].
TUTTI_HD inline Scaled exp_parts(Pair x) {
  constexpr double log2_e = 0x1.71547652b82fep+0, ln2_hi = 0x1.62e42fefa39efp-1, ln2_lo = 0x1.abc9e3b39803fp-56;
  const double turns = x.hi * log2_e, k = nearest(turns);
  // The first subtraction is exact: both sides are multiples of 2^-54 and the difference is below 1/2.
  const Pair rest = product(k, ln2_lo);
  Pair r = sum(std::fma(-k, ln2_hi, x.hi), -rest.hi);
  r = sum(r.hi, r.lo + (x.lo - rest.lo));
  const double series =
      polynomial(r.hi, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320, 1.0 / 362880,
                 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800, 1.0 / 87178291200);
  const Pair minus_one = sum(r.hi, std::fma(r.hi * r.hi, series, std::fma(r.lo, r.hi, r.lo)));
  const Pair one = ordered_sum(1, minus_one.hi);
  return {ordered_sum(one.hi, one.lo + minus_one.lo), nearest_int(turns)};
}

TUTTI_HD inline double exp(double x) {
  const double inside = x > 710 ? 710 : x < -746 ? -746 : x;  // what is cut off is infinite, or 0
  const Scaled e = exp_parts({inside, 0});
  return scaled(e.mantissa.value(), e.exponent);
}

// Logarithms.

/// ln x for finite x > 0, to about 2^-65 of its size.
TUTTI_HD inline Pair log_parts(double x) {
  const bool tiny = x < 0x1p-1022;
  const std::uint64_t bits = bits_of(tiny ? 0x1p54 * x : x);
  // x = m 2^k; the exponent becomes a double as the last digits of 2^52.
  double k = from_bits(bits >> 52 | 0x4330000000000000u) - (tiny ? 0x1p52 + 1077 : 0x1p52 + 1023);
  double m = from_bits((bits & 0xfffffffffffffu) | 0x3ff0000000000000u);
  const bool large = m > 1.4142135623730951;
  m = large ? 0.5 * m : m;
  k = large ? k + 1 : k;
  // ln m = 2 artanh s = 2 s (1 + s^2/3 + s^4/5 + ...), s = (m - 1) / (m + 1), |s| < 0.172.
  const double f = m - 1;  // exact
  const Pair s = Pair{f, 0} / ordered_sum(2, f);
  const Pair z = s * s;
  const double tail = z.hi * polynomial(z.hi, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13, 1.0 / 15, 1.0 / 17,
                                        1.0 / 19, 1.0 / 21, 1.0 / 23, 1.0 / 25, 1.0 / 27);
  constexpr Pair third{0x1.5555555555555p-2, 0x1.5555555555555p-56};
  Pair series = ordered_sum(third.hi, tail);
  series.lo += third.lo;
  series = z * series;
  const Pair one = ordered_sum(1, series.hi);
  const Pair log_m = Pair{2 * s.hi, 2 * s.lo} * Pair{one.hi, one.lo + series.lo};
  // ln 2 to 42 bits, so that its product with k is exact, and the rest.
  const double ln2_hi = 0x1.62e42fefa3800p-1, ln2_lo = 0x1.ef35793c76730p-45;
  const Pair all = sum(k * ln2_hi, log_m.hi);
  return ordered_sum(all.hi, all.lo + (log_m.lo + k * ln2_lo));
}

/// `value`, or what a logarithm is where x is not a positive number.
TUTTI_HD inline double log_or_special(double x, double value) {
  const double not_positive = x == 0 ? -infinity : not_a_number();
  return x > 0 && x < infinity ? value : x <= 0 ? not_positive : x;
}
TUTTI_HD inline double log(double x) {
  return log_or_special(x, log_parts(x).value());
}
TUTTI_HD inline double log10(double x) {
  return log_or_special(x, (log_parts(x) * Pair{0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57}).value());
}

TUTTI_HD inline double pow(double x, double y) {
  const double size = magnitude(x);
  const Pair log_size = log_parts(size);
  const double about = y * log_size.hi;
  const Pair exact = product(y, log_size.hi);
  const Pair sum = ordered_sum(exact.hi, std::fma(y, log_size.lo, exact.lo));
  const bool above = about > 710, below = about < -746;
  const Scaled e = exp_parts({above ? 710 : below ? -746 : sum.hi, above || below ? 0 : sum.lo});
  double result = scaled(e.mantissa.value(), e.exponent);
  result = size == 0 ? (y < 0 ? infinity : 0) : result;
  result = size == infinity ? (y < 0 ? 0 : infinity) : result;
  result = size == 1 ? 1 : result;
  const bool whole = std::floor(y) == y;
  const bool odd = whole && magnitude(y) < 0x1p53 && std::floor(0.5 * y) != 0.5 * y;
  result = with_sign(result, is_negative(x) && odd);
  result = x < 0 && size < infinity && !whole ? not_a_number() : result;
  result = is_nan(x) || is_nan(y) ? x + y : result;
  return y == 0 || x == 1 ? 1 : result;
}

// Hyperbolic functions.

/// sinh a, 0 <= a <= 1.
TUTTI_HD inline Pair sinh_series(double a) {
  const double z = a * a;
  return ordered_sum(a,
                     a * z *
                         polynomial(z, 1.0 / 6, 1.0 / 120, 1.0 / 5040, 1.0 / 362880, 1.0 / 39916800, 1.0 / 6227020800,
                                    1.0 / 1307674368000, 1.0 / 355687428096000, 1.0 / 121645100408832000));
}
/// (e^a + sign e^-a) / 2, a >= 0.5.
TUTTI_HD inline double half_sum(double a, double sign) {
  const Scaled e = exp_parts({a > 711 ? 711 : a, 0});
  const Pair inverse = Pair{1, 0} / e.mantissa;
  const double size = sign * power_of_two(-2 * (e.exponent < 60 ? e.exponent : 60));  // beyond, it does not matter
  const Pair m = e.mantissa + Pair{size * inverse.hi, size * inverse.lo};
  return scaled(m.value(), e.exponent - 1);
}

TUTTI_HD inline double sinh(double x) {
  const double a = magnitude(x), large = half_sum(a, -1), small = sinh_series(a < 1 ? a : 1).value();
  return with_sign(a < 1 ? small : large, is_negative(x));
}
TUTTI_HD inline double cosh(double x) {
  return half_sum(magnitude(x), 1);
}
TUTTI_HD inline double tanh(double x) {
  const double a = magnitude(x), b = a < 0.5 ? a : 0.5, z = b * b;
  const Pair cosh_b = ordered_sum(1, z * polynomial(z, 1.0 / 2, 1.0 / 24, 1.0 / 720, 1.0 / 40320, 1.0 / 3628800,
                                                    1.0 / 479001600, 1.0 / 87178291200, 1.0 / 20922789888000));
  const double small = (sinh_series(b) / cosh_b).value();
  const Scaled e = exp_parts({2 * (a > 22 ? 22 : a), 0});
  const double size = power_of_two(e.exponent);
  const Pair square{size * e.mantissa.hi, size * e.mantissa.lo};
  const double large = ((square - Pair{1, 0}) / (square + Pair{1, 0})).value();
  return with_sign(a < 0.5 ? small : large, is_negative(x));
}

// Trigonometric functions.

/// An angle as quadrant pi/2 + rest, |rest| <= pi/4 and a little.
struct Angle {
  Pair rest;
  int quadrant = 0;
};

/// Any finite angle of 2^45 or more, with as many digits of 2/pi as it takes (Payne and Hanek, SIGNUM Newsletter 18,
/// 1983).
TUTTI_HD inline Angle reduce_large(double x) {
  // 2/pi = 0.a2f98..., behind 64 digits before the point.
  static constexpr std::uint64_t two_over_pi[20] = {0,
                                                    0xa2f9836e4e441529u,
                                                    0xfc2757d1f534ddc0u,
                                                    0xdb6295993c439041u,
                                                    0xfe5163abdebbc561u,
                                                    0xb7246e3a424dd2e0u,
                                                    0x06492eea09d1921cu,
                                                    0xfe1deb1cb129a73eu,
                                                    0xe88235f52ebb4484u,
                                                    0xe99c7026b45f7e41u,
                                                    0x3991d639835339f4u,
                                                    0x9c845f8bbdf9283bu,
                                                    0x1ff897ffde05980fu,
                                                    0xef2f118b5a0a6d1fu,
                                                    0x6d367ecf27cb09b7u,
                                                    0x4f463f669e5fea2du,
                                                    0x7527bac7ebe5f17bu,
                                                    0x3d0739f78a5292eau,
                                                    0x6bfb5fb11f8d5d08u,
                                                    0x56033046fc7b6babu};
  using Wide = unsigned __int128;
  const std::uint64_t bits = bits_of(x);
  const std::uint64_t mantissa = (bits & 0xfffffffffffffu) | 0x10000000000000u;
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1075;  // |x| = mantissa 2^exponent
  // Whole turns do not matter: 192 digits of 2/pi from the first one that makes less than four quadrants.
  const int first = exponent + 62;
  const int word = first / 64, shift = first % 64;
  std::uint64_t window[3];
  for (int i = 0; i < 3; ++i) {
    window[i] = two_over_pi[word + i] << shift;
    if (shift > 0) window[i] |= two_over_pi[word + i + 1] >> (64 - shift);
  }
  // Their product with the mantissa, modulo 2^192: two binary digits of quadrants, then the fraction. The lowest 64 are
  // cut off.
  const Wide low = static_cast<Wide>(mantissa) * window[2];
  Wide turns = static_cast<Wide>(mantissa) * window[1] + static_cast<std::uint64_t>(low >> 64);
  turns += static_cast<Wide>(mantissa * window[0]) << 64;
  int quadrant = static_cast<int>(turns >> 126);
  Wide fraction = turns << 2;
  const bool up = fraction >> 127 != 0;  // nearer to the next quadrant
  if (up) {
    ++quadrant;
    fraction = ~fraction + 1;
  }
  const auto high = static_cast<std::uint64_t>(fraction >> 64), rest = static_cast<std::uint64_t>(fraction);
  const Pair upper = sum(static_cast<double>(high >> 11) * 0x1p-53,
                         static_cast<double>((high & 0x7ffu) << 42 | rest >> 22) * 0x1p-106);
  Pair angle = ordered_sum(upper.hi, upper.lo + static_cast<double>(rest & 0x3fffffu) * 0x1p-128) * half_pi();
  const bool negative = (bits >> 63) != 0;
  if (up != negative) angle = -angle;
  return {angle, negative ? -quadrant : quadrant};
}

TUTTI_HD inline Angle reduce(double x) {
  if (magnitude(x) <= 0.78) return {{x, 0}, 0};
  if (magnitude(x) >= 0x1p45) return reduce_large(x);
  constexpr double two_over_pi = 0x1.45f306dc9c883p-1;
  const double k = nearest(x * two_over_pi);
  // Exact as in exp_parts; then pi/2's second and third part.
  const Pair second = product(k, half_pi().lo);
  const Pair r = sum(std::fma(-k, half_pi().hi, x), -second.hi);
  return {ordered_sum(r.hi, (r.lo - second.lo) - k * -0x1.f1976b7ed8fbcp-110),
          static_cast<int>(static_cast<std::int64_t>(k) & 3)};
}

TUTTI_HD inline Pair sin_near_0(Pair r) {
  const double z = r.hi * r.hi;
  const double series = polynomial(z, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800,
                                   -1.0 / 1307674368000, 1.0 / 355687428096000);
  return ordered_sum(r.hi, std::fma(r.hi * z, series, std::fma(-0.5 * z, r.lo, r.lo)));
}
TUTTI_HD inline Pair cos_near_0(Pair r) {
  const Pair z = product(r.hi, r.hi);
  const double series = polynomial(z.hi, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600,
                                   -1.0 / 87178291200, 1.0 / 20922789888000, -1.0 / 6402373705728000);
  const Pair one = ordered_sum(1, -0.5 * z.hi);
  return ordered_sum(one.hi, one.lo + std::fma(z.hi * z.hi, series, -std::fma(r.hi, r.lo, 0.5 * z.lo)));
}

TUTTI_HD inline double sin(double x) {
  if (!(magnitude(x) < infinity)) return x - x;
  if (x == 0) return x;
  const Angle a = reduce(x);
  const double size = (a.quadrant & 1) != 0 ? cos_near_0(a.rest).value() : sin_near_0(a.rest).value();
  return with_sign(size, (a.quadrant & 2) != 0);
}
TUTTI_HD inline double cos(double x) {
  if (!(magnitude(x) < infinity)) return x - x;
  const Angle a = reduce(x);
  const double size = (a.quadrant & 1) != 0 ? sin_near_0(a.rest).value() : cos_near_0(a.rest).value();
  return with_sign(size, ((a.quadrant + 1) & 2) != 0);
}
TUTTI_HD inline double tan(double x) {
  if (!(magnitude(x) < infinity)) return x - x;
  if (x == 0) return x;
  const Angle a = reduce(x);
  const Pair s = sin_near_0(a.rest), c = cos_near_0(a.rest);
  return (a.quadrant & 1) != 0 ? -(c / s).value() : (s / c).value();
}

// Their inverses.

/// The angle of the point (x, y) in the first quadrant; not both 0, no infinity, nothing near the ends of the range.
TUTTI_HD inline Pair first_quadrant(Pair y, Pair x) {
  // Of 0, 1/8, ..., 1; the rest is for arguments that are no numbers.
  static constexpr double arctan_hi[16] = {0,
                                           0x1.fd5ba9aac2f6ep-4,
                                           0x1.f5b75f92c80ddp-3,
                                           0x1.6f61941e4def1p-2,
                                           0x1.dac670561bb4fp-2,
                                           0x1.1e00babdefeb4p-1,
                                           0x1.4978fa3269ee1p-1,
                                           0x1.700a7c5784634p-1,
                                           0x1.921fb54442d18p-1};
  static constexpr double arctan_lo[16] = {0,
                                           -0x1.cd37686760c17p-59,
                                           0x1.8ab6e3cf7afbdp-57,
                                           -0x1.c63aae6f6e918p-56,
                                           0x1.a2b7f222f65e2p-56,
                                           -0x1.928df287a668fp-58,
                                           0x1.2419a87f2a458p-56,
                                           -0x1.8c34d25aadef6p-56,
                                           0x1.1a62633145c07p-55};
  const bool steep = y.hi > x.hi;
  const Pair side{steep ? y.hi : x.hi, steep ? y.lo : x.lo}, height{steep ? x.hi : y.hi, steep ? x.lo : y.lo};
  // arctan q = arctan c + arctan t, t = (q - c) / (1 + c q), |t| <= 1/16.
  const double eighths = 8 * (height.hi / side.hi);
  const Pair c{0.125 * nearest(eighths), 0};
  const Pair t = (height - c * side) / (side + c * height);
  const double z = t.hi * t.hi;
  const double series = polynomial(z, -1.0 / 3, 1.0 / 5, -1.0 / 7, 1.0 / 9, -1.0 / 11, 1.0 / 13, -1.0 / 15);
  const int table = nearest_int(eighths) & 15;
  Pair angle = ordered_sum(arctan_hi[table], t.hi);
  angle = ordered_sum(angle.hi, angle.lo + (arctan_lo[table] + std::fma(t.hi * z, series, t.lo)));
  const Pair complement = half_pi() - angle;
  return {steep ? complement.hi : angle.hi, steep ? complement.lo : angle.lo};
}

TUTTI_HD inline double atan(double x) {
  const double a = magnitude(x);
  return with_sign(first_quadrant({a > 0x1p60 ? 0x1p60 : a, 0}, {1, 0}).value(), is_negative(x));
}

TUTTI_HD inline double atan2(double y, double x) {
  if (is_nan(x) || is_nan(y)) return x + y;
  double a = magnitude(x), b = magnitude(y);
  const bool left = is_negative(x), below = is_negative(y);
  if (a == infinity && b == infinity) a = b = 1;
  const auto exponent = [](double v) { return static_cast<int>(bits_of(v) >> 52); };
  const int steepness = exponent(b) - exponent(a);
  if (b == 0 || a == infinity || (left && steepness < -64)) return with_sign(left ? whole_pi().hi : 0, below);
  if (a == 0 || b == infinity || steepness > 64) return with_sign(half_pi().hi, below);
  if (steepness < -64) return with_sign(b / a, below);
  const double larger = a > b ? a : b;
  const double scale = larger > 0x1p500 ? 0x1p-600 : larger < 0x1p-400 ? 0x1p600 : 1;
  const Pair angle = first_quadrant({scale * b, 0}, {scale * a, 0});
  return with_sign(left ? (whole_pi() - angle).value() : angle.value(), below);
}

/// sqrt(1 - a^2), 0 <= a <= 1.
TUTTI_HD inline Pair other_side(double a) {
  return square_root(ordered_sum(1, -a) * ordered_sum(1, a));
}
TUTTI_HD inline double asin(double x) {
  const double a = magnitude(x), angle = first_quadrant({a, 0}, other_side(a)).value();
  return a <= 1 ? with_sign(angle, is_negative(x)) : not_a_number();
}
TUTTI_HD inline double acos(double x) {
  const double a = magnitude(x);
  const Pair angle = first_quadrant(other_side(a), {a, 0}), other = whole_pi() - angle;
  return a <= 1 ? (x < 0 ? other.value() : angle.value()) : not_a_number();
}

// The error function.

TUTTI_HD inline double erf(double x) {
  // erf(3/4), erf(1), ..., erf(6)
  static constexpr double at_quarters[22] = {0x1.6c1c9759d0e5fp-1, 0x1.af767a741088bp-1,
                                             0x1.d8865d98abe01p-1, 0x1.eea5557137ae0p-1,
                                             0x1.f92d077f8d56dp-1, 0x1.fd9ae142795e3p-1,
                                             0x1.ff404760319b4p-1, 0x1.ffcaa8f4c9beap-1,
                                             0x1.fff2cfb0453d9p-1, 0x1.fffd1ac4135f9p-1,
                                             0x1.ffff6f9f67e55p-1, 0x1.ffffe710d565ep-1,
                                             0x1.fffffc2f171e3p-1, 0x1.ffffff7b91176p-1,
                                             0x1.fffffff01a8b6p-1, 0x1.fffffffe4fa30p-1,
                                             0x1.ffffffffd759dp-1, 0x1.fffffffffc9e8p-1,
                                             0x1.ffffffffffc05p-1, 0x1.fffffffffffbep-1,
                                             0x1.ffffffffffffcp-1, 1};
  if (is_nan(x) || x == 0) return x;
  const double a = magnitude(x);
  if (a >= 6) return with_sign(1, x < 0);
  constexpr Pair two_over_sqrt_pi{0x1.20dd750429b6dp+0, 0x1.1ae3a914fed80p-56};
  if (a < 0.75) {
    const double z = a * a;
    const double series = polynomial(z, -1.0 / 3, 1.0 / 10, -1.0 / 42, 1.0 / 216, -1.0 / 1320, 1.0 / 9360, -1.0 / 75600,
                                     1.0 / 685440, -1.0 / 6894720, 1.0 / 76204800, -1.0 / 918086400, 1.0 / 11975040000,
                                     -1.0 / 168129561600, 1.0 / 2528170444800, -1.0 / 40537905408000);
    return with_sign((two_over_sqrt_pi * ordered_sum(1, z * series) * Pair{a, 0}).value(), x < 0);
  }
  // Taylor's series around a multiple c of 1/4: the terms T_n = g_n h^n of the derivative, 2/sqrt(pi) e^(-(c+h)^2),
  // follow from g' = -2 x g.
  static constexpr double one_over[16] = {1,       1,       1.0 / 2,  1.0 / 3,  1.0 / 4,  1.0 / 5,  1.0 / 6,  1.0 / 7,
                                          1.0 / 8, 1.0 / 9, 1.0 / 10, 1.0 / 11, 1.0 / 12, 1.0 / 13, 1.0 / 14, 1.0 / 15};
  const double quarters = nearest(4 * a), c = 0.25 * quarters, h = a - c;
  const double hc = -2 * h * c, hh = -2 * h * h;
  double before = 0, term = 1, total = 1;
  for (int n = 1; n < 15; ++n) {
    const double next = std::fma(hc, term, hh * before) * one_over[n];
    before = term;
    term = next;
    total = std::fma(term, one_over[n + 1], total);
  }
  const double slope = two_over_sqrt_pi.hi * exp(-c * c);
  return with_sign(std::fma(slope * h, total, at_quarters[static_cast<int>(quarters) - 3]), x < 0);
}

}  // namespace tutti::portable
