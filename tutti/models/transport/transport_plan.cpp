#include "tutti/models/transport/transport_plan.hpp"

#include <algorithm>

#include "tutti/models/transport/stencils/sliced_stencils.hpp"
#include "tutti/models/transport/transport_rate.hpp"

namespace tutti::transport {
namespace {

/// Values of a tracer that are kept: the solution and work arrays of the time method.
int values_kept(const TransportCase& transport) {
  return transport.method == RungeKutta::rk4 ? 4 : 3;
}

/// Bytes of a node for a velocity that changes: its place, and the velocity along two tangents.
Size velocity_bytes(const TransportCase& transport) {
  return transport.steady() ? 0 : static_cast<Size>(sizeof(Vec3)) + 16;
}

/// Places for entries, with what fills up the last slice.
Size stored_entries(const TransportCase& transport, const NodeDomain& domain, std::size_t p) {
  const Size lanes = Size{1} << stencil_slice_shift(domain.streams[p].is_host(), transport.kernel);
  const Size slices = (domain.maps[p].owned + lanes - 1) / lanes;
  return slices * lanes * (domain.stencil - 1);
}

int weights_width(const TransportCase& transport) {
  return held_stencil_width({transport.basis.size, transport.operators(), Joined::summed, transport.kernel});
}

}  // namespace

bool keeps_apart(const TransportCase& transport, const NodeDomain& domain, std::size_t p) {
  Device& device = domain.device(p);
  const IndexMap& map = domain.maps[p];
  const Policy policy = transport.held.policy;
  if (device.is_host() || policy == Policy::resident || map.owned == 0) return false;
  if (policy != Policy::automatic || transport.held.tolerance > 0) return true;
  const auto tracers = static_cast<Size>(transport.tracers.size());
  Size bytes = 16 * tracers * static_cast<Size>(map.separator_rows().size());  // of messages, at most
  for (const PlannedArray& a : plan_arrays(transport, domain, p)) bytes += a.bytes;
  return bytes + held_margin(device) > device.budget().capacity();
}

HeldPlan plan_weights(const TransportCase& transport, const NodeDomain& domain, std::size_t p, Size room) {
  ResidencyOptions options = transport.held;
  options.group = held_stencil_group;
  return plan_held(options, held_units(domain.maps[p].owned), weights_width(transport), room);
}

std::vector<PlannedArray> plan_arrays(const TransportCase& transport, const NodeDomain& domain, std::size_t p,
                                      bool apart) {
  const IndexMap& map = domain.maps[p];
  const auto tracers = static_cast<Size>(transport.tracers.size());
  const Size entries = stored_entries(transport, domain, p), owned = map.owned;
  std::vector<PlannedArray> arrays;
  if (!apart) arrays.push_back({"weights of stencils", 8 * entries * transport.operators()});
  arrays.push_back({"columns of stencils", 4 * entries});
  arrays.push_back({"tracers and stages", 8 * map.local() * tracers * values_kept(transport)});
  arrays.push_back({"areas", 8 * owned});
  if (!transport.steady() && owned > 0) {
    Size formulas = 0;
    for (const Expression& formula : transport.velocity)
      formulas += static_cast<Size>(formula.steps().size() * sizeof(FormulaStep));
    arrays.push_back({"velocity", formulas + owned * velocity_bytes(transport)});
  }
  return arrays;
}

Sharing transport_sharing(const TransportCase& transport, Threads& threads) {
  const Size values = 8 * static_cast<Size>(transport.tracers.size()) * values_kept(transport);
  MemoryModel memory;
  memory.row = [transport, values](Device&, double) {
    const Size entry = 8 * transport.operators() + 4;
    return static_cast<double>((transport.basis.size - 1) * entry + values + 8 + velocity_bytes(transport));
  };
  if (transport.held.policy != Policy::resident)
    memory.held = [transport](Device& device, double) {
      return held_bytes(transport.held, device.is_host(), weights_width(transport), held_nodes,
                        8.0 * transport.operators() * (transport.basis.size - 1));
    };
  else
    memory.advice_for_gpus = {policy_advice};
  memory.ghost = static_cast<double>(values);
  memory.parts = [transport](const Comm& comm, const Domain& of) {
    const auto& domain = dynamic_cast<const NodeDomain&>(of);
    std::vector<PlannedPart> parts(domain.mine());
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const bool apart = keeps_apart(transport, domain, p);
      parts[p].arrays = plan_arrays(transport, domain, p, apart);
      if (apart)
        parts[p].arrays.push_back(
            {"weights of stencils",
             least_held_bytes(transport.held, held_units(domain.maps[p].owned), weights_width(transport))});
    }
    plan_exchanges(comm, domain, static_cast<int>(transport.tracers.size()), 1, parts);
    std::vector<Size> bytes;
    for (const PlannedPart& part : parts) bytes.push_back(part.bytes());
    return bytes;
  };
  return {stencil_rate(transport, threads), memory};
}

Size plan_bytes_a_step(const TransportCase& transport, const NodeDomain& domain, std::size_t p) {
  const Size owned = domain.maps[p].owned, tracers = static_cast<Size>(transport.tracers.size());
  const Size entries = owned * (domain.stencil - 1);
  // A stage of RK4 gathers, and reads and writes four more values; one of SSP-RK3 two more.
  const Size values = transport.method == RungeKutta::rk4 ? 5 : 3;
  const Size velocity = transport.steady() ? 0 : 16 * owned;
  return stages_of(transport.method) *
         (entries * (8 * transport.operators() + 4) + 8 * owned * tracers * values + velocity);
}

}  // namespace tutti::transport
