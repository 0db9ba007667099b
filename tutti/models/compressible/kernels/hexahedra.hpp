// Hexahedra whose map is affine, by sum factorisation. Their orthonormal basis is the products of Legendre polynomials
//   phi = L_i(r) L_j(s) L_k(t), i + j + k <= p, L_k(x) = sqrt(2 k + 1) P_k(2 x - 1):
// what Gram and Schmidt make of monomials by total degree, since L_i L_j L_k is orthogonal to all of those before. So
// values at a grid of Gauss points are sums over i, then k, then j, of a triangular set of indices, and so are their
// transposes. Planes of the volume and faces are alike: the index along the normal is `a`, those in the plane b, c.
// Every value is a chain of fused multiply-adds in one order, whoever calculates it. Lines are so short that this pays
// from p = 4 on only: below, products of whole tables fill vector registers better.
#pragma once

#include <type_traits>

#include "tutti/models/compressible/kernels/products.hpp"
#include "tutti/models/compressible/kernels/view.hpp"

namespace tutti::compressible::hexahedra {

/// Rows of tables of a line, and of values along one: all orders have at most so many points.
inline constexpr int line = 8;
inline constexpr int lowest_order = 4;
/// Teams that work on so high orders.
template <class Team>
inline constexpr bool works_for = Team::order >= lowest_order;

TUTTI_HD constexpr int points_of(int p) {
  return p + 1;
}
/// Pairs (b, c), b + c <= p: those of one b are neighbours. Room for them, and for lanes that read too many.
TUTTI_HD constexpr int pair(int p, int b, int c) {
  return b * (p + 1) - b * (b - 1) / 2 + c;
}
TUTTI_HD constexpr int pair_room(int p) {
  return ((p + 1) * (p + 2) / 2 + 3 + 7) / 8 * 8;
}
/// Doubles from one variable's points of a plane to the next one's: lanes may read a few too many.
TUTTI_HD constexpr int plane_size(int order) {
  return points_of(order) * points_of(order) + 8;
}
/// Number of a basis function (basis.cpp: by total degree, then by falling i, then by falling j).
TUTTI_HD constexpr int function(int i, int j, int k) {
  const int r = j + k, t = i + r;
  return t * (t + 1) * (t + 2) / 6 + r * (r + 1) / 2 + k;
}
/// The same of an index along direction `normal`, and of those along the others in their order.
TUTTI_HD constexpr int function_of(int normal, int a, int b, int c) {
  return normal == 0 ? function(a, b, c) : normal == 1 ? function(b, a, c) : function(b, c, a);
}

/// Tables of a line: L_k and its derivative at the points, [k][q]; the same times the points' weights, [q][k]; at the
/// two ends, [end][k].
struct Lines {
  static constexpr int size = (4 * line + 4) * line;
  const double *value, *slope, *weighed, *weighed_slope, *end, *end_slope;
  TUTTI_HD explicit Lines(const double* t)
      : value(t),
        slope(t + line * line),
        weighed(t + 2 * line * line),
        weighed_slope(t + 3 * line * line),
        end(t + 4 * line * line),
        end_slope(end + 2 * line) {}
};

/// Of orders up to `order`; teams of lower ones need none.
template <int order, bool needed = (order >= lowest_order)>
struct Scratch {};
template <int order>
struct Scratch<order, true> {
  static constexpr int plane = plane_size(order);
  double lines[variables * pair_room(order)];       ///< [v][pair]
  double rows[variables * (order + 1) * line];      ///< [v][b][point along c]
  double moments[2][variables * pair_room(order)];  ///< [v][pair]
  double values[variables * plane];                 ///< [v][point]
};

/// f(order) with the order of the basis: as a constant where one thread does the work.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
template <class Team, class F>
TUTTI_HD inline void with_order(const Team&, int p, const F& f) {
  if constexpr (std::is_same_v<Team, SerialTeam>) {
    switch (p) {
      case 4:
        return f(std::integral_constant<int, 4>());
      case 5:
        return f(std::integral_constant<int, 5>());
      default:
        return f(std::integral_constant<int, 6>());
    }
  } else {
    f(p);
  }
}

/// Calls f(row, points) for `rows` rows of n points, or of n - row where `triangle`.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
template <bool triangle = false, class Team, class F>
TUTTI_HD inline void for_each_lane(const Team& team, int rows, int n, const F& f) {
#if !defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<Team, SerialTeam>) {
    for (int row = 0; row < rows; ++row)
      for (int q = 0; q < n - triangle * row; q += lane_count) f(row, LanePoints{q, n - triangle * row - q});
    return;
  }
#endif
  for_each_value(team, rows, n, [&](int row, int q) {
    if (q < n - triangle * row) f(row, OnePoint{q});
  });
}

