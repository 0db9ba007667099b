// Launches of stencils on every device. Compiles as plain C++ without CUDA.
#include "tutti/models/transport/stencils/sliced_stencils.hpp"

#include <algorithm>

#include "tutti/base/error.hpp"
#include "tutti/models/transport/stencils/stencil_rows_host.hpp"
#if defined(__CUDACC__)
#include "tutti/models/transport/stencils/stencil_rows_cuda.cuh"
#endif

namespace tutti::transport {
namespace {

#if defined(__CUDACC__)
/// By the number of tracers what bench_stencil_kernels found to be fastest on an H200, for stencils of 31 and of 101
/// nodes (docs/performance.md).
template <int operators, Joined joined, class Update>
void launch_by_threads(Stream& stream, const StencilView& view, int tracers, const double* u, const Update& update,
                       Range rows) {
  using namespace stencils_cuda;
  using Few = StencilTuning<32, 15>;
  using Four = StencilTuning<128, 2>;
  using More = StencilTuning<128, 4>;
  const bool pairs = tracers % 2 == 0 && view.values % 2 == 0;
  if (tracers == 1)
    launch_threads<operators, joined, 1, 1, false, Few>(stream, view, u, update, rows);
  else if (tracers == 2 && pairs)
    launch_threads<operators, joined, 1, 2, true, Few>(stream, view, u, update, rows);
  else if (tracers == 3)
    launch_threads<operators, joined, 1, 3, false, Few>(stream, view, u, update, rows);
  else if (tracers == 4 && pairs)
    launch_ahead<operators, joined, 2, 2, true, Four>(stream, view, u, update, rows, tracers);
  else if (pairs)
    launch_ahead<operators, joined, 4, 2, true, More>(stream, view, u, update, rows, tracers);
  else
    launch_ahead<operators, joined, 8, 1, false, More>(stream, view, u, update, rows, tracers);
}
#endif

/// Calls use with the number as a constant.
template <class Use>
void with_tracers(int tracers, const Use& use) {
  switch (tracers) {
    case 1:
      return use(std::integral_constant<int, 1>());
    case 2:
      return use(std::integral_constant<int, 2>());
    case 3:
      return use(std::integral_constant<int, 3>());
    case 4:
      return use(std::integral_constant<int, 4>());
    case 5:
      return use(std::integral_constant<int, 5>());
    case 6:
      return use(std::integral_constant<int, 6>());
    case 7:
      return use(std::integral_constant<int, 7>());
    default:
      require(tracers == 8, "{} tracers in one pass", tracers);
      return use(std::integral_constant<int, 8>());
  }
}

/// All tracers of some rows.
template <class Update>
struct ApplyStencils {
  StencilForm form;
  StencilView view;
  const double* u;
  Update update;

  void operator()(Stream& stream, Range rows) const {
    const int most = max_tracers_a_pass(form.kernel);
    for (int first = 0; first < view.values; first += most) {
      const int count = std::min(most, view.values - first);
      StencilView some = view;
      some.first = first;
      if (form.joined == Joined::velocity)
        launch<3, Joined::velocity>(stream, rows, some, count);
      else if (form.operators == 1)
        launch<1, Joined::summed>(stream, rows, some, count);
      else
        launch<2, Joined::summed>(stream, rows, some, count);
    }
  }
  template <int operators, Joined joined>
  void launch(Stream& stream, Range rows, const StencilView& some, int count) const {
    const bool by_warps = form.kernel == StencilKernel::warps;
#if defined(__CUDACC__)
    if (stream.kind() == DeviceKind::cuda) {
      if (by_warps)
        stencils_cuda::launch_warps<operators, joined>(stream, some, u, update, rows);
      else
        launch_by_threads<operators, joined>(stream, some, count, u, update, rows);
      return;
    }
#endif
    if (by_warps)
      return stream.loop(rows, [some, from = u, use = update](Lid begin, Lid end) {
        for (Lid row = begin; row < end; ++row) apply_stencil_by_lanes<operators, joined>(some, from, use, row);
      });
    with_tracers(count, [&](auto number) {
      constexpr int tracers = decltype(number)::value;
      if (stream.kind() == DeviceKind::host)
        return stream.loop(rows, [some, from = u, use = update](Lid begin, Lid end) {
          apply_stencils_on_host<operators, joined, tracers>(some, from, use, {begin, end});
        });
      stream.loop(rows, [some, from = u, use = update](Lid begin, Lid end) {
        for (Lid row = begin; row < end; ++row) apply_stencil<operators, joined, tracers>(some, from, use, row);
      });
    });
  }
};

}  // namespace

void SlicedStencils::store(Stream& stream, std::span<const double> weights, std::span<const Lid> columns) {
  weights_ = make_buffer(stream, weights, "weights of stencils");
  columns_ = make_buffer(stream, columns, "columns of stencils");
}

Size SlicedStencils::bytes_applied(int tracers) const {
  const int most = max_tracers_a_pass(form_.kernel), passes = (tracers + most - 1) / most;
  return Size{rows_} * ((form_.size - 1) * (8 * form_.operators + 4) * passes + 8 * tracers);
}

template <class Update>
void SlicedStencils::apply(Stream& stream, Range rows, int tracers, const double* u, const double* along,
                           const Update& update) const {
  Kernels kernels;
  add(kernels, tracers, u, along, update);
  kernels.enqueue(stream, {}, rows);
}

template <class Update>
void SlicedStencils::add(Kernels& to, int tracers, const double* u, const double* along, const Update& update) const {
  to.add(ApplyStencils<Update>{
      form_, {weights_.data(), columns_.data(), along, form_.size - 1, shift_, tracers, 0}, u, update});
}

#define TUTTI_INSTANTIATE(Update)                                                                              \
  template void SlicedStencils::apply(Stream&, Range, int, const double*, const double*, const Update&) const; \
  template void SlicedStencils::add(Kernels&, int, const double*, const double*, const Update&) const;
TUTTI_INSTANTIATE(RungeKuttaFirst)
TUTTI_INSTANTIATE(RungeKuttaMiddle)
TUTTI_INSTANTIATE(RungeKuttaLast)
TUTTI_INSTANTIATE(SspRk3Stage)
TUTTI_INSTANTIATE(StoreRate)
#undef TUTTI_INSTANTIATE

}  // namespace tutti::transport
