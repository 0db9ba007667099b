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

/// One over lengths along a component's own direction: `lower` is the share of cell i.
template <class T>
struct OwnMetric {
  T distance, width, next_width, lower;
};
/// And across it: of cell i, and to the cells below and above.
template <class T>
struct CrossMetric {
  T width, below, above;
};
/// The component q in the neighbours along a direction across, and what transports it: v in cells i and i + 1 of q's
/// direction, on the upper and the lower faces.
template <class T>
struct CrossValues {
  T q_below, q_above, v, v_next, v_below, v_below_next;
};

/// The sums of momentum_of for one direction across.
template <class T>
TUTTI_HD inline void add_across(T q, T lower, T upper, const CrossValues<T>& s, const CrossMetric<T>& m, T& convection,
                                T& laplacian) {
  convection += T(0.5) *
                ((lower * s.v + upper * s.v_next) * (q + s.q_above) -
                 (lower * s.v_below + upper * s.v_below_next) * (s.q_below + q)) *
                m.width;
  laplacian += ((s.q_above - q) * m.above - (q - s.q_below) * m.below) * m.width;
}

/// Rate of a velocity component at its face: -div(u u_C) + viscosity lap u_C. What is transported is the mean of its
/// neighbours, also where cells differ in size; what transports it is the flow through the two halves of the face, so
/// that it has no divergence: the scheme then conserves energy (Verstappen and Veldman, J. Comput. Phys. 187, 2003).
template <class T>
TUTTI_HD inline T momentum_of(T viscosity, T q_before, T q, T q_behind, const OwnMetric<T>& c, const CrossValues<T>& sa,
                              const CrossMetric<T>& a, const CrossValues<T>& sb, const CrossMetric<T>& b) {
  const T before = q_before + q, behind = q + q_behind;
  T convection = T(0.25) * (behind * behind - before * before) * c.distance;
  const T lower = c.lower, upper = T(1) - lower;
  T laplacian = ((q_behind - q) * c.next_width - (q - q_before) * c.width) * c.distance;
  add_across(q, lower, upper, sa, a, convection, laplacian);
  add_across(q, lower, upper, sb, b, convection, laplacian);
  return viscosity * laplacian - convection;
}

/// Values of a line's metric along direction D, of cells from some cell on along x: one for all of them, but for D = 0.
template <int D, class T>
struct MetricAlong {
  const T* first;
  T value;
  TUTTI_HD explicit MetricAlong(const T* at) : first(at), value(*at) {}
  TUTTI_HD T operator()(Lid i) const {
    if constexpr (D == 0) return first[i];
    return value;
  }
};

/// What a line of cells along x, from cell `at`, reads for component C; rate(i) is that of its cell i.
template <int C, class T>
class MomentumLine {
  static constexpr int A = (C + 1) % 3, B = (C + 2) % 3;
  template <int D>
  struct Across {
    MetricAlong<D, T> width, below, above;
    TUTTI_HD Across(const LineMetric<T>& line, Lid at)
        : width(line.inverse_width + (at - line.first)),
          below(line.inverse_distance + (at - 1 - line.first)),
          above(line.inverse_distance + (at - line.first)) {}
    TUTTI_HD CrossMetric<T> operator()(Lid i) const { return {width(i), below(i), above(i)}; }
  };

 public:
  TUTTI_HD MomentumLine(const GridView<T>& g, const VelocityView<T>& u, T viscosity, Lid n, const Lid (&at)[3])
      : viscosity_(viscosity),
        q_(u[C] + n),
        a_(u[A] + n),
        b_(u[B] + n),
        sc_(g.stride(C)),
        sa_(g.stride(A)),
        sb_(g.stride(B)),
        distance_(g.line[C].inverse_distance + (at[C] - g.line[C].first)),
        width_(g.line[C].inverse_width + (at[C] - g.line[C].first)),
        next_width_(g.line[C].inverse_width + (at[C] + 1 - g.line[C].first)),
        lower_(g.line[C].share + (at[C] - g.line[C].first)),
        across_a_(g.line[A], at[A]),
        across_b_(g.line[B], at[B]) {}

  TUTTI_HD T rate(Lid i) const {
    return momentum_of<T>(viscosity_, q_[i - sc_], q_[i], q_[i + sc_],
                          {distance_(i), width_(i), next_width_(i), lower_(i)}, values(a_, sa_, i), across_a_(i),
                          values(b_, sb_, i), across_b_(i));
  }

 private:
  TUTTI_HD CrossValues<T> values(const T* v, Lid s, Lid i) const {
    return {q_[i - s], q_[i + s], v[i], v[i + sc_], v[i - s], v[i - s + sc_]};
  }

  T viscosity_;
  const T *q_, *a_, *b_;
  Lid sc_, sa_, sb_;
  MetricAlong<C, T> distance_, width_, next_width_, lower_;
  Across<A> across_a_;
  Across<B> across_b_;
};

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
