// What is summed up, or compared, over the points of an element's volume, by a thread an element, or by a team where
// elements are recomputed.
#pragma once

#include "tutti/models/compressible/kernels/own_tables.hpp"
#include "tutti/models/compressible/kernels/recomputed.hpp"
#include "tutti/models/compressible/kernels/sensor.hpp"

namespace tutti::compressible {

/// Larger than any; not a number where one is none.
TUTTI_HD inline double larger(double a, double b) {
  return a > b || a != a ? a : b;
}

/// The gradient g[d][i] = du_i/dx_d of the velocity from that of density and momentum, slope[d][v].
TUTTI_HD inline void velocity_gradient(const double* state, const double (*slope)[4], double (*g)[3]) {
  for (int d = 0; d < 3; ++d)
    for (int i = 0; i < 3; ++i) g[d][i] = (slope[d][1 + i] - state[1 + i] / state[0] * slope[d][0]) / state[0];
}

// A quantity has `values` numbers, which begin with `first`, and sees each point: its weight, w_q |J_q| / V, which is 0
// of padding, its state, and where it wants `slopes`, the velocity's gradient. end(): the number of the element.

struct KineticEnergy {
  static constexpr int values = 1;
  static constexpr bool slopes = false;
  static constexpr double first = 0;
  TUTTI_HD void add(const PartView&, Lid, double w, const double* s, const double (*)[3], double* to) const {
    *to += w * (0.5 / s[0]) * (s[1] * s[1] + s[2] * s[2] + s[3] * s[3]);
  }
  TUTTI_HD double end(const PartView& view, Lid e, const double* x) const { return view.elements[e].volume * *x; }
};
struct Enstrophy {
  static constexpr int values = 1;
  static constexpr bool slopes = true;
  static constexpr double first = 0;
  TUTTI_HD void add(const PartView&, Lid, double w, const double* s, const double (*g)[3], double* to) const {
    const double x = g[1][2] - g[2][1], y = g[2][0] - g[0][2], z = g[0][1] - g[1][0];
    *to += w * 0.5 * s[0] * (x * x + y * y + z * z);
  }
  TUTTI_HD double end(const PartView& view, Lid e, const double* x) const { return view.elements[e].volume * *x; }
};
struct Rotation {
  static constexpr int values = 4;
  static constexpr bool slopes = true;
  static constexpr double first = 0;
  double* means;
  TUTTI_HD void add(const PartView&, Lid, double w, const double*, const double (*g)[3], double* to) const {
    to[0] += w * (g[1][2] - g[2][1]);
    to[1] += w * (g[2][0] - g[0][2]);
    to[2] += w * (g[0][1] - g[1][0]);
    double product = 0;  // Q = -1/2 du_i/dx_j du_j/dx_i
    for (int d = 0; d < 3; ++d)
      for (int i = 0; i < 3; ++i) product += g[d][i] * g[i][d];
    to[3] -= w * 0.5 * product;
  }
  TUTTI_HD double end(const PartView&, Lid e, const double* x) const {
    for (int k = 0; k < values; ++k) means[Size{values} * e + k] = x[k];
    return 0;
  }
};
struct LargestMach {
  static constexpr int values = 1;
  static constexpr bool slopes = false;
  static constexpr double first = 0;
  TUTTI_HD void add(const PartView& view, Lid, double, const double* s, const double (*)[3], double* to) const {
    const Primitive p = to_primitive(view.gas, s);
    *to = larger(std::sqrt(p.u * p.u + p.v * p.v + p.w * p.w) / sound_speed(view.gas, p.rho, p.p), *to);
  }
  TUTTI_HD double end(const PartView&, Lid, const double* x) const { return *x; }
};
struct Smallest {
  static constexpr int values = 1;
  static constexpr bool slopes = false;
  static constexpr double first = -portable::infinity;
  int which;
  TUTTI_HD void add(const PartView& view, Lid, double, const double* s, const double (*)[3], double* to) const {
    *to = larger(which == 0 ? -s[0] : -pressure(view.gas, s), *to);
  }
  TUTTI_HD double end(const PartView&, Lid, const double* x) const { return *x; }
};
struct SmallestStep {
  static constexpr int values = 1;
  static constexpr bool slopes = false;
  static constexpr double first = -portable::infinity;
  const double* u;
  const double* projected;
  TUTTI_HD void add(const PartView& view, Lid e, double, const double* s, const double (*)[3], double* to) const {
    const Gas& gas = view.gas;
    const double* side = projected + Size{3} * e;
    const double volume = view.elements[e].volume;
    const double squares = side[0] * side[0] + side[1] * side[1] + side[2] * side[2];
    const Primitive p = to_primitive(gas, s);
    const double sound = sound_speed(gas, p.rho, p.p);
    double rate =
        (std::fabs(p.u) + sound) * side[0] + (std::fabs(p.v) + sound) * side[1] + (std::fabs(p.w) + sound) * side[2];
    double diffusivity = view.sensor.on() ? artificial_viscosity(view, e, u) : 0;
    if (gas.viscous()) {
      const double mu = gas.viscosity_at(p.p / (p.rho * gas.constant));
      const double shear = 4 * mu / 3, heat = gas.gamma * mu / gas.prandtl;
      diffusivity += (shear > heat ? shear : heat) / p.rho;
    }
    if (diffusivity > 0) rate += diffusivity * 3 * (2 * view.order + 1) / volume * squares;
    *to = larger(-volume / rate, *to);
  }
  TUTTI_HD double end(const PartView&, Lid, const double* x) const { return *x; }
};

/// Of an element with tables, by one thread.
template <class Volumes, class Quantity>
struct OverPoints {
  PartView view;
  Volumes volumes;
  const double* u;
  Quantity quantity;

