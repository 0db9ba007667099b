// What transport on the sphere takes of a device, before anything is allocated.
#pragma once

#include <vector>

#include "tutti/domain/node_domain.hpp"
#include "tutti/models/transport/transport_case.hpp"
#include "tutti/program/planned_array.hpp"

namespace tutti {

/// Arrays of part p of this rank, but for messages.
std::vector<PlannedArray> plan_arrays(const TransportCase& transport, const NodeDomain& domain, std::size_t p);
/// What bounds a part by its device's memory. The argument outlives it.
MemoryModel transport_memory(const TransportCase& transport);
/// Bytes that a step moves, neighbours read once: weights, columns, and the values that a stage reads and writes.
Size plan_bytes_a_step(const TransportCase& transport, const NodeDomain& domain, std::size_t p);

/// Stages of a step, each with an exchange.
constexpr int stages_of(RungeKutta method) {
  return method == RungeKutta::rk4 ? 4 : 3;
}

}  // namespace tutti
