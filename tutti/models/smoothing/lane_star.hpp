// The cells around a node for the vectors of a CPU: corners are read once, sums run over eight cells at a time.
#pragma once

#include <algorithm>

#include "tutti/models/smoothing/star.hpp"

namespace tutti::smoothing {

/// As PlainStar, with the same bits. Takes up to `capacity` cells.
class LaneStar {
 public:
  using Real = double;
  static constexpr int capacity = 256;

  /// `energy`: tells tetrahedra from triangles in this plane.
  template <Energy energy>
  void load(const StarCell* cells, int count, const Point* points, const Point& at, const Plane& plane = {}) {
    count_ = count;
    plane_ = plane;
    for (int first = 0; first < count; first += star_lanes) {
      alignas(64) double o[9][star_lanes], size[star_lanes];
      for (int l = 0; l < star_lanes; ++l) {
        if (first + l >= count) {
          // The last vector is filled up with a cell that does no harm; its sums are left out.
          for (int i = 0; i < 9; ++i) o[i][l] = i % 4 == 0 ? 1 : 0;
          size[l] = 1;
          continue;
        }
        const StarCell& cell = cells[first + l];
        const Point* corners[3] = {&points[cell.a], &points[cell.b], &points[cell.c]};
        for (int i = 0; i < 3; ++i) {
          Vec3 d = corners[i]->vec() - at.vec();
          if constexpr (in_plane(energy)) d = plane.inside(d);
          o[3 * i][l] = d.x, o[3 * i + 1][l] = d.y, o[3 * i + 2][l] = d.z;
        }
        size[l] = energy == Energy::graded ? wanted_size(at, *corners[0], *corners[1], *corners[2]) : 1;
      }
#pragma omp simd
      for (int l = 0; l < star_lanes; ++l) {
        const CellShape c = shape_of<energy>(
            CellOffsets{o[0][l], o[1][l], o[2][l], o[3][l], o[4][l], o[5][l], o[6][l], o[7][l], o[8][l]}, size[l]);
        const int k = first + l;
        shape_[0][k] = c.s, shape_[1][k] = c.mx, shape_[2][k] = c.my, shape_[3][k] = c.mz;
        shape_[4][k] = c.nx, shape_[5][k] = c.ny, shape_[6][k] = c.nz, shape_[7][k] = c.v6;
        if constexpr (energy == Energy::graded) shape_[8][k] = c.curve;
      }
    }
  }

  template <Energy energy, bool untangle>
  Derivatives derivatives(double eps2) const {
    alignas(64) double sum[12][star_lanes] = {};
    for (int first = 0; first < count_; first += star_lanes) {
      const int left = count_ - first;
#pragma omp simd
      for (int l = 0; l < star_lanes; ++l) {
        Derivatives d = of_lane(sum, l);
        // Nothing is added to a sum that began at +0, which keeps its bits.
        add_cell<energy, untangle>(d, shape<energy>(first + l), eps2, l < left ? 1.0 : 0.0);
        sum[0][l] = d.e, sum[1][l] = d.gx, sum[2][l] = d.gy;
        sum[4][l] = d.xx, sum[5][l] = d.xy, sum[7][l] = d.yy, sum[10][l] = d.d;
        if constexpr (in_plane(energy)) continue;
        sum[3][l] = d.gz, sum[6][l] = d.xz, sum[8][l] = d.yz, sum[9][l] = d.zz, sum[11][l] = d.t;
      }
    }
    Derivatives lane[star_lanes];
    for (int l = 0; l < star_lanes; ++l) {
      lane[l] = of_lane(sum, l);
      lane[l].template finish<energy>();
    }
    return add_lanes(lane);
  }

  template <Energy energy, bool untangle>
  double value(Vec3 by, double eps2, bool& valid) const {
    alignas(64) double sum[star_lanes] = {}, least[star_lanes];
    std::fill_n(least, star_lanes, 1.0);
    if constexpr (in_plane(energy)) by = plane_.inside(by);
    const double squares = in_plane(energy) ? length2(by.x, by.y) : length2(by.x, by.y, by.z);
    for (int first = 0; first < count_; first += star_lanes) {
      const int left = count_ - first;
#pragma omp simd
      for (int l = 0; l < star_lanes; ++l) {
        const auto size = moved_shape<energy>(shape<energy>(first + l), by.x, by.y, by.z, squares);
        const double e = cell_energy<energy, untangle>(size, eps2);
        const bool in = l < left;
        sum[l] += in ? e : 0.0;
        least[l] = in && !(size.v6 > 0) ? 0.0 : least[l];
      }
    }
    valid = true;
    for (const double l : least) valid = valid && l > 0;
    return add_lanes(sum);
  }
  static bool all(bool found) {
    return found;
  }
  const Plane& plane() const {
    return plane_;
  }

  static constexpr double scale = 1;

 private:
  template <Energy energy>
  CellShape shape(int k) const {
    const double curve = energy == Energy::graded ? shape_[8][k] : is_triangle(energy) ? 2 : 3;
    return {shape_[0][k], shape_[1][k], shape_[2][k], shape_[3][k], shape_[4][k],
            shape_[5][k], shape_[6][k], shape_[7][k], curve};
  }
  static Derivatives of_lane(const double (&sum)[12][star_lanes], int l) {
    return {sum[0][l], sum[1][l], sum[2][l], sum[3][l], sum[4][l],  sum[5][l],
            sum[6][l], sum[7][l], sum[8][l], sum[9][l], sum[10][l], sum[11][l]};
  }

  int count_ = 0;
  Plane plane_;
  alignas(64) double shape_[9][capacity];
};

}  // namespace tutti::smoothing
