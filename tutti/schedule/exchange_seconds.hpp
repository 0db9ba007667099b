// What it costs several accelerators to exchange ghosts in a pass.
#pragma once

#include "tutti/base/mpi/comm.hpp"
#include "tutti/device/device_list.hpp"
#include "tutti/exchange/routing.hpp"

namespace tutti {

/// What an exchange between the accelerators of all ranks adds to a pass [s], whose parts have next to nothing to
/// compute. 0 where there are fewer than two. Collective. Errors: as make_routing.
double exchange_seconds(const Comm& comm, const DeviceSet& devices, RoutingKind routing);

}  // namespace tutti
