// Moving one node: a direction from the derivatives around it, and how far it may go.
#pragma once

#include "tutti/models/smoothing/energy.hpp"
#include "tutti/models/smoothing/slide.hpp"
#include "tutti/models/smoothing/star.hpp"

namespace tutti::smoothing {

enum class Method : std::uint8_t {
  newton,      ///< the Hessian's inverse times the gradient
  half_trace,  ///< the gradient over half the Hessian's trace
  thesis,      ///< the gradient over the preconditioner as it is printed [McGuinness 2011, eq. 13]
};

/// How nodes move; the same for all nodes of a sweep.
struct StepOptions {
  Method method = Method::newton;
  double damping = 1;  ///< times the step, before it is searched along
  double eps2 = 0;     ///< of untangling
  /// Halve the step until no cell around the node is turned over and their energy is not larger; else all nodes move at
  /// once and cells are looked at when they have.
  bool search = true;
};

inline constexpr int max_halvings = 10;

template <class R>
TUTTI_HD inline R preconditioner(const DerivativesOf<R>& d, Method method) {
  return method == Method::thesis ? d.t : R(0.5) * (d.xx + d.yy + d.zz);
}

/// -P^-1 g; Newton falls back on half the trace where the Hessian is not safely positive definite. In a plane: in its
/// coordinates.
template <Energy energy, class R>
TUTTI_HD inline Vec3 free_direction(const DerivativesOf<R>& d, Method method) {
  constexpr R minor_least = sizeof(R) == 8 ? R(1e-8) : R(1e-6), least = sizeof(R) == 8 ? R(1e-10) : R(1e-7);
  const auto minor_of = [](R a, R b, R c, R e) { return std::fma(a, b, -(c * e)); };
  if constexpr (in_plane(energy)) {
    const R determinant = minor_of(d.xx, d.yy, d.xy, d.xy), trace = d.xx + d.yy;
    if (method == Method::newton && d.xx > 0 && determinant > minor_least * trace * trace) {
      const R k = -1 / determinant;
      return {k * minor_of(d.yy, d.gx, d.xy, d.gy), k * minor_of(d.xx, d.gy, d.xy, d.gx), 0};
    }
    const R scale = preconditioner(d, method);
    const R k = scale > 0 ? -1 / scale : R(0);
    return {k * d.gx, k * d.gy, 0};
  }
  const R c00 = minor_of(d.yy, d.zz, d.yz, d.yz), c01 = minor_of(d.xz, d.yz, d.xy, d.zz),
          c02 = minor_of(d.xy, d.yz, d.xz, d.yy), c22 = minor_of(d.xx, d.yy, d.xy, d.xy);
  const auto times = [](R a, R b, R c, R x, R y, R z) { return std::fma(a, x, std::fma(b, y, c * z)); };
  const R determinant = times(d.xx, d.xy, d.xz, c00, c01, c02), trace = d.xx + d.yy + d.zz;
  const bool definite = d.xx > 0 && c22 > minor_least * trace * trace && determinant > least * trace * trace * trace;
  if (method != Method::newton || !definite) {
    const R scale = preconditioner(d, method);
    const R k = scale > 0 ? -1 / scale : R(0);
    return {k * d.gx, k * d.gy, k * d.gz};
  }
  const R c11 = minor_of(d.xx, d.zz, d.xz, d.xz), c12 = minor_of(d.xy, d.xz, d.xx, d.yz), k = -1 / determinant;
  return {k * times(c00, c01, c02, d.gx, d.gy, d.gz), k * times(c01, c11, c12, d.gx, d.gy, d.gz),
          k * times(c02, c12, c22, d.gx, d.gy, d.gz)};
}

TUTTI_HD inline Vec3 times_hessian(const Derivatives& d, Vec3 v) {
  return {d.xx * v.x + d.xy * v.y + d.xz * v.z, d.xy * v.x + d.yy * v.y + d.yz * v.z,
          d.xz * v.x + d.yz * v.y + d.zz * v.z};
}

/// The same within the tangents of a node that slides: with T = [first second], -T (T^T H T)^-1 T^T g.
TUTTI_HD inline Vec3 sliding_direction(const Derivatives& d, Method method, const Slide& slide) {
  const Vec3 g{d.gx, d.gy, d.gz};
  const double g1 = dot(slide.first, g);
  const Vec3 h1 = times_hessian(d, slide.first);
  const double h11 = dot(slide.first, h1);
  const double scale = preconditioner(d, method);
  const double k = scale > 0 ? -1 / scale : 0;
  if (!slide.has_two()) {
    const double step = method == Method::newton && h11 > 1e-8 * scale ? -g1 / h11 : k * g1;
    return step * slide.first;
  }
  const double g2 = dot(slide.second, g);
  const double h12 = dot(slide.second, h1), h22 = dot(slide.second, times_hessian(d, slide.second));
  const double determinant = h11 * h22 - h12 * h12, trace = h11 + h22;
  double s1 = k * g1, s2 = k * g2;
  if (method == Method::newton && h11 > 0 && determinant > 1e-8 * trace * trace) {
    s1 = -(h22 * g1 - h12 * g2) / determinant;
    s2 = -(h11 * g2 - h12 * g1) / determinant;
  }
  return s1 * slide.first + s2 * slide.second;
}

template <class R>
TUTTI_HD inline Derivatives in_double(const DerivativesOf<R>& d) {
  return {d.e, d.gx, d.gy, d.gz, d.xx, d.xy, d.xz, d.yy, d.yz, d.zz, d.d, d.t};
}

/// A node whose cells have more energy is moved in double: below it 6 V is known in float to 2 %, so that a volume that
/// float takes for positive is positive.
inline constexpr float most_float_energy = 1e4F;

/// Where the node at `at` goes, relative to it. `slide`: null where it is free. A star is a PlainStarOf, a RingStar, a
/// LaneStar or a GroupStar; the threads of the last one go through this together. `fine`: false, and no move, where it
/// takes double.
template <Energy energy, bool untangle, class Star>
TUTTI_HD Vec3 node_step(const Star& star, Vec3 at, const StepOptions& options, const Slide* slide,
                        const Surface& surface, bool& fine) {
  using R = typename Star::Real;
  const auto eps2 = static_cast<R>(options.eps2);
  const auto d = star.template derivatives<energy, untangle>(eps2);
  if constexpr (sizeof(R) == 4) fine = fine && d.e < most_float_energy;
  Vec3 direction;
  if (slide == nullptr) {
    direction = free_direction<energy>(d, options.method);
  } else if constexpr (in_plane(energy)) {
    Slide along = *slide;
    along.first = star.plane().inside(along.first);
    direction = sliding_direction(in_double(d), options.method, along);
  } else {
    direction = sliding_direction(in_double(d), options.method, *slide);
  }
  // Of floats the star's lengths are those of coordinates times a power of two.
  direction = scale_back<R>(star.scale) * direction;
  if constexpr (in_plane(energy)) direction = star.plane().in_space(direction);
  bool found = !fine || !(dot(direction, direction) < 1e300);
  Vec3 step;
  double length = options.damping;
  for (int k = 0; k <= max_halvings && !Star::all(found); ++k, length *= 0.5) {
    Vec3 by = length * direction;
    if (slide != nullptr && slide->begin < slide->end) by = put_back(*slide, surface, at + by) - at;
    bool good = !options.search;
    if (options.search) {
      bool valid = true;
      const R e = star.template value<energy, untangle>(by, eps2, valid);
      good = (untangle || valid) && e <= d.e;
    }
    if (good && !found) step = by;
    found = found || good;
  }
  return step;
}
template <Energy energy, bool untangle, class Star>
TUTTI_HD Vec3 node_step(const Star& star, Vec3 at, const StepOptions& options, const Slide* slide,
                        const Surface& surface) {
  bool fine = true;
  return node_step<energy, untangle>(star, at, options, slide, surface, fine);
}

/// Moves one node by the portable form. `Sweep`: SweepRows. R: of the derivatives.
template <Energy energy, bool untangle, class R, class Sweep>
TUTTI_HD Vec3 plain_step(const Sweep& s, Lid row) {
  const Size star = s.first_star + row, first = s.stars.offsets[star];
  const auto count = static_cast<int>(s.stars.offsets[star + 1] - first);
  const Point node = s.from[s.first_row + row];
  const Vec3 at = node.vec();
  const Slide* slide = s.stars.slide(star);
  bool fine = true;
  const Vec3 by = node_step<energy, untangle>(PlainStarOf<R>(s.stars.cells + first, count, s.from, node, s.plane), at,
                                              s.options, slide, s.stars.surface, fine);
  if constexpr (sizeof(R) == 4)
    if (!fine) return plain_step<energy, untangle, double>(s, row);
  return by;
}

}  // namespace tutti::smoothing
