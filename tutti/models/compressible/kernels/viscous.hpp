// The right-hand side with viscous fluxes by the second scheme of Bassi and Rebay (BR2): the jump at a face is lifted
// into both elements,
//   int r_f phi dV = 1/2 oint_f phi (u_right - u_left) n dS,
// the gradient at the face is grad u + eta r_f, in the volume grad u + sum_f r_f. r_f needs the face's two elements
// only, so that nothing but their coefficients travels. Lifting is done in coefficients, in the volume of elements
// with slopes (view.hpp) at its points.
#pragma once

#include "tutti/models/compressible/flux/viscous_flux.hpp"
#include "tutti/models/compressible/kernels/rhs.hpp"
#include "tutti/models/compressible/kernels/sensor.hpp"

namespace tutti::compressible {

inline constexpr int gradients = 3 * variables;

/// Adds what artificial viscosity makes of the gradients: all five variables diffuse alike.
template <class T>
TUTTI_HD inline void add_artificial(double viscosity, const T (*g)[variables], T (*f)[variables]) {
  for (int d = 0; d < 3; ++d)
    for (int v = 0; v < variables; ++v) f[d][v] = fused(viscosity, g[d][v], f[d][v]);
}

/// From reference coordinates to space.
template <class T, class M>
TUTTI_HD inline void turn_slopes(const M* metric, T (*g)[variables]) {
  for (int v = 0; v < variables; ++v) {
    const T r = g[0][v], s = g[1][v], t = g[2][v];
    for (int d = 0; d < 3; ++d) g[d][v] = fused(metric[6 + d], t, fused(metric[3 + d], s, metric[d] * r));
  }
}

/// Coefficients of the gradient of an element: g[v][d][columns].
template <class Team>
TUTTI_HD inline void element_gradient(const Team& team, const PartView& view, Lid e, const double* u, double* g) {
  const int bases = view.bases, columns = padded(bases), row = 3 * columns;
  const ElementRecord& element = view.elements[e];
  set_zero(team, g, variables * row);
  team.meet();
  add_product<variables>(team, view.tables + element.derivative, row, bases, u + Size{variables} * bases * e, bases,
                         row, g, row);
  team.meet();
  if (element.affine == 0) return;
  const double* m = view.metric + Size{9} * e;
  for_each_value(team, variables, columns, [=](int v, int i) {
    double* to = g + v * row + i;
    const double r = to[0], s = to[columns], t = to[2 * columns];
    for (int d = 0; d < 3; ++d) to[d * columns] = std::fma(m[6 + d], t, std::fma(m[3 + d], s, m[d] * r));
  });
  team.meet();
}

/// Adds what a face's jump is, times `factor`, when lifted into one of its elements: to g[v][d][columns]. Where the
/// face is flat, its normal comes behind the product. read_lift(use): as read_table.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
template <class Team, class Scratch, class ReadLift>
TUTTI_HD inline void lift_jump(const Team& team, const PartView& view, const FaceRecord& face, int side, double factor,
                               const double* jump, const ReadLift& read_lift, Scratch& s) {
  const int n = face.points, columns = padded(view.bases), count = variables * columns;
  if (face.normal_step == 0) {
    set_zero(team, s.scalar, count);
    bool done = false;
    if constexpr (Scratch::with_lines) {
      done = hexahedra::is(face, side);
      team.meet();
      if (done) hexahedra::lift(team, view, face, side, factor, jump, s.scalar, columns, s.base.hex.volume.plane);
    }
    if (!done) {
      scale_turned(team, view, face, side, factor, jump, s.lifted);
      team.meet();
      read_lift([&](const double* table, int stride, int first, int rows) {
        add_product<variables>(team, table, stride, rows, s.lifted + first, n, columns, s.scalar, columns);
      });
      team.meet();
    }
    const double* normal = view.normals + face.normals;
    for_each_value(team, gradients, columns, [&](int k, int i) {
      double* to = s.g + k * columns + i;
      *to = std::fma(normal[k % 3], s.scalar[k / 3 * columns + i], *to);
    });
    team.meet();
    return;
  }
  const std::uint8_t* order = view.order_of(face, side);
  for_each_value(team, variables, n, [&](int v, int q) {
    const Vec3 normal = normal_at(view, face, order[q]);
    const double size = factor * jump[face.at + v * n + order[q]];
    for (int d = 0; d < 3; ++d) s.lifted[(d * variables + v) * n + q] = size * normal[d];
  });
  team.meet();
  read_lift([&](const double* table, int stride, int first, int rows) {
    for (int d = 0; d < 3; ++d)
      add_product<variables>(team, table, stride, rows, s.lifted + d * variables * n + first, n, columns,
                             s.g + d * columns, 3 * columns);
  });
  team.meet();
}

template <class Team, class Sides>
struct ViscousFaceScratch {
  static constexpr bool with_lines = false;  // sides that lift jumps have tables of their own
  FaceScratch<Team, Sides, true> states;
  double lifted[gradients * Team::face_points];
  double g[gradients * padded(Team::bases)];
  double scalar[variables * padded(Team::bases)];
  double at[2][gradients * Team::face_points];
  double spread[2][variables * Team::face_points];
};

/// As FaceFluxes, and `jump` of the state at each point: half the difference, or at the boundary all of it.
template <class Sides, class Outside>
struct ViscousFaceFluxes {
  static constexpr int blocks = 4;
  template <class Team>
  using Scratch = ViscousFaceScratch<Team, Sides>;

