// Several points at a time in the vector registers of a CPU: numbers that are calculated with like doubles, each lane
// with the bits of the scalar. Functions of fluxes are templates over the number; on GPUs it is double.
#pragma once

#include <cmath>

// nvcc reads all functions that GPUs share once more for the GPU, where there are no such registers.
#if !defined(__CUDA_ARCH__) && defined(__AVX512F__)
#define TUTTI_LANES 8
#elif !defined(__CUDA_ARCH__) && defined(__AVX2__) && defined(__FMA__)
#define TUTTI_LANES 4
#else
#define TUTTI_LANES 1
#endif
#if TUTTI_LANES > 1
#include <immintrin.h>
#endif

#include "tutti/base/portable_math.hpp"
#include "tutti/base/vec3.hpp"

namespace tutti::compressible {

TUTTI_HD inline double fused(double a, double b, double c) {
  return std::fma(a, b, c);
}
/// sqrt(a) and 1 / a, correctly rounded: on GPUs the compiler's own sequences less their branches, which keep points
/// from going through side by side. For numbers that a flow has: not 0, none beyond 2^-400 .. 2^400.
TUTTI_HD inline double root(double a) {
#if defined(__CUDA_ARCH__)
  double y;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(a));
  const double e = std::fma(a, -(y * y), 1.0);
  y = std::fma(std::fma(e, 0.375, 0.5), y * e, y);
  const double root = a * y, half = __hiloint2double(__double2hiint(y) - 0x100000, __double2loint(y));
  return std::fma(std::fma(root, -root, a), half, root);
#else
  return std::sqrt(a);
#endif
}
TUTTI_HD inline double inverse_of(double a) {
#if defined(__CUDA_ARCH__)
  double y;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(a));
  double e = std::fma(-a, y, 1.0);
  e = std::fma(e, e, e);
  y = std::fma(y, e, y);
  // Where no bit of a's fraction is unset, the last step is right only from the upper of y's two neighbours.
  const int odd = (__double2loint(a) & (__double2hiint(a) | ~0xfffff)) == -1 ? 1 : 0;
  y = __hiloint2double(__double2hiint(y), __double2loint(y) | odd);
  return std::fma(y, std::fma(-a, y, 1.0), y);
#else
  return 1 / a;
#endif
}
TUTTI_HD inline double absolute(double a) {
  return std::fabs(a);
}
TUTTI_HD inline double choose(bool first, double a, double b) {
  return first ? a : b;
}
TUTTI_HD inline bool both(bool a, bool b) {
  return a && b;
}

/// One point of several.
struct OnePoint {
  using Number = double;
  int q;
  TUTTI_HD double load(const double* from) const { return from[q]; }
  TUTTI_HD void store(double* to, double x) const { to[q] = x; }
  TUTTI_HD bool all(bool holds) const { return holds; }
  TUTTI_HD int count() const { return 1; }
  TUTTI_HD double gather(const double* from, int step) const { return from[step * q]; }
};

