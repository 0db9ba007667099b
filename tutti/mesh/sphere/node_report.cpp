#include "tutti/mesh/sphere/node_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "tutti/base/error.hpp"
#include "tutti/base/units.hpp"
#include "tutti/mesh/sphere/nearest.hpp"

namespace tutti {
namespace {

/// A place in the plane that touches the sphere at a node, seen from the sphere's centre: great circles are straight.
struct Flat {
  double u = 0, v = 0;
};

/// What a node's neighbours leave of the plane. In it, the half that is nearer to x than to x - d is
/// |d|^2 / 2 + u (d.e1) + v (d.e2) >= 0.
class Cell {
 public:
  /// Two unit vectors across x, and a square out to 89 degrees.
  void begin(Vec3 x) {
    x_ = x;
    const Vec3 axis = std::abs(x.z) < 0.9 ? Vec3{0, 0, 1} : Vec3{1, 0, 0};
    e1_ = cross(axis, x);
    e1_ = (1 / norm(e1_)) * e1_;
    e2_ = cross(x, e1_);
    corners_ = {{-limit, -limit}, {limit, -limit}, {limit, limit}, {-limit, limit}};
  }

  /// Tangent of the angle to the farthest corner, squared.
  double farthest() const {
    double far = 0;
    for (const Flat& c : corners_) far = std::max(far, c.u * c.u + c.v * c.v);
    return far;
  }

  void cut(Vec3 other) {
    const Side inside = side(other);
    kept_.clear();
    for (std::size_t i = 0; i < corners_.size(); ++i) {
      const Flat p = corners_[i], q = corners_[(i + 1) % corners_.size()];
      const double at_p = inside(p), at_q = inside(q);
      if (at_p >= 0) kept_.push_back(p);
      if ((at_p < 0) != (at_q < 0)) {
        const double t = at_p / (at_p - at_q);
        kept_.push_back({p.u + t * (q.u - p.u), p.v + t * (q.v - p.v)});
      }
    }
    corners_.swap(kept_);
  }

  std::size_t corners() const { return corners_.size(); }
  /// On the sphere.
  Vec3 corner(std::size_t i) const { return on_sphere(corners_[i]); }
  /// The corner is beyond the bisector by more than rounding.
  bool is_beyond(std::size_t i, Vec3 other) const {
    const Side inside = side(other);
    return inside(corners_[i]) < -1e-9 * inside.a;
  }

  /// The corner that is farthest away, on the sphere.
  Vec3 far_corner() const {
    Flat far;
    for (const Flat& c : corners_)
      if (c.u * c.u + c.v * c.v > far.u * far.u + far.v * far.v) far = c;
    return on_sphere(far);
  }

  /// By triangles with x: tan(area / 2) = x.(p x q) / (1 + x.p + p.q + q.x) (van Oosterom, Strackee 1983).
  double area() const {
    double sum = 0;
    for (std::size_t i = 0; i < corners_.size(); ++i) {
      const Vec3 p = on_sphere(corners_[i]), q = on_sphere(corners_[(i + 1) % corners_.size()]);
      sum += 2 * std::atan2(dot(x_, cross(p, q)), 1 + dot(x_, p) + dot(p, q) + dot(q, x_));
    }
    return sum;
  }

  static constexpr double limit = 57.29;  ///< tan(89 degrees)

 private:
  struct Side {
    double a = 0, b = 0, c = 0;
    double operator()(Flat p) const { return a + b * p.u + c * p.v; }
  };
  Side side(Vec3 other) const {
    const Vec3 d = x_ - other;
    return {dot(d, d) / 2, dot(d, e1_), dot(d, e2_)};
  }
  Vec3 on_sphere(Flat c) const {
    const Vec3 p = x_ + c.u * e1_ + c.v * e2_;
    return (1 / norm(p)) * p;
  }

