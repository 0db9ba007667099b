// The energy of one tetrahedron or triangle as a function of one of its corners: value, gradient, Hessian.
#pragma once

#include <cmath>
#include <cstdint>

#include "tutti/base/vec3.hpp"

namespace tutti::smoothing {

/// S: sum of the squares of the six edges, V: volume. Both are convex in one node as long as V > 0.
enum class Energy : std::uint8_t {
  shape,             ///< (S / 12)^1.5 / (3 V) = (mean ratio)^-1.5: 1 for the regular tetrahedron of any size
  l2v,               ///< S / (6 V) [McGuinness 2011, eq. 1]: grows with 1 / length, so large cells are preferred
  plane_triangle,    ///< S / (4 sqrt(3) A) = 1 / mean ratio, three edges, A with its sign: 1 for the equilateral one
  surface_triangle,  ///< the same in space, where an area has no sign; convex within the triangle's plane only
};

constexpr bool is_triangle(Energy energy) {
  return energy == Energy::plane_triangle || energy == Energy::surface_triangle;
}

/// A cell seen from its corner: the other three relative to it, so that a . ((b - a) x (c - a)) = 6 V.
struct CellOffsets {
  double ax, ay, az, bx, by, bz, cx, cy, cz;
};

/// Sums over the cells around a node.
struct Derivatives {
  double e = 0;                                           ///< energy
  double gx = 0, gy = 0, gz = 0;                          ///< its gradient with respect to the node
  double xx = 0, xy = 0, xz = 0, yy = 0, yz = 0, zz = 0;  ///< its Hessian
  double t = 0;  ///< sum of E |V'/V|^2: for l2v the preconditioner as it is printed [McGuinness 2011, eq. 13]

