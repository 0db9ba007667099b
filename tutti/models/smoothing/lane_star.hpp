// The cells around a node for the vectors of a CPU: corners are read once, sums run over eight cells at a time.
#pragma once

#include <algorithm>

#include "tutti/models/smoothing/star.hpp"

namespace tutti::smoothing {

/// As PlainStar, with the same bits. Takes up to `capacity` cells.
class LaneStar {
 public:
  static constexpr int capacity = 256;

  void load(const StarCell* cells, int count, const Point* points, Vec3 at) {
    count_ = count;
    for (int k = 0; k < count; ++k) {
      const Point &a = points[cells[k].a], &b = points[cells[k].b], &c = points[cells[k].c];
      at_[0][k] = a.x - at.x, at_[1][k] = a.y - at.y, at_[2][k] = a.z - at.z;
      at_[3][k] = b.x - at.x, at_[4][k] = b.y - at.y, at_[5][k] = b.z - at.z;
      at_[6][k] = c.x - at.x, at_[7][k] = c.y - at.y, at_[8][k] = c.z - at.z;
    }
    // The last vector is filled up with a cell that does no harm; its sums are left out.
    const int end = (count + star_lanes - 1) / star_lanes * star_lanes;
    for (int k = count; k < end; ++k)
      for (int i = 0; i < 9; ++i) at_[i][k] = i % 4 == 0 ? 1 : 0;
  }

  template <Energy energy, bool untangle>
  Derivatives derivatives(double eps2) const {
    alignas(64) double sum[11][star_lanes] = {};
    for (int first = 0; first < count_; first += star_lanes) {
      const int left = count_ - first;
#pragma omp simd
      for (int l = 0; l < star_lanes; ++l) {
        const int k = first + l;
        const CellOffsets o{at_[0][k], at_[1][k], at_[2][k], at_[3][k], at_[4][k],
                            at_[5][k], at_[6][k], at_[7][k], at_[8][k]};
        const Derivatives d = cell_derivatives<energy, untangle>(o, eps2);
        // The harmless cell's finite values times 0: a sum that began at +0 keeps its bits.
        const double in = l < left ? 1.0 : 0.0;
        sum[0][l] += in * d.e;
        sum[1][l] += in * d.gx;
        sum[2][l] += in * d.gy;
        sum[3][l] += in * d.gz;
        sum[4][l] += in * d.xx;
        sum[5][l] += in * d.xy;
        sum[6][l] += in * d.xz;
        sum[7][l] += in * d.yy;
        sum[8][l] += in * d.yz;
        sum[9][l] += in * d.zz;
        sum[10][l] += in * d.t;
      }
    }
    Derivatives d;
    d.e = add_lanes(sum[0]);
    d.gx = add_lanes(sum[1]), d.gy = add_lanes(sum[2]), d.gz = add_lanes(sum[3]);
    d.xx = add_lanes(sum[4]), d.xy = add_lanes(sum[5]), d.xz = add_lanes(sum[6]);
    d.yy = add_lanes(sum[7]), d.yz = add_lanes(sum[8]), d.zz = add_lanes(sum[9]);
    d.t = add_lanes(sum[10]);
    return d;
  }

  template <Energy energy, bool untangle>
  double value(Vec3 by, double eps2, bool& valid) const {
    alignas(64) double sum[star_lanes] = {}, least[star_lanes];
    std::fill_n(least, star_lanes, 1.0);
    for (int first = 0; first < count_; first += star_lanes) {
      const int left = count_ - first;
#pragma omp simd
      for (int l = 0; l < star_lanes; ++l) {
        const int k = first + l;
        const CellShape shape =
            cell_shape({at_[0][k] - by.x, at_[1][k] - by.y, at_[2][k] - by.z, at_[3][k] - by.x, at_[4][k] - by.y,
                        at_[5][k] - by.z, at_[6][k] - by.x, at_[7][k] - by.y, at_[8][k] - by.z});
        const double e = cell_energy<energy, untangle>(shape, eps2);
        const bool in = l < left;
        sum[l] += in ? e : 0.0;
        least[l] = in && !(shape.v6 > 0) ? 0.0 : least[l];
      }
    }
    valid = true;
    for (const double l : least) valid = valid && l > 0;
    return add_lanes(sum);
  }

 private:
  int count_ = 0;
  alignas(64) double at_[9][capacity];
};

}  // namespace tutti::smoothing
