// A stage of elements whose basis is recomputed (recomputed.hpp): as AdvanceElements and AdvanceViscousElements.
#pragma once

#include "tutti/models/compressible/kernels/recomputed.hpp"
#include "tutti/models/compressible/kernels/viscous.hpp"

namespace tutti::compressible::recomputed {

/// Memory of one element. In rows of padded(bases) values or of points.
template <class Team, bool viscous>
struct ElementScratch {
  static constexpr int columns = padded(Team::bases), points = Team::points,
                       most = points > Team::face_points ? points : Team::face_points;
  Tile<Team, most> tile;
  double state[variables * columns];      ///< polynomials
  double moments[variables * columns];    ///< of the rate
  double along[3 * variables * columns];  ///< moments of fluxes along r, which derivatives take
  double rate[variables * columns];
  double at[variables * most];
  double f[3 * variables * most + 8];
  double metric[9];  ///< times the stage's factor
  // Of viscous flow: polynomials of the gradient, moments of jumps, the gradient at points.
  double gradient[viscous ? 3 * variables * columns : 1];
  double lifted[viscous ? 3 * variables * columns : 1];
  double slopes[viscous ? 3 * variables * most : 1];
};

template <bool viscous>
struct Advance {
  static constexpr int blocks = viscous ? 3 : 4;
  template <class Team>
  using Scratch = ElementScratch<Team, viscous>;

  PartView view;
  const double* u;
  const double* flux;
  const double* jump;
  StageArrays stage;

  /// Moments of what leaves through the faces, and of viscous flow of jumps.
  template <class Team>
  TUTTI_HD void add_faces(const Team& team, Lid e, Scratch<Team>& s) const {
    const int columns = padded(view.bases);
    for (int k = 0; k < max_faces; ++k) {
      const std::int32_t code = view.face_of[Size{max_faces} * e + k];
      if (code < 0) continue;
      const FaceRecord& face = view.faces[code >> 1];
      const int side = code & 1, n = face.points;
      const double* areas = view.tables + face.areas;
      const double scale = side == 0 ? -stage.factor * face.scale[0] : stage.factor * face.scale[1];
      set_monomials<true>(team, view, view.tables + face.places[side], n, 0, n, s.tile);
      for_each_value(team, variables, n,
                     [&](int v, int q) { s.at[v * n + q] = scale * areas[q] * flux[face.at + v * n + q]; });
      team.meet();
      add_moments<variables>(team, s.tile, view.bases, n, s.at, n, view.bases, s.moments, columns);
      if constexpr (viscous) add_jump(team, view, face, face.scale[side], jump, s.tile, s.f, s.lifted);
      team.meet();
    }
  }

#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
  template <class Team>
  TUTTI_HD void add_volume(const Team& team, Lid e, Scratch<Team>& s) const {
    // Fluxes along r: threads read those of different directions, each from other banks.
    constexpr int stride = Scratch<Team>::points, apart = variables * stride + 4;
    const ElementRecord& element = view.elements[e];
    const int columns = padded(view.bases), below = basis_size(view.order - 1);
    const double *places = view.tables + element.places, *shares = view.tables + element.weights;
    double artificial = 0;
    if constexpr (viscous)
      if (view.sensor.on()) artificial = artificial_viscosity(view, e, u);
    for (int begin = 0; begin < element.points; begin += stride) {
      const int left = element.points - begin, count = left < stride ? left : stride;
      set_monomials<true>(team, view, places, element.points, begin, count, s.tile);
      set_zero(team, s.at, variables * stride);
      if constexpr (viscous) set_zero(team, s.slopes, 3 * variables * stride);
      team.meet();
      evaluate<variables>(team, s.tile, view.bases, s.state, columns, count, s.at, stride);
      if constexpr (viscous)
        for (int d = 0; d < 3; ++d)
          evaluate<variables>(team, s.tile, view.bases, s.gradient + d * columns, 3 * columns, count,
                              s.slopes + d * stride, 3 * stride);
      team.meet();
      for_each_point(team, count, [&](const auto at) {
        using T = NumberOf<decltype(at)>;
        T state[variables], f[3][variables];
        load_rows<variables>(at, s.at, stride, state);
        const T inverse = inverse_of(state[0]), p = pressure(view.gas, state, inverse), share = at.load(shares + begin);
        watch(view, e, at, s.at, stride, state[0], p);
        if constexpr (viscous) {
          T g[3][variables], h[3][variables];
          for (int d = 0; d < 3; ++d) load_rows<variables>(at, s.slopes + d * stride, 3 * stride, g[d]);
          euler_flux(state, inverse, p, f);
          viscous_flux(view.gas, state, inverse, g, 1, h);
          if (artificial > 0) add_artificial(artificial, g, h);
          for (int d = 0; d < 3; ++d)
            for (int v = 0; v < variables; ++v) f[d][v] = f[d][v] - h[d][v];
          turn_flux(true, s.metric, f);
        } else {
          for (int d = 0; d < 3; ++d) flux_along(state, inverse, p, s.metric + 3 * d, f[d]);
        }
        for (int d = 0; d < 3; ++d) {
          for (int v = 0; v < variables; ++v) f[d][v] = share * f[d][v];
          store_rows<variables>(at, f[d], s.f + d * apart, stride);
        }
      });
      team.meet();
      add_moments_along(team, s.tile, view.bases, count, s.f, stride, apart, below, s.along, columns);
      team.meet();
    }
  }

  /// Moments of all: those of fluxes times the derivatives of monomials come to those of the faces.
  template <class Team>
  TUTTI_HD void add_derivatives(const Team& team, Scratch<Team>& s) const {
    const int columns = padded(view.bases);
    for_each_value(team, variables, view.bases, [&](int v, int k) {
      double sum = s.moments[v * columns + k];
      for (int d = 0; d < 3; ++d)
        if (const int power = view.monomials.power(d, k); power > 0)
          sum = std::fma(power, s.along[(d * variables + v) * columns + view.monomials.lower(d, k)], sum);
      s.moments[v * columns + k] = sum;
    });
    team.meet();
  }

  template <class Team>
  TUTTI_HD void operator()(const Team& team, Lid e, Scratch<Team>& s) const {
    const ElementRecord& element = view.elements[e];
    if (element.matrix < 0) return;
    const int columns = padded(view.bases);
    begin_stage(team, stage, e, view.bases, columns, s.rate);
    set_state(team, view, e, u, s.state);
    set_zero(team, s.moments, variables * columns);
    set_zero(team, s.along, 3 * variables * columns);
    if constexpr (viscous) set_zero(team, s.lifted, 3 * variables * columns);
    for (int i = team.first(); i < 9; i += team.step()) s.metric[i] = stage.factor * view.metric[Size{9} * e + i];
    team.meet();
    add_faces(team, e, s);
    if constexpr (viscous) {
      set_gradient(team, view, e, s.state, s.gradient);
      add_lifted(team, view, element, s.lifted, s.f, s.gradient);
    }
    add_volume(team, e, s);
    add_derivatives(team, s);
    add_projected<variables>(team, view, element, s.moments, columns, s.rate, columns);
    team.meet();
    end_stage(team, stage, e, view.bases, columns, s.rate);
    team.meet();
  }
};

}  // namespace tutti::compressible::recomputed
