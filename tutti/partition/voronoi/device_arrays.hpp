// What a pass on a device reads and writes, and the portable form of a pass. Inside this room only.
#pragma once

#include <limits>

#include "tutti/device/atomics.hpp"
#include "tutti/partition/voronoi/cells.hpp"

namespace tutti::voronoi {

/// Centres that a list has room to note; with more, points look at all of them.
inline constexpr int most_near = 255;
struct Near {
  std::int32_t count;  ///< -1: all
  std::int32_t part[most_near];
};

/// A sample of the points and the parts of its last pass. Device pointers.
struct Sample {
  const Vec3* all = nullptr;
  const std::int32_t* rows = nullptr;  ///< of all, along the curve
  Lid stride = 1, points = 0, boxes = 0, outer_boxes = 0;
  Counter counter;
  double *x = nullptr, *y = nullptr, *z = nullptr;
  Box *box = nullptr, *outer_box = nullptr;
  IntegerSums* sums_of_boxes = nullptr;
  Near* near = nullptr;  ///< to the outer boxes
  std::int32_t* label = nullptr;

  TUTTI_HD Vec3 at(Lid i) const { return {x[i], y[i], z[i]}; }
  TUTTI_HD Lid end_of_box(Lid b) const {
    const Size end = (static_cast<Size>(b) + 1) * block_points;
    return end < points ? static_cast<Lid>(end) : points;
  }
};

TUTTI_HD inline void add_atomic(IntegerSums& to, const IntegerSums& sums) {
  if (sums.points == 0) return;
  tutti::add_atomic(to.x, sums.x);
  tutti::add_atomic(to.y, sums.y);
  tutti::add_atomic(to.z, sums.z);
  tutti::add_atomic(to.points, sums.points);
}

/// The points of a box, in their order, and the box around them.
struct FillBox {
  Sample s;
  TUTTI_HD void operator()(Lid b) const {
    Box box;
    IntegerSums sums;
    for (Lid i = b * block_points; i < s.end_of_box(b); ++i) {
      const Vec3 p = s.all[s.rows[static_cast<Size>(i) * s.stride]];
      if (i == b * block_points) box = {p, p};
      widen(box, p, p);
      add(sums, s.counter.of(p));
      s.x[i] = p.x, s.y[i] = p.y, s.z[i] = p.z;
    }
    s.box[b] = box;
    s.sums_of_boxes[b] = sums;
  }
};

struct FillOuterBox {
  Sample s;
  TUTTI_HD void operator()(Lid o) const {
    Box box = s.box[o * block_boxes];
    for (Lid b = o * block_boxes; b < s.boxes && b < (o + 1) * block_boxes; ++b)
      widen(box, s.box[b].low, s.box[b].high);
    s.outer_box[o] = box;
  }
};

/// Centres near an outer box, ascending.
struct FindNear {
  Sample s;
  const Centre* centres;
  int parts;
  TUTTI_HD void operator()(Lid o) const {
    const Box box = s.outer_box[o];
    double least = std::numeric_limits<double>::infinity();
    for (int p = 0; p < parts; ++p) least = smaller(farthest(box, centres[p]), least);
    std::int32_t count = 0;
    for (int p = 0; p < parts; ++p) {
      if (!is_near(box, centres[p], least)) continue;
      if (count < most_near) s.near[o].part[count] = p;
      ++count;
    }
    s.near[o].count = count <= most_near ? count : -1;
  }
};

/// Neighbours on the curve mostly are of the same part, so that few sums go to memory.
inline constexpr int run_points = 32;

struct AssignRun {
  Sample s;
  const Centre* centres;
  int parts;
  IntegerSums* sums;
  TUTTI_HD void operator()(Lid run) const {
    const Lid begin = run * run_points, end = begin + run_points < s.points ? begin + run_points : s.points;
    const Near& list = s.near[begin / (block_points * block_boxes)];
    const int count = list.count < 0 ? parts : list.count;
    IntegerSums sum;
    std::int32_t part = 0;
    for (Lid i = begin; i < end; ++i) {
      const Vec3 at = s.at(i);
      std::int32_t mine = 0;
      double best = std::numeric_limits<double>::infinity();
      for (int k = 0; k < count; ++k) {
        const std::int32_t p = list.count < 0 ? k : list.part[k];
        const double d = distance(at, centres[p]);
        mine = d < best ? p : mine;
        best = d < best ? d : best;
      }
      s.label[i] = mine;
      if (mine != part) {
        add_atomic(sums[part], sum);
        sum = {};
        part = mine;
      }
      add(sum, s.counter.of(at));
    }
    add_atomic(sums[part], sum);
  }
};

}  // namespace tutti::voronoi
