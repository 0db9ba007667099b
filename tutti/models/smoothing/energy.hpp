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
  graded,            ///< (s + s^2) / (2 v), s and v being S and V over those of a regular cell of the wanted size
  plane_triangle,    ///< S / (4 sqrt(3) A) = 1 / mean ratio, three edges, A with its sign: 1 for the equilateral one;
                     ///< in two coordinates (see Plane): z is left alone
  surface_triangle,  ///< the same in space, where an area has no sign; convex within the triangle's plane only
};

constexpr bool is_triangle(Energy energy) {
  return energy == Energy::plane_triangle || energy == Energy::surface_triangle;
}

constexpr bool in_plane(Energy energy) {
  return energy == Energy::plane_triangle;
}

// What follows is written for double and, where differences of coordinates are float, for float. Sums of products are
// fused, which rounds in one way everywhere (std::fma), and costs a GPU half as much.

/// A cell seen from its corner: the other three relative to it, so that a . ((b - a) x (c - a)) = 6 V.
template <class R>
struct CellOffsetsOf {
  R ax, ay, az, bx, by, bz, cx, cy, cz;
};
using CellOffsets = CellOffsetsOf<double>;

/// Sums over the cells around a node.
template <class R>
struct DerivativesOf {
  R e = 0;                                           ///< energy
  R gx = 0, gy = 0, gz = 0;                          ///< its gradient with respect to the node
  R xx = 0, xy = 0, xz = 0, yy = 0, yz = 0, zz = 0;  ///< its Hessian, once `d` is added to it
  R d = 0;                                           ///< what is still missing in xx, yy and zz
  R t = 0;  ///< of l2v: sum of E |V'/V|^2, the preconditioner as it is printed [McGuinness 2011, eq. 13]

  TUTTI_HD DerivativesOf& operator+=(const DerivativesOf& o) {
    e += o.e;
    gx += o.gx, gy += o.gy, gz += o.gz;
    xx += o.xx, xy += o.xy, xz += o.xz, yy += o.yy, yz += o.yz, zz += o.zz;
    t += o.t;
    return *this;
  }
  template <Energy energy>
  TUTTI_HD void finish() {
    xx += d, yy += d;
    if constexpr (!in_plane(energy)) zz += d;
    d = 0;
  }
};
using Derivatives = DerivativesOf<double>;

/// All that energies and derivatives need: S with its gradient -2 (mx, my, mz) and Hessian 2 `curve` I, and 6 V with
/// -(nx, ny, nz). Both are known for the node elsewhere, too: see moved_shape(). Of triangles v6 = 2 A. Of `graded` all
/// are relative to the wanted cell.
template <class R>
struct CellShapeOf {
  R s, mx, my, mz, nx, ny, nz, v6, curve;
};
using CellShape = CellShapeOf<double>;

template <class R>
TUTTI_HD inline R length2(R x, R y, R z) {
  return std::fma(x, x, std::fma(y, y, z * z));
}

template <class R>
TUTTI_HD inline R length2(R x, R y) {
  return std::fma(x, x, y * y);
}

/// Four points have the sum of squared distances 4 sum |p|^2 - |sum p|^2; one of them is the origin.
template <class R>
TUTTI_HD inline CellShapeOf<R> cell_shape(const CellOffsetsOf<R>& o) {
  using std::fma;
  const R ux = o.bx - o.ax, uy = o.by - o.ay, uz = o.bz - o.az;
  const R wx = o.cx - o.ax, wy = o.cy - o.ay, wz = o.cz - o.az;
  CellShapeOf<R> c;
  c.nx = fma(uy, wz, -(uz * wy));
  c.ny = fma(uz, wx, -(ux * wz));
  c.nz = fma(ux, wy, -(uy * wx));
  c.v6 = fma(o.ax, c.nx, fma(o.ay, c.ny, o.az * c.nz));
  c.mx = (o.ax + o.bx) + o.cx;
  c.my = (o.ay + o.by) + o.cy;
  c.mz = (o.az + o.bz) + o.cz;
  const R squares = (length2(o.ax, o.ay, o.az) + length2(o.bx, o.by, o.bz)) + length2(o.cx, o.cy, o.cz);
  c.s = fma(R(4), squares, -length2(c.mx, c.my, c.mz));
  c.curve = 3;
  return c;
}

/// 2 / 12^1.5: (S / 12)^1.5 / (3 V) with 6 V in the denominator.
inline constexpr double shape_factor = 0.048112522432468816;

