// Roots and quotients of GPUs without branches, with the bits of the plain ones.
#pragma once

#include <type_traits>

namespace tutti::smoothing {

/// The compiler's own sequences for sqrt(x), 1 / x and x / y less their branch for numbers that need care, so that
/// several cells go through them side by side. Where a number may need care, `odd` tells: what has been calculated is
/// not to be used then.
template <class R>
struct QuickMath {
  mutable bool odd = false;

  __device__ double root(double x) const {
    note(x);
    double y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    const double e = fma(x, -(y * y), 1.0);
    y = fma(fma(e, 0.375, 0.5), y * e, y);
    const double root = x * y, half = __hiloint2double(__double2hiint(y) - 0x100000, __double2loint(y));
    return fma(fma(root, -root, x), half, root);
  }
  __device__ double inverse(double x) const {
    note(x);
    return inverse_of(x);
  }
  /// Anything, without `odd`, for y <= 0.
  __device__ double quotient(double x, double y) const {
    note(x);
    if (y > 0) note(y);
    const double inverse = inverse_of(y), q = x * inverse;
    return fma(inverse, fma(-y, q, x), q);
  }
  __device__ float root(float x) const {
    note(x);
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    const float root = x * y, half = 0.5F * y;
    return fmaf(fmaf(-root, root, x), half, root);
  }
  __device__ float inverse(float x) const {
    note(x);
    return inverse_of(x);
  }
  __device__ float quotient(float x, float y) const {
    note(x);
    if (y > 0) note(y);
    const float inverse = inverse_of(y), q = x * inverse;
    return fmaf(inverse, fmaf(-y, q, x), q);
  }

 private:
  /// Within 2^-400 .. 2^400, of float 2^-60 .. 2^60, nothing overflows and all remainders are exact; of a denominator
  /// with no bit unset the rounded inverse needs another step.
  __device__ void note(double x) const {
    const auto high = static_cast<unsigned>(__double2hiint(x));
    odd = odd | (high - 0x26f00000U > 0x32000000U) | (__double2loint(x) == -1);
  }
  __device__ void note(float x) const { odd = odd | (__float_as_uint(x) - 0x21800000U > 0x3c000000U); }

  __device__ static double inverse_of(double x) {
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    double e = fma(-x, y, 1.0);
    e = fma(e, e, e);
    y = fma(y, e, y);
    return fma(y, fma(-x, y, 1.0), y);
  }
  __device__ static float inverse_of(float x) {
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return fmaf(y, fmaf(-x, y, 1.0F), y);
  }
};

}  // namespace tutti::smoothing
