#include "tutti/models/diffusion/implicit/vectors.hpp"

#include <cmath>

#include "tutti/device/for_each.hpp"
#include "tutti/device/sums/reduce.hpp"

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

struct LargestProduct {
  const double *weights, *u;
  TUTTI_HD double operator()(Lid i) const { return std::fabs(weights[i] * u[i]); }
};
struct Clear {
  std::int64_t* sums;
  TUTTI_HD void operator()(Lid i) const { sums[i] = 0; }
};
struct OutOf {
  FromBoxes from;
  TUTTI_HD void operator()(Lid i) const { from.out[i] = from.values[from.boxes[i]]; }
};

/// Rows are along a curve, so that neighbours mostly are in one box.
constexpr Lid run_rows = 8;
struct AddRun {
  BoxSums to;
  Range rows;
  TUTTI_HD void flush(std::int64_t sum, Lid box) const {
    if (sum == 0) return;
#ifdef __CUDA_ARCH__
    atomicAdd(reinterpret_cast<unsigned long long*>(to.sums + box), static_cast<unsigned long long>(sum));
#else
    __atomic_fetch_add(to.sums + box, sum, __ATOMIC_RELAXED);
#endif
  }
  TUTTI_HD void operator()(Lid run) const {
    const Lid begin = rows.begin + run * run_rows;
    const Lid end = rows.end - begin < run_rows ? rows.end : begin + run_rows;
    std::int64_t sum = 0;
    Lid box = to.boxes[begin];
    for (Lid i = begin; i < end; ++i) {
      if (to.boxes[i] != box) {
        flush(sum, box);
        sum = 0;
        box = to.boxes[i];
      }
      sum += static_cast<std::int64_t>(to.weights[i] * to.u[i] * to.scale);
    }
    flush(sum, box);
  }
};

}  // namespace

double largest_product(Stream& stream, Range rows, const double* weights, const double* u) {
  return max_value(stream, rows, LargestProduct{weights, u});
}
void add_to_boxes(Stream& stream, Range rows, const BoxSums& to, Lid count) {
  for_each(stream, {0, count}, Clear{to.sums});
  for_each(stream, {0, (rows.size() + run_rows - 1) / run_rows}, AddRun{to, rows});
}
void FromBoxes::operator()(Stream& stream, Range rows) const {
  for_each(stream, rows, OutOf{*this});
}

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
