// From reference coordinates to points: shape functions of first and second order, their derivatives, Jacobians.
//
// Hexahedra and prisms are products of one-dimensional and triangular Lagrange polynomials. A pyramid of order m spans
// u^k Q_k(a, b), k = 0 .. m, with u = 1 - t, a = r / u, b = s / u (Bergot, Cohen, Durufle 2010): rational in r, s, t,
// but of full order, and on its faces what tetrahedra and hexahedra have.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "tutti/base/types.hpp"
#include "tutti/base/vec3.hpp"
#include "tutti/mesh/elements/element_mesh.hpp"
#include "tutti/mesh/elements/element_tables.hpp"

namespace tutti {

namespace element_geometry {

/// A value and its derivatives along r, s, t.
struct Shape {
  double value = 0;
  Vec3 gradient;
};

/// A one-dimensional value and its derivative.
struct Line {
  double value = 0, derivative = 0;
};
/// Lagrange polynomial of node `at` = 0, 1, 2 at 0, 1/2, 1; of first order only 0 and 2 are nodes.
TUTTI_HD inline Line line_shape(int order, int at, double x) {
  if (order == 1) return at == 0 ? Line{1 - x, -1} : Line{x, 1};
  if (at == 0) return {(1 - x) * (1 - 2 * x), 4 * x - 3};
  if (at == 1) return {4 * x * (1 - x), 4 - 8 * x};
  return {x * (2 * x - 1), 4 * x - 1};
}
/// Lagrange polynomial in one barycentric coordinate l, as a factor of a simplex's shape function.
TUTTI_HD inline Line barycentric_shape(int order, int at, double l) {
  if (at == 0) return {1, 0};
  if (order == 1) return {l, 1};
  if (at == 1) return {2 * l, 2};
  return {l * (2 * l - 1), 4 * l - 1};
}

TUTTI_HD inline Shape tetrahedron_shape(int order, int i, int j, int k, Vec3 r) {
  const Line w = barycentric_shape(order, 2 - i - j - k, 1 - r.x - r.y - r.z), a = barycentric_shape(order, i, r.x),
             b = barycentric_shape(order, j, r.y), c = barycentric_shape(order, k, r.z);
  const double abc = a.value * b.value * c.value, dw = w.derivative * abc;
  return {w.value * abc,
          {w.value * a.derivative * b.value * c.value - dw, w.value * a.value * b.derivative * c.value - dw,
           w.value * a.value * b.value * c.derivative - dw}};
}

TUTTI_HD inline Shape hexahedron_shape(int order, int i, int j, int k, Vec3 r) {
  const Line a = line_shape(order, i, r.x), b = line_shape(order, j, r.y), c = line_shape(order, k, r.z);
  return {a.value * b.value * c.value,
          {a.derivative * b.value * c.value, a.value * b.derivative * c.value, a.value * b.value * c.derivative}};
}

TUTTI_HD inline Shape prism_shape(int order, int i, int j, int k, Vec3 r) {
  const Line w = barycentric_shape(order, 2 - i - j, 1 - r.x - r.y), a = barycentric_shape(order, i, r.x),
             b = barycentric_shape(order, j, r.y), c = line_shape(order, k, r.z);
  const double ab = a.value * b.value, dw = w.derivative * ab;
  return {w.value * ab * c.value,
          {(w.value * a.derivative * b.value - dw) * c.value, (w.value * a.value * b.derivative - dw) * c.value,
           w.value * ab * c.derivative}};
}

/// u^m Q(a, b), m = 1 or 2, with derivatives along r, s, t; bounded at the apex, u = 0.
TUTTI_HD inline Shape pyramid_term(int m, int order, int i, int j, double a, double b, double u) {
  const Line p = line_shape(order, i, a), q = line_shape(order, j, b);
  const double value = p.value * q.value, along_a = p.derivative * q.value, along_b = p.value * q.derivative;
  const double down = m == 1 ? 1 : u;  // u^(m-1)
  return {down * u * value, {down * along_a, down * along_b, down * (a * along_a + b * along_b - m * value)}};
}

TUTTI_HD inline Shape pyramid_shape(int order, int i, int j, int k, Vec3 r) {
  const double t = r.z, u = 1 - t;
  // At the apex derivatives depend on the direction, unless the base is a parallelogram: taken along the axis.
  const bool apex = !(u > 1e-14);
  const double a = apex ? 0.5 : r.x / u, b = apex ? 0.5 : r.y / u;
  if (order == 1) return k == 2 ? Shape{t, {0, 0, 1}} : pyramid_term(1, 1, i, j, a, b, u);
  if (k == 2) return {t * (2 * t - 1), {0, 0, 4 * t - 1}};
  // Nodes between base and apex stand at twice (0, 0), (1, 0), (1, 1), (0, 1): corners of their layer.
  if (k == 1) {
    const Shape c = pyramid_term(1, 1, 2 * i, 2 * j, a, b, u);
    return {4 * t * c.value, {4 * t * c.gradient.x, 4 * t * c.gradient.y, 4 * t * c.gradient.z + 4 * c.value}};
  }
  const Shape base = pyramid_term(2, 2, i, j, a, b, u);
  if (i == 1 || j == 1) return base;
  const Shape c = pyramid_term(1, 1, i, j, a, b, u);
  return {base.value - t * c.value,
          {base.gradient.x - t * c.gradient.x, base.gradient.y - t * c.gradient.y,
           base.gradient.z - t * c.gradient.z - c.value}};
}

}  // namespace element_geometry

/// Shape function of the node at twice the reference coordinates (i, j, k), of geometry order 1 or 2.
TUTTI_HD inline element_geometry::Shape shape_function(ElementType type, int order, int i, int j, int k, Vec3 r) {
  switch (type) {
    case ElementType::tetrahedron:
      return element_geometry::tetrahedron_shape(order, i, j, k, r);
    case ElementType::hexahedron:
      return element_geometry::hexahedron_shape(order, i, j, k, r);
    case ElementType::prism:
      return element_geometry::prism_shape(order, i, j, k, r);
    default:
      return element_geometry::pyramid_shape(order, i, j, k, r);
  }
}

/// The point of reference coordinates r and its derivatives along them.
struct MappedPoint {
  Vec3 x;
  Vec3 dr, ds, dt;  ///< columns of the Jacobian matrix dx/dr
  TUTTI_HD double determinant() const { return dot(cross(dr, ds), dt); }
};

/// Maps r by the element whose nodes lie at `nodes` (in VTK's order, of first or second order).
inline MappedPoint map_point(ElementType type, std::span<const Vec3> nodes, Vec3 r) {
  const int order = geometry_order(type, nodes.size());
  const auto lattice = node_lattice(type);
  MappedPoint p;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const auto& l = lattice[n];
    const element_geometry::Shape shape = shape_function(type, order, l[0], l[1], l[2], r);
    p.x = p.x + shape.value * nodes[n];
    p.dr = p.dr + shape.gradient.x * nodes[n];
    p.ds = p.ds + shape.gradient.y * nodes[n];
    p.dt = p.dt + shape.gradient.z * nodes[n];
  }
  return p;
}

