#include "tutti/models/transport/transport_plan.hpp"

#include <algorithm>

#include "tutti/models/transport/stencil_rows.hpp"

namespace tutti {
namespace {

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
  std::vector<PlannedArray> arrays{
      {"weights of stencils", 8 * entries * transport.operators()},
      {"columns of stencils", 4 * entries},
      {"tracers and stages", 8 * map.local() * tracers * (transport.method == RungeKutta::rk4 ? 4 : 3)},
      {"areas", 8 * owned}};
  if (!transport.steady()) {
    Size formulas = 0;
    for (const Expression& formula : transport.velocity)
      formulas += static_cast<Size>(formula.steps().size() * sizeof(FormulaStep));
    arrays.push_back({"velocity", formulas + owned * (static_cast<Size>(sizeof(Vec3)) + 16)});
  }
  return arrays;
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

}  // namespace tutti
