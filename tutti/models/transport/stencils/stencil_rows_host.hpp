// Stencils of a slice of rows at a time, in vectors: for CPUs. The sums take their terms as those of apply_stencil do.
#pragma once

#include "tutti/models/transport/stencils/stencil_rows.hpp"

namespace tutti::transport {

/// Prefetches the weights and columns of some entries later, for cores whose own prefetcher requests too few lines.
/// Near the ends of the arrays the addresses are beyond them, where a prefetch does nothing.
template <int operators>
inline void prefetch_entries(const Lid* columns, const double* weights, int j) {
  constexpr int entries = 48 / operators, lanes = 1 << stencil_slice_shift(true, StencilKernel::threads);
  for (int d = 0; d < operators; ++d) __builtin_prefetch(weights + (entries * operators + d) * lanes, 0, 2);
  if (j % 2 == 0) __builtin_prefetch(columns + entries * lanes, 0, 2);  // two entries are a line
}

/// Rows [8 slice, 8 slice + 8), all of them in the part, for one tracer: a vector holds values of several rows.
template <int operators, Joined joined, class Update>
inline void apply_slice_by_rows(const StencilView& view, const double* u, const Update& update, Lid slice) {
  constexpr int lanes = 1 << stencil_slice_shift(true, StencilKernel::threads);
  const Size begin = static_cast<Size>(slice) * view.entries * lanes;
  const Lid* __restrict columns = view.columns + begin;
  const double* __restrict weights = view.weights + begin * operators;
  const double* __restrict values = u + view.first;
  const Lid row = slice * lanes;
  double own[lanes], sums[operators][lanes] = {};
  for (int lane = 0; lane < lanes; ++lane) own[lane] = values[static_cast<Size>(row + lane) * view.values];
  for (int j = 0; j < view.entries; ++j, columns += lanes, weights += operators * lanes) {
    prefetch_entries<operators>(columns, weights, j);
    for (int lane = 0; lane < lanes; ++lane) {
      const double neighbour = values[static_cast<Size>(columns[lane]) * view.values];
      for (int d = 0; d < operators; ++d)
        sums[d][lane] = add_neighbour(weights[d * lanes + lane], neighbour, own[lane], sums[d][lane]);
    }
  }
  for (int lane = 0; lane < lanes; ++lane) {
    double of_row[operators];
    for (int d = 0; d < operators; ++d) of_row[d] = sums[d][lane];
    const double* along = view.along == nullptr ? nullptr : view.along + 2 * static_cast<Size>(row + lane);
    update(static_cast<Lid>(static_cast<Size>(row + lane) * view.values + view.first), own[lane],
           join_sums<operators, joined>(of_row, along));
  }
}

/// The same for several tracers: a vector holds those of one node, which lie together.
template <int operators, Joined joined, int tracers, class Update>
inline void apply_slice_by_tracers(const StencilView& view, const double* u, const Update& update, Lid slice) {
  constexpr int lanes = 1 << stencil_slice_shift(true, StencilKernel::threads),
                some = 2;  // rows whose sums fit registers
  const Size begin = static_cast<Size>(slice) * view.entries * lanes;
  const double* __restrict values = u + view.first;
  for (int lane = 0; lane < lanes; lane += some) {
    const Lid row = slice * lanes + lane;
    const Lid* __restrict columns = view.columns + begin + lane;
    const double* __restrict weights = view.weights + begin * operators + lane;
    double own[some][tracers], sums[some][operators][tracers] = {};
    for (int k = 0; k < some; ++k)
      for (int t = 0; t < tracers; ++t) own[k][t] = values[static_cast<Size>(row + k) * view.values + t];
    for (int j = 0; j < view.entries; ++j, columns += lanes, weights += operators * lanes)
#if defined(__CUDACC__)  // it passes the pragma on, which it does not know
#pragma nv_diagnostic push
#pragma nv_diag_suppress 1675
#endif
#pragma GCC unroll 2
#if defined(__CUDACC__)
#pragma nv_diagnostic pop
#endif
      for (int k = 0; k < some; ++k) {
        const double* __restrict neighbour = values + static_cast<Size>(columns[k]) * view.values;
        for (int d = 0; d < operators; ++d)
#if defined(_OPENMP)
#pragma omp simd
#endif
          for (int t = 0; t < tracers; ++t)
            sums[k][d][t] = add_neighbour(weights[d * lanes + k], neighbour[t], own[k][t], sums[k][d][t]);
      }
    for (int k = 0; k < some; ++k)
      for (int t = 0; t < tracers; ++t) {
        double of_row[operators];
        for (int d = 0; d < operators; ++d) of_row[d] = sums[k][d][t];
        const double* along = view.along == nullptr ? nullptr : view.along + 2 * static_cast<Size>(row + k);
        update(static_cast<Lid>(static_cast<Size>(row + k) * view.values + view.first + t), own[k][t],
               join_sums<operators, joined>(of_row, along));
      }
  }
}

/// Whole slices at once; the rows of a cut slice one by one.
template <int operators, Joined joined, int tracers, class Update>
inline void apply_stencils_on_host(const StencilView& view, const double* u, const Update& update, Range rows) {
  constexpr int lanes = 1 << stencil_slice_shift(true, StencilKernel::threads);
  const Lid first = (rows.begin + lanes - 1) / lanes, last = rows.end / lanes;
  const auto one_by_one = [&](Lid begin, Lid end) {
    StencilView one = view;  // a tracer after the other: these rows are few
    for (int t = 0; t < tracers; ++t, ++one.first)
      for (Lid row = begin; row < end; ++row) apply_stencil<operators, joined, 1>(one, u, update, row);
  };
  if (first >= last) return one_by_one(rows.begin, rows.end);
  one_by_one(rows.begin, first * lanes);
  for (Lid slice = first; slice < last; ++slice)
    if constexpr (tracers == 1)
      apply_slice_by_rows<operators, joined>(view, u, update, slice);
    else
      apply_slice_by_tracers<operators, joined, tracers>(view, u, update, slice);
  one_by_one(last * lanes, rows.end);
}

}  // namespace tutti::transport
