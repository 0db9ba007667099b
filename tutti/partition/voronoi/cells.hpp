// What the Voronoi partitioner asks of the points, on the host or on a device: a pass over them. Inside this room only.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tutti/base/parallel.hpp"
#include "tutti/base/types.hpp"
#include "tutti/base/vec3.hpp"
#include "tutti/partition/spatial_order.hpp"

namespace tutti {
class Stream;
struct VoronoiTimes;
}  // namespace tutti

namespace tutti::voronoi {

/// Points along the Hilbert curve that have a box together, and boxes that have one.
inline constexpr int block_points = 256, block_boxes = 16;
/// With fewer centres than this, boxes of boxes do not pay.
inline constexpr std::size_t many_centres = 48;

struct Centre {
  Vec3 at;
  double influence = 1;
};

struct Box {
  Vec3 low, high;
};

/// Whole numbers: their sums are the same in any order, on any device.
struct IntegerSums {
  std::int64_t x = 0, y = 0, z = 0, points = 0;
};

/// Counts coordinates in 2^-31 of the longest side from the low corner of all points, so that 2^31 points fit a sum.
struct Counter {
  Vec3 low;
  double unit = 0, scale = 0;

  TUTTI_HD std::int32_t of(double value, double low_value) const {
    const double count = (value - low_value) * scale + 0.5;
    return static_cast<std::int32_t>(count < 2147483647.0 ? count : 2147483647.0);
  }
  TUTTI_HD IntegerSums of(Vec3 p) const { return {of(p.x, low.x), of(p.y, low.y), of(p.z, low.z), 1}; }
};

TUTTI_HD inline void add(IntegerSums& to, const IntegerSums& sums) {
  to.x += sums.x, to.y += sums.y, to.z += sums.z, to.points += sums.points;
}

TUTTI_HD inline double larger(double a, double b) {
  return a > b ? a : b;
}
TUTTI_HD inline double smaller(double a, double b) {
  return a < b ? a : b;
}
TUTTI_HD inline void widen(Box& box, Vec3 low, Vec3 high) {
  for (int d = 0; d < 3; ++d) {
    box.low[d] = smaller(low[d], box.low[d]);
    box.high[d] = larger(high[d], box.high[d]);
  }
}
TUTTI_HD inline double gap(double low, double high, double c) {
  return larger(larger(low - c, 0.0), c - high);
}
TUTTI_HD inline double reach(double low, double high, double c) {
  const double a = c - low, b = high - c;
  return larger(a < 0 ? -a : a, b < 0 ? -b : b);
}

/// Square of how far a centre may be from a point of the box, at most, times its influence.
TUTTI_HD inline double farthest(const Box& box, const Centre& c) {
  const Vec3 d{reach(box.low.x, box.high.x, c.at.x), reach(box.low.y, box.high.y, c.at.y),
               reach(box.low.z, box.high.z, c.at.z)};
  return dot(d, d) * c.influence;
}
/// At least.
TUTTI_HD inline double nearest(const Box& box, const Centre& c) {
  const Vec3 d{gap(box.low.x, box.high.x, c.at.x), gap(box.low.y, box.high.y, c.at.y),
               gap(box.low.z, box.high.z, c.at.z)};
  return dot(d, d) * c.influence;
}
/// A centre is near a box, when it may be the nearest one of a point there: no farther than `least`, the smallest of
/// farthest().
TUTTI_HD inline bool is_near(const Box& box, const Centre& c, double least) {
  return nearest(box, c) <= least * (1 + 1e-12);
}
TUTTI_HD inline double distance(Vec3 p, const Centre& c) {
  const double dx = p.x - c.at.x, dy = p.y - c.at.y, dz = p.z - c.at.z;
  return (dx * dx + dy * dy + dz * dz) * c.influence;
}

/// The points in their order along the Hilbert curve; places are numbers in that order.
class Cells {
 public:
  virtual ~Cells() = default;
  /// Passes go over every stride-th point from now on.
  virtual void sample(Gid stride) = 0;
  /// Gives every point to its nearest centre, and sums up every part. Waits.
  virtual void pass(std::span<const Centre> centres, std::span<IntegerSums> sums) = 0;
  /// Parts of the last pass, point by point of the sample; valid until the next one.
  virtual std::span<const std::int32_t> labels() = 0;
  /// The parts of the last pass are those that owners() tells.
  virtual void keep() = 0;
  virtual void owners(std::span<std::int32_t> by_row) = 0;
  virtual void rows_at(std::span<const Gid> places, std::span<Gid> rows) = 0;

  Lattice lattice;
  Counter counter;
  Gid points = 0;  ///< of the sample

 protected:
  void set_lattice(const Lattice& found);
};

/// Errors: input (a coordinate is not finite).
std::unique_ptr<Cells> make_host_cells(std::span<const Vec3> points, std::size_t parts, const ParallelFor& parallel);
/// In the memory of the stream's device: the same bits. `by_groups`: on a GPU, with kernels made for it. Sets
/// upload and allocation of `times`. Errors: input; resource (no room).
std::unique_ptr<Cells> make_device_cells(Stream& stream, std::span<const Vec3> points, std::size_t parts,
                                         bool by_groups, const ParallelFor& parallel, VoronoiTimes& times);

}  // namespace tutti::voronoi
