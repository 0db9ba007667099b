// What a pass of the Voronoi partitioner reads: points in blocks with boxes, and centres. Inside this room only.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "tutti/base/types.hpp"
#include "tutti/base/vec3.hpp"

namespace tutti::voronoi {

inline constexpr int block_points = 256;

struct Centre {
  Vec3 at;
  double influence = 1;
};

struct Box {
  Vec3 low, high;
};

/// Whole numbers: their sums are the same in any order, on any device. A coordinate counts 2^-31 of the longest side
/// from the low corner of all, so that 2^31 points fit.
struct IntegerSums {
  std::int64_t x = 0, y = 0, z = 0, points = 0;
};

/// Points along the Hilbert curve, coordinate by coordinate, in blocks with a box around each.
struct Cloud {
  std::vector<double> x, y, z;
  std::vector<std::int32_t> ix, iy, iz;  ///< the same, counted
  std::vector<Box> boxes;
  Vec3 low;
  double unit = 0, inverse_unit = 0;
  std::size_t size() const { return x.size(); }
};

TUTTI_HD inline double larger(double a, double b) {
  return a > b ? a : b;
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

}  // namespace tutti::voronoi
