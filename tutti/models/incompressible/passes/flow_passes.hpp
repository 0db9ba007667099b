// What the passes over the cells of a flow compute, a cell or a line of cells at a time. Every way to launch them
// computes by the formulas here and in flow_kernel.hpp, so that all of them give the same bits.
#pragma once

#include "tutti/models/incompressible/flow_part.hpp"

// Loops along a line become vectors on the host: no array is another's, and there are too many to check when they run.
#if defined(__GNUC__) && !defined(__CUDA_ARCH__)
#define TUTTI_NO_ALIASES _Pragma("GCC ivdep")
#else
#define TUTTI_NO_ALIASES
#endif

namespace tutti::incompressible {

template <class T>
struct ScalarView {
  const T* now = nullptr;
  T *next = nullptr, *rate = nullptr;
  const T* source = nullptr;  ///< null where it is constant
  T constant_source = 0, diffusivity = 0;

  TUTTI_HD T source_at(Lid n) const { return source != nullptr ? source[n] : constant_source; }
};

/// Scalars that a pass takes together: velocities are read once for all of them.
inline constexpr int most_scalars_together = 4;
template <class T>
struct ScalarViews {
  ScalarView<T> of[most_scalars_together];
  int count = 0;
};

/// Cells [0, count) of a line along x, from cell `at`.
template <class T>
TUTTI_HD inline void step_scalar(const GridView<T>& g, const VelocityView<T>& u, const ScalarView<T>& s,
                                 const StageWeights<T>& weights, Lid n, const Lid (&at)[3], Lid count) {
  const ScalarLine<T> line(g, u, s.now, s.diffusivity, n, at);
  const StageWeights<T> stage = weights;
  const T* const now = s.now + n;
  T *const next = s.next + n, *const rates = s.rate + n;
  // A loop that asks for each cell whether its source varies does not become vectors.
  const auto step = [&](const auto& source) {
    TUTTI_NO_ALIASES
    for (Lid i = 0; i < count; ++i) {
      const T rate = line.rate(i) + source(i);
      next[i] = stage.step(now[i], rate, rates[i]);
      rates[i] = rate;
    }
  };
  if (s.source != nullptr)
    step([sources = s.source + n](Lid i) { return sources[i]; });
  else
    step([constant = s.constant_source](Lid) { return constant; });
}

/// Scalars without momentum.
template <class T>
struct StepScalars {
  GridView<T> g;
  VelocityView<T> u;
  ScalarViews<T> scalars;
  StageWeights<T> weights;
  TUTTI_HD void cells(Lid count, const Lid (&at)[3]) const {
    const Lid n = g.array.at(at[0], at[1], at[2]);
    for (int s = 0; s < scalars.count; ++s) step_scalar(g, u, scalars.of[s], weights, n, at, count);
  }
  TUTTI_HD void operator()(Lid i, Lid j, Lid k) const { cells(1, {i, j, k}); }
  void line(Lid begin, Lid end, Lid j, Lid k) const { cells(end - begin, {begin, j, k}); }
};

template <class T>
struct PredictArrays {
  VelocityView<T> u, intermediate, rate;
  ScalarViews<T> scalars;  ///< where the flow is warm, the temperature first
  const T* force[3];
};

/// What forces a component at its face: `force`, and where the flow is warm its weight by the temperatures beside it.
template <class T>
struct FaceForce {
  T buoyancy, reference;
  TUTTI_HD T lift(T t, T t_next) const { return buoyancy * (T(0.5) * (t + t_next) - reference); }
};

/// Velocity and scalars. Two of the flags that change what a cell reads; they are the same for all cells.
template <class T, bool warm, bool forced>
struct Predict {
  GridView<T> g;
  PredictArrays<T> a;
  FlowConstants<T> constants;
  StageWeights<T> weights;
  RowEnds<T> ends;