  Vec3 x_, e1_, e2_;
  std::vector<Flat> corners_, kept_;
};

/// Cells of nodes, one after the other.
class Cells {
 public:
  Cells(std::span<const Vec3> points, const NearestNodes& tree) : points_(points), tree_(tree) {}

  /// The cell of a node; nearest() is then its nearest neighbour.
  const Cell& of(Gid node) {
    const Vec3 x = points_[node];
    near_.resize(std::min<std::size_t>(neighbours_at_once, points_.size()));
    tree_.find(x, static_cast<int>(near_.size()), near_);
    cell_.begin(x);
    if (cut(x, node) || near_.size() == points_.size()) return cell_;
    // A side of the node is empty, or dense: a corner is one when no other node is nearer to it.
    for (std::size_t i = 0; i < cell_.corners();) {
      Gid other = -1;
      tree_.find(cell_.corner(i), 1, {&other, 1});
      if (other == node || !cell_.is_beyond(i, points_[other])) {
        ++i;
      } else {
        cell_.cut(points_[other]);
        i = 0;
      }
    }
    return cell_;
  }
  /// -1 for one node.
  Gid nearest() const { return nearest_; }

 private:
  static constexpr std::size_t neighbours_at_once = 20;

  /// True when no other node can cut more off.
  bool cut(Vec3 x, Gid node) {
    nearest_ = -1;
    for (const Gid other : near_) {
      if (other == node) continue;
      if (nearest_ < 0) nearest_ = other;
      const Vec3 d = x - points_[other];
      // tan^2 of half the angle between the two, whose cosine is 1 - |d|^2 / 2.
      const double square = dot(d, d);
      if (square / std::max(4 - square, 1e-300) > cell_.farthest()) return true;
      cell_.cut(points_[other]);
    }
    return false;
  }

  std::span<const Vec3> points_;
  const NearestNodes& tree_;
  std::vector<Gid> near_;
  Cell cell_;
  Gid nearest_ = -1;
};

double angle_between(Vec3 a, Vec3 b) {
  return 2 * std::atan2(norm(a - b), norm(a + b));
}

/// What a block of nodes adds to the report.
struct Extremes {
  double separation = std::numeric_limits<double>::infinity(), covering = -1;
  Gid first = -1, second = -1;
  Vec3 hole;
  double smallest = std::numeric_limits<double>::infinity(), largest = 0;

