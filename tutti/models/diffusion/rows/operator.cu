// Launches of the row operator on every device. Compiles as plain C++ without CUDA.
#include "tutti/device/for_each.hpp"
#include "tutti/models/diffusion/rows/operator_rows.hpp"

#if defined(__CUDACC__)
#include "tutti/models/diffusion/rows/operator_cuda.cuh"
#endif

namespace tutti::diffusion {
namespace {

/// One row a call: the portable kernel, and the reference for the tuned ones.
template <class Coefficient, class Update>
struct RowKernel {
  OperatorView<Coefficient> view;
  const double* u;
  const double* forcing;
  Update update;
  TUTTI_HD void operator()(Lid i) const { apply_row(view, u, forcing, update, i); }
};

template <class Coefficient, class Update>
struct ApplyRows {
  RowKernel<Coefficient, Update> rows;
  void operator()(Stream& stream, Range range) const {
    const Device& device = stream.device();
    if (device.is_host() || device.block_limit() == 0) return launch(stream, range);
    // Whole tiles, so at least two blocks.
    const Size most = std::max<Size>(1, Size{device.block_limit()} * block_rows / tile_rows) * tile_rows;
    for (Size begin = range.begin / tile_rows * tile_rows; begin < range.end; begin += most)
      launch(stream, {std::max(range.begin, static_cast<Lid>(begin)),
                      static_cast<Lid>(std::min<Size>(range.end, begin + most))});
  }
  void launch(Stream& stream, Range range) const {
#if defined(__CUDACC__)
    const auto& [view, u, forcing, update] = rows;
    if (stream.kind() == DeviceKind::cuda && apply_rows_on_gpu(stream, range, view, u, forcing, update)) return;
#endif
    if (stream.kind() != DeviceKind::host) return for_each(stream, range, rows);
    stream.loop(range, [this](Lid begin, Lid end) {
      apply_rows_on_host({begin, end}, rows.view, rows.u, rows.forcing, rows.update);
    });
  }
};

}  // namespace

template <class Update>
void RowOperator::apply(Stream& stream, Range rows, const double* u, const double* forcing,
                        const Update& update) const {
  Kernels kernels;
  add(kernels, u, forcing, update);
  kernels.enqueue(stream, {}, rows);
}

template <class Update>
void RowOperator::add(Kernels& to, const double* u, const double* forcing, const Update& update) const {
  if (precision_ == Precision::full)
    to.add(ApplyRows<double, Update>{{view(values_), u, forcing, update}});
  else
    to.add(ApplyRows<float, Update>{{view(compact_values_), u, forcing, update}});
}

void RowOperator::apply_portably(Stream& stream, Range rows, const double* u, const double* forcing,
                                 const EulerUpdate& update) const {
  if (precision_ == Precision::full)
    for_each(stream, rows, RowKernel<double, EulerUpdate>{view(values_), u, forcing, update});
  else
    for_each(stream, rows, RowKernel<float, EulerUpdate>{view(compact_values_), u, forcing, update});
}

#define TUTTI_INSTANTIATE(Update)                                                                      \
  template void RowOperator::apply(Stream&, Range, const double*, const double*, const Update&) const; \
  template void RowOperator::add(Kernels&, const double*, const double*, const Update&) const;
TUTTI_INSTANTIATE(EulerUpdate)
TUTTI_INSTANTIATE(RateOnly)
TUTTI_INSTANTIATE(RkcFirst)
TUTTI_INSTANTIATE(RkcStage)
#undef TUTTI_INSTANTIATE

}  // namespace tutti::diffusion