#if TUTTI_LANES == 8
inline constexpr int lane_count = 8;
struct LaneMask {
  __mmask8 bits;
};
struct Lanes {
  __m512d v;
  Lanes() : v(_mm512_setzero_pd()) {}
  Lanes(double a) : v(_mm512_set1_pd(a)) {}  // NOLINT: numbers mix
  explicit Lanes(__m512d a) : v(a) {}
  friend Lanes operator+(Lanes a, Lanes b) { return Lanes(_mm512_add_pd(a.v, b.v)); }
  friend Lanes operator-(Lanes a, Lanes b) { return Lanes(_mm512_sub_pd(a.v, b.v)); }
  friend Lanes operator*(Lanes a, Lanes b) { return Lanes(_mm512_mul_pd(a.v, b.v)); }
  friend Lanes operator/(Lanes a, Lanes b) { return Lanes(_mm512_div_pd(a.v, b.v)); }
  friend LaneMask operator>(Lanes a, Lanes b) { return {_mm512_cmp_pd_mask(a.v, b.v, _CMP_GT_OQ)}; }
  friend LaneMask operator>=(Lanes a, Lanes b) { return {_mm512_cmp_pd_mask(a.v, b.v, _CMP_GE_OQ)}; }
};
inline Lanes operator-(Lanes a) {
  return Lanes(_mm512_xor_pd(a.v, _mm512_set1_pd(-0.0)));
}
inline Lanes fused(Lanes a, Lanes b, Lanes c) {
  return Lanes(_mm512_fmadd_pd(a.v, b.v, c.v));
}
inline Lanes root(Lanes a) {
  return Lanes(_mm512_maskz_sqrt_pd(0xff, a.v));
}
inline Lanes inverse_of(Lanes a) {
  return 1 / a;
}
inline Lanes absolute(Lanes a) {
  return Lanes(_mm512_andnot_pd(_mm512_set1_pd(-0.0), a.v));
}
inline Lanes choose(LaneMask first, Lanes a, Lanes b) {
  return Lanes(_mm512_mask_blend_pd(first.bits, b.v, a.v));
}
inline LaneMask both(LaneMask a, LaneMask b) {
  return {static_cast<__mmask8>(a.bits & b.bits)};
}
inline bool all(LaneMask holds) {
  return holds.bits == 0xff;
}
inline Lanes load_lanes(const double* from) {
  return Lanes(_mm512_loadu_pd(from));
}
inline void store_lanes(double* to, Lanes x) {
  _mm512_storeu_pd(to, x.v);
}
/// Points q, q + 1, ..., `left` of them or as many as there are lanes.
struct LanePoints {
  using Number = Lanes;
  int q, left;
  int count() const { return left < lane_count ? left : lane_count; }
  __mmask8 mask() const { return static_cast<__mmask8>(0xff >> (lane_count - count())); }
  Lanes load(const double* from) const { return Lanes(_mm512_maskz_loadu_pd(mask(), from + q)); }
  void store(double* to, Lanes x) const { _mm512_mask_storeu_pd(to + q, mask(), x.v); }
  bool all(LaneMask holds) const { return (mask() & ~holds.bits) == 0; }
  Lanes gather(const double* from, int step) const {
    double lanes[lane_count] = {};
    for (int i = 0; i < count(); ++i) lanes[i] = from[step * (q + i)];
    return Lanes(_mm512_loadu_pd(lanes));
  }
};
#elif TUTTI_LANES == 4
inline constexpr int lane_count = 4;
struct LaneMask {
  __m256d bits;
};
struct Lanes {
  __m256d v;
  Lanes() : v(_mm256_setzero_pd()) {}
  Lanes(double a) : v(_mm256_set1_pd(a)) {}  // NOLINT: numbers mix
  explicit Lanes(__m256d a) : v(a) {}
  friend Lanes operator+(Lanes a, Lanes b) { return Lanes(_mm256_add_pd(a.v, b.v)); }
  friend Lanes operator-(Lanes a, Lanes b) { return Lanes(_mm256_sub_pd(a.v, b.v)); }
  friend Lanes operator*(Lanes a, Lanes b) { return Lanes(_mm256_mul_pd(a.v, b.v)); }
  friend Lanes operator/(Lanes a, Lanes b) { return Lanes(_mm256_div_pd(a.v, b.v)); }
  friend LaneMask operator>(Lanes a, Lanes b) { return {_mm256_cmp_pd(a.v, b.v, _CMP_GT_OQ)}; }
  friend LaneMask operator>=(Lanes a, Lanes b) { return {_mm256_cmp_pd(a.v, b.v, _CMP_GE_OQ)}; }
};
inline Lanes operator-(Lanes a) {
  return Lanes(_mm256_xor_pd(a.v, _mm256_set1_pd(-0.0)));
}
inline Lanes fused(Lanes a, Lanes b, Lanes c) {
  return Lanes(_mm256_fmadd_pd(a.v, b.v, c.v));
}
inline Lanes root(Lanes a) {
  return Lanes(_mm256_sqrt_pd(a.v));
}
inline Lanes inverse_of(Lanes a) {
  return 1 / a;
}
inline Lanes absolute(Lanes a) {
  return Lanes(_mm256_andnot_pd(_mm256_set1_pd(-0.0), a.v));
}
inline Lanes choose(LaneMask first, Lanes a, Lanes b) {
  return Lanes(_mm256_blendv_pd(b.v, a.v, first.bits));
}
inline LaneMask both(LaneMask a, LaneMask b) {
  return {_mm256_and_pd(a.bits, b.bits)};
}
inline bool all(LaneMask holds) {
  return _mm256_movemask_pd(holds.bits) == 0xf;
}
inline Lanes load_lanes(const double* from) {
  return Lanes(_mm256_loadu_pd(from));
}
inline void store_lanes(double* to, Lanes x) {
  _mm256_storeu_pd(to, x.v);
}
/// As above. Points come in fours but at the end of a line (hexahedra.hpp), where loads may reach beyond it, stores
/// must not.
struct LanePoints {
  using Number = Lanes;
  int q, left;
  int count() const { return lane_count; }
  Lanes load(const double* from) const { return Lanes(_mm256_loadu_pd(from + q)); }
  void store(double* to, Lanes x) const {
    if (left >= lane_count) return _mm256_storeu_pd(to + q, x.v);
    double lanes[lane_count];
    _mm256_storeu_pd(lanes, x.v);
    for (int i = 0; i < left; ++i) to[q + i] = lanes[i];
  }
  bool all(LaneMask holds) const { return _mm256_movemask_pd(holds.bits) == 0xf; }
  Lanes gather(const double* from, int step) const {
    double lanes[lane_count] = {};
    for (int i = 0; i < count(); ++i) lanes[i] = from[step * (q + i)];
    return Lanes(_mm256_loadu_pd(lanes));
  }
};
#else
inline constexpr int lane_count = 1;
using Lanes = double;
struct LanePoints : OnePoint {
  LanePoints(int first, int) : OnePoint{first} {}
};
#endif

template <class Points>
using NumberOf = typename Points::Number;

/// A vector whose components are numbers of points.
template <class T>
struct VecOf {
  T x, y, z;
};

}  // namespace tutti::compressible
