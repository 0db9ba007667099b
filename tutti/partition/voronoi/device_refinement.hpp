// Refinement of the boundaries between parts on a device. Inside this room only.
#pragma once

#include <span>
#include <vector>

#include "tutti/device/device.hpp"
#include "tutti/partition/symmetric_graph.hpp"
#include "tutti/partition/voronoi/voronoi.hpp"

namespace tutti::voronoi {

/// Returns the sizes of the parts then. Sets all times but those of the sweeps. Error(resource): no room.
std::vector<std::int32_t> refine_on_device(Stream& stream, const SymmetricGraph& graph,
                                           std::span<const std::int32_t> quotas, double imbalance,
                                           std::span<const std::int32_t> size, std::span<std::int32_t> part,
                                           RefineTimes& times);

}  // namespace tutti::voronoi
