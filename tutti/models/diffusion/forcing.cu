// Source and boundary data in kernels. Compiles as plain C++ without CUDA.
#include <atomic>

#include "tutti/device/for_each.hpp"
#include "tutti/models/diffusion/forcing.hpp"

namespace tutti::diffusion {
namespace {

/// Notes the time, if none was noted before, when the value is not finite.
TUTTI_HD inline void check_finite(double value, double time, std::uint64_t* bad_time) {
  if (value - value == 0) return;
  const std::uint64_t none = ~std::uint64_t{0}, now = portable::bits_of(time);
#if defined(__CUDA_ARCH__)
  using Word = unsigned long long;
  atomicCAS(reinterpret_cast<Word*>(bad_time), static_cast<Word>(none), static_cast<Word>(now));
#else
  std::uint64_t expected = none;
  std::atomic_ref<std::uint64_t>(*bad_time).compare_exchange_strong(expected, now);
#endif
}

struct Source {
  ForcingView view;
  double time;
  TUTTI_HD void operator()(Lid i) const {
    const double value = evaluate_formula(view.steps, view.source_steps, view.centroids[i], time, view.u[i]);
    check_finite(value, time, view.bad_time);
    view.forcing[i] = value;
  }
};
struct Fill {
  double* forcing;
  double value;
  TUTTI_HD void operator()(Lid i) const { forcing[i] = value; }
};
struct FaceData {
  ForcingView view;
  double time;
  TUTTI_HD void operator()(Lid i) const {
    const TimeDependentFace& face = view.faces[i];
    const double value = evaluate_formula(view.steps + face.first, face.count, face.centroid, time);
    check_finite(value, time, view.bad_time);
    view.data[face.face] = value;
  }
};
struct RowSums {
  ForcingView view;
  TUTTI_HD void operator()(Lid i) const {
    const BoundaryRow& row = view.rows[i];
    double sum = view.steady != nullptr ? view.steady[i] : view.forcing[row.row];
    for (Lid k = row.begin; k < row.end; ++k) sum = std::fma(view.terms[k].weight, view.data[view.terms[k].face], sum);
    view.forcing[row.row] = sum;
  }
};

}  // namespace

void evaluate_source(Stream& stream, Range rows, const ForcingView& view, double time) {
  if (stream.kind() != DeviceKind::host) return for_each(stream, rows, Source{view, time});
  stream.loop(rows, [&](Lid begin, Lid end) {
    double* values = view.forcing + begin;
    const auto n = static_cast<std::size_t>(end - begin);
    evaluate_formula(view.steps, view.source_steps, view.centroids + begin, time, values, n, view.u + begin);
    for (std::size_t k = 0; k < n; ++k) check_finite(values[k], time, view.bad_time);
  });
}

void fill_source(Stream& stream, Range rows, double* forcing, double value) {
  for_each(stream, rows, Fill{forcing, value});
}

void evaluate_boundary(Stream& stream, Lid faces, Lid rows, const ForcingView& view, double time) {
  for_each(stream, {0, faces}, FaceData{view, time});
  for_each(stream, {0, rows}, RowSums{view});
}

}  // namespace tutti::diffusion
