// Targets that fit: what a device has no room for goes to the others.
#pragma once

#include <span>
#include <vector>

#include "tutti/base/types.hpp"

namespace tutti {

/// What a part can hold.
struct PartRoom {
  Size bytes = 0;        ///< free on its device
  double row_bytes = 0;  ///< that an owned row takes
  double ghost_bytes = 0;
};
/// Rows of a mesh of `rows` that surely fit: less 2 % for partitioners that do not meet their target, and for ghosts of
/// a compact part, 12 n^(2/3).
double rows_that_fit(const PartRoom& room, double rows);

struct BoundWeights {
  std::vector<double> weights;  ///< sum 1
  std::vector<int> full;        ///< parts that get less than their weight because there is no more room, ascending
  bool fits = true;             ///< false: all are full, and rows are left; the weights are those of the rooms
};
/// The weights (sum 1) of `rows` rows, none above most[p] rows. What does not fit goes to the others in proportion to
/// their weights, and what these cannot take either to parts of weight 0, in proportion to their room.
BoundWeights bound_weights(std::span<const double> weights, std::span<const double> most, double rows);

}  // namespace tutti
