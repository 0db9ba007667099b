// Passes over the cells of a flow. Compiles as plain C++ without CUDA.
#include "tutti/models/incompressible/flow_part.hpp"

#include <vector>

#include "tutti/exchange/for_each_cell.hpp"

// Loops along a line become vectors on the host: no array is another's, and there are too many to check when they run.
#if defined(__GNUC__) && !defined(__CUDA_ARCH__)
#define TUTTI_NO_ALIASES _Pragma("GCC ivdep")
#else
#define TUTTI_NO_ALIASES
#endif

namespace tutti::incompressible {
namespace {

template <class T>
struct ScalarView {
  const T* now = nullptr;
  T *next = nullptr, *rate = nullptr;
  const T* source = nullptr;  ///< null where it is constant
  T constant_source = 0, diffusivity = 0;
};

template <class T>
ScalarView<T> view_of(PartScalar<T>& s, bool diffuses) {
  const T diffusivity = diffuses ? s.diffusivity : T(0);
  return {s.now.data(), s.next.data(), s.rate.data(), s.source.data(), s.constant_source, diffusivity};
}

template <class T>
TUTTI_HD inline void step_scalar(const GridView<T>& g, const VelocityView<T>& u, const ScalarView<T>& s,
                                 const StageWeights<T>& weights, Lid n, const Lid (&at)[3]) {
  const T rate =
      scalar_rate(g, u, s.now, s.diffusivity, n, at) + (s.source != nullptr ? s.source[n] : s.constant_source);
  s.next[n] = s.now[n] + (weights.now * rate + weights.old * s.rate[n]);
  s.rate[n] = rate;
}

template <class T>
struct StepScalar {
  GridView<T> g;
  VelocityView<T> u;
  ScalarView<T> s;
  StageWeights<T> weights;
  TUTTI_HD void operator()(Lid i, Lid j, Lid k) const {
    const Lid at[3] = {i, j, k};
    step_scalar(g, u, s, weights, g.array.at(i, j, k), at);
  }
};

template <class T>
struct Arrays {
  VelocityView<T> u, intermediate, rate;
  ScalarView<T> temperature;
  const T* force[3];
};

/// Velocity, and the temperature, which it reads anyway. Two of the flags that change what a cell reads; they are the
/// same for all cells.
template <class T, bool warm, bool forced>
struct Predict {
  GridView<T> g;
  Arrays<T> a;
  FlowConstants<T> constants;
  StageWeights<T> weights;

