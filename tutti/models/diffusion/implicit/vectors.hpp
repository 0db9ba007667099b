// What a Krylov solver does to the vectors of one part, on its device.
#pragma once

#include "tutti/base/exact_sum.hpp"
#include "tutti/device/device.hpp"

namespace tutti::diffusion {

/// One term of a sum of vectors.
struct Term {
  double factor = 0;
  const double* vector = nullptr;  ///< null: there is none
};

/// out = a x + b y + c z, in this order, each with one rounding; `out` may be one of them. Device pointers.
void combine(Stream& stream, Range rows, double* out, Term a, Term b = {}, Term c = {});
/// sum_i weights[i] a[i] b[i] (products rounded, the sum exact). Waits for it.
ExactSum weighted_product(Stream& stream, Range rows, const double* weights, const double* a, const double* b);

/// out = gain right / (sigma + diagonal): the first step of ChebyshevUpdate, from 0. As a value, for passes.
struct ScaledRight {
  double* out;
  const double* right;
  const double* diagonal;
  double sigma, gain;
  void operator()(Stream& stream, Range rows) const;
};

}  // namespace tutti::diffusion
