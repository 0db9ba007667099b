// The right-hand side with viscous fluxes by the second scheme of Bassi and Rebay (BR2): the jump at a face is lifted
// into both elements,
//   int r_f phi dV = 1/2 oint_f phi (u_right - u_left) n dS,
// the gradient at the face is grad u + eta r_f, in the volume grad u + sum_f r_f. r_f needs the face's two elements
// only, so that nothing but their coefficients travels. Lifting is done in coefficients.
#pragma once

#include "tutti/models/compressible/flux/viscous_flux.hpp"
#include "tutti/models/compressible/kernels/rhs.hpp"
#include "tutti/models/compressible/kernels/sensor.hpp"

namespace tutti::compressible {

inline constexpr int gradients = 3 * variables;

/// Adds what artificial viscosity makes of the gradients: all five variables diffuse alike.
TUTTI_HD inline void add_artificial(double viscosity, const double (*g)[variables], double (*f)[variables]) {
  for (int d = 0; d < 3; ++d)
    for (int v = 0; v < variables; ++v) f[d][v] = std::fma(viscosity, g[d][v], f[d][v]);
}

/// Coefficients of the gradient of an element: g[d][v][columns].
template <class Team>
TUTTI_HD inline void element_gradient(const Team& team, const PartView& view, Lid e, const double* u, double* g) {
  const int bases = view.bases, columns = padded(bases);
  const ElementRecord& element = view.elements[e];
  set_zero(team, g, gradients * columns);
  team.meet();
  for (int d = 0; d < 3; ++d)
    add_product<variables>(team, view.tables + element.derivative + d * columns, Size{3} * columns, bases,
                           u + Size{variables} * bases * e, bases, columns, g + d * variables * columns, columns);
  team.meet();
  if (element.affine == 0) return;
  const double* m = view.metric + Size{9} * e;
  const int count = variables * columns;
  for (int i = team.first(); i < count; i += team.step()) {
    const double r = g[i], s = g[count + i], t = g[2 * count + i];
    for (int d = 0; d < 3; ++d) g[d * count + i] = std::fma(m[6 + d], t, std::fma(m[3 + d], s, m[d] * r));
  }
  team.meet();
}

struct ViscousFaceScratch {
  FaceScratch states;
  double jump[gradients * max_face_points];
  double g[gradients * padded(max_basis)];
  double at[2][gradients * max_face_points];
};

/// As FaceFluxes, and `jump` of the state at each point: half the difference, or at the boundary all of it.
template <class Outside>
struct ViscousFaceFluxes {
  template <class Team>
  using Scratch = ViscousFaceScratch;

  PartView view;
  const double* u;
  double* flux;
  double* jump;
  double eta;
  Outside outside;

  /// What the gradients at the face are on one side.
  template <class Team>
  TUTTI_HD void side_gradient(const Team& team, const FaceRecord& face, int side, ViscousFaceScratch& s) const {
    const int n = face.points, bases = view.bases, columns = padded(bases);
    const Lid e = side == 0 ? face.left : face.right;
    element_gradient(team, view, e, u, s.g);
    const double factor = eta * face.scale[side];
    for (int i = team.first(); i < gradients * n; i += team.step()) s.at[side][i] = factor * s.jump[i];
    team.meet();
    for (int d = 0; d < 3; ++d)
      add_product<variables>(team, view.tables + face.lift[side], columns, n, s.at[side] + d * variables * n, n,
                             columns, s.g + d * variables * columns, columns);
    team.meet();
    set_zero(team, s.at[side], gradients * n);
    team.meet();
    for (int d = 0; d < 3; ++d)
      add_product<variables>(team, view.tables + face.trace[side], n, bases, s.g + d * variables * columns, columns, n,
                             s.at[side] + d * variables * n, n);
    team.meet();
  }

  TUTTI_HD void gather(const double* from, int n, int q, double (*g)[variables]) const {
    for (int d = 0; d < 3; ++d)
      for (int v = 0; v < variables; ++v) g[d][v] = from[(d * variables + v) * n + q];
  }

