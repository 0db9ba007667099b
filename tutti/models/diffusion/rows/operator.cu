// Launches of the row operator on every device. Compiles as plain C++ without CUDA.
#include "tutti/device/for_each.hpp"
#include "tutti/models/diffusion/rows/operator_rows.hpp"

#if defined(__CUDACC__)
#include "tutti/models/diffusion/rows/operator_cuda.cuh"
#endif

namespace tutti {
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
void apply_rows(Stream& stream, Range rows, const OperatorView<Coefficient>& view, const double* u,
                const double* forcing, const Update& update) {
#if defined(__CUDACC__)
  if (stream.kind() == DeviceKind::cuda && apply_rows_on_gpu(stream, rows, view, u, forcing, update)) return;
#endif
  if (stream.kind() == DeviceKind::host)
    stream.loop(rows, [&](Lid begin, Lid end) { apply_rows_on_host({begin, end}, view, u, forcing, update); });
  else
    for_each(stream, rows, RowKernel<Coefficient, Update>{view, u, forcing, update});
}

}  // namespace

template <class Update>
void RowOperator::apply(Stream& stream, Range rows, const double* u, const double* forcing,
                        const Update& update) const {
  const auto launch = [&](Range piece) {
    if (precision_ == Precision::full)
      apply_rows(stream, piece, view(values_), u, forcing, update);
    else
      apply_rows(stream, piece, view(compact_values_), u, forcing, update);
  };
  const Device& device = stream.device();
  if (device.is_host() || device.block_limit() == 0) return launch(rows);
  // Whole tiles, so at least two blocks.
  const Size most = std::max<Size>(1, Size{device.block_limit()} * block_rows / tile_rows) * tile_rows;
  for (Size begin = rows.begin / tile_rows * tile_rows; begin < rows.end; begin += most)
    launch({std::max(rows.begin, static_cast<Lid>(begin)), static_cast<Lid>(std::min<Size>(rows.end, begin + most))});
}

void RowOperator::apply_portably(Stream& stream, Range rows, const double* u, const double* forcing,
                                 const EulerUpdate& update) const {
  if (precision_ == Precision::full)
    for_each(stream, rows, RowKernel<double, EulerUpdate>{view(values_), u, forcing, update});
  else
    for_each(stream, rows, RowKernel<float, EulerUpdate>{view(compact_values_), u, forcing, update});
}

template void RowOperator::apply(Stream&, Range, const double*, const double*, const EulerUpdate&) const;
template void RowOperator::apply(Stream&, Range, const double*, const double*, const RateOnly&) const;
template void RowOperator::apply(Stream&, Range, const double*, const double*, const RkcFirst&) const;
template void RowOperator::apply(Stream&, Range, const double*, const double*, const RkcStage&) const;

}  // namespace tutti
