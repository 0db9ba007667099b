// tutti plan of transport on the sphere.
#include "app/commands.hpp"
#include "app/plan_case.hpp"
#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"
#include "tutti/io/probes.hpp"
#include "tutti/models/transport/transport.hpp"
#include "tutti/models/transport/transport_plan.hpp"
#include "tutti/simulation/simulation.hpp"

namespace tutti::app {
namespace {

PartLine plan_line(const Comm& comm, DeviceSet& devices, const TransportCase& transport, const NodeDomain& domain,
                   const Plan& plan, std::size_t p, std::string& text) {
  const IndexMap& map = domain.maps[p];
  Device& device = *domain.streams[p].device;
  PartLine line;
  line.rank = comm.rank();
  std::snprintf(line.device, sizeof(line.device), "%s", device.name().c_str());
  line.weight = domain.weights[static_cast<std::size_t>(map.part)];
  line.cells = map.owned;
  line.ghosts = map.ghosts();
  auto arrays = plan_arrays(transport, domain, p);
  if (const Size bytes = device_message_bytes(plan, domain.transport, domain.streams, static_cast<int>(p), 1, 8);
      bytes > 0)
    arrays.push_back({"packed messages", bytes});
  for (const PlannedArray& a : arrays) line.bytes += a.bytes;
  line.capacity = device.budget().capacity();
  line.triad = quick_triad(device, *devices.threads);
  line.seconds = line.triad > 0 ? static_cast<double>(plan_bytes_a_step(transport, domain, p)) / line.triad : 0;
  for (const Message& m : plan.outgoing)
    if (m.source == static_cast<int>(p)) {
      ++line.messages;
      line.message_bytes += m.count * 8;
    }
  text += fmt::format("{} of rank {} (part {}):\n", device.name(), comm.rank(), map.part);
  for (const PlannedArray& a : arrays)
    text += fmt::format("  {:<28} {:>10}\n", a.name, format_bytes(static_cast<double>(a.bytes)));
  return line;
}

}  // namespace

void plan_transport(const Comm& comm, const PlanArguments& arguments) {
  const Case options = load_case(comm, arguments.file, arguments.sets);
  TransportCase transport;
  comm.together([&] { transport = read_transport_case(options); });
  TimePlan steps;
  TransportSpectrum spectrum;
  {
    // The time step is a property of the operators: measured on the CPU, whatever the devices of the plan.
    DeviceOptions on_cpu;
    on_cpu.threads = arguments.devices.threads;
    DeviceSet cpu = open_devices("cpu", comm, on_cpu);
    std::vector<std::string> sets = arguments.sets;
    sets.emplace_back("balance.weights=\"equal\"");
    sets.emplace_back("devices.transport=\"auto\"");
    const Case everywhere = load_case(comm, arguments.file, sets);
    Phases phases;
    SphereTransport model({comm, cpu, everywhere, {}, phases});
    // Refuses what a run would.
    if (auto points = probe_points(options); !points.empty()) model.set_probes(std::move(points));
    spectrum = model.spectrum();
    comm.together([&] { steps = plan_steps(options, model.time_step()); });
  }
  DeviceSet devices = arguments.devices.open(comm, options);
  Phases phases;
  const NodeDomain domain = make_node_domain({comm, devices, options, {}, phases}, transport.basis.size);
  std::vector<IndexMap> maps;
  for (const IndexMap& map : domain.maps)
    maps.push_back(with_components(map, static_cast<int>(transport.tracers.size())));
  const Plan plan = make_plan(maps, comm.rank());
  info("case {}: {} nodes with stencils of {}, {} parts on {} rank{}", arguments.file,
       format_count(domain.cloud.size()), domain.stencil, domain.rank_of_part.size(), comm.size(),
       comm.size() == 1 ? "" : "s");
  std::vector<PartLine> mine;
  std::string text;
  for (std::size_t p = 0; p < domain.mine(); ++p)
    mine.push_back(plan_line(comm, devices, transport, domain, plan, p, text));
  for (const std::string& one : comm.all_gather_text(text)) info("{}", one.substr(0, one.find_last_not_of('\n') + 1));
  const auto lines = comm.all_gather(std::span<const PartLine>(mine));
  const PlanTotals totals = print_parts(lines, {});
  const int stages = stages_of(transport.method);
  info("time step {:.6g} (spectral radius {:.6g}, {} stages), {} steps", steps.dt, spectrum.advection, stages,
       format_count(steps.steps));
  info("expected from bandwidth: {:.3g} s a step, {} in all; {} messages and {} a step between ranks", totals.slowest,
       format_duration(totals.slowest * static_cast<double>(steps.steps)), totals.messages * stages,
       format_bytes(static_cast<double>(totals.message_bytes * stages)));
  warn_of_full_devices(totals, "fewer nodes");
}

}  // namespace tutti::app
