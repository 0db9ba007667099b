// Sums and maxima of one of several tracers that lie together, on a part's device.
#pragma once

#include "tutti/base/exact_sum.hpp"
#include "tutti/device/device.hpp"

namespace tutti::transport {

/// Tracer `index` of `count` values a node.
struct TracerView {
  const double* values;
  int index, count;
};

/// sum_i weights[i] q_i, or |q_i|.
ExactSum tracer_mass(Stream& stream, Range rows, const double* weights, TracerView tracer, bool of_magnitudes = false);
/// The largest sign * q_i, NaN if there is one.
double tracer_extreme(Stream& stream, Range rows, TracerView tracer, double sign);

}  // namespace tutti::transport
