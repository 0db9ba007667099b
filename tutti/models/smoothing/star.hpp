// The cells around a node: sums over them in an order that all devices keep.
#pragma once

#include "tutti/base/types.hpp"
#include "tutti/models/smoothing/energy.hpp"

namespace tutti::smoothing {

/// Coordinates of a node, as devices keep them: one load of 32 bytes.
struct alignas(32) Point {
  double x = 0, y = 0, z = 0, unused = 0;
  TUTTI_HD Vec3 vec() const { return {x, y, z}; }
};

/// The other three corners of a cell at a node, as rows of points: a . ((b - a) x (c - a)) > 0 seen from the node. Of a
/// triangle the other two, in turn; c is without use.
struct StarCell {
  Lid a, b, c;
};

/// Cell k belongs to lane k % lanes. Every lane adds its cells one after the other, then the lanes are added in halves:
/// ((0+4)+(2+6)) + ((1+5)+(3+7)). Vectors of a CPU and neighbouring threads of a GPU add so, too.
inline constexpr int star_lanes = 8;

template <class T>
TUTTI_HD inline T add_lanes(const T (&lane)[star_lanes]) {
  T sum[4] = {lane[0], lane[1], lane[2], lane[3]};
  for (int l = 0; l < 4; ++l) sum[l] += lane[l + 4];
  sum[0] += sum[2];
  sum[1] += sum[3];
  sum[0] += sum[1];
  return sum[0];
}

/// The portable form: corners are read where they lie, for every sum anew.
class PlainStar {
 public:
  /// `normal`: of the plane that triangles lie in.
  TUTTI_HD PlainStar(const StarCell* cells, int count, const Point* points, Vec3 at, Vec3 normal = {})
      : cells_(cells), count_(count), points_(points), at_(at), normal_(normal) {}

  template <Energy energy, bool untangle>
  TUTTI_HD Derivatives derivatives(double eps2) const {
    return over_lanes<Derivatives>(
        [&](Derivatives& sum, int k) { sum += cell_derivatives<energy, untangle>(offsets(k, {}), eps2, normal_); });
  }
  /// The energy with the node moved by `by`. `valid`: no cell has V <= 0 then; no triangle in space is turned over.
  template <Energy energy, bool untangle>
  TUTTI_HD double value(Vec3 by, double eps2, bool& valid) const {
    valid = true;
    return over_lanes<double>([&](double& sum, int k) {
      const CellShape shape = shape_of<energy>(offsets(k, by), normal_);
      valid = valid && shape.v6 > 0;
      if constexpr (energy == Energy::surface_triangle)
        valid = valid && dot(area(offsets(k, by)), area(offsets(k, {}))) > 0;
      sum += cell_energy<energy, untangle>(shape, eps2);
    });
  }

 private:
  TUTTI_HD static Vec3 area(const CellOffsets& o) { return cross(Vec3{o.ax, o.ay, o.az}, Vec3{o.bx, o.by, o.bz}); }
  TUTTI_HD CellOffsets offsets(int k, Vec3 by) const {
    const StarCell cell = cells_[k];
    const Vec3 a = (points_[cell.a].vec() - at_) - by, b = (points_[cell.b].vec() - at_) - by,
               c = (points_[cell.c].vec() - at_) - by;
    return {a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y, c.z};
  }
  /// As add_lanes(), with few values alive at a time.
  template <class T, class Add>
  TUTTI_HD T over_lanes(const Add& add) const {
    const auto lane = [&](int first) {
      T sum{};
      for (int k = first; k < count_; k += star_lanes) add(sum, k);
      return sum;
    };
    const auto pair = [&](int first) {
      T sum = lane(first);
      sum += lane(first + 4);
      return sum;
    };
    const auto four = [&](int first) {
      T sum = pair(first);
      sum += pair(first + 2);
      return sum;
    };
    T sum = four(0);
    sum += four(1);
    return sum;
  }

  const StarCell* cells_;
  int count_;
  const Point* points_;
  Vec3 at_, normal_;
};

}  // namespace tutti::smoothing
