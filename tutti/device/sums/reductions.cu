#include "tutti/device/sums/reductions.hpp"

#include <cmath>

#include "tutti/device/for_each.hpp"
#include "tutti/device/sums/reduce.hpp"

namespace tutti {
namespace {

struct Product {
  const double *weights, *u;
  TUTTI_HD double operator()(Lid i) const { return weights[i] * u[i]; }
};
struct MagnitudeProduct {
  const double *weights, *u;
  TUTTI_HD double operator()(Lid i) const { return weights[i] * std::fabs(u[i]); }
};
struct Magnitude {
  const double* u;
  TUTTI_HD double operator()(Lid i) const { return std::fabs(u[i]); }
};
struct Signed {
  const double* u;
  double sign;
  TUTTI_HD double operator()(Lid i) const { return sign * u[i]; }
};
struct Scale {
  double* u;
  double factor;
  TUTTI_HD void operator()(Lid i) const { u[i] *= factor; }
};

}  // namespace

ExactSum weighted_sum(Stream& stream, Range rows, const double* weights, const double* u) {
  return exact_sum(stream, rows, Product{weights, u});
}
ExactSum weighted_sum_of_magnitudes(Stream& stream, Range rows, const double* weights, const double* u) {
  return exact_sum(stream, rows, MagnitudeProduct{weights, u});
}
double max_magnitude(Stream& stream, Range rows, const double* u) {
  return max_value(stream, rows, Magnitude{u});
}
double max_value_of(Stream& stream, Range rows, const double* u, double sign) {
  return max_value(stream, rows, Signed{u, sign});
}
void scale(Stream& stream, Range rows, double* u, double factor) {
  for_each(stream, rows, Scale{u, factor});
}

}  // namespace tutti