/// Calls f(v, a, b, c) for all functions of all variables.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
template <class Team, class Order, class F>
TUTTI_HD inline void for_each_function(const Team& team, Order p, const F& f) {
  const int n = p + 1;
  if constexpr (std::is_same_v<Team, SerialTeam>) {
    for (int a = 0; a < n; ++a)
      for (int b = 0; a + b < n; ++b)
        for (int c = 0; a + b + c < n; ++c)
          for (int v = 0; v < variables; ++v) f(v, a, b, c);
  } else {
    const Division by(n);
    for_each_value(team, variables * n, n * n, [&](int va, int bc) {
      const int v = by(va), a = va - v * n, b = by(bc), c = bc - b * n;
      if (a + b + c < n) f(v, a, b, c);
    });
  }
}

/// s.values = the sum over b and c of s.lines times functions `along_b` and `along_c` ([k][q]) at the points of a
/// plane.
template <class Team, class Order>
TUTTI_HD inline void plane_values(const Team& team, Order p, const double* along_b, const double* along_c,
                                  Scratch<Team::order>& s) {
  const int n = p + 1, m = points_of(p), room = pair_room(p);
  team.meet();
  for_each_lane(team, n, m, [&](int b, const auto at) {
    NumberOf<std::decay_t<decltype(at)>> sum[variables] = {};
    for (int c = 0; c < n - b; ++c) {
      const auto row = at.load(along_c + c * line);
      for (int v = 0; v < variables; ++v) sum[v] = fused(row, s.lines[v * room + pair(p, b, c)], sum[v]);
    }
    store_rows<variables>(at, sum, s.rows + b * line, n * line);
  });
  team.meet();
  for_each_lane(team, m, m, [&](int q, const auto at) {
    NumberOf<std::decay_t<decltype(at)>> sum[variables] = {};
    for (int b = 0; b < n; ++b) {
      const double factor = along_b[b * line + q];
      for (int v = 0; v < variables; ++v) sum[v] = fused(at.load(s.rows + (v * n + b) * line), factor, sum[v]);
    }
    store_rows<variables>(at, sum, s.values + q * m, s.plane);
  });
  team.meet();
}

/// The transpose: moments[v][pair] = (or +=) the sum over a plane's points of values times functions, [q][k]. The team
/// meets before they are read.
template <bool add, class Team, class Order>
TUTTI_HD inline void plane_moments(const Team& team, Order p, const double* values, const double* along_b,
                                   const double* along_c, double* moments, Scratch<Team::order>& s) {
  const int n = p + 1, m = points_of(p), room = pair_room(p);
  team.meet();
  for_each_lane(team, n, m, [&](int b, const auto at) {
    NumberOf<std::decay_t<decltype(at)>> sum[variables] = {};
    for (int q = 0; q < m; ++q) {
      const double factor = along_b[q * line + b];
      for (int v = 0; v < variables; ++v) sum[v] = fused(at.load(values + v * s.plane + q * m), factor, sum[v]);
    }
    store_rows<variables>(at, sum, s.rows + b * line, n * line);
  });
  team.meet();
  for_each_lane<true>(team, n, n, [&](int b, const auto at) {
    NumberOf<std::decay_t<decltype(at)>> sum[variables] = {};
    double* to = moments + pair(p, b, 0);
    if (add) load_rows<variables>(at, to, room, sum);
    for (int q = 0; q < m; ++q) {
      const auto row = at.load(along_c + q * line);
      for (int v = 0; v < variables; ++v) sum[v] = fused(row, s.rows[(v * n + b) * line + q], sum[v]);
    }
    store_rows<variables>(at, sum, to, room);
  });
  team.meet();
}

/// s.lines at an end of the normal, whose functions are ends[a] there.
template <class Team, class Order>
TUTTI_HD inline void lines_at_end(const Team& team, Order p, int normal, const double* ends, const double* u,
                                  int stride, Scratch<Team::order>& s) {
  const int n = p + 1, room = pair_room(p);
  for_each_value(team, n, n, [&](int b, int c) {
    for (int v = 0; v < variables && b + c < n; ++v) {
      double sum = 0;
      for (int a = 0; a < n - b - c; ++a) sum = std::fma(ends[a], u[v * stride + function_of(normal, a, b, c)], sum);
      s.lines[v * room + pair(p, b, c)] = sum;
    }
  });
}