/// Shape functions at fixed reference points, for loops over many elements: the same bits as map_point().
class ShapeTable {
 public:
  ShapeTable() = default;
  ShapeTable(ElementType type, int order, std::span<const Vec3> points)
      : nodes_(static_cast<std::size_t>(order == 1 ? corner_count(type) : quadratic_node_count(type))),
        points_(points.size()),
        shapes_(4 * nodes_ * points_) {
    for (std::size_t n = 0; n < nodes_; ++n)
      for (std::size_t q = 0; q < points_; ++q) {
        const auto& l = node_lattice(type)[n];
        const element_geometry::Shape shape = shape_function(type, order, l[0], l[1], l[2], points[q]);
        double* const to = shapes_.data() + 4 * n * points_ + q;
        to[0] = shape.value;
        for (int d = 0; d < 3; ++d) to[static_cast<std::size_t>(1 + d) * points_] = shape.gradient[d];
      }
  }
  std::size_t points() const { return points_; }
  /// Maps point number `point` by an element of the table's type and order.
  MappedPoint map(std::size_t point, std::span<const Vec3> nodes) const {
    MappedPoint p;
    for (std::size_t n = 0; n < nodes_; ++n) {
      const double* const shape = shapes_.data() + 4 * n * points_ + point;
      p.x = p.x + shape[0] * nodes[n];
      p.dr = p.dr + shape[points_] * nodes[n];
      p.ds = p.ds + shape[2 * points_] * nodes[n];
      p.dt = p.dt + shape[3 * points_] * nodes[n];
    }
    return p;
  }
  /// All points: x, y and z in rows of points() numbers.
  void map_places(std::span<const Vec3> nodes, double* to) const { map_rows(nodes, 1, to); }
  /// All points: twelve such rows, of MappedPoint's x, dr, ds and dt.
  void map_all(std::span<const Vec3> nodes, double* to) const { map_rows(nodes, 4, to); }