  /// Cells [0, count) of a line along x, from cell `at`.
  template <int C>
  TUTTI_HD void component(Lid n, const Lid (&at)[3], Lid count) const {
    const MomentumLine<C, T> line(g, a.u, constants.viscosity, n, at);
    const T half = T(0.5), buoyancy = constants.buoyancy[C], reference = constants.reference;
    const T force = constants.force[C], now = weights.now, old = weights.old;
    const T *const forces = forced ? a.force[C] + n : nullptr, *const u = a.u[C] + n;
    const T* const temperature = warm ? a.temperature.now + n : nullptr;
    T *const next = a.intermediate.c[C] + n, *const rates = a.rate.c[C] + n;
    const Lid stride = g.stride(C);
    TUTTI_NO_ALIASES
    for (Lid i = 0; i < count; ++i) {
      T rate = line.rate(i) + (forced ? forces[i] : force);
      if (warm) rate += buoyancy * (half * (temperature[i] + temperature[i + stride]) - reference);
      next[i] = u[i] + (now * rate + old * rates[i]);
      rates[i] = rate;
    }
  }
  TUTTI_HD void cells(Lid count, const Lid (&at)[3]) const {
    const Lid n = g.array.at(at[0], at[1], at[2]);
    component<0>(n, at, count);
    component<1>(n, at, count);
    component<2>(n, at, count);
    if (warm)
      for (Lid i = 0; i < count; ++i) step_scalar(g, a.u, a.temperature, weights, n + i, {at[0] + i, at[1], at[2]});
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
  TUTTI_HD void cells(Lid count, const Lid (&at)[3]) const {
    const Lid n = g.array.at(at[0], at[1], at[2]), row = g.stride(1), plane = g.stride(2);
    const MetricAlong<0, T> x(g.line[0].inverse_width + (at[0] - g.line[0].first));
    const T y = g.line[1].width(at[1]), z = g.line[2].width(at[2]), factor = inverse_dt;
    const T *const a = u[0] + n, *const b = u[1] + n, *const c = u[2] + n;
    T* const to = rhs + n;
    TUTTI_NO_ALIASES
    for (Lid i = 0; i < count; ++i) {
      T sum = 0;
      sum += (a[i] - a[i - 1]) * x(i);
      sum += (b[i] - b[i - row]) * y;
      sum += (c[i] - c[i - plane]) * z;
      to[i] = sum * factor;
    }
  }
  TUTTI_HD void operator()(Lid i, Lid j, Lid k) const { cells(1, {i, j, k}); }
  void line(Lid begin, Lid end, Lid j, Lid k) const { cells(end - begin, {begin, j, k}); }
};

template <class T>
struct Correct {
  GridView<T> g;
  VelocityView<T> intermediate, u;
  const T* p;
  T dt;
  template <int C>
  TUTTI_HD void component(Lid n, const Lid (&at)[3], Lid count) const {
    const MetricAlong<C, T> distance(g.line[C].inverse_distance + (at[C] - g.line[C].first));
    const Lid stride = g.stride(C);
    const T *const from = intermediate[C] + n, *const pressure = p + n;
    const T length = dt;
    T* const to = u.c[C] + n;
    TUTTI_NO_ALIASES
    for (Lid i = 0; i < count; ++i) to[i] = from[i] - length * (pressure[i + stride] - pressure[i]) * distance(i);
  }
  TUTTI_HD void cells(Lid count, const Lid (&at)[3]) const {
    const Lid n = g.array.at(at[0], at[1], at[2]);
    component<0>(n, at, count);
    component<1>(n, at, count);
    component<2>(n, at, count);
  }
  TUTTI_HD void operator()(Lid i, Lid j, Lid k) const { cells(1, {i, j, k}); }
  void line(Lid begin, Lid end, Lid j, Lid k) const { cells(end - begin, {begin, j, k}); }
};

template <class T>
struct Shift {
  BoxArray array;
  T* u;
  T by;
  TUTTI_HD void operator()(Lid i, Lid j, Lid k) const { u[array.at(i, j, k)] += by; }
};

}  // namespace

template <class T>
PartGrid<T>::PartGrid(Stream& stream, const BoxGrid& whole, const BoxArray& layout) : array(layout) {
  for (std::size_t d = 0; d < 3; ++d) {
    const GridLine& line = whole.lines[d];
    std::vector<T> widths, distances, lower_shares;
    for (Lid i = array.stored.lower[d]; i < array.stored.upper[d]; ++i) {
      widths.push_back(static_cast<T>(1 / line.width(i)));
      distances.push_back(static_cast<T>(1 / (i < line.cells() ? line.distance(i) : line.width(i))));
      lower_shares.push_back(static_cast<T>(i < line.cells() ? 0.5 * line.width(i) / line.distance(i) : 0.5));
    }
    inverse_widths[d] = make_buffer(stream, std::span<const T>(widths), "cell widths");
    inverse_distances[d] = make_buffer(stream, std::span<const T>(distances), "distances of cells");
    shares[d] = make_buffer(stream, std::span<const T>(lower_shares), "shares of cells");
  }
}

template <class T>
GridView<T> PartGrid<T>::view() const {
  GridView<T> view{array, {}};
  for (std::size_t d = 0; d < 3; ++d)
    view.line[d] = {inverse_widths[d].data(), inverse_distances[d].data(), shares[d].data(), array.stored.lower[d]};
  return view;
}

template <class T>
void predict(Kernels& to, FlowPart<T>& part, const FlowConstants<T>& constants, const StageWeights<T>& weights) {
  const Arrays<T> a{part.velocity(),
                    part.intermediate_velocity(),
                    {{part.rate[0].data(), part.rate[1].data(), part.rate[2].data()}},
                    part.warm ? view_of(part.scalars[0], constants.diffuses) : ScalarView<T>{},
                    {part.force[0].data(), part.force[1].data(), part.force[2].data()}};
  const bool forced = !part.force[0].empty();
  const auto add = [&]<bool w, bool f>() {
    to.add(on_cells<T>(Predict<T, w, f>{part.grid.view(), a, constants, weights}));
  };
  if (part.warm)
    forced ? add.template operator()<true, true>() : add.template operator()<true, false>();
  else
    forced ? add.template operator()<false, true>() : add.template operator()<false, false>();
  for (std::size_t s = part.warm ? 1 : 0; s < part.scalars.size(); ++s)
    to.add(on_cells<T>(
        StepScalar<T>{part.grid.view(), part.velocity(), view_of(part.scalars[s], constants.diffuses), weights}));
}

template <class T>
void pressure_right_hand_side(Kernels& to, FlowPart<T>& part, T dt) {
  to.add(on_cells<T>(DivideDivergence<T>{part.grid.view(), part.intermediate_velocity(), part.rhs.data(), T(1) / dt}));
}

template <class T>
void correct(Kernels& to, FlowPart<T>& part, T dt) {
  to.add(on_cells<T>(Correct<T>{part.grid.view(), part.intermediate_velocity(), part.velocity(), part.p.data(), dt}));
}

template <class T>
void shift_velocity(Kernels& to, FlowPart<T>& part, int c, T by) {
  to.add(on_cells<T>(Shift<T>{part.grid.array, part.u[static_cast<std::size_t>(c)].data(), by}));
}

#define TUTTI_INSTANTIATE(T)                                                                      \
  template struct PartGrid<T>;                                                                    \
  template void predict(Kernels&, FlowPart<T>&, const FlowConstants<T>&, const StageWeights<T>&); \
  template void pressure_right_hand_side(Kernels&, FlowPart<T>&, T);                              \
  template void correct(Kernels&, FlowPart<T>&, T);                                               \
  template void shift_velocity(Kernels&, FlowPart<T>&, int, T);
TUTTI_INSTANTIATE(double)
TUTTI_INSTANTIATE(float)
#undef TUTTI_INSTANTIATE
#undef TUTTI_NO_ALIASES

}  // namespace tutti::incompressible