/// A face's points as its element's grid has them: order[q] is the place of the face's point q there.
struct Side {
  int normal, end;
  const std::uint8_t* order;
  TUTTI_HD Side(const PartView& view, const FaceRecord& face, int side)
      : normal(face.plane[side] / 2), end(face.plane[side] % 2), order(view.turns + face.grid[side]) {}
};
TUTTI_HD inline bool is(const FaceRecord& face, int side) {
  return face.plane[side] >= 0;
}

/// to[v][q] (rows of `stride`) = s.values in the face's order of `count` points.
template <class Team>
TUTTI_HD inline void put_in_order(const Team& team, const Side& side, int count, const Scratch<Team::order>& s,
                                  double* to, int stride) {
  for_each_value(team, variables, count,
                 [&](int v, int q) { to[v * stride + q] = s.values[v * s.plane + side.order[q]]; });
}
/// The other way, times a factor; padding is left out.
template <class Team>
TUTTI_HD inline void take_in_order(const Team& team, const Side& side, const FaceRecord& face, double factor,
                                   const double* values, Scratch<Team::order>& s) {
  for_each_value(team, variables, face.actual, [&](int v, int q) {
    s.values[v * s.plane + side.order[q]] = factor * values[face.at + v * face.points + q];
  });
}

/// What a side of a face is at its points.
template <class Team>
TUTTI_HD inline void trace(const Team& team, const PartView& view, const FaceRecord& face, int k, const double* u,
                           double* to, Scratch<Team::order>& s) {
  const Side side(view, face, k);
  const Lines lines(view.lines);
  with_order(team, view.order, [&](const auto p) {
    lines_at_end(team, p, side.normal, lines.end + side.end * line, u, view.bases, s);
    plane_values(team, p, lines.value, lines.value, s);
  });
  put_in_order(team, side, face.points, s, to, face.points);
  team.meet();
}

/// to[v][l] += factor 1/A oint values phi_l dS, in rows of `columns`.
template <class Team>
TUTTI_HD inline void lift(const Team& team, const PartView& view, const FaceRecord& face, int k, double factor,
                          const double* values, double* to, int columns, Scratch<Team::order>& s) {
  const Side side(view, face, k);
  const Lines lines(view.lines);
  take_in_order(team, side, face, factor, values, s);
  with_order(team, view.order, [&](const auto p) {
    plane_moments<false>(team, p, s.values, lines.weighed, lines.weighed, s.moments[0], s);
    team.meet();
    const double* ends = lines.end + side.end * line;
    for_each_function(team, p, [&](int v, int a, int b, int c) {
      double& sum = to[v * columns + function_of(side.normal, a, b, c)];
      sum = std::fma(ends[a], s.moments[0][v * pair_room(p) + pair(p, b, c)], sum);
    });
  });
  team.meet();
}

/// Slopes in reference coordinates at a face's points, to[v][d][q].
template <class Team>
TUTTI_HD inline void slopes(const Team& team, const PartView& view, const FaceRecord& face, int k, const double* u,
                            double* to, Scratch<Team::order>& s) {
  const Side side(view, face, k);
  const Lines lines(view.lines);
  const int n = face.points;
  for (int d = 0; d < 3; ++d) {
    const int b = side.normal == 0 ? 1 : 0, c = side.normal == 2 ? 1 : 2;
    with_order(team, view.order, [&](const auto p) {
      lines_at_end(team, p, side.normal, (d == side.normal ? lines.end_slope : lines.end) + side.end * line, u,
                   view.bases, s);
      plane_values(team, p, d == b ? lines.slope : lines.value, d == c ? lines.slope : lines.value, s);
    });
    put_in_order(team, side, n, s, to + d * n, 3 * n);
    team.meet();
  }
}

/// What values at the points are there when they are lifted and traced: sum_a L_a^2 = (p - b - c + 1)^2 at an end.
template <class Team>
TUTTI_HD inline void spread(const Team& team, const PartView& view, const FaceRecord& face, int k, const double* values,
                            double* to, Scratch<Team::order>& s) {
  const Side side(view, face, k);
  const Lines lines(view.lines);
  take_in_order(team, side, face, 1, values, s);
  with_order(team, view.order, [&](const auto p) {
    const int n = p + 1, room = pair_room(p);
    plane_moments<false>(team, p, s.values, lines.weighed, lines.weighed, s.moments[0], s);
    team.meet();
    for_each_value(team, n, n, [&](int b, int c) {
      const int left = n - b - c;
      for (int v = 0; v < variables && left > 0; ++v)
        s.lines[v * room + pair(p, b, c)] = left * left * s.moments[0][v * room + pair(p, b, c)];
    });
    plane_values(team, p, lines.value, lines.value, s);
  });
  put_in_order(team, side, face.points, s, to, face.points);
  team.meet();
}

