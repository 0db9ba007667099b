// tutti plan of transport on the sphere.
#include "app/commands.hpp"
#include "app/plan_case.hpp"
#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"
#include "tutti/io/probes.hpp"
#include "tutti/models/transport/transport.hpp"
#include "tutti/models/transport/transport_plan.hpp"
#include "tutti/models/transport/transport_rate.hpp"
#include "tutti/simulation/simulation.hpp"

namespace tutti::app {
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
    model.domain().locate(comm, probe_points(options), probe_labels(options));
    spectrum = model.spectrum();
    comm.together([&] { steps = plan_steps(options, model.time_step()); });
  }
  DeviceSet devices = arguments.devices.open(comm, options);
  Phases phases;
  MemoryModel memory = transport_memory(transport);
  memory.refuse_too_large = false;  // the table shows what is missing where
  const NodeDomain domain = make_node_domain({comm, devices, options, {}, phases}, transport.basis.size,
                                             {stencil_rate(transport, *devices.threads), memory});
  std::vector<IndexMap> maps;
  for (const IndexMap& map : domain.maps)
    maps.push_back(with_components(map, static_cast<int>(transport.tracers.size())));
  const Plan plan = make_plan(maps, comm.rank());
  info("case {}: {} nodes with stencils of {}, {} parts on {} rank{}", arguments.file,
       format_count(domain.cloud.size()), domain.stencil, domain.rank_of_part.size(), comm.size(),
       comm.size() == 1 ? "" : "s");
  std::vector<PartLine> mine;
  std::string text;
  for (std::size_t p = 0; p < domain.mine(); ++p) {
    const IndexMap& map = domain.maps[p];
    mine.push_back(plan_line(comm, devices, map, domain.weight(p), plan_arrays(transport, domain, p),
                             plan_bytes_a_step(transport, domain, p), plan, domain.routing, domain.streams, p, text));
  }
  for (const std::string& one : comm.all_gather_text(text)) info("{}", one.substr(0, one.find_last_not_of('\n') + 1));
  const auto lines = comm.all_gather(std::span<const PartLine>(mine));
  const PlanTotals totals = print_parts(lines, domain.balance.full_parts);
  const int stages = stages_of(transport.method);
  info("time step {:.6g} (spectral radius {:.6g}, {} stages), {} steps", steps.dt, spectrum.advection, stages,
       format_count(steps.steps));
  info("expected from bandwidth: {:.3g} s a step, {} in all; {} messages and {} a step between ranks", totals.slowest,
       format_duration(totals.slowest * static_cast<double>(steps.steps)), totals.messages * stages,
       format_bytes(static_cast<double>(totals.message_bytes * stages)));
  warn_of_full_devices(totals, "fewer nodes");
}

}  // namespace tutti::app