  PartView view;
  Sides sides;
  const double* u;
  double* flux;
  double* jump;
  double eta;
  Outside outside;

  /// What the gradients at the face are on one side. Where the side is affine: those of its own polynomials in its
  /// reference coordinates, and the jump as it is lifted and traced.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
  template <class Team>
  TUTTI_HD void side_gradient(const Team& team, Lid i, int side, ViscousFaceScratch<Team, Sides>& s) const {
    const FaceRecord& face = view.faces[i];
    const int n = face.points, bases = view.bases, columns = padded(bases);
    const Lid e = side == 0 ? face.left : face.right;
    if constexpr (hexahedra::works_for<Team>) {
      if (hexahedra::is(face, side)) {
        hexahedra::slopes(team, view, face, side, u + Size{variables} * bases * e, s.at[side], s.states.hex);
        return hexahedra::spread(team, view, face, side, jump, s.spread[side], s.states.hex);
      }
    }
    if constexpr (with_matrices<Sides>) {
      if (face.places[side] >= 0)
        return recomputed::slopes(team, view, face, side, eta, u, jump, s.states.recomputed, s.lifted, s.g, s.at[side]);
    }
    set_zero(team, s.at[side], gradients * n);
    if (face.slope[side] >= 0) {
      set_zero(team, s.spread[side], variables * n);
      team.meet();
      add_product<variables>(team, view.tables + face.slope[side], Size{3} * n, bases, u + Size{variables} * bases * e,
                             bases, 3 * n, s.at[side], 3 * n);
      add_product<variables>(team, view.tables + face.slope[side] + Size{3} * n * bases, n, n, jump + face.at, n, n,
                             s.spread[side], n);
      return;
    }
    element_gradient(team, view, e, u, s.g);
    const auto read = [&](Size offset, int rows, int columns_of_it, const auto& use) {
      read_side_table(team, view, sides, i, e, offset, rows, columns_of_it, s.states.tile, use);
    };
    const Size lift = in_place<Sides> ? face.lift[side] : view.lift_in_face(face, side);
    lift_jump(
        team, view, face, side, eta * face.scale[side], jump, [&](const auto& use) { read(lift, n, columns, use); }, s);
    read(face.trace[side], bases, n, [&](const double* table, int stride, int first, int rows) {
      for (int d = 0; d < 3; ++d)
        add_product<variables>(team, table, stride, rows, s.g + d * columns + first, 3 * columns, n, s.at[side] + d * n,
                               3 * n);
    });
  }
  template <class Points, class Scratch>
  TUTTI_HD void gradient_at(const Points& at, const FaceRecord& face, int side, const Scratch& s,
                            NumberOf<Points> (*g)[variables]) const {
    const int n = face.points;
    for (int d = 0; d < 3; ++d) load_rows<variables>(at, s.at[side] + d * n, 3 * n, g[d]);
    if (face.slope[side] < 0) return;
    const double* m = view.metric + Size{9} * (side == 0 ? face.left : face.right);
    const double* normal = view.normals + face.normals;
    const double factor = eta * face.scale[side];
    for (int v = 0; v < variables; ++v) {
      const auto r = g[0][v], t = g[1][v], w = g[2][v], spread = at.load(s.spread[side] + v * n);
      for (int d = 0; d < 3; ++d)
        g[d][v] = fused(factor * normal[d], spread, fused(m[6 + d], w, fused(m[3 + d], t, m[d] * r)));
    }
  }

