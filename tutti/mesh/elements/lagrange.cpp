#include "tutti/mesh/elements/lagrange.hpp"

#include <algorithm>
#include <map>

#include "tutti/base/error.hpp"
#include "tutti/mesh/elements/element_geometry.hpp"

namespace tutti {
namespace {

using Point = std::array<int, 3>;
using Points = std::vector<Point>;

/// Points strictly between a and b, `n` pieces apart.
void add_edge(Points& points, const Point& a, const Point& b, int n) {
  for (int k = 1; k < n; ++k) {
    Point p;
    for (std::size_t d = 0; d < 3; ++d) p[d] = (a[d] * (n - k) + b[d] * k) / n;
    points.push_back(p);
  }
}

/// The corner next to `a` of the triangle or tetrahedron inside one of `n` pieces an edge.
template <class... Others>
Point inner_corner(int n, const Point& a, const Others&... others) {
  Point p;
  for (std::size_t d = 0; d < 3; ++d) p[d] = (a[d] * (n - static_cast<int>(sizeof...(others))) + (others[d] + ...)) / n;
  return p;
}

/// All points of a triangle of `n` pieces an edge: corners, edges, then the same inside. VTK's order.
void add_triangle(Points& points, const Point& a, const Point& b, const Point& c, int n) {
  points.push_back(a);
  if (n == 0) return;
  points.push_back(b);
  points.push_back(c);
  add_edge(points, a, b, n), add_edge(points, b, c, n), add_edge(points, c, a, n);
  if (n >= 3) add_triangle(points, inner_corner(n, a, b, c), inner_corner(n, b, c, a), inner_corner(n, c, a, b), n - 3);
}

void add_tetrahedron(Points& points, const std::array<Point, 4>& v, int n) {
  if (n == 0) return points.push_back(v[0]);
  points.insert(points.end(), v.begin(), v.end());
  constexpr std::array<std::array<std::size_t, 2>, 6> edges = {{{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}}};
  for (const auto& [a, b] : edges) add_edge(points, v[a], v[b], n);
  constexpr std::array<std::array<std::size_t, 3>, 4> sides = {{{0, 1, 3}, {2, 3, 1}, {0, 3, 2}, {0, 2, 1}}};
  if (n >= 3)
    for (const auto& [a, b, c] : sides)
      add_triangle(points, inner_corner(n, v[a], v[b], v[c]), inner_corner(n, v[b], v[c], v[a]),
                   inner_corner(n, v[c], v[a], v[b]), n - 3);
  if (n >= 4)
    add_tetrahedron(points,
                    {inner_corner(n, v[0], v[1], v[2], v[3]), inner_corner(n, v[1], v[0], v[2], v[3]),
                     inner_corner(n, v[2], v[0], v[1], v[3]), inner_corner(n, v[3], v[0], v[1], v[2])},
                    n - 4);
}

Points hexahedron_points(int n) {
  constexpr std::array<std::array<int, 2>, 4> corners = {{{0, 0}, {1, 0}, {1, 1}, {0, 1}}};
  Points points;
  for (const int k : {0, n})
    for (const auto& [i, j] : corners) points.push_back({i * n, j * n, k});
  for (const int k : {0, n}) {
    for (int i = 1; i < n; ++i) points.push_back({i, 0, k});
    for (int j = 1; j < n; ++j) points.push_back({n, j, k});
    for (int i = 1; i < n; ++i) points.push_back({i, n, k});
    for (int j = 1; j < n; ++j) points.push_back({0, j, k});
  }
  for (const auto& [i, j] : corners)
    for (int k = 1; k < n; ++k) points.push_back({i * n, j * n, k});
  for (std::size_t d = 0; d < 3; ++d)
    for (const int side : {0, n})
      for (int b = 1; b < n; ++b)
        for (int a = 1; a < n; ++a) {
          Point p;
          p[d] = side;
          p[d == 0 ? 1 : 0] = a;
          p[d == 2 ? 1 : 2] = b;
          points.push_back(p);
        }
  for (int k = 1; k < n; ++k)
    for (int j = 1; j < n; ++j)
      for (int i = 1; i < n; ++i) points.push_back({i, j, k});
  return points;
}

Points prism_points(int n) {
  const std::array<Point, 3> v = {{{0, 0, 0}, {n, 0, 0}, {0, n, 0}}};
  std::array<Points, 3> edges;
  for (std::size_t e = 0; e < 3; ++e) add_edge(edges[e], v[e], v[(e + 1) % 3], n);
  Points inside;
  for (int j = 1; j < n; ++j)
    for (int i = 1; i < n - j; ++i) inside.push_back({i, j, 0});
  Points points;
  const auto add = [&](const auto& layer, int k) {
    for (const Point& p : layer) points.push_back({p[0], p[1], k});
  };
  for (const int k : {0, n}) add(v, k);
  for (const int k : {0, n})
    for (const auto& edge : edges) add(edge, k);
  for (const Point& p : v)
    for (int k = 1; k < n; ++k) points.push_back({p[0], p[1], k});
  for (const int k : {0, n}) add(inside, k);
  for (const auto& edge : edges)
    for (int k = 1; k < n; ++k) add(edge, k);
  for (int k = 1; k < n; ++k) add(inside, k);
  return points;
}

constexpr std::uint8_t vtk_tetra = 10, vtk_hexahedron = 12, vtk_wedge = 13, vtk_pyramid = 14;

/// Cells by the lattice points of their corners.
class CellList {
 public:
  CellList(ElementType type, int order) {
    const Points points = lagrange_lattice(type, order);
    for (std::size_t i = 0; i < points.size(); ++i) number_[points[i]] = static_cast<std::int32_t>(i);
  }
  void add(std::uint8_t type, const Points& corners) {
    LinearCell cell;
    cell.vtk_type = type;
    cell.count = static_cast<std::uint8_t>(corners.size());
    for (std::size_t k = 0; k < corners.size(); ++k) cell.points[k] = number_.at(corners[k]);
    cells.push_back(cell);
  }
  std::vector<LinearCell> cells;