  TUTTI_HD void state(const ElementRecord& element, Lid e, int q, double* at) const {
    const Size first = element.values + q;
    const double* x = u + Size{variables} * view.bases * e;
    for (int v = 0; v < variables; ++v) {
      double sum = 0;
      for (int l = 0; l < view.bases; ++l)
        sum = std::fma(volumes(e, first + static_cast<Size>(l) * element.points), x[v * view.bases + l], sum);
      at[v] = sum;
    }
  }
  /// From the projection's table: its rows are w/V grad phi.
  TUTTI_HD void gradient(const ElementRecord& element, Lid e, int q, double weight, double (*to)[4]) const {
    const int columns = padded(view.bases), chunk = q / chunk_points * chunk_points;
    const int count = element.points - chunk < chunk_points ? element.points - chunk : chunk_points;
    const double* x = u + Size{variables} * view.bases * e;
    double slope[3][4];
    for (int d = 0; d < 3; ++d) {
      const Size row = element.projection + Size{3 * chunk + d * count + (q - chunk)} * columns;
      for (int v = 0; v < 4; ++v) {
        double sum = 0;
        for (int l = 0; l < view.bases; ++l) sum = std::fma(volumes(e, row + l), x[v * view.bases + l], sum);
        slope[d][v] = sum / weight;
      }
    }
    const double* m = view.metric + Size{9} * e;
    for (int d = 0; d < 3; ++d)
      for (int v = 0; v < 4; ++v)
        to[d][v] =
            element.affine != 0 ? m[d] * slope[0][v] + m[3 + d] * slope[1][v] + m[6 + d] * slope[2][v] : slope[d][v];
  }
  TUTTI_HD double operator()(Lid e) const {
    const ElementRecord& element = view.elements[e];
    double sums[Quantity::values];
    for (double& sum : sums) sum = Quantity::first;
    for (int q = 0; q < element.points; ++q) {
      const double weight = view.tables[element.weights + q];
      if (weight == 0) continue;  // padding
      double s[variables], slope[3][4], g[3][3];
      state(element, e, q, s);
      if (Quantity::slopes) {
        gradient(element, e, q, weight, slope);
        velocity_gradient(s, slope, g);
      }
      quantity.add(view, e, weight, s, g, sums);
    }
    return quantity.end(view, e, sums);
  }
};

/// Of all elements of a part where some are recomputed, by teams: to[e].
template <class Quantity>
struct OverMatrices {
  static constexpr int blocks = 2;
  PartView view;
  const double* u;
  Quantity quantity;
  double* to;

  template <class Team>
  struct Scratch {
    static constexpr int columns = padded(Team::bases);
    recomputed::Tile<Team, Team::points> tile;
    double state[variables * columns];
    double gradient[Quantity::slopes ? 3 * variables * columns : 1];
    double at[variables * Team::points];
    double slopes[Quantity::slopes ? 3 * variables * Team::points : 1];
    double sums[Quantity::values];
  };

  template <class Team>
  TUTTI_HD void operator()(const Team& team, Lid e, Scratch<Team>& s) const {
    const ElementRecord& element = view.elements[e];
    if (element.matrix < 0) {
      if (team.first() == 0) to[e] = OverPoints<TablesInPlace, Quantity>{view, {view.tables}, u, quantity}(e);
      return;
    }
    constexpr int stride = Team::points;
    const int columns = padded(view.bases);
    recomputed::set_state(team, view, e, u, s.state);
    if constexpr (Quantity::slopes) recomputed::set_gradient(team, view, e, s.state, s.gradient);
    if (team.first() == 0)
      for (double& sum : s.sums) sum = Quantity::first;
    for (int begin = 0; begin < element.points; begin += stride) {
      const int left = element.points - begin, count = left < stride ? left : stride;
      recomputed::set_monomials<false>(team, view, view.tables + element.places, element.points, begin, count, s.tile);
      set_zero(team, s.at, variables * stride);
      if constexpr (Quantity::slopes) set_zero(team, s.slopes, 3 * variables * stride);
      team.meet();
      recomputed::evaluate<variables>(team, s.tile, view.bases, s.state, columns, count, s.at, stride);
      if constexpr (Quantity::slopes)
        for (int d = 0; d < 3; ++d)
          recomputed::evaluate<variables>(team, s.tile, view.bases, s.gradient + d * columns, 3 * columns, count,
                                          s.slopes + d * stride, 3 * stride);
      team.meet();
      if (team.first() == 0)
        for (int q = 0; q < count; ++q) {
          const double weight = view.tables[element.weights + begin + q];
          if (weight == 0) continue;
          double state[variables], slope[3][4], g[3][3];
          for (int v = 0; v < variables; ++v) state[v] = s.at[v * stride + q];
          if constexpr (Quantity::slopes) {
            for (int d = 0; d < 3; ++d)
              for (int v = 0; v < 4; ++v) slope[d][v] = s.slopes[(3 * v + d) * stride + q];
            velocity_gradient(state, slope, g);
          }
          quantity.add(view, e, weight, state, g, s.sums);
        }
      team.meet();
    }
    if (team.first() == 0) to[e] = quantity.end(view, e, s.sums);
    team.meet();
  }
};

}  // namespace tutti::compressible
