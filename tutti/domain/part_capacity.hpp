// Parts that fit into the memory of their devices, whatever they are parts of.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/device/device_list.hpp"
#include "tutti/schedule/balance.hpp"
#include "tutti/schedule/capacity.hpp"

namespace tutti {

/// How much of a mesh each part shall get. The same on all ranks.
struct PartTargets {
  Weights chosen;                    ///< as [balance] says
  std::vector<double> most;          ///< rows that each part has room for; empty: nothing bounds them
  BoundWeights bound;                ///< chosen, as far as there is room
  int tightened = 0;                 ///< so often parts were made that turned out too large
  std::vector<PartPace> paces = {};  ///< where some rows must come from the host, and rates were measured
};

/// What parts are made of: how many rows, how messages call them, and what is done where they do not fit at all.
struct RowsToPlace {
  Gid rows = 0;
  const char* name = "cells";
  std::string advice = "use more devices or a smaller mesh";
  bool refuse_too_large = true;  ///< false: parts are as large as they come
  /// Where the estimate has room for a smaller part of all rows than this, they are not even cut and counted.
  double far_too_few = 0.7;
};

/// What a part that was made will take.
struct PartNeed {
  double bytes = 0;
  Size free = 0;  ///< on its device
  double rows = 0;
};

/// Bytes that a device still has.
Size free_bytes(Device& device);

/// Sets targets.most, unless it is set, and targets.bound. `mine`: of this rank's parts; none on all ranks: nothing
/// bounds them. Collective. Error(resource) where all devices together are far too small.
void bound_targets(const Comm& comm, std::span<const PartRoom> mine, const RowsToPlace& place, PartTargets& targets);

/// Where chosen weights would let rows come from the host at each pass: sets targets.bound so that a pass is quickest,
/// by measured rates and copies; a CPU takes part where it saves 5 %. `full`: as for bound_targets, with all arrays on
/// the devices; `held`: what may be elsewhere. Both of this rank's parts. Without measured rates nothing is done.
/// Collective.
void pace_targets(const Comm& comm, const DeviceSet& devices, std::span<const PartRoom> full,
                  std::span<const HeldBytes> held, const RowsToPlace& place, PartTargets& targets);

/// True when a part that was made is too large for its device; targets.most is then lowered. `mine`: of this rank's
/// parts. Collective. Error(resource) where all devices together are too small.
bool tighten_targets(const Comm& comm, std::span<const PartNeed> mine, const RowsToPlace& place, PartTargets& targets);

/// Whether an estimate of what a part takes is too near to what its device has to be relied on.
bool must_be_counted(double bytes, Size free);

/// Says which devices are full, and what they get instead of what. Collective.
void report_full_parts(const Comm& comm, const DeviceSet& devices, const RowsToPlace& place,
                       const PartTargets& targets);

}  // namespace tutti
