// The arithmetic of one cell: second-order central differences in divergence form on a staggered grid (Jacobsen 2010,
// equations 1 to 4; the grid is that of Harlow and Welch 1965). Velocity component c of cell i lies on the cell's upper
// face in direction c, everything else at its centre.
#pragma once

#include "tutti/partition/cell_box.hpp"

namespace tutti::incompressible {

/// Lengths along one direction, by global cell number; one cell beyond the part on either side.
template <class T>
struct LineMetric {
  const T* inverse_width;
  const T* inverse_distance;  ///< from the centre of cell i to that of i + 1
  const T* share;             ///< of cell i in what cells i and i + 1 are wide together
  Lid first;
  TUTTI_HD T width(Lid i) const { return inverse_width[i - first]; }
  TUTTI_HD T distance(Lid i) const { return inverse_distance[i - first]; }
  TUTTI_HD T lower_share(Lid i) const { return share[i - first]; }
};

/// A part of the grid as kernels see it.
template <class T>
struct GridView {
  BoxArray array;
  LineMetric<T> line[3];

  TUTTI_HD Lid stride(int d) const { return array.stride(d); }
};

template <class T>
struct VelocityView {
  T* c[3];
  TUTTI_HD const T* operator[](int d) const { return c[d]; }
};

/// Rate of velocity component C at its face: -div(u u_C) + viscosity lap u_C. What is transported is the mean of its
/// neighbours, also where cells differ in size; what transports it is the flow through the two halves of the face, so
/// that it has no divergence: the scheme then conserves energy (Verstappen and Veldman, J. Comput. Phys. 187, 2003).
template <int C, class T>
TUTTI_HD inline T momentum_rate(const GridView<T>& g, const VelocityView<T>& u, T viscosity, Lid n,
                                const Lid (&at)[3]) {
  const T half = T(0.5), quarter = T(0.25);
  const T* q = u[C];
  const Lid sc = g.stride(C), ic = at[C];
  const T before = q[n - sc] + q[n], behind = q[n] + q[n + sc];
  const LineMetric<T>& lc = g.line[C];
  T convection = quarter * (behind * behind - before * before) * lc.distance(ic);
  const T lower = lc.lower_share(ic), upper = T(1) - lower;
  T laplacian = ((q[n + sc] - q[n]) * lc.width(ic + 1) - (q[n] - q[n - sc]) * lc.width(ic)) * lc.distance(ic);
  for (int k = 1; k < 3; ++k) {
    const int a = (C + k) % 3;
    const Lid sa = g.stride(a), ia = at[a];
    const T* v = u[a];
    const LineMetric<T>& la = g.line[a];
    convection += half *
                  ((lower * v[n] + upper * v[n + sc]) * (q[n] + q[n + sa]) -
                   (lower * v[n - sa] + upper * v[n - sa + sc]) * (q[n - sa] + q[n])) *
                  la.width(ia);
    laplacian += ((q[n + sa] - q[n]) * la.distance(ia) - (q[n] - q[n - sa]) * la.distance(ia - 1)) * la.width(ia);
  }
  return viscosity * laplacian - convection;
}

/// Rate of a scalar at the cell's centre: -div(u s) + diffusivity lap s.
template <class T>
TUTTI_HD inline T scalar_rate(const GridView<T>& g, const VelocityView<T>& u, const T* s, T diffusivity, Lid n,
                              const Lid (&at)[3]) {
  const T half = T(0.5);
  T convection = 0, conduction = 0;
  for (int a = 0; a < 3; ++a) {
    const Lid sa = g.stride(a), ia = at[a];
    const T* v = u[a];
    const LineMetric<T>& la = g.line[a];
    convection += half * (v[n] * (s[n] + s[n + sa]) - v[n - sa] * (s[n - sa] + s[n])) * la.width(ia);
    conduction += ((s[n + sa] - s[n]) * la.distance(ia) - (s[n] - s[n - sa]) * la.distance(ia - 1)) * la.width(ia);
  }
  return diffusivity * conduction - convection;
}

template <class T>
TUTTI_HD inline T divergence(const GridView<T>& g, const VelocityView<T>& u, Lid n, const Lid (&at)[3]) {
  T sum = 0;
  for (int a = 0; a < 3; ++a) sum += (u[a][n] - u[a][n - g.stride(a)]) * g.line[a].width(at[a]);
  return sum;
}

/// Neighbours of the cell in the Laplacian, weighted, and the sum of the weights: lap p = sum - diagonal p.
template <class T>
TUTTI_HD inline T laplacian_neighbours(const GridView<T>& g, const T* p, Lid n, const Lid (&at)[3], T& diagonal) {
  T sum = 0;
  diagonal = 0;
  for (int a = 0; a < 3; ++a) {
    const Lid sa = g.stride(a), ia = at[a];
    const T width = g.line[a].width(ia);
    const T lower = width * g.line[a].distance(ia - 1), upper = width * g.line[a].distance(ia);
    sum += lower * p[n - sa] + upper * p[n + sa];
    diagonal += lower + upper;
  }
  return sum;
}

}  // namespace tutti::incompressible
