// The arithmetic of relaxation for lap p = rhs: one cell of a sweep, and what is left.
#pragma once

#include <cmath>

#include "tutti/models/incompressible/flow_kernel.hpp"

namespace tutti::incompressible {

/// A line's part of lap p = sum of lower p[-1] + upper p[+1] - diagonal p, by global cell number; what holds at the
/// ends is in it: the weight of a value beyond a Neumann or Dirichlet end is 0.
template <class T>
struct LineStencil {
  const T *lower, *upper, *diagonal;
};

/// Of the cells of a part, as kernels see them. Values beyond the ends must be numbers.
template <class T>
struct StencilView {
  BoxArray array;
  LineStencil<T> line[3];

  TUTTI_HD Lid stride(int d) const { return array.stride(d); }
};

/// The cells of a line along x.
template <class T>
struct StencilRow {
  const T *lower, *upper, *diagonal;  ///< along x
  T weight[4], rest;                  ///< of the neighbours along y and z; their part of the diagonal
  Lid stride[2];

  TUTTI_HD StencilRow(const StencilView<T>& g, Lid j, Lid k)
      : lower(g.line[0].lower),
        upper(g.line[0].upper),
        diagonal(g.line[0].diagonal),
        weight{g.line[1].lower[j], g.line[1].upper[j], g.line[2].lower[k], g.line[2].upper[k]},
        rest(g.line[1].diagonal[j] + g.line[2].diagonal[k]),
        stride{g.stride(1), g.stride(2)} {}
  /// `at`: p of cell i of the line.
  TUTTI_HD T neighbours(const T* at, Lid i) const {
    return (lower[i] * at[-1] + upper[i] * at[1]) + (weight[0] * at[-stride[0]] + weight[1] * at[stride[0]]) +
           (weight[2] * at[-stride[1]] + weight[3] * at[stride[1]]);
  }
  TUTTI_HD T centre(Lid i) const { return diagonal[i] + rest; }
};

/// As that of a GridView.
template <class T>
TUTTI_HD inline T laplacian_neighbours(const StencilView<T>& g, const T* p, Lid n, const Lid (&at)[3], T& diagonal) {
  const StencilRow<T> row(g, at[1], at[2]);
  diagonal = row.centre(at[0]);
  return row.neighbours(p + n, at[0]);
}

template <class T>
TUTTI_HD inline T relaxed(T p, T neighbours, T diagonal, T rhs, T omega) {
  return p + omega * ((neighbours - rhs) / diagonal - p);
}

/// Grid: GridView, whose ghosts say what holds at the ends, or StencilView.
template <class T, template <class> class Grid>
struct RedBlackSweep {
  Grid<T> g;
  T* p;
  const T* rhs;
  T omega;
  Lid colour;
  TUTTI_HD void operator()(Lid i, Lid j, Lid k) const {
    if (((i + j + k) & 1) != colour) return;
    const Lid at[3] = {i, j, k};
    const Lid n = g.array.at(i, j, k);
    T diagonal;
    const T sum = laplacian_neighbours(g, p, n, at, diagonal);
    p[n] = relaxed(p[n], sum, diagonal, rhs[n], omega);
  }
};
/// Vectors compute all cells of a line, and every other one is stored.
template <class T>
struct RedBlackSweep<T, StencilView> {
  StencilView<T> g;
  T* p;
  const T* rhs;
  T omega;
  Lid colour;
  TUTTI_HD void operator()(Lid i, Lid j, Lid k) const {
    if (((i + j + k) & 1) != colour) return;
    const Lid n = g.array.at(i, j, k);
    const StencilRow<T> row(g, j, k);
    p[n] = relaxed(p[n], row.neighbours(p + n, i), row.centre(i), rhs[n], omega);
  }
#if !defined(__SANITIZE_THREAD__)  // what it computes of cells that others write meanwhile is not stored
  void line(Lid begin, Lid end, Lid j, Lid k) const {
    const StencilRow<T> row(g, j, k);
    const Lid n = g.array.at(0, j, k), parity = (j + k + colour) & 1;
    constexpr Lid most = 256;
    T values[most];
    for (Lid from = begin; from < end; from += most) {
      const Lid count = end - from < most ? end - from : most;
      const T *const at = p + n + from, *const f = rhs + n + from;
#if defined(_OPENMP)
#pragma omp simd
#endif
      for (Lid i = 0; i < count; ++i)
        values[i] = relaxed(at[i], row.neighbours(at + i, from + i), row.centre(from + i), f[i], omega);
      for (Lid i = (from + parity) & 1; i < count; i += 2) p[n + from + i] = values[i];
    }
  }
#endif
};

/// |lap p - rhs| of the r-th cell of a box.
template <class T, template <class> class Grid>
struct Residual {
  Grid<T> g;
  CellBox box;
  const T *p, *rhs;
  TUTTI_HD double operator()(Lid r) const {
    const Lid nx = box.size(0), ny = box.size(1);
    const Lid at[3] = {box.lower[0] + r % nx, box.lower[1] + r / nx % ny, box.lower[2] + r / nx / ny};
    const Lid n = g.array.at(at[0], at[1], at[2]);
    T diagonal;
    const T sum = laplacian_neighbours(g, p, n, at, diagonal);
    return std::fabs(static_cast<double>(sum - diagonal * p[n] - rhs[n]));
  }
};

}  // namespace tutti::incompressible
