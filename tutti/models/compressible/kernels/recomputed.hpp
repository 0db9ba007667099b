// Elements that keep the matrix C of their basis (basis.hpp) instead of tables of values: phi = C m, m the monomials in
// the element's own coordinates r. A state is the polynomial C^T u in these monomials, integrals are moments of m times
// C:
//   u(q) = sum_k (C^T u)_k m_k(q),   sum_q x_q phi_l(q) = sum_k C_lk sum_q x_q m_k(q),
// so that what is read of an element is C, and the places and weights of its points [Choi 2019, section 2.2]. Monomials
// at some points are made when they are needed, for all variables at once. Sums are chains of fused multiply-adds in
// the order of points or monomials.
#pragma once

#include "tutti/models/compressible/kernels/products.hpp"
#include "tutti/models/compressible/kernels/stage.hpp"
#include "tutti/models/compressible/kernels/view.hpp"

namespace tutti::compressible::recomputed {

/// Monomials at some points: those of one side by side. One thread alone has them the other way round, too.
template <class Team, int points_>
struct Tile {
  static constexpr bool alone = std::is_same_v<Team, SerialTeam>;
  /// Threads side by side read one point's monomials: each from another bank.
  static constexpr int points = points_, stride = alone ? points_ : points_ + 1, columns = padded(Team::bases);
  double m[Team::bases * stride];
  double turned[alone ? points_ * columns : 1];
};

namespace detail {
/// to[q][k] = from[k][q], k < rows, q < count, a multiple of 4; rows of `to` are padded with zeros.
inline void turn(const double* from, int stride, int rows, int count, double* to) {
  const int columns = padded(rows);
#if TUTTI_LANES > 1
  for (int k = 0; k < columns; k += 4)
    for (int q = 0; q < count; q += 4) {
      const auto row = [&](int i) {
        return k + i < rows ? _mm256_loadu_pd(from + (k + i) * stride + q) : _mm256_setzero_pd();
      };
      const __m256d x0 = row(0), x1 = row(1), x2 = row(2), x3 = row(3);
      const __m256d a = _mm256_unpacklo_pd(x0, x1), b = _mm256_unpackhi_pd(x0, x1), c = _mm256_unpacklo_pd(x2, x3),
                    d = _mm256_unpackhi_pd(x2, x3);
      double* const at = to + q * columns + k;
      _mm256_storeu_pd(at, _mm256_permute2f128_pd(a, c, 0x20));
      _mm256_storeu_pd(at + columns, _mm256_permute2f128_pd(b, d, 0x20));
      _mm256_storeu_pd(at + 2 * columns, _mm256_permute2f128_pd(a, c, 0x31));
      _mm256_storeu_pd(at + 3 * columns, _mm256_permute2f128_pd(b, d, 0x31));
    }
#else
  for (int q = 0; q < count; ++q)
    for (int k = 0; k < columns; ++k) to[q * columns + k] = k < rows ? from[k * stride + q] : 0;
#endif
}
}  // namespace detail

/// All m_k at points [begin, begin + count) of places[axis][points]. `for_moments`: add_moments() will take them.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable  // one thread alone works on the host only
#endif
template <bool for_moments, class Team, int most>
TUTTI_HD inline void set_monomials(const Team& team, const PartView& view, const double* places, int points, int begin,
                                   int count, Tile<Team, most>& tile) {
  constexpr int stride = Tile<Team, most>::stride;
  const int order = view.order;
  for_each_point(team, count, [&](const auto at) {
    using T = NumberOf<decltype(at)>;
    const double* from = places + begin;
    const T r = at.load(from), s = at.load(from + points), t = at.load(from + 2 * points);
    at.store(tile.m, T(1));
    // Those of a degree: r times all of the degree before, s times those of these without r, t times its last one.
    double *below = tile.m, *to = tile.m + stride;
    for (int degree = 1; degree <= order; ++degree) {
      const int all = degree * (degree + 1) / 2;
      for (int k = 0; k < all; ++k, to += stride) at.store(to, at.load(below + k * stride) * r);
      for (int k = all - degree; k < all; ++k, to += stride) at.store(to, at.load(below + k * stride) * s);
      at.store(to, at.load(below + (all - 1) * stride) * t);
      to += stride;
      below += all * stride;
    }
  });
  team.meet();
  if constexpr (for_moments && Tile<Team, most>::alone) detail::turn(tile.m, stride, view.bases, count, tile.turned);
}

/// y[v][q] += sum_k m_k(q) x[v][k], k < rows.
template <int V, class Team, int most>
TUTTI_HD inline void evaluate(const Team& team, const Tile<Team, most>& tile, int rows, const double* x, int x_stride,
                              int count, double* y, int y_stride) {
  add_product<V>(team, tile.m, Tile<Team, most>::stride, rows, x, x_stride, count, y, y_stride);
}

/// y[v][k] += sum_q m_k(q) x[v][q], k < rows of the `made` monomials that there are. Padding of y becomes anything.
template <int V, class Team, int most>
TUTTI_HD inline void add_moments(const Team& team, const Tile<Team, most>& tile, int made, int count, const double* x,
                                 int x_stride, int rows, double* y, int y_stride) {
  if constexpr (Tile<Team, most>::alone) {
    add_product<V>(team, tile.turned, padded(made), count, x, x_stride, padded(rows), y, y_stride);
  } else {
    constexpr int stride = Tile<Team, most>::stride;
    if (2 * rows > team.step()) {
      for (int k = team.first(); k < rows; k += team.step()) {
        double sum[V];
        for (int v = 0; v < V; ++v) sum[v] = y[v * y_stride + k];
        for (int q = 0; q < count; ++q) {
          const double m = tile.m[k * stride + q];
          for (int v = 0; v < V; ++v) sum[v] = std::fma(m, x[v * x_stride + q], sum[v]);
        }
        for (int v = 0; v < V; ++v) y[v * y_stride + k] = sum[v];
      }
      return;
    }
    for_each_value(team, V, rows, [&](int v, int k) {
      double sum = y[v * y_stride + k];
      for (int q = 0; q < count; ++q) sum = std::fma(tile.m[k * stride + q], x[v * x_stride + q], sum);
      y[v * y_stride + k] = sum;
    });
  }
}

/// The same of three arrays of variables, `apart` one behind the other in x: y[d][v][k], rows of `y_stride`.
template <class Team, int most>
TUTTI_HD inline void add_moments_along(const Team& team, const Tile<Team, most>& tile, int made, int count,
                                       const double* x, int x_stride, int apart, int rows, double* y, int y_stride) {
  if constexpr (Tile<Team, most>::alone) {
    for (int d = 0; d < 3; ++d)
      add_moments<variables>(team, tile, made, count, x + d * apart, x_stride, rows, y + d * variables * y_stride,
                             y_stride);
  } else {
    constexpr int stride = Tile<Team, most>::stride;
    // More threads than rows: a thread has a direction's.
    for_each_value(team, 3, rows, [&](int d, int k) {
      double *const to = y + d * variables * y_stride + k, sum[variables];
      for (int v = 0; v < variables; ++v) sum[v] = to[v * y_stride];
      for (int q = 0; q < count; ++q) {
        const double m = tile.m[k * stride + q];
        for (int v = 0; v < variables; ++v) sum[v] = std::fma(m, x[d * apart + v * x_stride + q], sum[v]);
      }
      for (int v = 0; v < variables; ++v) to[v * y_stride] = sum[v];
    });
  }
}

/// y[v][k] += sum_l C_lk x[v][l]: from coefficients to the polynomial.
template <int V, class Team>
TUTTI_HD inline void add_polynomial(const Team& team, const PartView& view, const ElementRecord& element,
                                    const double* x, int x_stride, double* y, int y_stride) {
  const int columns = padded(view.bases);
  add_product<V>(team, view.tables + element.matrix, columns, view.bases, x, x_stride, columns, y, y_stride);
}
/// y[v][l] += sum_k C_lk x[v][k]: from moments to coefficients.
template <int V, class Team>
TUTTI_HD inline void add_projected(const Team& team, const PartView& view, const ElementRecord& element,
                                   const double* x, int x_stride, double* y, int y_stride) {
  const int columns = padded(view.bases);
  add_product<V>(team, view.tables + element.matrix + Size{view.bases} * columns, columns, view.bases, x, x_stride,
                 columns, y, y_stride);
}
/// Of element e: the polynomials of its state, [v][columns].
template <class Team>
TUTTI_HD inline void set_state(const Team& team, const PartView& view, Lid e, const double* u, double* to) {
  const int columns = padded(view.bases);
  set_zero(team, to, variables * columns);
  team.meet();
  add_polynomial<variables>(team, view, view.elements[e], u + Size{variables} * view.bases * e, view.bases, to,
                            columns);
  team.meet();
}

/// Their gradient in space: to[v][d][columns].
template <class Team>
TUTTI_HD inline void set_gradient(const Team& team, const PartView& view, Lid e, const double* state, double* to) {
  const int columns = padded(view.bases);
  set_zero(team, to, 3 * variables * columns);
  team.meet();
  const double* m = view.metric + Size{9} * e;
  const Monomials& all = view.monomials;
  // Monomial j of the slope along r_d is the derivative of one monomial.
  for_each_value(team, variables, basis_size(view.order - 1), [&](int v, int j) {
    double slope[3];
    for (int d = 0; d < 3; ++d) {
      const int k = all.higher(d, j);
      slope[d] = all.power(d, k) * state[v * columns + k];
    }
    for (int d = 0; d < 3; ++d)
      to[(3 * v + d) * columns + j] = std::fma(m[6 + d], slope[2], std::fma(m[3 + d], slope[1], m[d] * slope[0]));
  });
  team.meet();
}

/// Adds the moments of a face's jump times the normal: to[v][d][columns]. `x`: memory for 15 values a point.
template <class Team, int most>
TUTTI_HD inline void add_jump(const Team& team, const PartView& view, const FaceRecord& face, double factor,
                              const double* jump, const Tile<Team, most>& tile, double* x, double* to) {
  const int n = face.points, columns = padded(view.bases);
  const double *areas = view.tables + face.areas, *normals = view.normals + face.normals;
  for_each_value(team, variables, n, [&](int v, int q) {
    const double size = factor * areas[q] * jump[face.at + v * n + q];
    for (int d = 0; d < 3; ++d) x[(d * variables + v) * n + q] = size * normals[face.normal_step * q + d];
  });
  team.meet();
  for (int d = 0; d < 3; ++d)
    add_moments<variables>(team, tile, view.bases, n, x + d * variables * n, n, view.bases, to + d * columns,
                           3 * columns);
  team.meet();
}
/// Adds the polynomials that have these moments, C^T C times them. `x`: memory for [5][columns].
template <class Team>
TUTTI_HD inline void add_lifted(const Team& team, const PartView& view, const ElementRecord& element,
                                const double* moments, double* x, double* to) {
  const int columns = padded(view.bases);
  for (int d = 0; d < 3; ++d) {
    set_zero(team, x, variables * columns);
    team.meet();
    add_projected<variables>(team, view, element, moments + d * columns, 3 * columns, x, columns);
    team.meet();
    add_polynomial<variables>(team, view, element, x, columns, to + d * columns, 3 * columns);
    team.meet();
  }
}

/// Memory of a face for its sides, one after the other.
template <class Team, bool viscous>
struct SideScratch {
  static constexpr int columns = padded(Team::bases);
  Tile<Team, Team::face_points> tile;
  double state[variables * columns];
  double moments[viscous ? 3 * variables * columns : 1];
};

template <class Team, bool there, bool viscous>
struct OptionalScratch : SideScratch<Team, viscous> {};
template <class Team, bool viscous>
struct OptionalScratch<Team, false, viscous> {};

/// The state of a side at its points: to[v][n].
template <class Team, bool viscous>
TUTTI_HD inline void trace(const Team& team, const PartView& view, const FaceRecord& face, int side, const double* u,
                           SideScratch<Team, viscous>& s, double* to) {
  const int n = face.points;
  set_state(team, view, side == 0 ? face.left : face.right, u, s.state);
  set_monomials<false>(team, view, view.tables + face.places[side], n, 0, n, s.tile);
  set_zero(team, to, variables * n);
  team.meet();
  evaluate<variables>(team, s.tile, view.bases, s.state, padded(view.bases), n, to, n);
  team.meet();
}

/// The gradient there with the face's jump, `eta` times as it is lifted: to[v][d][n]. `x`, `gradient`: memory for 15
/// values a point and a function.
template <class Team>
TUTTI_HD inline void slopes(const Team& team, const PartView& view, const FaceRecord& face, int side, double eta,
                            const double* u, const double* jump, SideScratch<Team, true>& s, double* x,
                            double* gradient, double* to) {
  const int n = face.points, columns = padded(view.bases);
  const Lid e = side == 0 ? face.left : face.right;
  set_state(team, view, e, u, s.state);
  set_gradient(team, view, e, s.state, gradient);
  set_monomials<true>(team, view, view.tables + face.places[side], n, 0, n, s.tile);
  set_zero(team, s.moments, 3 * variables * columns);
  set_zero(team, to, 3 * variables * n);
  team.meet();
  add_jump(team, view, face, eta * face.scale[side], jump, s.tile, x, s.moments);
  add_lifted(team, view, view.elements[e], s.moments, x, gradient);
  for (int d = 0; d < 3; ++d)
    evaluate<variables>(team, s.tile, view.bases, gradient + d * columns, 3 * columns, n, to + d * n, 3 * n);
  team.meet();
}

}  // namespace tutti::compressible::recomputed