/// Of the triangle at the corner, a and b, with c left alone.
template <Energy energy, class R>
TUTTI_HD inline CellShapeOf<R> triangle_shape(const CellOffsetsOf<R>& o) {
  using std::fma;
  const R ex = o.ax - o.bx, ey = o.ay - o.by, area = fma(o.ax, o.by, -(o.ay * o.bx));
  CellShapeOf<R> c;
  c.curve = 2;
  c.mx = o.ax + o.bx, c.my = o.ay + o.by;
  if constexpr (in_plane(energy)) {
    c.v6 = area;
    c.nx = -ey, c.ny = ex, c.nz = 0, c.mz = 0;
    c.s = fma(R(3), length2(o.ax, o.ay) + length2(o.bx, o.by), -length2(c.mx, c.my));
  } else {
    const R x = fma(o.ay, o.bz, -(o.az * o.by)), y = fma(o.az, o.bx, -(o.ax * o.bz)), ez = o.az - o.bz;
    c.v6 = std::sqrt(length2(x, y, area));
    const R inverse = c.v6 > 0 ? 1 / c.v6 : R(0), zx = inverse * x, zy = inverse * y, zz = inverse * area;
    c.nx = fma(zy, ez, -(zz * ey));
    c.ny = fma(zz, ex, -(zx * ez));
    c.nz = fma(zx, ey, -(zy * ex));
    c.mz = o.az + o.bz;
    c.s = fma(R(3), length2(o.ax, o.ay, o.az) + length2(o.bx, o.by, o.bz), -length2(c.mx, c.my, c.mz));
  }
  return c;
}

/// Of a regular tetrahedron with edges of length 1, 6 V = 1 / sqrt(2).
inline constexpr double root_of_two = 1.4142135623730951;

/// `size`: the wanted length of edges, for `graded`.
template <Energy energy, class R>
TUTTI_HD inline CellShapeOf<R> shape_of(const CellOffsetsOf<R>& o, R size = 1) {
  if constexpr (is_triangle(energy)) return triangle_shape<energy>(o);
  CellShapeOf<R> c = cell_shape(o);
  if constexpr (energy == Energy::graded) {
    const R length = 1 / size, square = length * length * R(1.0 / 6),
            cube = R(root_of_two) * (length * length * length);
    c.s *= square, c.mx *= square, c.my *= square, c.mz *= square, c.curve *= square;
    c.v6 *= cube, c.nx *= cube, c.ny *= cube, c.nz *= cube;
  }
  return c;
}

/// S and 6 V only.
template <class R>
struct CellSize {
  R s, v6;
};

/// With the node moved by (x, y, z), of which `squares` is the square: S is quadratic and V linear in it, but for a
/// triangle's area in space.
template <Energy energy, class R>
TUTTI_HD inline CellSize<R> moved_shape(const CellShapeOf<R>& c, R x, R y, R z, R squares) {
  static_assert(energy != Energy::surface_triangle);
  using std::fma;
  if constexpr (in_plane(energy))
    return {fma(c.curve, squares, fma(R(-2), fma(x, c.mx, y * c.my), c.s)), fma(-x, c.nx, fma(-y, c.ny, c.v6))};
  const R along = fma(x, c.mx, fma(y, c.my, z * c.mz));
  return {fma(c.curve, squares, fma(R(-2), along, c.s)), fma(-x, c.nx, fma(-y, c.ny, fma(-z, c.nz, c.v6)))};
}

/// 1 / (2 sqrt(3)): S / (4 sqrt(3) A) with 2 A in the denominator.
inline constexpr double triangle_factor = 0.28867513459481287;

/// Roots and quotients as the compiler makes them; see QuickMath for GPUs.
struct PlainMath {
  template <class R>
  TUTTI_HD R root(R x) const {
    return std::sqrt(x);
  }
  template <class R>
  TUTTI_HD R inverse(R x) const {
    return 1 / x;
  }
  template <class R>
  TUTTI_HD R quotient(R x, R y) const {
    return x / y;
  }
};

template <Energy energy, class R, class Math = PlainMath>
TUTTI_HD inline R energy_numerator(R s, const Math& math = {}) {
  if constexpr (energy == Energy::shape) return R(shape_factor) * (s * math.root(s));
  if constexpr (energy == Energy::graded) return R(0.5) * std::fma(s, s, s);
  return is_triangle(energy) ? R(triangle_factor) * s : s;
}

/// While a mesh is untangled, h(V) = (V + sqrt(V^2 + eps^2)) / 2 stands for the volume: positive for cells turned over,
/// too, and V where V >> eps (Escobar et al., Comput. Methods Appl. Mech. Eng. 192, 2003). `eps2`: eps^2, for 6 V.
template <Energy energy, bool untangle, class R, class Math = PlainMath>
TUTTI_HD inline R cell_energy(const CellSize<R>& c, R eps2, const Math& math = {}) {
  const R numerator = energy_numerator<energy>(c.s, math);
  if constexpr (untangle) {
    const R root = std::sqrt(std::fma(c.v6, c.v6, eps2));
    return numerator / (c.v6 > 0 ? R(0.5) * (c.v6 + root) : R(0.5) * (eps2 / (root - c.v6)));
  } else {
    return math.quotient(numerator, c.v6);
  }
}
template <Energy energy, bool untangle>
TUTTI_HD inline double cell_energy(const CellShape& c, double eps2) {
  return cell_energy<energy, untangle>(CellSize<double>{c.s, c.v6}, eps2);
}

