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
  Size buffers = 0;  ///< bytes that it takes whatever it holds
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

/// Of a row's bytes on a device, those of an array that a memory policy may keep elsewhere (tutti/residency).
struct HeldBytes {
  double as_doubles = 0;  ///< where all arrays are resident as ever
  double here = 0;        ///< where the row of the array stays on the device
  double away = 0;        ///< where it comes from the host at each pass
  Size buffers = 0;       ///< of a device, that the others come through, at the least
  bool behind = true;     ///< they come while kernels work
};

/// How long a part takes with some of its rows coming from the host.
struct PartPace {
  double rate = 0;          ///< rows a second, all on the device
  double most = 0;          ///< rows it has room for at all
  double held = 0;          ///< rows that it has room for with all of their arrays
  double pushed_out = 1;    ///< rows that must come from the host for each one above `held`
  double copy_seconds = 0;  ///< of such a row
  bool behind = true;
  bool on_host = false;
};
/// Of a pass over so many rows. Never falls.
double seconds_of(const PartPace& pace, double rows);

/// The rows of each part that make the slowest of them quickest. `seconds`: of a pass then. Parts have room for all.
struct PacedShares {
  std::vector<double> rows;
  double seconds = 0;
};
PacedShares share_by_pace(std::span<const PartPace> paces, double rows);

}  // namespace tutti
