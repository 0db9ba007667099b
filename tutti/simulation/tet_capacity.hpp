// What parts of a tetrahedral mesh take of the memory of their devices.
#pragma once

#include <vector>

#include "tutti/simulation/part_capacity.hpp"
#include "tutti/simulation/tet_domain.hpp"

namespace tutti {

/// Other cells that a cell reads, on average: over 4,096 of them, or all.
double mean_row_length(const FaceNeighbours& neighbours, int layers);

/// Of this rank's parts, for rows of `row_length` entries; none where nothing bounds them.
std::vector<PartRoom> rooms_of(const DeviceSet& devices, const DomainOptions& options, double row_length);

/// What this rank's parts will take; none where nothing bounds them.
std::vector<PartNeed> needs_of(const DeviceSet& devices, const DomainOptions& options, const TetDomain& domain);

}  // namespace tutti
