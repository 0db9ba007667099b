// The right-hand side in weak form, element by element:
//   V du_l/dt = int F . grad phi_l dV - sum_f oint f(u_left, u_right, n) phi_l dS,
// and what a stage of a time method makes of it. Faces first, then elements.
#pragma once

#include "tutti/models/compressible/kernels/hexahedra.hpp"
#include "tutti/models/compressible/kernels/own_tables.hpp"
#include "tutti/models/compressible/kernels/products.hpp"
#include "tutti/models/compressible/kernels/recomputed.hpp"
#include "tutti/models/compressible/kernels/stage.hpp"
#include "tutti/models/compressible/kernels/view.hpp"

namespace tutti::compressible {

/// Values of both sides at the points of a face.
template <class Team, class Sides, bool viscous = false>
struct FaceScratch {
  double left[variables * Team::face_points], right[variables * Team::face_points];
  hexahedra::Scratch<Team::order> hex;
  double tile[tile_values<Sides> + 1];
  recomputed::OptionalScratch<Team, with_matrices<Sides>, viscous> recomputed;
};

/// The states of both sides at the points of face i.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
template <class Team, class Sides, bool viscous>
TUTTI_HD inline void trace_sides(const Team& team, const PartView& view, const Sides& sides, Lid i, const double* u,
                                 FaceScratch<Team, Sides, viscous>& s) {
  const FaceRecord& face = view.faces[i];
  const int n = face.points, bases = view.bases;
  const Size row = Size{variables} * bases;
  for (int side = 0; side < (face.right >= 0 ? 2 : 1); ++side) {
    double* to = side == 0 ? s.left : s.right;
    const Lid e = side == 0 ? face.left : face.right;
    const double* coefficients = u + e * row;
    if constexpr (hexahedra::works_for<Team>) {
      if (hexahedra::is(face, side)) {
        hexahedra::trace(team, view, face, side, coefficients, to, s.hex);
        continue;
      }
    }
    if constexpr (with_matrices<Sides>) {
      if (face.places[side] >= 0) {
        recomputed::trace(team, view, face, side, u, s.recomputed, to);
        continue;
      }
    }
    set_zero(team, to, variables * n);
    team.meet();
    read_side_table(team, view, sides, i, e, face.trace[side], bases, n, s.tile,
                    [&](const double* table, int stride, int first, int count) {
                      add_product<variables>(team, table, stride, count, coefficients + first, bases, n, to, n);
                    });
  }
  team.meet();
}

TUTTI_HD inline Vec3 normal_at(const PartView& view, const FaceRecord& face, int q) {
  const double* n = view.normals + face.normals + static_cast<Size>(face.normal_step) * q;
  return {n[0], n[1], n[2]};
}
template <class Points>
TUTTI_HD inline VecOf<NumberOf<Points>> normals_at(const PartView& view, const FaceRecord& face, const Points& at) {
  const double* n = view.normals + face.normals;
  if (face.normal_step == 0) return {n[0], n[1], n[2]};
  return {at.gather(n, 3), at.gather(n + 1, 3), at.gather(n + 2, 3)};
}

/// Numerical fluxes at the points of faces, from left to right. `Outside`: what lies beyond the boundary.
template <class Sides, class Outside>
struct FaceFluxes {
  static constexpr int blocks = 5;
  template <class Team>
  using Scratch = FaceScratch<Team, Sides>;

  PartView view;
  Sides sides;
  const double* u;
  double* flux;
  Outside outside;