  TUTTI_HD FaceForce<T> force_of(int c) const { return {constants.buoyancy[c], constants.reference}; }
  /// Cells [0, count) of a line along x, from cell `at`.
  template <int C>
  TUTTI_HD void component(Lid n, const Lid (&at)[3], Lid count) const {
    const MomentumLine<C, T> line(g, a.u, constants.viscosity, n, at);
    const FaceForce<T> face = force_of(C);
    const T force = constants.force[C];
    const StageWeights<T> stage = weights;
    const T *const forces = forced ? a.force[C] + n : nullptr, *const u = a.u[C] + n;
    const T* const temperature = warm ? a.scalars.of[0].now + n : nullptr;
    T *const next = a.intermediate.c[C] + n, *const rates = a.rate.c[C] + n;
    const Lid stride = g.stride(C);
    TUTTI_NO_ALIASES
    for (Lid i = 0; i < count; ++i) {
      T rate = line.rate(i) + (forced ? forces[i] : force);
      if (warm) rate += face.lift(temperature[i], temperature[i + stride]);
      next[i] = stage.step(u[i], rate, rates[i]);
      rates[i] = rate;
    }
    if (C != 0) return;
    if (at[0] == ends.lower.cell) next[-1] = ends.lower.through;
    if (at[0] + count - 1 == ends.upper.cell) next[count - 1] = ends.upper.through;
  }
  TUTTI_HD void cells(Lid count, const Lid (&at)[3]) const {
    const Lid n = g.array.at(at[0], at[1], at[2]);
    component<0>(n, at, count);
    component<1>(n, at, count);
    component<2>(n, at, count);
    for (int s = 0; s < a.scalars.count; ++s) step_scalar(g, a.u, a.scalars.of[s], weights, n, at, count);
  }
  TUTTI_HD void operator()(Lid i, Lid j, Lid k) const { cells(1, {i, j, k}); }
  /// The same for a line, with what it shares kept out of the loop: as vectors.
  void line(Lid begin, Lid end, Lid j, Lid k) const { cells(end - begin, {begin, j, k}); }
};

/// As `divergence`.
template <class T>
struct DivideDivergence {
  GridView<T> g;
  VelocityView<T> u;
  T* rhs;
  T inverse_dt;
  /// Of a cell: its three outflows less its inflows, and one over its widths.
  TUTTI_HD static T value(T dx, T dy, T dz, T x, T y, T z, T factor) {
    T sum = 0;
    sum += dx * x;
    sum += dy * y;
    sum += dz * z;
    return sum * factor;
  }
  /// Of cells [0, count) of a line along x, from cell `at`.
  TUTTI_HD void row(Lid count, const Lid (&at)[3], T* to) const {
    const Lid n = g.array.at(at[0], at[1], at[2]), row = g.stride(1), plane = g.stride(2);
    const MetricAlong<0, T> x(g.line[0].inverse_width + (at[0] - g.line[0].first));
    const T y = g.line[1].width(at[1]), z = g.line[2].width(at[2]), factor = inverse_dt;
    const T *const a = u[0] + n, *const b = u[1] + n, *const c = u[2] + n;
    TUTTI_NO_ALIASES
    for (Lid i = 0; i < count; ++i)
      to[i] = value(a[i] - a[i - 1], b[i] - b[i - row], c[i] - c[i - plane], x(i), y, z, factor);
  }
  TUTTI_HD void cells(Lid count, const Lid (&at)[3]) const { row(count, at, rhs + g.array.at(at[0], at[1], at[2])); }
  TUTTI_HD void operator()(Lid i, Lid j, Lid k) const { cells(1, {i, j, k}); }
  void line(Lid begin, Lid end, Lid j, Lid k) const { cells(end - begin, {begin, j, k}); }
};

template <class T>
struct Correct {
  GridView<T> g;
  VelocityView<T> intermediate, u;
  const T* p;
  T dt;
  Gain<T> gain;
  RowEnds<T> ends;
  TUTTI_HD static T value(T from, T dt, T p, T p_next, T distance) { return from - dt * (p_next - p) * distance; }
  /// What component C gains.
  template <int C>
  TUTTI_HD T gained(T projected) const {
    return gain.c == C ? projected + gain.by : projected;
  }
  template <int C>
  TUTTI_HD void component(Lid n, const Lid (&at)[3], Lid count) const {
    const MetricAlong<C, T> distance(g.line[C].inverse_distance + (at[C] - g.line[C].first));
    const Lid stride = g.stride(C);
    const T *const from = intermediate[C] + n, *const pressure = p + n;
    const T length = dt, by = gain.by;
    const bool gains = gain.c == C;
    T* const to = u.c[C] + n;
    TUTTI_NO_ALIASES
    for (Lid i = 0; i < count; ++i) {
      const T projected = value(from[i], length, pressure[i], pressure[i + stride], distance(i));
      to[i] = gains ? projected + by : projected;
    }
  }
  /// At and beyond the end beside cell n, whose new velocity along it is v, w.
  TUTTI_HD void fill_lower(Lid n, T v, T w) const {
    u.c[0][n - 1] = ends.lower.through;
    u.c[1][n - 1] = ends.lower.beyond(1, v);
    u.c[2][n - 1] = ends.lower.beyond(2, w);
  }
  TUTTI_HD void fill_upper(Lid n, T v, T w) const {
    u.c[0][n] = u.c[0][n + 1] = ends.upper.through;
    u.c[1][n + 1] = ends.upper.beyond(1, v);
    u.c[2][n + 1] = ends.upper.beyond(2, w);
  }
  TUTTI_HD void cells(Lid count, const Lid (&at)[3]) const {
    const Lid n = g.array.at(at[0], at[1], at[2]);
    component<0>(n, at, count);
    component<1>(n, at, count);
    component<2>(n, at, count);
    const Lid last = n + count - 1;
    if (at[0] == ends.lower.cell) fill_lower(n, u[1][n], u[2][n]);
    if (at[0] + count - 1 == ends.upper.cell) fill_upper(last, u[1][last], u[2][last]);
  }
  TUTTI_HD void operator()(Lid i, Lid j, Lid k) const { cells(1, {i, j, k}); }
  void line(Lid begin, Lid end, Lid j, Lid k) const { cells(end - begin, {begin, j, k}); }
};

// The passes over a part's fields as they are now.

template <class T>
ScalarView<T> view_of(PartScalar<T>& s, bool diffuses) {
  const T diffusivity = diffuses ? s.diffusivity : T(0);
  return {s.now.data(), s.next.data(), s.rate.data(), s.source.data(), s.constant_source, diffusivity};
}
/// Of the scalars from `first` on, as many as are taken together.
template <class T>
ScalarViews<T> scalars_from(FlowPart<T>& part, std::size_t first, bool diffuse) {
  ScalarViews<T> views;
  for (std::size_t s = first; s < part.scalars.size() && views.count < most_scalars_together; ++s)
    views.of[views.count++] = view_of(part.scalars[s], diffuse);
  return views;
}
/// warm and forced as the part is.
template <bool warm, bool forced, class T>
Predict<T, warm, forced> predict_pass(FlowPart<T>& part, const FlowConstants<T>& constants,
                                      const StageWeights<T>& weights, const RowEnds<T>& ends = {}) {
  return {part.grid.view(),
          {part.velocity(),
           part.intermediate_velocity(),
           {{part.rate[0].data(), part.rate[1].data(), part.rate[2].data()}},
           scalars_from(part, 0, constants.diffuses),
           {part.force[0].data(), part.force[1].data(), part.force[2].data()}},
          constants,
          weights,
          ends};
}
template <class T>
DivideDivergence<T> divergence_pass(FlowPart<T>& part, T dt) {
  return {part.grid.view(), part.intermediate_velocity(), part.rhs.data(), T(1) / dt};
}
template <class T>
Correct<T> correction_pass(FlowPart<T>& part, T dt, const Gain<T>& gain = {}, const RowEnds<T>& ends = {}) {
  return {part.grid.view(), part.intermediate_velocity(), part.velocity(), part.p.data(), dt, gain, ends};
}

}  // namespace tutti::incompressible

#undef TUTTI_NO_ALIASES