  template <class Team>
  TUTTI_HD void operator()(const Team& team, Lid i, ViscousFaceScratch<Team, Sides>& s) const {
    const FaceRecord& face = view.faces[i];
    const int n = face.points;
    const bool inside = face.right >= 0;
    trace_sides(team, view, sides, i, u, s.states);
    if (!inside) {
      for (int q = team.first(); q < n; q += team.step()) {
        double l[variables], r[variables];
        load_rows<variables>(OnePoint{q}, s.states.left, n, l);
        if (view.gas.viscous())
          outside.viscous_state(view.gas, face, q, normal_at(view, face, q), l, r);
        else  // artificial viscosity knows nothing of the boundary
          for (int v = 0; v < variables; ++v) r[v] = l[v];
        store_rows<variables>(OnePoint{q}, r, s.states.right, n);
      }
      team.meet();
    }
    const double share = inside ? 0.5 : 1;
    for (int k = team.first(); k < variables * n; k += team.step())
      jump[face.at + k] = share * (s.states.right[k] - s.states.left[k]);
    team.meet();
    side_gradient(team, i, 0, s);
    team.meet();  // both sides use the same memory
    if (inside) side_gradient(team, i, 1, s);
    team.meet();
    if (inside)
      inner_fluxes(team, face, s);
    else
      boundary_fluxes(team, face, s);
    team.meet();
  }

  template <class Team>
  TUTTI_HD void inner_fluxes(const Team& team, const FaceRecord& face, const ViscousFaceScratch<Team, Sides>& s) const {
    const int n = face.points;
    const bool artificial = view.sensor.on();
    const double viscosity[2] = {artificial ? artificial_viscosity(view, face.left, u) : 0,
                                 artificial ? artificial_viscosity(view, face.right, u) : 0};
    for_each_point(team, n, [&](const auto at) {
      using T = NumberOf<decltype(at)>;
      const auto normal = normals_at(view, face, at);
      T states[2][variables], f[variables], total[variables], along[variables], g[3][variables];
      load_rows<variables>(at, s.states.left, n, states[0]);
      load_rows<variables>(at, s.states.right, n, states[1]);
      for (int side = 0; side < 2; ++side) {
        gradient_at(at, face, side, s, g);
        viscous_flux_along(view.gas, states[side], inverse_of(states[side][0]), g, normal, along);
        for (int v = 0; v < variables; ++v) {
          if (viscosity[side] > 0)
            along[v] = fused(viscosity[side], fused(g[2][v], normal.z, fused(g[1][v], normal.y, g[0][v] * normal.x)),
                             along[v]);
          total[v] = side == 0 ? along[v] : 0.5 * (total[v] + along[v]);
        }
      }
      numerical_flux(view.flux, view.gas, states[0], states[1], normal, f);
      for (int v = 0; v < variables; ++v) at.store(flux + face.at + v * n, f[v] - total[v]);
    });
  }

