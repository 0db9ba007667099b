// The limiter of Zhang and Shu (J. Comput. Phys. 229, 2010, 8918; 230, 2011, 1238), which keeps density and pressure
// above 0 at every point where the method looks at them: those of the volume and of the faces. What an element is in
// the mean stays as it is, so nothing is lost, and where all points are good no bit changes.
#pragma once

#include "tutti/models/compressible/kernels/own_tables.hpp"
#include "tutti/models/compressible/kernels/products.hpp"
#include "tutti/models/compressible/kernels/recomputed.hpp"

namespace tutti::compressible {

/// Least density and pressure at a point, of their means.
inline constexpr double least_share = 1e-8;

template <class Team, bool there>
struct LimiterMatrices {
  recomputed::Tile<Team, (Team::points > Team::face_points ? Team::points : Team::face_points)> tile;
  double state[variables * padded(Team::bases)];
};
template <class Team>
struct LimiterMatrices<Team, false> {};

template <class Team, class Volumes>
struct LimiterScratch {
  double at[variables * (Team::points > Team::face_points ? Team::points : Team::face_points)];
  double tile[tile_values<Volumes> + 1];
  LimiterMatrices<Team, with_matrices<Volumes>> recomputed;
};

template <class Volumes>
struct KeepPositive {
  static constexpr int blocks = 6;
  template <class Team>
  using Scratch = LimiterScratch<Team, Volumes>;

  PartView view;
  Volumes volumes;
  double* u;

  /// Calls look(count, stride) for every batch of points, whose values of the first V variables are in s.at.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
  template <int V, class Team, class Look>
  TUTTI_HD void at_points(const Team& team, Lid e, LimiterScratch<Team, Volumes>& s, const Look& look) const {
    const ElementRecord& element = view.elements[e];
    const int bases = view.bases;
    const double* x = u + Size{variables} * bases * e;
    const auto begin_batch = [&](int count) {
      set_zero(team, s.at, V * count);
      team.meet();
    };
    const auto end_batch = [&](int count) {
      team.meet();
      look(count);
      team.meet();
    };
    if constexpr (with_matrices<Volumes>) {
      if (element.matrix >= 0) {
        recomputed::set_state(team, view, e, u, s.recomputed.state);
        const auto batch = [&](Size places, int points, int begin, int count) {
          recomputed::set_monomials<false>(team, view, view.tables + places, points, begin, count, s.recomputed.tile);
          begin_batch(count);
          recomputed::evaluate<V>(team, s.recomputed.tile, bases, s.recomputed.state, padded(bases), count, s.at,
                                  count);
          end_batch(count);
        };
        for (int begin = 0; begin < element.points; begin += Team::points) {
          const int left = element.points - begin;
          batch(element.places, element.points, begin, left < Team::points ? left : Team::points);
        }
        for (int k = 0; k < max_faces; ++k) {
          const std::int32_t code = view.face_of[Size{max_faces} * e + k];
          if (code < 0) continue;
          const FaceRecord& face = view.faces[code >> 1];
          batch(face.places[code & 1], face.points, 0, face.points);
        }
        return;
      }
    }
    for (int begin = 0; begin < element.points; begin += Team::points) {
      const int left = element.points - begin, count = left < Team::points ? left : Team::points;
      begin_batch(count);
      read_table(team, volumes, e, element.values + begin, element.points, bases, count, s.tile,
                 [&](const double* table, int stride, int first, int rows) {
                   add_product<V>(team, table, stride, rows, x + first, bases, count, s.at, count);
                 });
      end_batch(count);
    }
    for (int k = 0; k < max_faces; ++k) {
      const std::int32_t code = view.face_of[Size{max_faces} * e + k];
      if (code < 0) continue;
      const FaceRecord& face = view.faces[code >> 1];
      const int n = face.points, side = code & 1;
      begin_batch(n);
      const bool in_row = !in_place<Volumes> && element.affine == 0;
      read_side_table(team, view, volumes, e, e, in_row ? view.trace_in_element(face, side) : face.trace[side], bases,
                      n, s.tile, [&](const double* table, int stride, int first, int rows) {
                        add_product<V>(team, table, stride, rows, x + first, bases, n, s.at, n);
                      });
      end_batch(n);
    }
  }

  /// Takes the polynomials of variables [0, V) towards their means.
  template <class Team>
  TUTTI_HD void shrink(const Team& team, double* x, int count, double share) const {
    for (int i = team.first(); i < count * view.bases; i += team.step())
      if (i % view.bases != 0) x[i] *= share;
    team.meet();
  }

#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
  template <class Team>
  TUTTI_HD void operator()(const Team& team, Lid e, LimiterScratch<Team, Volumes>& s) const {
    double* x = u + Size{variables} * view.bases * e;
    double mean[variables];
    for (int v = 0; v < variables; ++v) mean[v] = x[v * view.bases];
    const double mean_pressure = pressure(view.gas, mean);
    if (!(mean[0] > 0 && mean_pressure > 0)) return;  // nothing helps: the run stops when somebody looks
    double lowest = mean[0];
    at_points<1>(team, e, s, [&](int count) {
      for (int q = 0; q < count; ++q) lowest = s.at[q] < lowest ? s.at[q] : lowest;
    });
    const double least = least_share * mean[0];
    if (lowest < least) shrink(team, x, 1, (mean[0] - least) / (mean[0] - lowest));
    // Pressure is concave where density is above 0: half way to the mean is half as bad at most.
    const double least_pressure = least_share * mean_pressure;
    double lowest_pressure = mean_pressure;
    at_points<variables>(team, e, s, [&](int count) {
      for (int q = 0; q < count; ++q) {
        double state[variables];
        for (int v = 0; v < variables; ++v) state[v] = s.at[v * count + q];
        const double p = pressure(view.gas, state);
        lowest_pressure = p < lowest_pressure ? p : lowest_pressure;
      }
    });
    if (lowest_pressure < least_pressure)
      shrink(team, x, variables, (mean_pressure - least_pressure) / (mean_pressure - lowest_pressure));
  }
};

}  // namespace tutti::compressible
