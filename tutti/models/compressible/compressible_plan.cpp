#include "tutti/models/compressible/compressible_plan.hpp"

#include <algorithm>
#include <set>

#include "tutti/models/compressible/compressible_rate.hpp"
#include "tutti/models/compressible/elements/operator_sizes.hpp"
#include "tutti/models/compressible/flow_part.hpp"
#include "tutti/models/compressible/runge_kutta.hpp"

namespace tutti::compressible {
namespace {

template <class T>
constexpr Size size_of = static_cast<Size>(sizeof(T));

/// Of one coefficient of one variable, all arrays of the time method.
Size state_bytes(const CompressibleCase& flow) {
  return 8 * Size{variables} * flow.bases() * time_scheme(flow.method).arrays;
}

/// Formulas of all conditions, which every part with a boundary has.
Size formula_bytes(const CompressibleCase& flow) {
  Size bytes = 0;
  for (const BoundaryCondition& condition : flow.conditions) {
    bytes += 1;  // its kind
    for (const auto& value : condition.values)
      if (value) bytes += size_of<BoundaryFormula> + static_cast<Size>(value->steps().size()) * size_of<FormulaStep>;
  }
  return bytes;
}

}  // namespace

std::vector<PlannedArray> plan_arrays(const CompressibleCase& flow, const ElementDomain& domain, std::size_t p) {
  const IndexMap& map = domain.maps[p];
  const OperatorSizes sizes = count_operators(domain.meshes[p], map, {flow.order, flow.stored, flow.diffuses()});
  const Size local = map.local(), owned = map.owned;
  std::vector<PlannedArray> arrays;
  const auto add = [&](const char* name, Size bytes) {
    if (bytes > 0) arrays.push_back({name, bytes});
  };
  add("state and stages", local * state_bytes(flow));
  add("tables", 8 * sizes.tables);
  add("normals", 8 * sizes.normals + sizes.turns);
  add("elements", local * (size_of<ElementRecord> + max_faces * 4 + 72) + 25 * owned);
  add("faces", sizes.faces * size_of<FaceRecord>);
  add("fluxes", 8 * sizes.flux);
  if (flow.diffuses()) add("jumps", 8 * sizes.flux);
  // Tiles are filled up with faces that come twice: less than a twelfth.
  if (flow.tuned && !flow.diffuses() && domain.device(p).kind() == DeviceKind::cuda)
    add("tables of tuned kernels, at most", 13 * sizes.faces + 48 * owned + (Size{1} << 18));
  if (sizes.boundary_points > 0)
    add("boundary", sizes.boundary_points * (size_of<Vec3> + 4 + 8 * boundary_values) + formula_bytes(flow));
  if (!flow.source.empty() && owned > 0) {
    Size steps = 0;
    for (const Expression& formula : flow.source) steps += static_cast<Size>(formula.steps().size());
    add("source", sizes.source_points * size_of<Vec3> + owned * (8 + 8 * Size{variables} * flow.bases()) +
                      steps * size_of<FormulaStep>);
  }
  add("vorticity, when written", 32 * owned);
  return arrays;
}

Sharing element_sharing(const Case& options, const CompressibleCase& flow, Threads& threads) {
  const int n = flow.bases();
  const Size state = state_bytes(flow);
  // Faces have about as many points as bases of one degree more; tables of an element's own are larger than all else.
  const double faces = 3.0 * (n + 1) * (flow.diffuses() ? 2 : 1) * 8 * variables;
  const int line = flow.order + 2;
  const double own_tables = 8.0 * n * (4.0 * line * line * line + 12.0 * line * line + (flow.diffuses() ? 3.0 * n : 0));
  const bool straight = !flow.stored && (!options.has("mesh.generate") || !(options.number("mesh.jitter") > 0));
  MemoryModel memory;
  memory.row = [=](Device&, double) { return static_cast<double>(state) + faces + 500 + (straight ? 0 : own_tables); };
  memory.ghost = static_cast<double>(state) + 200 + (straight ? 0 : own_tables);
  memory.parts = [flow](const Comm& comm, const Domain& of) {
    const auto& domain = dynamic_cast<const ElementDomain&>(of);
    std::vector<PlannedPart> parts(domain.mine());
    for (std::size_t p = 0; p < parts.size(); ++p) parts[p].arrays = plan_arrays(flow, domain, p);
    plan_exchanges(comm, domain, variables * flow.bases(), 1, parts);
    std::vector<Size> bytes;
    for (const PlannedPart& part : parts) bytes.push_back(part.bytes());
    return bytes;
  };
  return {stage_rate(options, flow, threads), memory};
}

Size plan_bytes_a_step(const CompressibleCase& flow, const ElementDomain& domain, std::size_t p) {
  const TimeScheme& scheme = time_scheme(flow.method);
  Size tables = 0;  // and whatever else does not change
  for (const PlannedArray& a : plan_arrays(flow, domain, p)) {
    if (a.name == "tables" || a.name == "normals" || a.name == "elements" || a.name == "faces") tables += a.bytes;
    if (a.name == "fluxes" || a.name == "jumps") tables += 2 * a.bytes;
  }
  const Size row = 8 * Size{variables} * flow.bases() * domain.maps[p].owned;
  Size bytes = 0;
  for (const Stage& stage : scheme.stages) {
    // What the rate is of is read for the sum, too, where it is one of its terms.
    const bool is_term = std::any_of(stage.terms.begin(), stage.terms.end(),
                                     [&](const Stage::Term& t) { return t.array == stage.from; });
    const auto arrays = static_cast<Size>(stage.terms.size()) + (is_term ? 0 : 1) + (stage.second >= 0 ? 2 : 1);
    bytes += tables + arrays * row;
  }
  return bytes;
}

}  // namespace tutti::compressible
