// The cells around a node: sums over them in an order that all devices keep.
#pragma once

#include <type_traits>

#include "tutti/base/portable_math.hpp"
#include "tutti/base/types.hpp"
#include "tutti/models/smoothing/energy.hpp"
#include "tutti/models/smoothing/plane.hpp"

namespace tutti::smoothing {

/// Coordinates of a node, as devices keep them: one load of 32 bytes.
struct alignas(32) Point {
  double x = 0, y = 0, z = 0;
  double size = 0;  ///< the length of edges wanted around the node, for Energy::graded
  TUTTI_HD Vec3 vec() const { return {x, y, z}; }
};

/// What a cell's corners want, on average.
TUTTI_HD inline double wanted_size(const Point& a, const Point& b, const Point& c, const Point& d) {
  return 0.25 * ((a.size + b.size) + (c.size + d.size));
}

/// The other three corners of a cell at a node, as rows of points: a . ((b - a) x (c - a)) > 0 seen from the node. Of a
/// triangle the other two, in turn; c is without use. The triangles of a node stand in ring_order().
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

/// The same with few values alive at a time: lane(l) is called for one after the other, with l as a constant.
template <class T, int first = 0, int step = 1, class Lane>
TUTTI_HD inline T sum_of_lanes(const Lane& lane) {
  if constexpr (step == star_lanes) {
    return lane(std::integral_constant<int, first>{});
  } else {
    T sum = sum_of_lanes<T, first, 2 * step>(lane);
    sum += sum_of_lanes<T, first + step, 2 * step>(lane);
    return sum;
  }
}

/// What differences of coordinates are multiplied with before they become floats: a power of two that makes `d`, one of
/// them, about 1, so that no float is too large or too small whatever the mesh's unit. Doubles stay.
template <class R>
TUTTI_HD inline double star_scale(Vec3 d) {
  if constexpr (sizeof(R) == sizeof(double)) return 1;
  const double length = fabs(d.x) + fabs(d.y) + fabs(d.z);
  return portable::from_bits((std::uint64_t{2045} - (portable::bits_of(length) >> 52)) << 52);
}

/// 1 / scale.
template <class R>
TUTTI_HD inline double scale_back(double scale) {
  if constexpr (sizeof(R) == sizeof(double)) return 1;
  return portable::from_bits((std::uint64_t{2046} << 52) - portable::bits_of(scale));
}

/// Twice that of a triangle in space, along its normal.
TUTTI_HD inline Vec3 area_of(const CellOffsets& o) {
  return cross(Vec3{o.ax, o.ay, o.az}, Vec3{o.bx, o.by, o.bz});
}

/// The portable form: corners are read where they lie, for every sum anew.
template <class R>
class PlainStarOf {
 public:
  using Real = R;
  /// `plane`: that plane triangles lie in.
  TUTTI_HD PlainStarOf(const StarCell* cells, int count, const Point* points, const Point& node,
                       const Plane& plane = {})
      : cells_(cells), count_(count), points_(points), node_(node), at_(node.vec()), plane_(plane) {
    if (count > 0) scale = star_scale<R>(points[cells[0].a].vec() - at_);
  }

  template <Energy energy, bool untangle>
  TUTTI_HD DerivativesOf<R> derivatives(R eps2) const {
    return sum_of_lanes<DerivativesOf<R>>([&](int first) {
      DerivativesOf<R> sum;
      for (int k = first; k < count_; k += star_lanes) {
        const auto o = offsets<energy>(k, {});
        const auto shape = shape_of<energy>(o, wanted<energy>(k));
        add_cell<energy, untangle>(sum, shape, eps2);
        if constexpr (energy == Energy::surface_triangle) add_surface(sum, shape, o);
      }
      sum.template finish<energy>();
      return sum;
    });
  }
  /// The energy with the node moved by `by`. `valid`: no cell has V <= 0 then; no triangle in space is turned over.
  template <Energy energy, bool untangle>
  TUTTI_HD R value(Vec3 by, R eps2, bool& valid) const {
    valid = true;
    const Vec3 move = inside<energy>(by);
    const R x = static_cast<R>(scale * move.x), y = static_cast<R>(scale * move.y), z = static_cast<R>(scale * move.z);
    return sum_of_lanes<R>([&](int first) {
      R sum = 0;
      for (int k = first; k < count_; k += star_lanes) {
        CellSize<R> size;
        if constexpr (energy == Energy::surface_triangle) {
          const auto to = offsets<energy>(k, by);
          const CellShape shape = shape_of<energy>(to);
          size = {shape.s, shape.v6};
          valid = valid && dot(area_of(to), area_of(offsets<energy>(k, {}))) > 0;
        } else {
          size = moved_shape<energy>(shape_of<energy>(offsets<energy>(k, {}), wanted<energy>(k)), x, y, z,
                                     in_plane(energy) ? length2(x, y) : length2(x, y, z));
        }
        valid = valid && size.v6 > 0;
        sum += cell_energy<energy, untangle>(size, eps2);
      }
      return sum;
    });
  }
  /// Have all nodes that are moved together found their place? See node_step().
  TUTTI_HD static bool all(bool found) { return found; }
  TUTTI_HD const Plane& plane() const { return plane_; }

  double scale = 1;  ///< see star_scale()

 private:
  template <Energy energy>
  TUTTI_HD R wanted(int k) const {
    if constexpr (energy != Energy::graded) return 1;
    const StarCell cell = cells_[k];
    return static_cast<R>(wanted_size(node_, points_[cell.a], points_[cell.b], points_[cell.c]));
  }
  template <Energy energy>
  TUTTI_HD Vec3 inside(Vec3 d) const {
    if constexpr (in_plane(energy)) return plane_.inside(d);
    return d;
  }
  template <Energy energy>
  TUTTI_HD CellOffsetsOf<R> offsets(int k, Vec3 by) const {
    const StarCell cell = cells_[k];
    const auto from_node = [&](Lid i) { return inside<energy>((points_[i].vec() - at_) - by); };
    const Vec3 a = from_node(cell.a), b = from_node(cell.b), c = is_triangle(energy) ? Vec3{} : from_node(cell.c);
    const auto r = [&](double x) { return static_cast<R>(scale * x); };
    return {r(a.x), r(a.y), r(a.z), r(b.x), r(b.y), r(b.z), r(c.x), r(c.y), r(c.z)};
  }

  const StarCell* cells_;
  int count_;
  const Point* points_;
  Point node_;
  Vec3 at_;
  Plane plane_;
};
using PlainStar = PlainStarOf<double>;

}  // namespace tutti::smoothing
