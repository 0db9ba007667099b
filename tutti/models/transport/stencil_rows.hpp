// Stencils as devices read them: slices of rows, whose weights and columns lie side by side.
#pragma once

#include "tutti/models/transport/transport_kernel.hpp"

namespace tutti {

/// A slice has 2^shift rows: as many as a vector of a CPU or a warp of a GPU takes at once.
TUTTI_HD constexpr int stencil_slice_shift(bool on_host) {
  return on_host ? 3 : 5;
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

/// One row, for `tracers` of the values of each node: the portable kernel, and the reference for others.
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

}  // namespace tutti
