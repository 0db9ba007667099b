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

/// What passes through a face between two values of a component along its own direction: the sum of both squared, and
/// their difference over the width of the cell between them. Both cells take the same from it, so a kernel may compute
/// it once.
template <class T>
struct OwnFace {
  T square, gradient;
};
template <class T>
TUTTI_HD inline OwnFace<T> own_face(T q, T q_next, T width) {
  const T sum = q + q_next;
  return {sum * sum, (q_next - q) * width};
}

/// The same between two values across: what v, in cells i and i + 1 of the component's direction, transports, and the
/// difference over their distance. lower, upper: shares of cells i and i + 1 in what they are wide together.
template <class T>
struct CrossFace {
  T flux, gradient;
};
template <class T>
TUTTI_HD inline CrossFace<T> cross_face(T q, T q_next, T v, T v_next, T lower, T upper, T distance) {
  return {(lower * v + upper * v_next) * (q + q_next), (q_next - q) * distance};
}

/// The sums of momentum_of for one direction across, of which the cell is 1 / width wide.
template <class T>
TUTTI_HD inline void add_across(const CrossFace<T>& below, const CrossFace<T>& above, T width, T& convection,
                                T& laplacian) {
  convection += T(0.5) * (above.flux - below.flux) * width;
  laplacian += (above.gradient - below.gradient) * width;
}

/// Rate of a velocity component at its face, by what passes through the faces around it: -div(u u_C) + viscosity lap
/// u_C. What is transported is the mean of its neighbours, also where cells differ in size; what transports it is the
/// flow through the two halves of the face, so that it has no divergence: the scheme then conserves energy (Verstappen
/// and Veldman, J. Comput. Phys. 187, 2003). a, b: directions (C + 1) % 3 and (C + 2) % 3.
template <class T>
TUTTI_HD inline T momentum_of(T viscosity, const OwnFace<T>& before, const OwnFace<T>& behind, T distance,
                              const CrossFace<T>& a_below, const CrossFace<T>& a_above, T a_width,
                              const CrossFace<T>& b_below, const CrossFace<T>& b_above, T b_width) {
  T convection = T(0.25) * (behind.square - before.square) * distance;
  T laplacian = (behind.gradient - before.gradient) * distance;
  add_across(a_below, a_above, a_width, convection, laplacian);
  add_across(b_below, b_above, b_width, convection, laplacian);
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

  // A call that is left would keep a line's loop from becoming vectors.
  [[gnu::always_inline]] TUTTI_HD T rate(Lid i) const {
    return momentum_of(
        viscosity_, own_face(q_[i - sc_], q_[i], width_(i)), own_face(q_[i], q_[i + sc_], next_width_(i)), distance_(i),
        face(a_, sa_, i, i - sa_, across_a_.below(i)), face(a_, sa_, i, i, across_a_.above(i)), across_a_.width(i),
        face(b_, sb_, i, i - sb_, across_b_.below(i)), face(b_, sb_, i, i, across_b_.above(i)), across_b_.width(i));
  }

 private:
  /// Of cell i: from cell `from` to the next one along a direction of stride s, in which v flows.
  [[gnu::always_inline]] TUTTI_HD CrossFace<T> face(const T* v, Lid s, Lid i, Lid from, T distance) const {
    const T lower = lower_(i);
    return cross_face(q_[from], q_[from + s], v[from], v[from + sc_], lower, T(1) - lower, distance);
  }

  T viscosity_;
  const T *q_, *a_, *b_;
  Lid sc_, sa_, sb_;
  MetricAlong<C, T> distance_, width_, next_width_, lower_;
  Across<A> across_a_;
  Across<B> across_b_;
};

/// What passes through a face between two values of a scalar: v transports their sum.
template <class T>
TUTTI_HD inline CrossFace<T> scalar_face(T s, T s_next, T v, T distance) {
  return {v * (s + s_next), (s_next - s) * distance};
}
/// Sums for the rate of a scalar, direction after direction from x on.
template <class T>
struct ScalarRate {
  T convection = 0, conduction = 0;
  TUTTI_HD void add(const CrossFace<T>& below, const CrossFace<T>& above, T width) {
    add_across(below, above, width, convection, conduction);
  }
  TUTTI_HD T value(T diffusivity) const { return diffusivity * conduction - convection; }
};

/// Rates of a scalar at the centres of a line's cells along x, from cell `at`: -div(u s) + diffusivity lap s.
template <class T>
class ScalarLine {
  template <int D>
  struct Direction {
    MetricAlong<D, T> width, below, above;
    const T* v;
    Lid stride;
    TUTTI_HD Direction(const GridView<T>& g, const VelocityView<T>& u, Lid n, const Lid (&at)[3])
        : width(g.line[D].inverse_width + (at[D] - g.line[D].first)),
          below(g.line[D].inverse_distance + (at[D] - 1 - g.line[D].first)),
          above(g.line[D].inverse_distance + (at[D] - g.line[D].first)),
          v(u[D] + n),
          stride(g.stride(D)) {}
    [[gnu::always_inline]] TUTTI_HD void add_to(ScalarRate<T>& sum, const T* s, Lid i) const {
      const Lid before = i - stride;
      sum.add(scalar_face(s[before], s[i], v[before], below(i)), scalar_face(s[i], s[i + stride], v[i], above(i)),
              width(i));
    }
  };

 public:
  TUTTI_HD ScalarLine(const GridView<T>& g, const VelocityView<T>& u, const T* s, T diffusivity, Lid n,
                      const Lid (&at)[3])
      : s_(s + n), diffusivity_(diffusivity), x_(g, u, n, at), y_(g, u, n, at), z_(g, u, n, at) {}

  [[gnu::always_inline]] TUTTI_HD T rate(Lid i) const {
    ScalarRate<T> sum;
    x_.add_to(sum, s_, i);
    y_.add_to(sum, s_, i);
    z_.add_to(sum, s_, i);
    return sum.value(diffusivity_);
  }

 private:
  const T* s_;
  T diffusivity_;
  Direction<0> x_;
  Direction<1> y_;
  Direction<2> z_;
};

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