/// Coefficients [v][a][pair], of functions that there are none of 0.
template <int order>
using Modes = double[variables * (order + 1) * pair_room(order)];

template <class Team, class Order>
TUTTI_HD inline void set_modes(const Team& team, Order p, const double* u, int stride, double* modes) {
  const int n = p + 1, room = pair_room(p);
  set_zero(team, modes, variables * n * room);
  team.meet();
  for_each_function(team, p, [&](int v, int a, int b, int c) {
    modes[(v * n + a) * room + pair(p, b, c)] = u[v * stride + function(a, b, c)];
  });
}

/// Values at the points of the plane q.
template <class Team, class Order>
TUTTI_HD inline void values_in_plane(const Team& team, Order p, const Lines& lines, int q, const double* modes,
                                     Scratch<Team::order>& s) {
  const int n = p + 1, room = pair_room(p);
  team.meet();
  for_each_lane(team, 1, room, [&](int, const auto at) {
    NumberOf<std::decay_t<decltype(at)>> sum[variables] = {};
    for (int a = 0; a < n; ++a) {
      const double factor = lines.value[a * line + q];
      for (int v = 0; v < variables; ++v) sum[v] = fused(at.load(modes + (v * n + a) * room), factor, sum[v]);
    }
    store_rows<variables>(at, sum, s.lines, room);
  });
  plane_values(team, p, lines.value, lines.value, s);
}

template <int order>
struct VolumeScratch {
  static constexpr int stride = plane_size(order);  ///< of values in a plane
  Scratch<order> plane;
  Modes<order> modes, rate;
  double state[variables * stride];
  double flux[3][variables * stride];  ///< in reference directions
};

/// The rate's share of the volume: to[v][l] += 1/V int f . grad phi_l. flux(count, fetch) calculates s.flux[d][v][q] at
/// the points of a plane, from the values of modes that fetch(modes, values) gives there, padded as others are.
template <class Team, class Flux>
TUTTI_HD inline void add_volume(const Team& team, const PartView& view, const double* u, double* to, int columns,
                                VolumeScratch<Team::order>& s, const Flux& flux) {
  const Lines lines(view.lines);
  with_order(team, view.order, [&](const auto p) {
    const int n = p + 1, m = points_of(p), room = pair_room(p);
    set_modes(team, p, u, view.bases, s.modes);
    set_zero(team, s.rate, variables * n * room);
    set_zero(team, s.plane.moments[0], 2 * variables * pair_room(Team::order));
    for (int q = 0; q < m; ++q) {
      flux(m * m, [&](const double* modes, double* values) {
        values_in_plane(team, p, lines, q, modes, s.plane);
        for_each_value(team, variables, padded(m * m), [&](int v, int k) {
          values[v * s.stride + k] = s.plane.values[v * s.stride + (k < m * m ? k : 0)];
        });
        team.meet();
      });
      plane_moments<false>(team, p, s.flux[0], lines.weighed, lines.weighed, s.plane.moments[0], s.plane);
      plane_moments<false>(team, p, s.flux[1], lines.weighed_slope, lines.weighed, s.plane.moments[1], s.plane);
      plane_moments<true>(team, p, s.flux[2], lines.weighed, lines.weighed_slope, s.plane.moments[1], s.plane);
      team.meet();
      const double *weighed = lines.weighed + q * line, *slope = lines.weighed_slope + q * line;
      for_each_lane(team, n, room, [&](int a, const auto at) {
        using T = NumberOf<std::decay_t<decltype(at)>>;
        for (int v = 0; v < variables; ++v) {
          double* sum = s.rate + (v * n + a) * room;
          const T first = fused(at.load(s.plane.moments[0] + v * room), T(slope[a]), at.load(sum));
          at.store(sum, fused(at.load(s.plane.moments[1] + v * room), T(weighed[a]), first));
        }
      });
    }
    team.meet();
    for_each_function(team, p, [&](int v, int a, int b, int c) {
      to[v * columns + function(a, b, c)] += s.rate[(v * n + a) * room + pair(p, b, c)];
    });
  });
  team.meet();
}

}  // namespace tutti::compressible::hexahedra
