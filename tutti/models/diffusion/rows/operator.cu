// Launches of the row operator on every device. Compiles as plain C++ without CUDA.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "tutti/device/for_each.hpp"
#include "tutti/models/diffusion/rows/operator_rows.hpp"
#include "tutti/residency/residency.hpp"

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

/// Four rows at a time, whose entries j lie together: what a block of zfp has.
template <class Access, class Update>
struct FourRows {
  OperatorView<double> view;
  Access coefficients;
  const double* u;
  const double* forcing;
  Update update;
  Range rows;

  TUTTI_HD void operator()(Lid four) const {
    const Lid first = 4 * four, slice = first >> view.shift, lane = first & ((1 << view.shift) - 1);
    const auto tile = coefficients.row(first / tile_rows);
    const int begin = (first % tile_rows >> view.shift) * (max_row_entries << view.shift) + lane;
    double own[4];
    for (int k = 0; k < 4; ++k) own[k] = first + k < view.rows ? u[first + k] : 0;
    RowSum sums[4];
    const Size place = view.slices[slice] + lane;
    for (int j = 0; j < max_row_entries; j += 4)
      for (int part = 0; part < 4; ++part) {
        double a[4];
        tile.load4(begin + ((j + part) << view.shift), a);
        for (int k = 0; k < 4; ++k) {
          if (first + k >= view.rows) continue;
          const Size at = place + (static_cast<Size>(j + part) << view.shift) + k;
          sums[k].part[part] = add_term(a[k], u[column_of(view, first + k, j + part, at)], own[k], sums[k].part[part]);
        }
      }
    for (int k = 0; k < 4; ++k) {
      const Lid i = first + k;
      if (i < rows.begin || i >= rows.end) continue;
      update(i, own[k],
             row_rate(sums[k].total(), view.diagonal == nullptr ? 0.0 : view.diagonal[i], own[k], forcing, i));
    }
  }
};

/// The address that entry 0 of the array would have if it lay in one piece.
template <class Coefficient>
const Coefficient* as_one_piece(const StoredRows& rows) {
  const auto before = static_cast<std::uintptr_t>(rows.first) * held_width * sizeof(Coefficient);
  return reinterpret_cast<const Coefficient*>(reinterpret_cast<std::uintptr_t>(rows.data) - before);
}

/// Rows whose coefficients a policy keeps: tile after tile, by the kernels that the others have, where they lie as
/// doubles or floats.
template <class Update>
struct ApplyHeldRows {
  Residency* array;
  OperatorView<double> view;
  const double* u;
  const double* forcing;
  Update update;

  void operator()(Stream& stream, Range range) const {
    if (range.empty()) return;
    for_each_chunk(
        *array, stream, {range.begin / tile_rows, held_tiles(range.end)}, [&](Range tiles, const auto& access) {
          apply(stream, {std::max(range.begin, tiles.begin * tile_rows), std::min(range.end, tiles.end * tile_rows)},
                access);
        });
  }
  template <class Access>
  void apply(Stream& stream, Range rows, const Access& access) const {
    if constexpr (Access::format == ValueFormat::doubles) {
      OperatorView<double> here = view;
      here.values = as_one_piece<double>(access);
      ApplyRows<double, Update>{{here, u, forcing, update}}(stream, rows);
    } else if constexpr (Access::format == ValueFormat::floats) {
      const OperatorView<float> here = {view.format,      as_one_piece<float>(access),
                                        view.columns,     view.diagonal,
                                        view.slices,      view.shift,
                                        view.codes,       view.windows,
                                        view.wide,        view.tiles,
                                        view.code_starts, view.externals,
                                        view.rows};
      ApplyRows<float, Update>{{here, u, forcing, update}}(stream, rows);
    } else {
      for_each(stream, {rows.begin / 4, (rows.end + 3) / 4},
               FourRows<Access, Update>{view, access, u, forcing, update, rows});
    }
  }
};

}  // namespace

std::vector<Trial> RowOperator::hold(Stream& stream, const ResidencyOptions& options, const double* u, double* next) {
  ResidencyOptions with_group = options;
  with_group.group = held_group;
  const RowSource source = row_source("coefficients A", held_width, apart_);
  Choice choice = make_residency(stream, source, with_group, [&](Residency& array) {
    ApplyHeldRows<EulerUpdate>{&array, view(values_), u, nullptr, {next, 1e-3}}(stream, {0, rows_});
  });
  held_ = std::move(choice.residency);
  RawVector<double>().swap(apart_);
  return std::move(choice.trials);
}

template <class Update>
void RowOperator::apply(Stream& stream, Range rows, const double* u, const double* forcing,
                        const Update& update) const {
  Kernels kernels;
  add(kernels, u, forcing, update);
  kernels.enqueue(stream, {}, rows);
}

template <class Update>
void RowOperator::add(Kernels& to, const double* u, const double* forcing, const Update& update) const {
  require(!waits_to_be_held(), "the coefficients of the rows were not put anywhere");
  if (held_)
    to.add(ApplyHeldRows<Update>{held_.get(), view(values_), u, forcing, update});
  else if (precision_ == Precision::full)
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
TUTTI_INSTANTIATE(ShiftedUpdate)
TUTTI_INSTANTIATE(ResidualUpdate)
TUTTI_INSTANTIATE(ChebyshevUpdate)
#undef TUTTI_INSTANTIATE

}  // namespace tutti::diffusion
