// Launches of the row operator on every device. Compiles as plain C++ without CUDA.
#include "tutti/device/for_each.hpp"
#include "tutti/models/diffusion/operator.hpp"

namespace tutti {
namespace {

/// The stored row i: its entries are at first + j * stride, j < width.
struct RowPlace {
  Size first;
  Size stride;
  int width;
};

template <class Coefficient>
TUTTI_HD inline RowPlace place_of(const OperatorView<Coefficient>& view, Lid i) {
  if (view.format == RowFormat::rows) return {static_cast<Size>(i) * max_row_entries, 1, max_row_entries};
  if (view.format == RowFormat::blocks)
    return {static_cast<Size>(i / block_rows) * block_rows * max_row_entries + i % block_rows, block_rows,
            max_row_entries};
  const Size begin = view.slices[i / slice_rows];
  return {begin + i % slice_rows, slice_rows, static_cast<int>((view.slices[i / slice_rows + 1] - begin) / slice_rows)};
}

/// One row a call: the portable kernel, and the reference for the tuned ones.
template <class Coefficient, class Update>
struct RowKernel {
  OperatorView<Coefficient> view;
  const double* u;
  const double* forcing;
  Update update;

  TUTTI_HD void operator()(Lid i) const {
    const RowPlace place = place_of(view, i);
    const double own = u[i];
    double sum = 0;
    for (int j = 0; j < place.width; ++j) {
      const Size at = place.first + j * place.stride;
      sum = add_term(static_cast<double>(view.values[at]), u[view.columns[at]], own, sum);
    }
    update(i, own, row_rate(sum, view.diagonal == nullptr ? 0.0 : view.diagonal[i], own, forcing, i));
  }
};

template <class Coefficient, class Update>
void apply_rows(Stream& stream, Range rows, const OperatorView<Coefficient>& view, const double* u,
                const double* forcing, const Update& update) {
  for_each(stream, rows, RowKernel<Coefficient, Update>{view, u, forcing, update});
}

}  // namespace

template <class Update>
void RowOperator::apply(Stream& stream, Range rows, const double* u, const double* forcing,
                        const Update& update) const {
  if (precision_ == Precision::full)
    apply_rows(stream, rows, full_view(), u, forcing, update);
  else
    apply_rows(stream, rows, compact_view(), u, forcing, update);
}

template void RowOperator::apply(Stream&, Range, const double*, const double*, const EulerUpdate&) const;
template void RowOperator::apply(Stream&, Range, const double*, const double*, const RateOnly&) const;
template void RowOperator::apply(Stream&, Range, const double*, const double*, const RkcFirst&) const;
template void RowOperator::apply(Stream&, Range, const double*, const double*, const RkcStage&) const;

}  // namespace tutti
