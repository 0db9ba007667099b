// How many nodes a second a device computes: for balance.weights = "measured".
#pragma once

#include "tutti/models/transport/transport_case.hpp"
#include "tutti/schedule/balance.hpp"

namespace tutti::transport {

/// Times a stage of the case's kernel on nodes of its own. `threads` must outlive it.
MeasureRate stencil_rate(const TransportCase& transport, Threads& threads);

}  // namespace tutti::transport
