#include "tutti/models/transport/transport_plan.hpp"

#include <algorithm>

#include "tutti/models/transport/stencils/stencil_rows.hpp"
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

}  // namespace

std::vector<PlannedArray> plan_arrays(const TransportCase& transport, const NodeDomain& domain, std::size_t p) {
  const IndexMap& map = domain.maps[p];
  const auto tracers = static_cast<Size>(transport.tracers.size());
  const Size entries = stored_entries(transport, domain, p), owned = map.owned;
  std::vector<PlannedArray> arrays;
  arrays.push_back({"weights of stencils", 8 * entries * transport.operators()});
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
  memory.ghost = static_cast<double>(values);
  memory.parts = [transport](const Comm& comm, const Domain& of) {
    const auto& domain = dynamic_cast<const NodeDomain&>(of);
    std::vector<PlannedPart> parts(domain.mine());
    for (std::size_t p = 0; p < parts.size(); ++p) parts[p].arrays = plan_arrays(transport, domain, p);
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
