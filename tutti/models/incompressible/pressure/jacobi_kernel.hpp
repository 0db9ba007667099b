// The arithmetic of a Jacobi sweep as in Jacobsen 2010: ghosts are those of the sweep before. Every way to make a sweep
// computes a cell by the stencils here, so that all of them give the same bits.
#pragma once

#include "tutti/mesh/box_grid.hpp"
#include "tutti/models/incompressible/flow_kernel.hpp"

namespace tutti::incompressible {

/// What p is beyond an end of the grid, over what it is before it: 1 without a gradient, -1 at an outflow, 0 where
/// there is no end.
template <class T>
struct Mirrors {
  T lower[3] = {}, upper[3] = {};
  Lid last[3] = {};  ///< cell
};

/// lap p = f of a cell in any grid, solved for p; lengths are those of a GridView.
template <class T>
struct MetricStencil {
  /// Of the neighbours in one direction.
  struct Weights {
    T lower, upper;
  };
  LineMetric<T> line[3];

  /// Of cell `first` + i.
  struct Line {
    const T *width, *distance;
    TUTTI_HD Weights operator()(Lid i) const { return {width[i] * distance[i - 1], width[i] * distance[i]}; }
  };
  TUTTI_HD Line from(int d, Lid first) const {
    const Lid at = first - line[d].first;
    return {line[d].inverse_width + at, line[d].inverse_distance + at};
  }
  TUTTI_HD Weights along(int d, Lid i) const { return from(d, i)(0); }
  /// west, east ...: p of the neighbours.
  TUTTI_HD T value(Weights x, Weights y, Weights z, T west, T east, T south, T north, T below, T above, T f) const {
    const T sum =
        (x.lower * west + x.upper * east) + (y.lower * south + y.upper * north) + (z.lower * below + z.upper * above);
    return (sum - f) / ((x.lower + x.upper) + (y.lower + y.upper) + (z.lower + z.upper));
  }
};

/// The same where all cells are equal: no lengths to read, no division.
template <class T>
struct UniformStencil {
  using Weights = T;
  T weight[3];  ///< 1 / h^2
  T inverse;    ///< of twice their sum

  struct Line {
    T weight;
    TUTTI_HD Weights operator()(Lid) const { return weight; }
  };
  TUTTI_HD Line from(int d, Lid) const { return {weight[d]}; }
  TUTTI_HD Weights along(int d, Lid) const { return weight[d]; }
  TUTTI_HD T value(T x, T y, T z, T west, T east, T south, T north, T below, T above, T f) const {
    return (x * (west + east) + y * (south + north) + z * (below + above) - f) * inverse;
  }
};

/// Is the whole grid one for a UniformStencil? Its parts then all compute alike.
inline bool has_equal_cells(const BoxGrid& grid) {
  return grid.uniform(0) && grid.uniform(1) && grid.uniform(2);
}

template <class T>
UniformStencil<T> uniform_stencil(const BoxGrid& grid) {
  double weight[3], sum = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    const double width = grid.lines[d].length() / grid.lines[d].cells();
    weight[d] = 1 / (width * width);
    sum += 2 * weight[d];
  }
  return {{static_cast<T>(weight[0]), static_cast<T>(weight[1]), static_cast<T>(weight[2])}, static_cast<T>(1 / sum)};
}

template <class T>
MetricStencil<T> metric_stencil(const GridView<T>& g) {
  return {{g.line[0], g.line[1], g.line[2]}};
}

/// next = (1 - omega) p + omega (what balances the cell). A cell at an end sets the value beyond it, too: a pass over
/// the ends would take a GPU as long as a twentieth of the sweep.
template <class T, template <class> class Stencil>
struct JacobiSweep {
  BoxArray array;
  Stencil<T> stencil;
  const T *p, *rhs;
  T* next;
  T omega;
  Mirrors<T> ends;

  TUTTI_HD T relaxed(T here, T value) const { return (T(1) - omega) * here + omega * value; }
  TUTTI_HD void operator()(Lid i, Lid j, Lid k) const {
    const Lid at[3] = {i, j, k};
    const Lid n = array.at(i, j, k), row = array.row(), plane = array.plane();
    const T value = relaxed(p[n], stencil.value(stencil.along(0, i), stencil.along(1, j), stencil.along(2, k), p[n - 1],
                                                p[n + 1], p[n - row], p[n + row], p[n - plane], p[n + plane], rhs[n]));
    next[n] = value;
    for (int d = 0; d < 3; ++d) {
      if (at[d] == 0 && ends.lower[d] != 0) next[n - array.stride(d)] = ends.lower[d] * value;
      if (at[d] == ends.last[d] && ends.upper[d] != 0) next[n + array.stride(d)] = ends.upper[d] * value;
    }
  }
  /// The same for a line, with what it shares kept out of the loop: as vectors it moves no slower than memory.
  void line(Lid begin, Lid end, Lid j, Lid k) const {
    const Stencil<T> s = stencil;
    const auto x = s.from(0, begin);
    const auto y = s.along(1, j), z = s.along(2, k);
    const T factor = omega, rest = T(1) - factor;
    const Lid n = array.at(begin, j, k), row = array.row(), plane = array.plane(), count = end - begin;
    const T *const at = p + n, *const f = rhs + n;
    T* const to = next + n;
#if defined(_OPENMP)
#pragma omp simd
#endif
    for (Lid i = 0; i < count; ++i)
      to[i] = rest * at[i] + factor * s.value(x(i), y, z, at[i - 1], at[i + 1], at[i - row], at[i + row], at[i - plane],
                                              at[i + plane], f[i]);
    if (begin == 0 && ends.lower[0] != 0) to[-1] = ends.lower[0] * to[0];
    if (end - 1 == ends.last[0] && ends.upper[0] != 0) to[count] = ends.upper[0] * to[count - 1];
    if (j == 0) mirror(to, count, -row, ends.lower[1]);
    if (j == ends.last[1]) mirror(to, count, row, ends.upper[1]);
    if (k == 0) mirror(to, count, -plane, ends.lower[2]);
    if (k == ends.last[2]) mirror(to, count, plane, ends.upper[2]);
  }
  static void mirror(T* line, Lid count, Lid stride, T factor) {
    if (factor == 0) return;
#if defined(_OPENMP)
#pragma omp simd
#endif
    for (Lid i = 0; i < count; ++i) line[i + stride] = factor * line[i];
  }
};

}  // namespace tutti::incompressible