  template <class Team>
  TUTTI_HD void boundary_fluxes(const Team& team, const FaceRecord& face,
                                const ViscousFaceScratch<Team, Sides>& s) const {
    const int n = face.points;
    for (int q = team.first(); q < n; q += team.step()) {
      const OnePoint at{q};
      const Vec3 normal = normal_at(view, face, q);
      double l[variables], r[variables], f[variables], g[3][variables], h[3][variables];
      load_rows<variables>(at, s.states.left, n, l);
      load_rows<variables>(at, s.states.right, n, r);
      gradient_at(at, face, 0, s, g);
      viscous_flux(view.gas, r, inverse_of(r[0]), g, outside.conducts(face), h);
      outside.state(view.gas, face, q, normal, l, r);
      numerical_flux(view.flux, view.gas, l, r, normal, f);
      for (int v = 0; v < variables; ++v) {
        const double along = fused(h[2][v], normal.z, fused(h[1][v], normal.y, h[0][v] * normal.x));
        flux[face.at + v * n + q] = f[v] - outside.rubs(face) * along;
      }
    }
  }
};

/// Of factored elements: the gradient's coefficients and its values in a plane.
template <int order, bool with>
struct FactoredGradients {
  hexahedra::Modes<order> modes[3];
  double at[3][variables * hexahedra::plane_size(order)];
};
template <int order>
struct FactoredGradients<order, false> {};

template <class Team, class Volumes, bool factored>
struct ViscousElementScratch {
  static constexpr bool with_lines = factored && hexahedra::works_for<Team>;
  ElementScratch<Team, Volumes, factored> base;
  FactoredGradients<Team::order, with_lines> hex;
  double g[gradients * padded(Team::bases)];
  double scalar[variables * padded(Team::bases)];
  /// Jumps while they are lifted, then the gradient at points.
  double lifted[gradients * (Team::points > Team::face_points ? Team::points : Team::face_points)];
};

/// As add_factored_volume, with the coefficients g[v][d][columns] of the gradient.
template <class Team>
TUTTI_HD inline void add_factored_viscous(const Team& team, const PartView& view, Lid e, const double* u,
                                          const double* g, double artificial, const double* metric, double* rate,
                                          hexahedra::VolumeScratch<Team::order>& s,
                                          FactoredGradients<Team::order, true>& gradient) {
  const int columns = padded(view.bases);
  for (int d = 0; d < 3; ++d)
    hexahedra::with_order(team, view.order, [&](const auto p) {
      hexahedra::set_modes(team, p, g + d * columns, 3 * columns, gradient.modes[d]);
    });
  hexahedra::add_volume(team, view, u + Size{variables} * view.bases * e, rate, columns, s,
                        [&](int count, const auto& fetch) {
                          fetch(s.modes, s.state);
                          for (int d = 0; d < 3; ++d) fetch(gradient.modes[d], gradient.at[d]);
                          for_each_point(team, padded(count), [&](const auto points) {
                            using T = NumberOf<decltype(points)>;
                            T state[variables], slope[3][variables], f[3][variables], h[3][variables];
                            load_rows<variables>(points, s.state, s.stride, state);
                            for (int d = 0; d < 3; ++d)
                              load_rows<variables>(points, gradient.at[d], s.stride, slope[d]);
                            const T inverse = inverse_of(state[0]), p = pressure(view.gas, state, inverse);
                            watch(view, e, points, s.state, s.stride, state[0], p);
                            euler_flux(state, inverse, p, f);
                            viscous_flux(view.gas, state, inverse, slope, 1, h);
                            if (artificial > 0) add_artificial(artificial, slope, h);
                            for (int d = 0; d < 3; ++d)
                              for (int v = 0; v < variables; ++v) f[d][v] = f[d][v] - h[d][v];
                            turn_flux(true, metric, f);
                            for (int d = 0; d < 3; ++d) store_rows<variables>(points, f[d], s.flux[d], s.stride);
                          });
                        });
}

/// As AdvanceElements.
template <class Volumes, bool factored>
struct AdvanceViscousElements {
  static constexpr int blocks = factored ? 2 : 4;
  template <class Team>
  using Scratch = ViscousElementScratch<Team, Volumes, factored>;

  PartView view;
  Volumes volumes;
  const double* u;
  const double* flux;
  const double* jump;
  StageArrays stage;

  /// g += sum_f r_f
  template <class Team>
  TUTTI_HD void lift_jumps(const Team& team, Lid e, ViscousElementScratch<Team, Volumes, factored>& s) const {
    for (int k = 0; k < max_faces; ++k) {
      const std::int32_t code = view.face_of[Size{max_faces} * e + k];
      if (code < 0) continue;
      const FaceRecord& face = view.faces[code >> 1];
      const int side = code & 1;
      lift_jump(
          team, view, face, side, face.scale[side], jump,
          [&](const auto& use) {
            read_side_table(team, view, volumes, e, e, face.lift[side], face.points, padded(view.bases), s.base.tile,
                            use);
          },
          s);
    }
  }

