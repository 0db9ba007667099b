// What programs know of this model, and what they plan of a flow in a box.
#include "tutti/base/units.hpp"
#include "tutti/models/incompressible/flow_model.hpp"
#include "tutti/models/incompressible/flow_plan.hpp"
#include "tutti/models/incompressible/incompressible.hpp"
#include "tutti/models/incompressible/pressure/direct/direct_layout.hpp"
#include "tutti/models/incompressible/viscous/diffusion_bounds.hpp"

namespace tutti::incompressible {
namespace {

std::string box_text(const CellBox& box) {
  if (box.empty()) return "no cells";
  return fmt::format("cells {}..{} x {}..{} x {}..{}", box.lower[0], box.upper[0] - 1, box.lower[1], box.upper[1] - 1,
                     box.lower[2], box.upper[2] - 1);
}

PlannedStep plan_step(const ModelSetup& setup) {
  PlannedStep step;
  setup.comm.together([&] {
    const FlowCase flow = read_flow_case(setup.options);
    step.dt = planned_time_step(setup.options, flow);
    step.stages = stages_of(flow);
    step.bytes_between_parts = true;
    if (flow.implicit_diffusion)
      step.lines.push_back(fmt::format("implicit diffusion: {} sweeps per step, {} values per cell",
                                       diffusion_sweeps(flow, step.dt), diffusion_values(flow, step.dt)));
    const int sweeps = planned_sweeps(flow);
    step.lines.push_back(
        fmt::format("a step: {} projection{}, {} values per cell each{}", step.stages, step.stages == 1 ? "" : "s",
                    values_a_stage(flow, sweeps),
                    flow.pressure == PressureMethod::direct ? "; pressure: direct, with its transforms' time on a CPU"
                    : flow.pressure == PressureMethod::red_black ? fmt::format("; pressure: {} sweeps assumed", sweeps)
                                                                 : fmt::format("; pressure: {} sweeps", sweeps)));
  });
  return step;
}

std::vector<PlannedPart> plan_parts(const ModelSetup& setup, const Domain& of, const PlannedStep&) {
  const auto& domain = dynamic_cast<const BoxDomain&>(of);
  const FlowCase flow = read_flow_case(setup.options);
  const bool single = setup.options.text("numerics.precision") == "float";
  std::vector<PlannedPart> parts;
  for (std::size_t p = 0; p < domain.mine(); ++p) {
    FlowPartPlan part = plan_part(setup.options, flow, domain, p, planned_sweeps(flow));
    part.ghosts = domain.arrays[p].values() - domain.box(p).cells();
    // What the direct solver computes.
    if (part.flops_a_step > 0)
      part.seconds_a_step = part.flops_a_step / quick_transform_rate(domain.device(p), *setup.devices.threads, single);
    part.about = fmt::format("{}, {} per step to other parts", box_text(domain.box(p)),
                             format_bytes(static_cast<double>(part.message_bytes)));
    parts.push_back(std::move(part));
  }
  return parts;
}

PlannedPass plan_pass(const Case& options) {
  PlannedPass pass{"prediction, divergence, correction or a sweep of the pressure",
                   options.text("numerics.precision") == "float" ? 4 : 8};
  if (read_flow_case(options).pressure == PressureMethod::direct)
    pass.not_projected = "pressure.solver = \"direct\" sends all cells between all nodes, not surfaces";
  return pass;
}

}  // namespace

ModelKind incompressible_kind() {
  ModelKind kind{"incompressible", add_incompressible_keys, make_incompressible, DomainKeys::box};
  kind.rows = [](const Case& options) {
    const FlowCase flow = read_flow_case(options);
    return std::make_unique<BoxDomain>(flow.grid, cut_order(flow), true);
  };
  kind.sharing = [](const Case& options, Threads& threads) {
    return flow_sharing(options, read_flow_case(options), threads);
  };
  kind.plan_step = plan_step;
  kind.plan_parts = plan_parts;
  kind.plan_pass = plan_pass;
  kind.add_bench = add_flow_bench;
  return kind;
}

}  // namespace tutti::incompressible
