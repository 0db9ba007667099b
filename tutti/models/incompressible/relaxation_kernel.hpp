// The arithmetic of relaxation for lap p = rhs: one cell of a sweep, and what is left.
#pragma once

#include <cmath>

#include "tutti/models/incompressible/flow_kernel.hpp"

namespace tutti {

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

  TUTTI_HD Lid stride(int d) const { return d == 0 ? 1 : d == 1 ? array.row() : array.plane(); }
};

/// As that of a GridView.
template <class T>
TUTTI_HD inline T laplacian_neighbours(const StencilView<T>& g, const T* p, Lid n, const Lid (&at)[3], T& diagonal) {
  T sum = 0;
  diagonal = 0;
  for (int a = 0; a < 3; ++a) {
    const LineStencil<T>& line = g.line[a];
    const Lid sa = g.stride(a), ia = at[a];
    sum += line.lower[ia] * p[n - sa] + line.upper[ia] * p[n + sa];
    diagonal += line.diagonal[ia];
  }
  return sum;
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
    p[n] += omega * ((sum - rhs[n]) / diagonal - p[n]);
  }
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

}  // namespace tutti