  void add(const Extremes& other) {
    if (other.separation < separation) {
      separation = other.separation;
      first = other.first;
      second = other.second;
    }
    if (other.covering > covering) {
      covering = other.covering;
      hole = other.hole;
    }
    smallest = std::min(smallest, other.smallest);
    largest = std::max(largest, other.largest);
  }
};

constexpr Size nodes_a_block = 1000;

Extremes extremes_of(std::span<const Vec3> points, const ParallelFor& parallel) {
  const NearestNodes tree(points);
  const Blocks blocks(static_cast<Size>(points.size()), nodes_a_block);
  std::vector<Extremes> found(blocks.number);
  blocks.run(parallel, [&](Size block, Size begin, Size end) {
    Cells cells(points, tree);
    for (Gid i = begin; i < end; ++i) {
      const Vec3 x = points[i];
      const Cell& cell = cells.of(i);
      Extremes one;
      if (const Gid other = cells.nearest(); other >= 0) {
        one.separation = angle_between(x, points[other]);
        one.first = std::min(i, other);
        one.second = std::max(i, other);
      }
      one.hole = cell.far_corner();
      one.covering = cell.farthest() >= Cell::limit * Cell::limit ? std::numbers::pi / 2 : angle_between(x, one.hole);
      one.smallest = one.largest = cell.area();
      found[block].add(one);
    }
  });
  Extremes all;
  for (const Extremes& e : found) all.add(e);
  return all;
}

/// "12.3 degrees", "0.0123 degrees".
std::string degrees(double radians) {
  return fmt::format("{:.4g} degrees", radians * 180 / std::numbers::pi);
}

std::string place_of(Vec3 p) {
  return fmt::format("longitude {:.2f}, latitude {:.2f} degrees", std::atan2(p.y, p.x) * 180 / std::numbers::pi,
                     std::atan2(p.z, std::hypot(p.x, p.y)) * 180 / std::numbers::pi);
}

}  // namespace

NodeReport inspect(const NodeCloud& cloud, const ParallelFor& parallel) {
  require(!cloud.points.empty(), "a report on no nodes");
  require(cloud.weights.empty() || cloud.weights.size() == cloud.points.size(), "{} weights for {} nodes",
          cloud.weights.size(), cloud.points.size());
  if (const DoubleNode twice = find_double_node(cloud.points))
    fail(ErrorKind::input, "nodes: the nodes {} and {} (numbered from 0) are at the same place; remove one of them",
         twice.first, twice.second);
  const Extremes found = extremes_of(cloud.points, parallel);
  NodeReport report;
  report.nodes = cloud.size();
  report.spacing = node_spacing(report.nodes);
  report.separation = std::min(found.separation, std::numbers::pi);
  report.nearest_first = found.first;
  report.nearest_second = found.second;
  report.covering = found.covering;
  report.hole = found.hole;
  report.mesh_ratio = report.covering / (report.separation / 2);
  const double fair = 4 * std::numbers::pi / static_cast<double>(report.nodes);
  report.smallest_cell = found.smallest / fair;
  report.largest_cell = found.largest / fair;
  if (cloud.weights.empty()) return report;
  const auto [lowest, largest] = std::minmax_element(cloud.weights.begin(), cloud.weights.end());
  report.weights = NodeReport::Weights{0, *lowest, *largest};
  for (const double w : cloud.weights) report.weights->sum += w;
  return report;
}

std::string describe(const NodeReport& r) {
  std::string s = fmt::format("{} nodes, spacing h = sqrt(4 pi / N) = {:.6g} ({})\n", format_count(r.nodes), r.spacing,
                              degrees(r.spacing));
  if (r.nodes > 1)
    s += fmt::format("separation   {:.4f} h ({}), of the nodes {} and {} (numbered from 0)\n", r.separation / r.spacing,
                     degrees(r.separation), r.nearest_first, r.nearest_second);
  if (r.covering >= std::numbers::pi / 2)
    s += fmt::format("largest hole more than half of the sphere is without a node\n");
  else
    s += fmt::format("largest hole radius {:.4f} h ({}) around {}\n", r.covering / r.spacing, degrees(r.covering),
                     place_of(r.hole));
  s += fmt::format(
      "mesh ratio   {:.4f} (radius of the largest hole over half of the separation; 1.1547 is a hexagonal "
      "lattice)\n",
      r.mesh_ratio);
  s += fmt::format("cells        {:.4f} to {:.4f} of 4 pi / N\n", r.smallest_cell, r.largest_cell);
  if (r.weights)
    s += fmt::format("weights      sum {:.12g} (4 pi = {:.12g}), {:.4f} to {:.4f} of 4 pi / N\n", r.weights->sum,
                     4 * std::numbers::pi, r.weights->lowest * static_cast<double>(r.nodes) / (4 * std::numbers::pi),
                     r.weights->largest * static_cast<double>(r.nodes) / (4 * std::numbers::pi));
  else
    s += "weights      none\n";
  s.pop_back();
  return s;
}

std::vector<double> cell_areas(std::span<const Vec3> points, const ParallelFor& parallel) {
  const NearestNodes tree(points);
  std::vector<double> areas(points.size());
  for_ranges(parallel, static_cast<Size>(points.size()), [&](Size begin, Size end) {
    Cells cells(points, tree);
    for (Gid i = begin; i < end; ++i) areas[i] = cells.of(i).area();
  });
  return areas;
}

}  // namespace tutti
