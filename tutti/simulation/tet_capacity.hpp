// Parts that fit into the memory of their devices.
#pragma once

#include <vector>

#include "tutti/base/comm.hpp"
#include "tutti/schedule/capacity.hpp"
#include "tutti/simulation/tet_domain.hpp"

namespace tutti {

/// How much of a mesh each part shall get. The same on all ranks.
struct DomainTargets {
  Weights chosen;            ///< as [balance] says
  std::vector<double> most;  ///< rows that each part has room for; empty: nothing bounds them
  BoundWeights bound;        ///< chosen, as far as there is room
  int tightened = 0;         ///< so often parts were made that turned out too large
};

/// Other cells that a cell reads, on average: over 4,096 of them, or all.
double mean_row_length(const FaceNeighbours& neighbours, int layers);

/// Sets targets.most, unless it is set, and targets.bound, for a mesh of `rows` rows. Collective. Error(resource) where
/// all devices together are far too small.
void bound_targets(const Comm& comm, const DeviceSet& devices, const DomainOptions& options, Gid rows,
                   double row_length, DomainTargets& targets);

/// Counts what the parts that were made will take: true when one is too large for its device; targets.most is then
/// lowered. Collective. Error(resource) where all devices together are too small.
bool tighten_targets(const Comm& comm, const DeviceSet& devices, const DomainOptions& options, const TetDomain& domain,
                     DomainTargets& targets);

/// Says which devices are full, and what they get instead of what. Collective.
void report_full_parts(const Comm& comm, const DeviceSet& devices, const DomainTargets& targets);

}  // namespace tutti
