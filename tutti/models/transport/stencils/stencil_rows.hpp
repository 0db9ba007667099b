// Stencils as devices read them: slices of rows, whose weights and columns lie side by side.
#pragma once

#include <cstdint>

#include "tutti/models/transport/transport_kernel.hpp"

namespace tutti::transport {

/// Who makes the sums of a row on a GPU [Bollig 2012, section 5]; CPUs take terms in the same order.
enum class StencilKernel : std::uint8_t {
  threads,  ///< a thread takes all terms, one after the other; several threads a row share its tracers
  warps,    ///< each of a warp's 32 threads takes every 32nd term of one tracer
};

/// Values of a node that one pass takes at most; more take several passes.
constexpr int max_tracers_a_pass(StencilKernel kernel) {
  return kernel == StencilKernel::warps ? 1 : 8;
}

/// A slice has 2^shift rows: as many as a vector of a CPU or a warp of a GPU takes at once. A warp a row wants the
/// entries of a row side by side.
TUTTI_HD constexpr int stencil_slice_shift(bool on_host, StencilKernel kernel) {
  return kernel == StencilKernel::warps ? 0 : on_host ? 3 : 5;
}

/// Column j of row i (j = 1 ... entries in the stencil, whose centre is not stored) at (s * entries + j) * C + i % C,
/// where C = 2^shift and s = i / C; the weight of operator d at ((s * entries + j) * operators + d) * C + i % C.
struct StencilView {
  const double* weights;
  const Lid* columns;
  const double* along;  ///< two a row, where operators are joined by velocity
  int entries;
  int shift;
  int values;  ///< of a node, which lie together
  int first;   ///< of them, that this pass takes
};

/// One row, for `tracers` of the values of each node: the portable kernel of threads, and the reference for others.
template <int operators, Joined joined, int tracers, class Update>
TUTTI_HD inline void apply_stencil(const StencilView& view, const double* u, const Update& update, Lid row) {
  const Size slice = static_cast<Size>(row >> view.shift) * view.entries << view.shift;
  const int lane = row & ((1 << view.shift) - 1);
  const Size place = static_cast<Size>(row) * view.values + view.first;
  double own[tracers], sums[tracers][operators] = {};
  for (int t = 0; t < tracers; ++t) own[t] = u[place + t];
  for (int j = 0; j < view.entries; ++j) {
    const Size at = slice + (static_cast<Size>(j) << view.shift);
    const double* neighbour = u + static_cast<Size>(view.columns[at + lane]) * view.values + view.first;
    for (int d = 0; d < operators; ++d) {
      const double weight = view.weights[at * operators + (static_cast<Size>(d) << view.shift) + lane];
      for (int t = 0; t < tracers; ++t) sums[t][d] = add_neighbour(weight, neighbour[t], own[t], sums[t][d]);
    }
  }
  for (int t = 0; t < tracers; ++t)
    update(static_cast<Lid>(place + t), own[t],
           join_sums<operators, joined>(sums[t],
                                        view.along == nullptr ? nullptr : view.along + 2 * static_cast<Size>(row)));
}

/// For one tracer in slices of one row, with 32 sums a row, which are added in pairs, as by a warp.
template <int operators, Joined joined, class Update>
TUTTI_HD inline void apply_stencil_by_lanes(const StencilView& view, const double* u, const Update& update, Lid row) {
  constexpr int lanes = 32;
  const Size place = static_cast<Size>(row) * view.values + view.first, begin = static_cast<Size>(row) * view.entries;
  const double own = u[place];
  double sums[operators][lanes] = {}, of_row[operators];
  for (int j = 0; j < view.entries; ++j) {
    const double neighbour = u[static_cast<Size>(view.columns[begin + j]) * view.values + view.first];
    for (int d = 0; d < operators; ++d)
      sums[d][j % lanes] = add_neighbour(view.weights[(begin + j) * operators + d], neighbour, own, sums[d][j % lanes]);
  }
  for (int d = 0; d < operators; ++d) {
    for (int step = lanes / 2; step > 0; step /= 2)
      for (int lane = 0; lane < step; ++lane) sums[d][lane] += sums[d][lane + step];
    of_row[d] = sums[d][0];
  }
  update(
      static_cast<Lid>(place), own,
      join_sums<operators, joined>(of_row, view.along == nullptr ? nullptr : view.along + 2 * static_cast<Size>(row)));
}

}  // namespace tutti::transport
