// tutti plan of a flow in a box.
#include "app/commands.hpp"
#include "app/plan_case.hpp"
#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"
#include "tutti/models/incompressible/flow_model.hpp"
#include "tutti/models/incompressible/flow_plan.hpp"
#include "tutti/schedule/balance.hpp"
#include "tutti/simulation/simulation.hpp"

namespace tutti::app {
namespace {

std::string box_text(const CellBox& box) {
  if (box.empty()) return "no cells";
  return fmt::format("cells {}..{} x {}..{} x {}..{}", box.lower[0], box.upper[0] - 1, box.lower[1], box.upper[1] - 1,
                     box.lower[2], box.upper[2] - 1);
}

/// Of what the direct solver computes.
double transform_seconds(Device& device, DeviceSet& devices, double flops, bool single) {
  return flops == 0 ? 0 : flops / quick_transform_rate(device, *devices.threads, single);
}

PartLine plan_line(const Comm& comm, const Case& options, DeviceSet& devices, const FlowCase& flow,
                   const BoxDomain& domain, std::size_t p, std::string& text) {
  const FlowPartPlan plan = plan_part(options, flow, domain, p, planned_sweeps(flow));
  const auto part = static_cast<std::size_t>(domain.parts.mine[p]);
  Device& device = *domain.streams[p].device;
  PartLine line;
  line.rank = comm.rank();
  std::snprintf(line.device, sizeof(line.device), "%s", device.name().c_str());
  line.weight = domain.weights[part];
  line.cells = domain.box(p).cells();
  line.ghosts = domain.arrays[p].values() - line.cells;
  line.bytes = plan.bytes();
  line.capacity = device.budget().capacity();
  line.messages = plan.messages;
  line.message_bytes = plan.message_bytes;
  line.triad = quick_triad(device, *devices.threads);
  if (line.triad > 0)
    line.seconds = static_cast<double>(plan.bytes_a_step) / line.triad +
                   transform_seconds(device, devices, plan.flops_a_step, options.text("numerics.precision") == "float");
  const auto bytes = [](Size n) { return format_bytes(static_cast<double>(n)); };
  text += fmt::format("{} of rank {} (part {}): {}, {} to other parts a step\n", device.name(), comm.rank(), part,
                      box_text(domain.box(p)), bytes(plan.message_bytes));
  for (const PlannedArray& a : plan.arrays) text += fmt::format("  {:<28} {:>10}\n", a.name, bytes(a.bytes));
  return line;
}

}  // namespace

void plan_flow(const Comm& comm, const PlanArguments& arguments) {
  const Case options = load_case(comm, arguments.file, arguments.sets);
  FlowCase flow;
  TimePlan steps;
  comm.together([&] {
    flow = read_flow_case(options);
    steps = plan_steps(options, planned_time_step(options, flow));
  });
  DeviceSet devices = arguments.devices.open(comm, options);
  Phases phases;
  Sharing sharing = flow_sharing(options, flow, *devices.threads);
  sharing.memory->refuse_too_large = false;  // the table shows what is missing where
  const BoxDomain domain = cut_box_domain({comm, devices, options, {}, phases}, flow.grid, sharing);
  info("case {}: {} cells, {} parts on {} rank{}", arguments.file, format_count(flow.grid.cell_count()),
       domain.parts.boxes.size(), comm.size(), comm.size() == 1 ? "" : "s");
  std::vector<PartLine> mine;
  std::string text;
  for (std::size_t p = 0; p < domain.mine(); ++p)
    mine.push_back(plan_line(comm, options, devices, flow, domain, p, text));
  for (const std::string& one : comm.all_gather_text(text)) info("{}", one.substr(0, one.find_last_not_of('\n') + 1));
  const auto lines = comm.all_gather(std::span<const PartLine>(mine));
  const PlanTotals totals = print_parts(lines, domain.balance.full_parts);

  const int sweeps = planned_sweeps(flow);
  const Size values = values_a_stage(flow, sweeps);
  if (flow.implicit_diffusion)
    info("implicit diffusion: {} sweeps a step, {} values a cell", diffusion_sweeps(flow, steps.dt),
         diffusion_values(flow, steps.dt));
  info("a step: {} projection{}, {} values a cell each{}", stages_of(flow), stages_of(flow) == 1 ? "" : "s", values,
       flow.pressure == PressureMethod::direct      ? "; pressure: direct, with its transforms' time on a CPU"
       : flow.pressure == PressureMethod::red_black ? fmt::format("; pressure: {} sweeps assumed", sweeps)
                                                    : fmt::format("; pressure: {} sweeps", sweeps));
  info("time step {:.6g}, {} steps", steps.dt, format_count(steps.steps));
  info("expected from bandwidth: {:.3g} s a step, {} in all; {} messages a step between ranks, {} between parts",
       totals.slowest, format_duration(totals.slowest * static_cast<double>(steps.steps)), totals.messages,
       format_bytes(static_cast<double>(totals.message_bytes)));
  warn_of_full_devices(totals, "a smaller grid");
}

}  // namespace tutti::app
