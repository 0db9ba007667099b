// Sums and maxima over one part's rows, on its device.
#pragma once

#include "tutti/base/exact_sum.hpp"
#include "tutti/device/device.hpp"

namespace tutti {

/// sum_i weights[i] * u[i] (each product rounded once, the sum exact). Device pointers.
ExactSum weighted_sum(Stream& stream, Range rows, const double* weights, const double* u);
/// sum_i weights[i] * |u[i]|.
ExactSum weighted_sum_of_magnitudes(Stream& stream, Range rows, const double* weights, const double* u);
/// max_i |u[i]|, NaN if there is one.
double max_magnitude(Stream& stream, Range rows, const double* u);
/// min_i and max_i of u[i].
double max_value_of(Stream& stream, Range rows, const double* u, double sign);
/// u[i] *= factor.
void scale(Stream& stream, Range rows, double* u, double factor);

}  // namespace tutti