/// Adds a cell's E, E' and E'' to the sums, `weight` times: 1, or 0 for a cell that is not there.
///
/// E = k S^p / h(6 V), p = 1.5 or 1. With s = S'/S, m = h'/h V' and g = p s - m: E' = E g and
/// E'' = E [g g^T + 6 p / S I - p s s^T + c m m^T], c = 1 - eps^2 / (2 root h), as S'' = 6 I and V'' = 0. The three
/// products are two: (1 + c) f f^T + p (p - 1 - q) s s^T with q = p / (1 + c) and f = m - q s. Of triangles S'' = 4 I.
/// Of `graded` p = (1 + 2 S) / (1 + S) changes with S, which adds S dp/dS s s^T.
template <Energy energy, bool untangle, class R, class Math = PlainMath>
TUTTI_HD inline void add_cell(DerivativesOf<R>& sum, const CellShapeOf<R>& c, R eps2, R weight = 1,
                              const Math& math = {}) {
  using std::fma;
  R p = energy == Energy::shape ? R(1.5) : R(1), change = 0;
  if constexpr (energy == Energy::graded) {
    const R more = 1 / (1 + c.s);
    p = fma(R(2), c.s, R(1)) * more;
    change = c.s * (more * more);
  }
  const R numerator = weight * energy_numerator<energy>(c.s, math);
  R inverse, is, e, twice = 2, q = p / 2;
  if constexpr (untangle) {
    const R root = std::sqrt(fma(c.v6, c.v6, eps2));
    // For V < 0 the sum in h would lose its digits.
    const R h = c.v6 > 0 ? R(0.5) * (c.v6 + root) : R(0.5) * (eps2 / (root - c.v6));
    inverse = 1 / root;
    is = 1 / c.s;
    e = numerator / h;
    twice = 2 - R(0.5) * eps2 * inverse / h;
    q = p / twice;
  } else {
    const R both = math.inverse(c.s * c.v6);  // one division instead of two
    inverse = both * c.s;
    is = both * c.v6;
    e = numerator * inverse;
  }
  const R k = -2 * is, v = -inverse;
  const R sx = k * c.mx, sy = k * c.my;
  const R mx = v * c.nx, my = v * c.ny;
  sum.e += e;
  sum.gx = fma(e, fma(p, sx, -mx), sum.gx);
  sum.gy = fma(e, fma(p, sy, -my), sum.gy);
  const R fx = fma(-q, sx, mx), fy = fma(-q, sy, my);
  const R ef = twice * e, es = fma(p, p - 1 - q, change) * e;
  const R hx = ef * fx, hy = ef * fy;
  const R tx = es * sx, ty = es * sy;
  sum.xx = fma(hx, fx, fma(tx, sx, sum.xx));
  sum.xy = fma(hx, fy, fma(tx, sy, sum.xy));
  sum.yy = fma(hy, fy, fma(ty, sy, sum.yy));
  sum.d = fma(2 * c.curve * p * e, is, sum.d);
  if constexpr (in_plane(energy)) return;
  const R sz = k * c.mz, mz = v * c.nz, fz = fma(-q, sz, mz);
  sum.gz = fma(e, fma(p, sz, -mz), sum.gz);
  sum.xz = fma(hx, fz, fma(tx, sz, sum.xz));
  sum.yz = fma(hy, fz, fma(ty, sz, sum.yz));
  sum.zz = fma(ef * fz, fz, fma(es * sz, sz, sum.zz));
  if constexpr (energy == Energy::l2v) sum.t = fma(e, length2(mx, my, mz), sum.t);
}

/// What a triangle in space has besides: |N|, twice the area, has |N|''/|N| = (|b|^2 I - b b^T) / |N|^2 - m m^T with
/// the edge b across.
TUTTI_HD inline void add_surface(Derivatives& sum, const CellShape& c, const CellOffsets& o) {
  const double inverse = 1 / c.v6, e = energy_numerator<Energy::surface_triangle>(c.s) * inverse;
  const double mx = c.nx * inverse, my = c.ny * inverse, mz = c.nz * inverse;
  const Vec3 b{o.ax - o.bx, o.ay - o.by, o.az - o.bz};
  const double q = e * inverse * inverse, bb = dot(b, b);
  sum.xx += e * mx * mx - q * (bb - b.x * b.x);
  sum.xy += e * mx * my + q * b.x * b.y;
  sum.xz += e * mx * mz + q * b.x * b.z;
  sum.yy += e * my * my - q * (bb - b.y * b.y);
  sum.yz += e * my * mz + q * b.y * b.z;
  sum.zz += e * mz * mz - q * (bb - b.z * b.z);
}

/// Of one cell.
template <Energy energy, bool untangle>
TUTTI_HD inline Derivatives cell_derivatives(const CellOffsets& o, double eps2, double size = 1) {
  Derivatives sum;
  const CellShape c = shape_of<energy>(o, size);
  add_cell<energy, untangle>(sum, c, eps2);
  if constexpr (energy == Energy::surface_triangle) add_surface(sum, c, o);
  sum.template finish<energy>();
  return sum;
}

}  // namespace tutti::smoothing
