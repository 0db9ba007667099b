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

/// max_i |weights[i] u[i]|, NaN if there is one. Waits for it.
double largest_product(Stream& stream, Range rows, const double* weights, const double* u);

/// sums[boxes[i]] is the sum of the integers that weights[i] u[i] scale is rounded to.
struct BoxSums {
  const double *weights, *u;
  double scale;
  const Lid* boxes;
  std::int64_t* sums;
};
void add_to_boxes(Stream& stream, Range rows, const BoxSums& to, Lid count);

/// out = values[boxes]. As a value, for passes.
struct FromBoxes {
  double* out;
  const double* values;
  const Lid* boxes;
  void operator()(Stream& stream, Range rows) const;
};

/// out = gain right / (sigma + diagonal): the first step of ChebyshevUpdate, from 0. As a value, for passes.
struct ScaledRight {
  double* out;
  const double* right;
  const double* diagonal;
  double sigma, gain;
  void operator()(Stream& stream, Range rows) const;
};

}  // namespace tutti::diffusion
