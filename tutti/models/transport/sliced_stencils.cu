// Launches of stencils on every device. Compiles as plain C++ without CUDA.
#include "tutti/models/transport/sliced_stencils.hpp"

#include <algorithm>

#include "tutti/base/error.hpp"
#include "tutti/device/for_each.hpp"
#include "tutti/models/transport/stencil_rows_host.hpp"

namespace tutti {
namespace {

template <int operators, Joined joined, int tracers, class Update>
struct StencilKernel {
  StencilView view;
  const double* u;
  Update update;
  TUTTI_HD void operator()(Lid row) const { apply_stencil<operators, joined, tracers>(view, u, update, row); }
};

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

}  // namespace

void SlicedStencils::store(Stream& stream, std::span<const double> weights, std::span<const Lid> columns) {
  weights_ = make_buffer(stream, weights, "weights of stencils");
  columns_ = make_buffer(stream, columns, "columns of stencils");
}

Size SlicedStencils::bytes_applied(int tracers) const {
  return Size{rows_} *
         ((size_ - 1) * (8 * operators_ + 4) * ((tracers + most_tracers_a_pass - 1) / most_tracers_a_pass) +
          8 * tracers);
}

template <class Update>
void SlicedStencils::apply(Stream& stream, Range rows, int tracers, const double* u, const double* along,
                           const Update& update) const {
  const auto launch = [&]<int operators, Joined joined, int count>(const StencilView& view) {
    if (stream.kind() == DeviceKind::host)
      stream.loop(rows, [=](Lid begin, Lid end) {
        apply_stencils_on_host<operators, joined, count>(view, u, update, {begin, end});
      });
    else
      for_each(stream, rows, StencilKernel<operators, joined, count, Update>{view, u, update});
  };
  for (int first = 0; first < tracers; first += most_tracers_a_pass)
    with_tracers(std::min(most_tracers_a_pass, tracers - first), [&](auto count) {
      const StencilView some = view(along, tracers, first);
      if (joined_ == Joined::velocity)
        launch.template operator()<3, Joined::velocity, count>(some);
      else if (operators_ == 1)
        launch.template operator()<1, Joined::summed, count>(some);
      else
        launch.template operator()<2, Joined::summed, count>(some);
    });
}

template void SlicedStencils::apply(Stream&, Range, int, const double*, const double*, const RungeKuttaFirst&) const;
template void SlicedStencils::apply(Stream&, Range, int, const double*, const double*, const RungeKuttaMiddle&) const;
template void SlicedStencils::apply(Stream&, Range, int, const double*, const double*, const RungeKuttaLast&) const;
template void SlicedStencils::apply(Stream&, Range, int, const double*, const double*, const ConvexStage&) const;
template void SlicedStencils::apply(Stream&, Range, int, const double*, const double*, const StoreRate&) const;

}  // namespace tutti