 private:
  void map_rows(std::span<const Vec3> nodes, std::size_t kinds, double* to) const {
    std::fill_n(to, 3 * kinds * points_, 0.0);
    std::size_t n = 0;
    for (; n + 4 <= nodes_; n += 4) add_nodes<4>(n, nodes, kinds, to);
    for (; n < nodes_; ++n) add_nodes<1>(n, nodes, kinds, to);
  }
  /// Some nodes at a time, one after the other in each sum: what is added to stays in registers.
  template <int count>
  void add_nodes(std::size_t first, std::span<const Vec3> nodes, std::size_t kinds, double* to) const {
    const std::size_t next = 4 * points_;
    for (std::size_t k = 0; k < kinds; ++k)
      for (int d = 0; d < 3; ++d) {
        const double* __restrict const shape = shapes_.data() + (4 * first + k) * points_;
        double* __restrict const row = to + (3 * k + static_cast<std::size_t>(d)) * points_;
        double at[count];
        for (int i = 0; i < count; ++i) at[i] = nodes[first + static_cast<std::size_t>(i)][d];
        for (std::size_t q = 0; q < points_; ++q) {
          double sum = row[q];
          for (int i = 0; i < count; ++i) sum += shape[static_cast<std::size_t>(i) * next + q] * at[i];
          row[q] = sum;
        }
      }
  }

  std::size_t nodes_ = 0, points_ = 0;
  std::vector<double> shapes_;  ///< of each node: values at all points, then derivatives along r, s, t
};

/// Normal out of the element times the area a unit of the face coordinates u, v (face_reference), whose reference face
/// has the area 1 (quadrangles) or 1/2 (triangles).
class FaceAreas {
 public:
  FaceAreas(ElementType type, int face) {
    const Vec3 o = face_reference(type, face, 0, 0);
    u_ = face_reference(type, face, 1, 0) - o;
    v_ = face_reference(type, face, 0, 1) - o;
  }
  Vec3 at(const MappedPoint& p) const { return cross(along(u_, p), along(v_, p)); }

 private:
  static Vec3 along(Vec3 d, const MappedPoint& p) { return d.x * p.dr + d.y * p.ds + d.z * p.dt; }
  Vec3 u_, v_;
};

/// Points of an element's nodes, gathered.
struct ElementPoints {
  int count = 0;
  std::array<Vec3, max_element_nodes> at;
  std::span<const Vec3> view() const { return {at.data(), static_cast<std::size_t>(count)}; }
};
inline ElementPoints gather_points(const ElementMesh& mesh, Gid element) {
  ElementPoints p;
  for (const Gid v : mesh.element_nodes(element)) p.at[p.count++] = mesh.points[v];
  return p;
}

}  // namespace tutti
