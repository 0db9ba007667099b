#include "tutti/models/transport/transport_sums.hpp"

#include "tutti/device/sums/reduce.hpp"

namespace tutti::transport {
namespace {

struct Mass {
  const double* weights;
  TracerView tracer;
  bool of_magnitudes;
  TUTTI_HD double operator()(Lid i) const {
    const double value = tracer.values[static_cast<Size>(i) * tracer.count + tracer.index];
    return weights[i] * (of_magnitudes && value < 0 ? -value : value);
  }
};
struct Signed {
  TracerView tracer;
  double sign;
  TUTTI_HD double operator()(Lid i) const {
    return sign * tracer.values[static_cast<Size>(i) * tracer.count + tracer.index];
  }
};

}  // namespace

ExactSum tracer_mass(Stream& stream, Range rows, const double* weights, TracerView tracer, bool of_magnitudes) {
  return exact_sum(stream, rows, Mass{weights, tracer, of_magnitudes});
}

double tracer_extreme(Stream& stream, Range rows, TracerView tracer, double sign) {
  return max_value(stream, rows, Signed{tracer, sign});
}

}  // namespace tutti::transport