  template <class Team>
  TUTTI_HD void operator()(const Team& team, Lid i, ViscousFaceScratch& s) const {
    const FaceRecord& face = view.faces[i];
    const int n = face.points;
    const bool inside = face.right >= 0;
    trace_sides(team, view, face, u, s.states);
    for (int q = team.first(); q < n; q += team.step()) {
      const Vec3 normal = normal_at(view, face, q);
      double l[variables], r[variables];
      for (int v = 0; v < variables; ++v) {
        l[v] = s.states.left[v * n + q];
        r[v] = s.states.right[v * n + q];
      }
      if (!inside) {
        if (view.gas.viscous())
          outside.viscous_state(view.gas, face, q, normal, l, r);
        else  // artificial viscosity knows nothing of the boundary
          for (int v = 0; v < variables; ++v) r[v] = l[v];
      }
      for (int v = 0; v < variables; ++v) {
        const double size = (inside ? 0.5 : 1) * (r[v] - l[v]);
        s.states.right[v * n + q] = r[v];
        jump[face.at + v * n + q] = size;
        for (int d = 0; d < 3; ++d) s.jump[(d * variables + v) * n + q] = size * normal[d];
      }
    }
    team.meet();
    side_gradient(team, face, 0, s);
    if (inside) side_gradient(team, face, 1, s);
    const bool artificial = inside && view.sensor.on();
    const double left_viscosity = artificial ? artificial_viscosity(view, face.left, u) : 0,
                 right_viscosity = artificial ? artificial_viscosity(view, face.right, u) : 0;
    for (int q = team.first(); q < n; q += team.step()) {
      const Vec3 normal = normal_at(view, face, q);
      double l[variables], r[variables], f[variables], total[variables], g[3][variables], h[3][variables];
      for (int v = 0; v < variables; ++v) {
        l[v] = s.states.left[v * n + q];
        r[v] = s.states.right[v * n + q];
      }
      gather(s.at[0], n, q, g);
      if (inside) {
        viscous_flux(view.gas, l, g, 1, h);
        if (left_viscosity > 0) add_artificial(left_viscosity, g, h);
        for (int v = 0; v < variables; ++v)
          total[v] = 0.5 * (h[0][v] * normal.x + h[1][v] * normal.y + h[2][v] * normal.z);
        gather(s.at[1], n, q, g);
        viscous_flux(view.gas, r, g, 1, h);
        if (right_viscosity > 0) add_artificial(right_viscosity, g, h);
        for (int v = 0; v < variables; ++v)
          total[v] += 0.5 * (h[0][v] * normal.x + h[1][v] * normal.y + h[2][v] * normal.z);
      } else {
        viscous_flux(view.gas, r, g, outside.conducts(face), h);
        for (int v = 0; v < variables; ++v)
          total[v] = outside.rubs(face) * (h[0][v] * normal.x + h[1][v] * normal.y + h[2][v] * normal.z);
        outside.state(view.gas, face, q, normal, l, r);
      }
      numerical_flux(view.flux, view.gas, l, r, normal, f);
      for (int v = 0; v < variables; ++v) flux[face.at + v * n + q] = f[v] - total[v];
    }
    team.meet();
  }
};

template <class Team, class Volumes>
struct ViscousElementScratch {
  ElementScratch<Team, Volumes> base;
  double g[gradients * padded(max_basis)];
  double lifted[gradients * max_face_points];
  double at[gradients * Team::points];
};

/// As AdvanceElements.
template <class Volumes>
struct AdvanceViscousElements {
  template <class Team>
  using Scratch = ViscousElementScratch<Team, Volumes>;

  PartView view;
  Volumes volumes;
  const double* u;
  const double* flux;
  const double* jump;
  StageArrays stage;

  /// g += sum_f r_f
  template <class Team>
  TUTTI_HD void lift_jumps(const Team& team, Lid e, ViscousElementScratch<Team, Volumes>& s) const {
    const int columns = padded(view.bases);
    for (int k = 0; k < max_faces; ++k) {
      const std::int32_t code = view.face_of[Size{max_faces} * e + k];
      if (code < 0) continue;
      const FaceRecord& face = view.faces[code >> 1];
      const int side = code & 1, n = face.points;
      for (int i = team.first(); i < variables * n; i += team.step()) {
        const Vec3 normal = normal_at(view, face, i % n);
        const double size = face.scale[side] * jump[face.at + i];
        for (int d = 0; d < 3; ++d) s.lifted[d * variables * n + i] = size * normal[d];
      }
      team.meet();
      for (int d = 0; d < 3; ++d)
        add_product<variables>(team, view.tables + face.lift[side], columns, n, s.lifted + d * variables * n, n,
                               columns, s.g + d * variables * columns, columns);
      team.meet();
    }
  }

#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
  template <class Team>
  TUTTI_HD void add_viscous_volume(const Team& team, Lid e, ViscousElementScratch<Team, Volumes>& s) const {
    const ElementRecord& element = view.elements[e];
    const int bases = view.bases, columns = padded(bases);
    constexpr int at_once = Team::points, stride = 3 * at_once;
    const double* coefficients = u + Size{variables} * bases * e;
    const double artificial = view.sensor.on() ? artificial_viscosity(view, e, u) : 0;
    for (int begin = 0; begin < element.points; begin += at_once) {
      const int left = element.points - begin, count = left < at_once ? left : at_once;
      set_zero(team, s.base.at, variables * at_once);
      set_zero(team, s.at, gradients * at_once);
      team.meet();
      read_table(team, volumes, e, element.values + begin, element.points, bases, count, s.base.tile,
                 [&](const double* table, int stride_of_table, int first, int rows) {
                   add_product<variables>(team, table, stride_of_table, rows, coefficients + first, bases, count,
                                          s.base.at, at_once);
                   for (int d = 0; d < 3; ++d)
                     add_product<variables>(team, table, stride_of_table, rows, s.g + d * variables * columns + first,
                                            columns, count, s.at + d * variables * at_once, at_once);
                 });
      team.meet();
      for (int q = team.first(); q < count; q += team.step()) {
        double state[variables], g[3][variables], f[3][variables], h[3][variables];
        for (int v = 0; v < variables; ++v) {
          state[v] = s.base.at[v * at_once + q];
          for (int d = 0; d < 3; ++d) g[d][v] = s.at[(d * variables + v) * at_once + q];
        }
        watch(view, e, state);
        euler_flux(view.gas, state, f);
        viscous_flux(view.gas, state, g, 1, h);
        if (artificial > 0) add_artificial(artificial, g, h);
        for (int d = 0; d < 3; ++d)
          for (int v = 0; v < variables; ++v) f[d][v] -= h[d][v];
        put_flux(element.affine != 0, s.base.metric, f, count, q, s.base.f, stride);
      }
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
  TUTTI_HD void operator()(const Team& team, Lid e, ViscousElementScratch<Team, Volumes>& s) const {
    const int bases = view.bases, columns = padded(bases);
    begin_stage(team, stage, e, bases, columns, s.base.rate);
    scale_metric(team, view, e, stage.factor, s.base);
    team.meet();
    add_faces(team, view, e, flux, stage.factor, s.base);
    element_gradient(team, view, e, u, s.g);
    lift_jumps(team, e, s);
    add_viscous_volume(team, e, s);
    end_stage(team, stage, e, bases, columns, s.base.rate);
    team.meet();
  }
};

}  // namespace tutti::compressible