 private:
  std::map<Point, std::int32_t> number_;
};

/// A tetrahedron with the corners (0, 0, 0), (n, 0, 0), (0, n, 0), (0, 0, n), sheared into the one of Kuhn's cube with
/// x >= y >= z, is cut as that cube's small cubes are.
void cut_tetrahedron(CellList& list, int n) {
  constexpr std::array<std::array<std::size_t, 3>, 6> orders = {
      {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}}};
  for (int c = 0; c < n; ++c)
    for (int b = 0; b < n; ++b)
      for (int a = 0; a < n; ++a)
        for (std::size_t o = 0; o < 6; ++o) {
          Points path(4, Point{a, b, c});
          for (std::size_t step = 0; step < 3; ++step)
            for (std::size_t later = step + 1; later < 4; ++later) ++path[later][orders[o][step]];
          const bool inside = std::all_of(path.begin(), path.end(),
                                          [n](const Point& p) { return p[0] <= n && p[0] >= p[1] && p[1] >= p[2]; });
          if (!inside) continue;
          for (Point& p : path) p = {p[0] - p[1], p[1] - p[2], p[2]};
          if (o >= 3) std::swap(path[2], path[3]);
          list.add(vtk_tetra, path);
        }
}

void cut_prism(CellList& list, int n) {
  for (int k = 0; k < n; ++k)
    for (int j = 0; j < n; ++j)
      for (int i = 0; i + j < n; ++i) {
        list.add(vtk_wedge,
                 {{i, j, k}, {i + 1, j, k}, {i, j + 1, k}, {i, j, k + 1}, {i + 1, j, k + 1}, {i, j + 1, k + 1}});
        if (i + j + 1 < n)
          list.add(vtk_wedge, {{i + 1, j, k},
                               {i + 1, j + 1, k},
                               {i, j + 1, k},
                               {i + 1, j, k + 1},
                               {i + 1, j + 1, k + 1},
                               {i, j + 1, k + 1}});
      }
}

void cut_hexahedron(CellList& list, int n, bool apex) {
  for (int k = 0; k < n; ++k)
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) {
        const Points base = {{i, j, k}, {i + 1, j, k}, {i + 1, j + 1, k}, {i, j + 1, k}};
        Points cell = base;
        if (apex && k == n - 1) {
          cell.push_back({i, j, n});
          list.add(vtk_pyramid, cell);
          continue;
        }
        for (const Point& p : base) cell.push_back({p[0], p[1], k + 1});
        list.add(vtk_hexahedron, cell);
      }
}

}  // namespace

int lagrange_cell_type(ElementType type) {
  constexpr std::array<int, 4> types = {71, 72, 73, 72};
  return types[static_cast<std::size_t>(type)];
}

std::vector<Point> lagrange_lattice(ElementType type, int order) {
  require(order >= 1 && order <= max_lagrange_order, "Lagrange elements of order {}: 1 to {} are known", order,
          max_lagrange_order);
  if (type == ElementType::tetrahedron) {
    Points points;
    add_tetrahedron(points, {{{0, 0, 0}, {order, 0, 0}, {0, order, 0}, {0, 0, order}}}, order);
    return points;
  }
  return type == ElementType::prism ? prism_points(order) : hexahedron_points(order);
}

std::vector<Vec3> lagrange_points(ElementType type, int order) {
  std::vector<Vec3> points;
  for (const Point& l : lagrange_lattice(type, order)) {
    Vec3 r{static_cast<double>(l[0]) / order, static_cast<double>(l[1]) / order, static_cast<double>(l[2]) / order};
    if (type == ElementType::pyramid) r = {r.x * (1 - r.z), r.y * (1 - r.z), r.z};
    points.push_back(r);
  }
  return points;
}

std::vector<LinearCell> linear_cells(ElementType type, int order) {
  CellList list(type, order);
  switch (type) {
    case ElementType::tetrahedron:
      cut_tetrahedron(list, order);
      break;
    case ElementType::prism:
      cut_prism(list, order);
      break;
    case ElementType::hexahedron:
    case ElementType::pyramid:
      cut_hexahedron(list, order, type == ElementType::pyramid);
      break;
  }
  return std::move(list.cells);
}

std::vector<Vec3> sample_points(const ElementMesh& mesh, int order, Gid begin, Gid end) {
  std::array<std::vector<Vec3>, 4> reference;
  for (std::size_t t = 0; t < 4; ++t) reference[t] = lagrange_points(static_cast<ElementType>(t), order);
  std::vector<Vec3> points;
  for (Gid e = begin; e < end; ++e) {
    const ElementPoints nodes = gather_points(mesh, e);
    for (const Vec3& r : reference[static_cast<std::size_t>(mesh.type(e))])
      points.push_back(map_point(mesh.type(e), nodes.view(), r).x);
  }
  return points;
}

}  // namespace tutti
