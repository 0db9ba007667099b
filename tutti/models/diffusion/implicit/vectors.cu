#include "tutti/models/diffusion/implicit/vectors.hpp"

#include <cmath>

#include "tutti/device/for_each.hpp"
#include "tutti/device/reduce.hpp"

namespace tutti::diffusion {
namespace {

struct Combine {
  double* out;
  Term a, b, c;
  TUTTI_HD void operator()(Lid i) const {
    double sum = a.factor * a.vector[i];
    if (b.vector != nullptr) sum = std::fma(b.factor, b.vector[i], sum);
    if (c.vector != nullptr) sum = std::fma(c.factor, c.vector[i], sum);
    out[i] = sum;
  }
};
struct WeightedProduct {
  const double *weights, *a, *b;
  TUTTI_HD double operator()(Lid i) const { return weights[i] * a[i] * b[i]; }
};
struct Scaled {
  ScaledRight of;
  TUTTI_HD void operator()(Lid i) const { of.out[i] = of.gain * of.right[i] / (of.sigma + of.diagonal[i]); }
};

}  // namespace

void combine(Stream& stream, Range rows, double* out, Term a, Term b, Term c) {
  for_each(stream, rows, Combine{out, a, b, c});
}
ExactSum weighted_product(Stream& stream, Range rows, const double* weights, const double* a, const double* b) {
  return exact_sum(stream, rows, WeightedProduct{weights, a, b});
}
void ScaledRight::operator()(Stream& stream, Range rows) const {
  for_each(stream, rows, Scaled{*this});
}

}  // namespace tutti::diffusion
