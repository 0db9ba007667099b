// tutti plan: what a run would need and how fast it should be, without running it.
#include <algorithm>

#include "app/commands.hpp"
#include "app/plan_case.hpp"
#include "app/temporary_folder.hpp"
#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"
#include "tutti/exchange/exchange.hpp"
#include "tutti/io/probes.hpp"
#include "tutti/models/diffusion/diffusion.hpp"
#include "tutti/models/diffusion/diffusion_plan.hpp"
#include "tutti/schedule/balance.hpp"
#include "tutti/simulation/simulation.hpp"

namespace tutti::app {
namespace {

void plan_diffusion(const Comm& comm, const PlanArguments& arguments) {
  const Case options = load_case(comm, arguments.file, arguments.sets);
  // A generator's files are not the user's: they go to a folder that is removed.
  const TemporaryFolder work_dir(comm);
  // The time step is a property of the operator: measured on the CPU, whatever the devices of the plan.
  double dt = 0, rho = 0;
  int stages = 1;
  Gid cells = 0;
  {
    DeviceOptions on_cpu;
    on_cpu.threads = arguments.devices.threads;
    DeviceSet cpu = open_devices("cpu", comm, on_cpu);
    std::vector<std::string> sets = arguments.sets;
    sets.emplace_back("balance.weights=\"equal\"");
    sets.emplace_back("devices.transport=\"auto\"");
    const Case everywhere = load_case(comm, arguments.file, sets);
    Phases phases;
    Diffusion model({comm, cpu, everywhere, work_dir.path(), phases});
    // Refuses what a run would.
    model.domain().locate(comm, probe_points(options), probe_labels(options));
    dt = model.time_step();
    rho = model.stability().rho;
    stages = model.stages();
    cells = model.cells();
  }
  TimePlan steps;
  comm.together([&] { steps = plan_steps(options, dt); });
  DeviceSet devices = arguments.devices.open(comm, options);
  Phases phases;
  Sharing sharing = diffusion_sharing(options, *devices.threads);
  sharing.memory->refuse_too_large = false;  // the table shows what is missing where
  const TetDomain domain =
      make_tet_domain({comm, devices, options, work_dir.path(), phases}, diffusion_tet_options(options), sharing);
  std::optional<DiffusionPhysics> physics;
  comm.together([&] {
    physics.emplace(options, domain.region_names, domain.boundary_names, domain.region_tags, domain.boundary_tags);
  });
  const Plan plan = make_plan(domain.maps, comm.rank());

  info("case {}: {} cells, {} parts on {} rank{}", arguments.file, format_count(cells), domain.rank_of_part.size(),
       comm.size(), comm.size() == 1 ? "" : "s");
  std::vector<PartLine> mine;
  std::string arrays;
  const auto line_of = [&](std::size_t p) {
    const IndexMap& map = domain.maps[p];
    auto planned = plan_arrays(options, *physics, domain.meshes[p], map, domain.streams[p].is_host());
    const Size bytes = plan_bytes_a_step(planned, map, stages);
    return plan_line(comm, devices, map, domain.weight(p), std::move(planned), bytes, plan, domain.routing,
                     domain.streams, p, arrays);
  };
  for (std::size_t p = 0; p < domain.maps.size(); ++p) mine.push_back(line_of(p));
  for (const std::string& text : comm.all_gather_text(arrays))
    info("{}", text.substr(0, text.find_last_not_of('\n') + 1));
  const auto lines = comm.all_gather(std::span<const PartLine>(mine));
  const PlanTotals totals = print_parts(lines, domain.balance.full_parts);
  info("time step {:.6g} (spectral radius {:.6g}{}), {} steps", steps.dt, rho,
       stages > 1 ? fmt::format(", {} stages", stages) : "", format_count(steps.steps));
  info("expected from bandwidth: {:.3g} s a step, {} in all; {} messages and {} a step between ranks", totals.slowest,
       format_duration(totals.slowest * static_cast<double>(steps.steps)), totals.messages * stages,
       format_bytes(static_cast<double>(totals.message_bytes * stages)));
  warn_of_full_devices(totals, "a smaller mesh");
}

/// The model of the case file, which is read a second time with what the model wants.
using PlanCase = void (*)(const Comm& comm, const PlanArguments& arguments);
PlanCase plan_of(const Comm& comm, const std::string& model) {
  if (model == "diffusion") return plan_diffusion;
  if (model == "incompressible") return plan_flow;
  if (model == "transport") return plan_transport;
  comm.together([&] { fail(ErrorKind::usage, "tutti plan does not know the model {}; use it with another", model); });
  return nullptr;
}

void plan(const Comm& comm, const PlanArguments& arguments) {
  const Case options = load_case(comm, arguments.file, arguments.sets);
  const std::string model = options.text("model");
  if (arguments.nodes.nodes.empty()) {
    plan_of(comm, model)(comm, arguments);
    return;
  }
  comm.together([&] {
    if (model != "diffusion")
      fail(ErrorKind::usage, "--nodes: {} is a case of the model {}; only diffusion is projected on many nodes",
           arguments.file, model);
  });
  plan_nodes(comm, options, arguments.file, arguments.devices, arguments.nodes);
}

void add_nodes(CLI::App& command, NodesArguments& arguments) {
  CLI::Option* nodes = command.add_option(
      "--nodes", arguments.nodes, "project a step on so many copies of this host instead, e.g. 1,4,16,128,1024");
  nodes->delimiter(',')->check(CLI::Range(1, 1 << 20))->type_name("N,N,...");
  command
      .add_option("--real-nodes", arguments.real_nodes,
                  "the mesh is really cut for up to so many nodes and 2,000 cells a part; beyond, surfaces are scaled")
      ->check(CLI::Range(2, 1 << 16))
      ->capture_default_str()
      ->needs(nodes)
      ->type_name("N");
  command
      .add_option("--network-gb-per-second", arguments.network_gb_per_second,
                  "what a node sends and at the same time receives")
      ->check(CLI::Range(1e-3, 1e6))
      ->capture_default_str()
      ->needs(nodes)
      ->type_name("X");
  command.add_option("--network-latency-us", arguments.network_latency_us, "of a message between nodes")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str()
      ->needs(nodes)
      ->type_name("X");
  command
      .add_option("--rates", arguments.rates,
                  "take the devices of a node from what --json wrote elsewhere, instead of measuring them here")
      ->needs(nodes)
      ->type_name("FILE");
  command.add_option("--json", arguments.json, "write the figures of --nodes here")->needs(nodes)->type_name("FILE");
}

}  // namespace

PartLine plan_line(const Comm& comm, DeviceSet& devices, const IndexMap& map, double weight,
                   std::vector<PlannedArray> arrays, Size bytes_a_step, const Plan& plan, const Routing& routing,
                   std::span<const PartStreams> streams, std::size_t p, std::string& text) {
  Device& device = *streams[p].device;
  PartLine line;
  line.rank = comm.rank();
  std::snprintf(line.device, sizeof(line.device), "%s", device.name().c_str());
  line.weight = weight;
  line.cells = map.owned;
  line.ghosts = map.ghosts();
  if (const Size bytes = device_message_bytes(plan, routing, streams, static_cast<int>(p), 1, 8); bytes > 0)
    arrays.push_back({"packed messages", bytes});
  for (const PlannedArray& a : arrays) line.bytes += a.bytes;
  line.capacity = device.budget().capacity();
  line.triad = quick_triad(device, *devices.threads);
  line.seconds = line.triad > 0 ? static_cast<double>(bytes_a_step) / line.triad : 0;
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

PlanTotals print_parts(std::span<const PartLine> lines, const std::vector<int>& full_parts) {
  PlanTotals totals;
  const auto is_full = [&](std::size_t p) {
    return std::find(full_parts.begin(), full_parts.end(), static_cast<int>(p)) != full_parts.end();
  };
  info("part rank device      weight        cells       ghosts     memory  of capacity   triad GB/s   s/step");
  for (std::size_t p = 0; p < lines.size(); ++p) {
    const PartLine& l = lines[p];
    totals.slowest = std::max(totals.slowest, l.seconds);
    totals.messages += l.messages;
    totals.message_bytes += l.message_bytes;
    totals.fits = totals.fits && l.bytes <= l.capacity;
    info("{:>4} {:>4} {:<10} {:>7.4f} {:>12} {:>12} {:>10} {:>11.1f}% {:>12.1f} {:>8.2e}{}", p, l.rank, l.device,
         l.weight, format_count(l.cells), format_count(l.ghosts), format_bytes(static_cast<double>(l.bytes)),
         100.0 * static_cast<double>(l.bytes) / static_cast<double>(l.capacity), l.triad * 1e-9, l.seconds,
         l.bytes > l.capacity ? "  FULL"
         : is_full(p)         ? "  full: no room for more"
                              : "");
  }
  for (std::size_t p = 0; p < lines.size(); ++p)
    verbose("memory: part {} takes {} bytes of its device", p, lines[p].bytes);
  return totals;
}

void warn_of_full_devices(const PlanTotals& totals, const char* smaller) {
  if (!totals.fits) warn("the devices are full: the run would stop with exit code 3; use more devices or {}", smaller);
}

void add_plan(CLI::App& program, Action& action) {
  auto arguments = std::make_shared<PlanArguments>();
  CLI::App* command =
      program.add_subcommand("plan", "tell memory, time step, expected speed and messages; run nothing");
  command->add_option("case", arguments->file, "case file (TOML)")->required()->type_name("CASE");
  command->add_option("--set", arguments->sets, "change a key of the case, e.g. --set mesh.h=2; may be repeated")
      ->type_name("A.B=V")
      ->allow_extra_args(false);
  arguments->devices.add_to(*command);
  add_nodes(*command, arguments->nodes);
  command->footer(
      "Examples:\n  tutti plan examples/heart/case.toml\n  tutti plan examples/heart/case.toml --set mesh.h=0.5 "
      "--devices "
      "cuda:0,cpu\n  tutti plan examples/heart/case.toml --devices cuda:0,cpu --nodes 1,4,16,128,1024 --json "
      "plan.json");
  command->callback([arguments, &action] { action = [arguments](const Comm& comm) { plan(comm, *arguments); }; });
}

}  // namespace tutti::app