  /// The gradient in reference coordinates at points [begin, begin + count) of a tetrahedron: s.lifted[d][v][at_once].
  template <class Team>
  TUTTI_HD void slopes_at_points(const Team& team, Lid e, int begin, int count,
                                 ViscousElementScratch<Team, Volumes, factored>& s) const {
    constexpr int at_once = Team::points, direction = variables * at_once;
    const ElementRecord& element = view.elements[e];
    const Size points = element.points;
    const int bases = view.bases;
    const double* table = view.tables + element.slopes + begin;
    const double* spread = table + 3 * points * bases;
    set_zero(team, s.lifted, gradients * at_once);
    for (int f = 0; f < 4; ++f) {
      const std::int32_t code = view.face_of[Size{max_faces} * e + f];
      const FaceRecord& face = view.faces[code >> 1];
      scale_turned(team, view, face, code & 1, (code & 1) == 0 ? 1.0 : -1.0, jump, s.base.at);
      team.meet();
      add_product<variables>(team, spread, points, face.points, s.base.at, face.points, count,
                             s.lifted + (f == 0 ? 0 : f - 1) * direction, at_once);
      team.meet();
      spread += points * face.points;
      if (f > 0) continue;  // the oblique face counts in all directions
      for (int i = team.first(); i < direction; i += team.step())
        s.lifted[direction + i] = s.lifted[2 * direction + i] = s.lifted[i];
      team.meet();
    }
    for (int d = 0; d < 3; ++d)
      add_product<variables>(team, table + d * points, 3 * points, bases, u + Size{variables} * bases * e, bases, count,
                             s.lifted + d * direction, at_once);
    team.meet();
  }

#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
  template <class Team>
  TUTTI_HD void add_viscous_volume(const Team& team, Lid e, ViscousElementScratch<Team, Volumes, factored>& s) const {
    const ElementRecord& element = view.elements[e];
    const int bases = view.bases, columns = padded(bases);
    constexpr int at_once = Team::points, stride = 3 * at_once;
    const double* coefficients = u + Size{variables} * bases * e;
    const double artificial = view.sensor.on() ? artificial_viscosity(view, e, u) : 0;
    if constexpr (ViscousElementScratch<Team, Volumes, factored>::with_lines) {
      if (element.factored != 0)
        return add_factored_viscous(team, view, e, u, s.g, artificial, s.base.metric, s.base.rate, s.base.hex.volume,
                                    s.hex);
    }
    for (int begin = 0; begin < element.points; begin += at_once) {
      const int left = element.points - begin, count = left < at_once ? left : at_once;
      const bool slopes = element.slopes >= 0;
      if (slopes)
        slopes_at_points(team, e, begin, count, s);
      else
        set_zero(team, s.lifted, gradients * at_once);
      set_zero(team, s.base.at, variables * at_once);
      team.meet();
      read_table(team, volumes, e, element.values + begin, element.points, bases, count, s.base.tile,
                 [&](const double* table, int stride_of_table, int first, int rows) {
                   add_product<variables>(team, table, stride_of_table, rows, coefficients + first, bases, count,
                                          s.base.at, at_once);
                   if (slopes) return;
                   for (int d = 0; d < 3; ++d)
                     add_product<variables>(team, table, stride_of_table, rows, s.g + d * columns + first, 3 * columns,
                                            count, s.lifted + d * variables * at_once, at_once);
                 });
      team.meet();
      for_each_point(team, count, [&](const auto points) {
        using T = NumberOf<decltype(points)>;
        T state[variables], g[3][variables], f[3][variables], h[3][variables];
        load_rows<variables>(points, s.base.at, at_once, state);
        for (int d = 0; d < 3; ++d) load_rows<variables>(points, s.lifted + d * variables * at_once, at_once, g[d]);
        if (slopes) turn_slopes(view.metric + Size{9} * e, g);
        const T inverse = inverse_of(state[0]), p = pressure(view.gas, state, inverse);
        watch(view, e, points, s.base.at, at_once, state[0], p);
        euler_flux(state, inverse, p, f);
        viscous_flux(view.gas, state, inverse, g, 1, h);
        if (artificial > 0) add_artificial(artificial, g, h);
        for (int d = 0; d < 3; ++d)
          for (int v = 0; v < variables; ++v) f[d][v] = f[d][v] - h[d][v];
        turn_flux(element.affine != 0, s.base.metric, f);
        put_flux(f, count, points, s.base.f, stride);
      });
      team.meet();
      read_table(team, volumes, e, element.projection + Size{3} * begin * columns, columns, 3 * count, columns,
                 s.base.tile, [&](const double* table, int stride_of_table, int first, int rows) {
                   add_product<variables>(team, table, stride_of_table, rows, s.base.f + first, stride, columns,
                                          s.base.rate, columns);
                 });
      team.meet();
    }
  }

  template <class Team>
  TUTTI_HD void operator()(const Team& team, Lid e, ViscousElementScratch<Team, Volumes, factored>& s) const {
    if constexpr (with_matrices<Volumes>) {
      if (view.elements[e].matrix >= 0) return;  // recomputed::Advance
    }
    const int bases = view.bases, columns = padded(bases);
    begin_stage(team, stage, e, bases, columns, s.base.rate);
    scale_metric(team, view, e, stage.factor, s.base);
    team.meet();
    add_faces(team, view, volumes, e, flux, stage.factor, s.base);
    if (view.elements[e].slopes < 0) {
      element_gradient(team, view, e, u, s.g);
      lift_jumps(team, e, s);
    }
    add_viscous_volume(team, e, s);
    end_stage(team, stage, e, bases, columns, s.base.rate);
    team.meet();
  }
};

}  // namespace tutti::compressible
