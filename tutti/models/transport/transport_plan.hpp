// What transport on the sphere takes of a device, before anything is allocated.
#pragma once

#include <vector>

#include "tutti/domain/held_arrays.hpp"
#include "tutti/domain/node_domain.hpp"
#include "tutti/models/transport/transport_case.hpp"
#include "tutti/program/planned.hpp"

namespace tutti::transport {

/// Arrays of part p of this rank, but for messages; `apart`: without the weights, which a memory policy keeps.
std::vector<PlannedArray> plan_arrays(const TransportCase& transport, const NodeDomain& domain, std::size_t p,
                                      bool apart = false);
/// Does a memory policy keep the part's weights? Not on a CPU, and not where "auto" has room for all.
bool keeps_apart(const TransportCase& transport, const NodeDomain& domain, std::size_t p);
/// Where they will be, in `room` bytes.
HeldPlan plan_weights(const TransportCase& transport, const NodeDomain& domain, std::size_t p, Size room);
/// How its nodes are shared: by the rate of its own kernel, as far as there is room. `threads` outlive it.
Sharing transport_sharing(const TransportCase& transport, Threads& threads);
/// Bytes that a step moves, neighbours read once: weights, columns, and the values that a stage reads and writes.
Size plan_bytes_a_step(const TransportCase& transport, const NodeDomain& domain, std::size_t p);

/// Stages of a step, each with an exchange.
constexpr int stages_of(RungeKutta method) {
  return method == RungeKutta::rk4 ? 4 : 3;
}

}  // namespace tutti::transport
