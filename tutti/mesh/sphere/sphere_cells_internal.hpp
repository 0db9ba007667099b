// The unit sphere cut into bands of latitude and these into cells, to look around a place. Inside the mesh floor only.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "tutti/base/types.hpp"
#include "tutti/base/vec3.hpp"

namespace tutti {

/// Cells about as wide and high as `reach` (radians): what is within reach of a place lies in its own band or in the
/// next ones. Cells are numbered from the north pole down, eastwards in each band.
class SphereCells {
 public:
  explicit SphereCells(double reach) {
    // Rounding must not put a neighbour out of reach.
    reach_ = std::min(reach * (1 + 1e-9) + 1e-12, std::numbers::pi);
    const auto bands = std::max<Size>(1, static_cast<Size>(std::numbers::pi / reach_));
    height_ = std::numbers::pi / static_cast<double>(bands);
    first_.reserve(static_cast<std::size_t>(bands) + 1);
    first_.push_back(0);
    for (Size b = 0; b < bands; ++b) {
      const double upper = static_cast<double>(b) * height_, lower = static_cast<double>(b + 1) * height_;
      const double widest = upper < half_pi && lower > half_pi ? 1 : std::max(std::sin(upper), std::sin(lower));
      first_.push_back(first_.back() + std::max<Size>(1, static_cast<Size>(turn * widest / reach_)));
    }
  }

  Size size() const { return first_.back(); }

  Size cell(Vec3 p) const {
    const Place at = place(p);
    const Size n = cells_of(at.band);
    return first_[at.band] + std::min(n - 1, static_cast<Size>(at.longitude * (static_cast<double>(n) / turn)));
  }

  /// use(begin, end): ranges of cells that hold everything within reach of p, each cell once.
  template <class Use>
  void around(Vec3 p, Use&& use) const {
    const Place at = place(p);
    // The circle of radius reach spans asin(sin reach / sin colatitude) to either side, and asin t <= t + t^3.
    const double t = reach_ < half_pi ? std::sin(reach_) / at.from_axis : 1;
    const double span = t < 1 ? (t + t * t * t) * (1 + 1e-9) : turn;
    const Size last = std::min<Size>(at.band + 1, static_cast<Size>(first_.size()) - 2);
    for (Size b = std::max<Size>(at.band - 1, 0); b <= last; ++b) {
      const Size first = first_[b], n = cells_of(b);
      const double scale = static_cast<double>(n) / turn;
      const auto west = static_cast<Size>(std::floor((at.longitude - span) * scale));
      const auto east = static_cast<Size>(std::floor((at.longitude + span) * scale));
      if (east - west + 1 >= n) {
        use(first, first + n);
      } else if (west < 0) {
        use(first, first + east + 1);
        use(first + west + n, first + n);
      } else if (east >= n) {
        use(first, first + east - n + 1);
        use(first + west, first + n);
      } else {
        use(first + west, first + east + 1);
      }
    }
  }

 private:
  static constexpr double turn = 2 * std::numbers::pi, half_pi = std::numbers::pi / 2;

  struct Place {
    Size band = 0;
    double longitude = 0;  ///< 0 to turn
    double from_axis = 0;  ///< sine of the colatitude
  };

  Place place(Vec3 p) const {
    Place at;
    at.from_axis = std::sqrt(p.x * p.x + p.y * p.y);
    at.longitude = std::atan2(p.y, p.x);
    if (at.longitude < 0) at.longitude += turn;
    at.band =
        std::min(static_cast<Size>(std::atan2(at.from_axis, p.z) / height_), static_cast<Size>(first_.size()) - 2);
    return at;
  }
  Size cells_of(Size band) const { return first_[band + 1] - first_[band]; }

  double reach_ = 0, height_ = 0;
  std::vector<Size> first_;  ///< first cell of each band, and behind the last
};

}  // namespace tutti
