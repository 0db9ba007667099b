// The widest vectors of the processor that is compiled for, with a fused multiply-add. A lane computes what one number
// would: how many there are changes no bit of a result.
#pragma once

#include <cmath>
#include <cstring>

#if defined(__AVX512F__) || (defined(__AVX2__) && defined(__FMA__))
#include <immintrin.h>
#endif

namespace tutti::incompressible {

#if defined(__AVX512F__)
inline constexpr int lane_bytes = 64, lane_registers = 32;
#elif defined(__AVX2__) && defined(__FMA__)
inline constexpr int lane_bytes = 32, lane_registers = 16;
#else
inline constexpr int lane_bytes = 16, lane_registers = 16;
#endif

using DoubleLanes = double __attribute__((vector_size(lane_bytes)));
using FloatLanes = float __attribute__((vector_size(lane_bytes)));

template <class T>
struct LanesOf;
template <>
struct LanesOf<double> {
  using Type = DoubleLanes;
};
template <>
struct LanesOf<float> {
  using Type = FloatLanes;
};
template <class T>
using Lanes = typename LanesOf<T>::Type;
template <class T>
inline constexpr int lane_count = lane_bytes / static_cast<int>(sizeof(T));

template <class T>
inline Lanes<T> load_lanes(const T* from) {
  Lanes<T> lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}
template <class T>
inline void store_lanes(T* to, Lanes<T> lanes) {
  std::memcpy(to, &lanes, sizeof lanes);
}

#if defined(__AVX512F__)
inline DoubleLanes all_lanes(double x) {
  return _mm512_set1_pd(x);
}
inline FloatLanes all_lanes(float x) {
  return _mm512_set1_ps(x);
}
inline DoubleLanes fused(DoubleLanes a, DoubleLanes b, DoubleLanes c) {
  return _mm512_fmadd_pd(a, b, c);
}
inline FloatLanes fused(FloatLanes a, FloatLanes b, FloatLanes c) {
  return _mm512_fmadd_ps(a, b, c);
}
#elif defined(__AVX2__) && defined(__FMA__)
inline DoubleLanes all_lanes(double x) {
  return _mm256_set1_pd(x);
}
inline FloatLanes all_lanes(float x) {
  return _mm256_set1_ps(x);
}
inline DoubleLanes fused(DoubleLanes a, DoubleLanes b, DoubleLanes c) {
  return _mm256_fmadd_pd(a, b, c);
}
inline FloatLanes fused(FloatLanes a, FloatLanes b, FloatLanes c) {
  return _mm256_fmadd_ps(a, b, c);
}
#else
inline DoubleLanes all_lanes(double x) {
  return DoubleLanes{} + x;
}
inline FloatLanes all_lanes(float x) {
  return FloatLanes{} + x;
}
template <class V>
inline V fused(V a, V b, V c) {
  for (std::size_t k = 0; k < sizeof a / sizeof a[0]; ++k) c[k] = std::fma(a[k], b[k], c[k]);
  return c;
}
#endif

}  // namespace tutti::incompressible
