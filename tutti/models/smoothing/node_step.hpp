// Moving one node: a direction from the derivatives around it, and how far it may go.
#pragma once

#include "tutti/models/smoothing/energy.hpp"
#include "tutti/models/smoothing/slide.hpp"

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

TUTTI_HD inline double preconditioner(const Derivatives& d, Method method) {
  return method == Method::thesis ? d.t : 0.5 * (d.xx + d.yy + d.zz);
}

/// -P^-1 g; Newton falls back on half the trace where the Hessian is not safely positive definite.
TUTTI_HD inline Vec3 free_direction(const Derivatives& d, Method method) {
  const double c00 = d.yy * d.zz - d.yz * d.yz, c01 = d.xz * d.yz - d.xy * d.zz, c02 = d.xy * d.yz - d.xz * d.yy;
  const double determinant = d.xx * c00 + d.xy * c01 + d.xz * c02;
  const double minor = d.xx * d.yy - d.xy * d.xy, trace = d.xx + d.yy + d.zz;
  const bool definite = d.xx > 0 && minor > 1e-8 * trace * trace && determinant > 1e-10 * trace * trace * trace;
  if (method != Method::newton || !definite) {
    const double scale = preconditioner(d, method);
    const double k = scale > 0 ? -1 / scale : 0;
    return {k * d.gx, k * d.gy, k * d.gz};
  }
  const double c11 = d.xx * d.zz - d.xz * d.xz, c12 = d.xy * d.xz - d.xx * d.yz, k = -1 / determinant;
  return {k * (c00 * d.gx + c01 * d.gy + c02 * d.gz), k * (c01 * d.gx + c11 * d.gy + c12 * d.gz),
          k * (c02 * d.gx + c12 * d.gy + minor * d.gz)};
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

/// Where the node at `at` goes, relative to it. `slide`: null where it is free. A star is a PlainStar or a LaneStar.
template <Energy energy, bool untangle, class Star>
TUTTI_HD Vec3 node_step(const Star& star, Vec3 at, const StepOptions& options, const Slide* slide,
                        const Surface& surface) {
  const Derivatives d = star.template derivatives<energy, untangle>(options.eps2);
  const Vec3 direction =
      slide == nullptr ? free_direction(d, options.method) : sliding_direction(d, options.method, *slide);
  if (!(dot(direction, direction) < 1e300)) return {};
  double length = options.damping;
  for (int k = 0; k <= max_halvings; ++k, length *= 0.5) {
    Vec3 by = length * direction;
    if (slide != nullptr && slide->begin < slide->end) by = put_back(*slide, surface, at + by) - at;
    if (!options.search) return by;
    bool valid = true;
    const double e = star.template value<energy, untangle>(by, options.eps2, valid);
    if ((untangle || valid) && e <= d.e) return by;
  }
  return {};
}

}  // namespace tutti::smoothing
