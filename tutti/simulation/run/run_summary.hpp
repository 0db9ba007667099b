// What a run did, brought together from the loop, the model and all ranks.
#pragma once

#include "tutti/device/device_list.hpp"
#include "tutti/simulation/observer.hpp"
#include "tutti/simulation/simulation.hpp"

namespace tutti {

/// Completes what the observers and the model have filled: what the loop knows, the parts of all ranks, each device's
/// bandwidth. Collective.
void complete_summary(Run& run, DeviceSet& devices, const Phases& setup, const RunSoFar& so_far, Summary& summary);

}  // namespace tutti