  TUTTI_HD Derivatives& operator+=(const Derivatives& o) {
    e += o.e;
    gx += o.gx, gy += o.gy, gz += o.gz;
    xx += o.xx, xy += o.xy, xz += o.xz, yy += o.yy, yz += o.yz, zz += o.zz;
    t += o.t;
    return *this;
  }
};

/// What energies and derivatives have in common: S, the normal N = (b - a) x (c - a) with dV/dx = -N / 6, and 6 V.
struct CellShape {
  double s, nx, ny, nz, v6;
};

TUTTI_HD inline CellShape cell_shape(const CellOffsets& o) {
  const double ux = o.bx - o.ax, uy = o.by - o.ay, uz = o.bz - o.az;
  const double wx = o.cx - o.ax, wy = o.cy - o.ay, wz = o.cz - o.az;
  const double dx = o.cx - o.bx, dy = o.cy - o.by, dz = o.cz - o.bz;
  CellShape c;
  c.nx = uy * wz - uz * wy;
  c.ny = uz * wx - ux * wz;
  c.nz = ux * wy - uy * wx;
  c.v6 = o.ax * c.nx + o.ay * c.ny + o.az * c.nz;
  c.s = ((o.ax * o.ax + o.ay * o.ay + o.az * o.az) + (o.bx * o.bx + o.by * o.by + o.bz * o.bz)) +
        ((o.cx * o.cx + o.cy * o.cy + o.cz * o.cz) + (ux * ux + uy * uy + uz * uz)) +
        ((wx * wx + wy * wy + wz * wz) + (dx * dx + dy * dy + dz * dz));
  return c;
}

/// 2 / 12^1.5: (S / 12)^1.5 / (3 V) with 6 V in the denominator.
inline constexpr double shape_factor = 0.048112522432468816;

/// Of the triangle at the corner, a and b, with c left alone: S, v6 = 2 A (in the plane with normal z), and
/// (nx, ny, nz) = -dv6/dx, so that formulas of tetrahedra hold.
template <Energy energy>
TUTTI_HD inline CellShape triangle_shape(const CellOffsets& o, Vec3 z) {
  const Vec3 u{o.ax, o.ay, o.az}, w{o.bx, o.by, o.bz}, e = u - w, area = cross(u, w);
  CellShape c;
  c.s = dot(u, u) + dot(w, w) + dot(e, e);
  if constexpr (energy == Energy::surface_triangle) {
    c.v6 = std::sqrt(dot(area, area));
    z = c.v6 > 0 ? (1 / c.v6) * area : Vec3{};
  } else {
    c.v6 = dot(area, z);
  }
  const Vec3 n = cross(z, e);
  c.nx = n.x, c.ny = n.y, c.nz = n.z;
  return c;
}

template <Energy energy>
TUTTI_HD inline CellShape shape_of(const CellOffsets& o, Vec3 normal) {
  if constexpr (is_triangle(energy)) return triangle_shape<energy>(o, normal);
  return cell_shape(o);
}

/// 1 / (2 sqrt(3)): S / (4 sqrt(3) A) with 2 A in the denominator.
inline constexpr double triangle_factor = 0.28867513459481287;

template <Energy energy>
TUTTI_HD inline double energy_numerator(double s) {
  if constexpr (energy == Energy::shape) return shape_factor * (s * std::sqrt(s));
  return is_triangle(energy) ? triangle_factor * s : s;
}

/// While a mesh is untangled, h(V) = (V + sqrt(V^2 + eps^2)) / 2 stands for the volume: positive for cells turned over,
/// too, and V where V >> eps (Escobar et al., Comput. Methods Appl. Mech. Eng. 192, 2003). `eps2`: eps^2, for 6 V.
template <Energy energy, bool untangle>
TUTTI_HD inline double cell_energy(const CellShape& c, double eps2) {
  const double numerator = energy_numerator<energy>(c.s);
  if constexpr (untangle) {
    const double root = std::sqrt(c.v6 * c.v6 + eps2);
    return numerator / (c.v6 > 0 ? 0.5 * (c.v6 + root) : 0.5 * (eps2 / (root - c.v6)));
  } else {
    return numerator / c.v6;
  }
}

/// E = k S^p / h(6 V), p = 1.5 or 1. With s = S'/S, m = h'/h V' and g = p s - m: E' = E g and
/// E'' = E [g g^T + 6 p / S I - p s s^T + (1 - eps^2 / (2 root h)) m m^T], as S'' = 6 I and V'' = 0. Of triangles S'' =
/// 4 I; |N|, twice the area in space, has |N|''/|N| = (|e|^2 I - e e^T) / |N|^2 - m m^T with the edge e across.
template <Energy energy, bool untangle>
TUTTI_HD inline Derivatives cell_derivatives(const CellOffsets& o, double eps2, Vec3 normal = {}) {
  constexpr double p = energy == Energy::shape ? 1.5 : 1.0;
  const CellShape c = shape_of<energy>(o, normal);
  const double numerator = energy_numerator<energy>(c.s);
  double inverse, e, curve = 1;
  if constexpr (untangle) {
    const double root = std::sqrt(c.v6 * c.v6 + eps2);
    // For V < 0 the sum in h would lose its digits.
    const double h = c.v6 > 0 ? 0.5 * (c.v6 + root) : 0.5 * (eps2 / (root - c.v6));
    inverse = 1 / root;
    e = numerator / h;
    curve = 1 - 0.5 * eps2 * inverse / h;
  } else {
    inverse = 1 / c.v6;
    e = numerator * inverse;
  }
  const double is = 1 / c.s, k = -2 * is;
  double sx = k * (o.ax + o.bx + o.cx), sy = k * (o.ay + o.by + o.cy), sz = k * (o.az + o.bz + o.cz);
  if constexpr (is_triangle(energy)) sx = k * (o.ax + o.bx), sy = k * (o.ay + o.by), sz = k * (o.az + o.bz);
  const double mx = -c.nx * inverse, my = -c.ny * inverse, mz = -c.nz * inverse;
  const double gx = p * sx - mx, gy = p * sy - my, gz = p * sz - mz;
  const double ep = -p * e, em = curve * e, d = (is_triangle(energy) ? 4 : 6) * p * e * is;
  const double ex = e * gx, ey = e * gy, ez = e * gz;
  const double fx = ep * sx, fy = ep * sy, fz = ep * sz;
  const double hx = em * mx, hy = em * my, hz = em * mz;
  Derivatives r;
  r.e = e;
  r.gx = ex;
  r.gy = ey;
  r.gz = ez;
  r.xx = (ex * gx + fx * sx) + (hx * mx + d);
  r.xy = ex * gy + fx * sy + hx * my;
  r.xz = ex * gz + fx * sz + hx * mz;
  r.yy = (ey * gy + fy * sy) + (hy * my + d);
  r.yz = ey * gz + fy * sz + hy * mz;
  r.zz = (ez * gz + fz * sz) + (hz * mz + d);
  if constexpr (energy == Energy::surface_triangle) {
    const Vec3 b{o.ax - o.bx, o.ay - o.by, o.az - o.bz};
    const double q = e * inverse * inverse, bb = dot(b, b);
    r.xx += e * mx * mx - q * (bb - b.x * b.x);
    r.xy += e * mx * my + q * b.x * b.y;
    r.xz += e * mx * mz + q * b.x * b.z;
    r.yy += e * my * my - q * (bb - b.y * b.y);
    r.yz += e * my * mz + q * b.y * b.z;
    r.zz += e * mz * mz - q * (bb - b.z * b.z);
  }
  r.t = e * (mx * mx + my * my + mz * mz);
  return r;
}

}  // namespace tutti::smoothing