  template <class Team>
  TUTTI_HD void operator()(const Team& team, Lid i, FaceScratch<Team, Sides>& s) const {
    const FaceRecord& face = view.faces[i];
    trace_sides(team, view, sides, i, u, s);
    const int n = face.points;
    if (face.right < 0) {
      for (int q = team.first(); q < n; q += team.step()) {
        double l[variables], r[variables];
        load_rows<variables>(OnePoint{q}, s.left, n, l);
        outside.state(view.gas, face, q, normal_at(view, face, q), l, r);
        store_rows<variables>(OnePoint{q}, r, s.right, n);
      }
      team.meet();
    }
    for_each_point(team, n, [&](const auto at) {
      NumberOf<decltype(at)> l[variables], r[variables], f[variables];
      load_rows<variables>(at, s.left, n, l);
      load_rows<variables>(at, s.right, n, r);
      numerical_flux(view.flux, view.gas, l, r, normals_at(view, face, at), f);
      store_rows<variables>(at, f, flux + face.at, n);
    });
    team.meet();
  }
};

/// Values at a face's points in the order of a side's lift, times `scale`.
template <class Team>
TUTTI_HD inline void scale_turned(const Team& team, const PartView& view, const FaceRecord& face, int side,
                                  double scale, const double* values, double* to) {
  const int n = face.points;
  const double* from = values + face.at;
  if (side == 0 || face.turn == 0)
    return for_each_value(team, 1, variables * n, [=](int, int i) { to[i] = scale * from[i]; });
  const std::uint8_t* order = view.turns + face.turn;
  for_each_value(team, variables, n, [=](int v, int q) { to[v * n + q] = scale * from[v * n + order[q]]; });
}

/// What elements that are factored need; `with` none of a part: nothing.
template <int order, bool with>
struct HexahedronScratch {
  hexahedra::VolumeScratch<order> volume;
};
template <int order>
struct HexahedronScratch<order, false> {};

/// Coefficients of an element while its rate is added up.
template <class Team, class Volumes, bool factored>
struct ElementScratch {
  static constexpr bool with_lines = factored && hexahedra::works_for<Team>;
  HexahedronScratch<Team::order, with_lines> hex;
  double rate[variables * padded(Team::bases)];
  double at[variables * (Team::points > Team::face_points ? Team::points : Team::face_points)];
  double f[variables * 3 * Team::points];
  double metric[9];  ///< times the stage's factor; of elements with tables of their own only that
  double tile[tile_values<Volumes> + 1];
};

/// Adds the faces' share: what leaves through them.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
template <class Team, class Volumes, bool factored>
TUTTI_HD inline void add_faces(const Team& team, const PartView& view, const Volumes& volumes, Lid e,
                               const double* flux, double factor, ElementScratch<Team, Volumes, factored>& s) {
  const int columns = padded(view.bases);
  for (int k = 0; k < max_faces; ++k) {
    const std::int32_t code = view.face_of[Size{max_faces} * e + k];
    if (code < 0) continue;
    const FaceRecord& face = view.faces[code >> 1];
    const int side = code & 1, n = face.points;
    const double scale = side == 0 ? -factor * face.scale[0] : factor * face.scale[1];
    if constexpr (ElementScratch<Team, Volumes, factored>::with_lines) {
      if (hexahedra::is(face, side)) {
        hexahedra::lift(team, view, face, side, scale, flux, s.rate, columns, s.hex.volume.plane);
        continue;
      }
    }
    scale_turned(team, view, face, side, scale, flux, s.at);
    team.meet();
    read_side_table(team, view, volumes, e, e, face.lift[side], n, columns, s.tile,
                    [&](const double* table, int stride, int first, int count) {
                      add_product<variables>(team, table, stride, count, s.at + first, n, columns, s.rate, columns);
                    });
    team.meet();
  }
}

/// The flux g[d][v] in the directions of the tables: along the metric's rows, or in space.
template <class T, class M>
TUTTI_HD inline void turn_flux(bool affine, const M* metric, T (*g)[variables]) {
  for (int v = 0; v < variables; ++v) {
    const T along[3] = {g[0][v], g[1][v], g[2][v]};
    for (int d = 0; d < 3; ++d)
      g[d][v] = affine
                    ? fused(metric[3 * d + 2], along[2], fused(metric[3 * d + 1], along[1], metric[3 * d] * along[0]))
                    : metric[0] * along[d];
  }
}
/// Puts it where the projection wants it: by chunks, directions, points.
template <class Points>
TUTTI_HD inline void put_flux(const NumberOf<Points> (*g)[variables], int count, const Points& at, double* f,
                              int stride) {
  const int chunk = at.q / chunk_points * chunk_points;
  const int size = count - chunk < chunk_points ? count - chunk : chunk_points;
  for (int d = 0; d < 3; ++d) store_rows<variables>(at, g[d], f + 2 * chunk + d * size, stride);
}

template <class Team, class Volumes, bool factored>
TUTTI_HD inline void scale_metric(const Team& team, const PartView& view, Lid e, double factor,
                                  ElementScratch<Team, Volumes, factored>& s) {
  const bool affine = view.elements[e].affine != 0;
  for (int i = team.first(); i < 9; i += team.step())
    s.metric[i] = affine ? factor * view.metric[Size{9} * e + i] : factor;
}

/// The same of a factored element.
template <class Team>
TUTTI_HD inline void add_factored_volume(const Team& team, const PartView& view, Lid e, const double* u,
                                         const double* metric, double* rate, hexahedra::VolumeScratch<Team::order>& s) {
  hexahedra::add_volume(team, view, u + Size{variables} * view.bases * e, rate, padded(view.bases), s,
                        [&](int count, const auto& fetch) {
                          fetch(s.modes, s.state);
                          for_each_point(team, padded(count), [&](const auto points) {
                            using T = NumberOf<decltype(points)>;
                            T state[variables], g[variables];
                            load_rows<variables>(points, s.state, s.stride, state);
                            const T inverse = inverse_of(state[0]), p = pressure(view.gas, state, inverse);
                            watch(view, e, points, s.state, s.stride, state[0], p);
                            for (int d = 0; d < 3; ++d) {
                              flux_along(state, inverse, p, metric + 3 * d, g);
                              store_rows<variables>(points, g, s.flux[d], s.stride);
                            }
                          });
                        });
}

#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
template <class Team, class Volumes, bool factored>
TUTTI_HD inline void add_volume(const Team& team, const PartView& view, const Volumes& volumes, Lid e, const double* u,
                                ElementScratch<Team, Volumes, factored>& s) {
  const ElementRecord& element = view.elements[e];
  const int bases = view.bases, columns = padded(bases);
  if constexpr (ElementScratch<Team, Volumes, factored>::with_lines) {
    if (element.factored != 0) return add_factored_volume(team, view, e, u, s.metric, s.rate, s.hex.volume);
  }
  constexpr int at_once = Team::points, stride = 3 * at_once;
  const double* coefficients = u + Size{variables} * bases * e;
  for (int begin = 0; begin < element.points; begin += at_once) {
    const int left = element.points - begin, count = left < at_once ? left : at_once;
    set_zero(team, s.at, variables * at_once);
    team.meet();
    read_table(team, volumes, e, element.values + begin, element.points, bases, count, s.tile,
               [&](const double* table, int stride_of_table, int first, int rows) {
                 add_product<variables>(team, table, stride_of_table, rows, coefficients + first, bases, count, s.at,
                                        at_once);
               });
    team.meet();
    for_each_point(team, count, [&](const auto points) {
      using T = NumberOf<decltype(points)>;
      T state[variables], g[3][variables];
      load_rows<variables>(points, s.at, at_once, state);
      const T inverse = inverse_of(state[0]), p = pressure(view.gas, state, inverse);
      watch(view, e, points, s.at, at_once, state[0], p);
      if (element.affine != 0) {
        for (int d = 0; d < 3; ++d) flux_along(state, inverse, p, s.metric + 3 * d, g[d]);
      } else {
        euler_flux(state, inverse, p, g);
        turn_flux(false, s.metric, g);
      }
      put_flux(g, count, points, s.f, stride);
    });
    team.meet();
    read_table(team, volumes, e, element.projection + Size{3} * begin * columns, columns, 3 * count, columns, s.tile,
               [&](const double* table, int stride_of_table, int first, int rows) {
                 add_product<variables>(team, table, stride_of_table, rows, s.f + first, stride, columns, s.rate,
                                        columns);
               });
    team.meet();
  }
}

/// A stage: the new coefficients of an element from its faces' fluxes and its own values.
template <class Volumes, bool factored>
struct AdvanceElements {
  static constexpr int blocks = factored ? 4 : 7;
  template <class Team>
  using Scratch = ElementScratch<Team, Volumes, factored>;

  PartView view;
  Volumes volumes;
  const double* u;
  const double* flux;
  StageArrays stage;

  template <class Team>
  TUTTI_HD void operator()(const Team& team, Lid e, ElementScratch<Team, Volumes, factored>& s) const {
    if constexpr (with_matrices<Volumes>) {
      if (view.elements[e].matrix >= 0) return;  // recomputed::Advance
    }
    const int bases = view.bases, columns = padded(bases);
    begin_stage(team, stage, e, bases, columns, s.rate);
    scale_metric(team, view, e, stage.factor, s);
    team.meet();
    add_faces(team, view, volumes, e, flux, stage.factor, s);
    add_volume(team, view, volumes, e, u, s);
    end_stage(team, stage, e, bases, columns, s.rate);
    team.meet();
  }
};

}  // namespace tutti::compressible
