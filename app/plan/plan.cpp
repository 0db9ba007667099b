// tutti plan: what a run would need and how fast it should be, without running it.
#include <algorithm>

#include "app/commands.hpp"
#include "app/plan/plan_nodes_case.hpp"
#include "app/temporary_folder.hpp"
#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"
#include "tutti/device/triad.hpp"
#include "tutti/simulation/simulation.hpp"

namespace tutti::app {
namespace {

struct PlanArguments {
  std::string file;
  std::vector<std::string> sets;
  DeviceArguments devices;
  NodesArguments nodes;
};

/// One part of the plan as it travels to rank 0.
struct PartLine {
  int rank = 0;
  char device[32] = "";
  double weight = 0;
  Gid cells = 0, ghosts = 0;
  Size bytes = 0, capacity = 0, messages = 0, message_bytes = 0;  ///< messages: of a step
  double triad = 0, seconds = 0;                                  ///< seconds: of a step
};

/// What all parts together say.
struct PlanTotals {
  double slowest = 0;  ///< s a step
  Size messages = 0, message_bytes = 0;
  bool fits = true;
};

/// Part p of this rank; its arrays are added to `text`.
PartLine plan_line(const ModelSetup& setup, const Domain& domain, const PlannedPart& part, std::size_t p,
                   std::string& text) {
  Device& device = domain.device(p);
  PartLine line;
  line.rank = setup.comm.rank();
  std::snprintf(line.device, sizeof(line.device), "%s", device.name().c_str());
  line.weight = domain.weight(p);
  line.cells = domain.owned_count(p);
  line.ghosts = part.ghosts;
  line.bytes = part.bytes();
  line.capacity = device.budget().capacity();
  line.messages = part.messages;
  line.message_bytes = part.message_bytes;
  line.triad = quick_triad(device, *setup.devices.threads);
  if (line.triad > 0) line.seconds = static_cast<double>(part.bytes_a_step) / line.triad + part.seconds_a_step;
  if (part.copied_a_step > 0) {
    const double rate = measure_bandwidth(device, MeasureLimits::quick()).copy_to_device;
    const double copies = static_cast<double>(part.copied_a_step) / rate;
    line.seconds = part.copies_behind ? std::max(line.seconds, copies) : line.seconds + copies;
    text += fmt::format("{} of rank {} copies {} per step from the host, at {:.3g} GB/s in {:.3g} s\n", device.name(),
                        line.rank, format_bytes(static_cast<double>(part.copied_a_step)), 1e-9 * rate, copies);
  }
  text += fmt::format("{} of rank {} (part {}):{}{}\n", device.name(), line.rank, domain.part(p),
                      part.about.empty() ? "" : " ", part.about);
  for (const PlannedArray& a : part.arrays)
    text += fmt::format("  {:<28} {:>10}\n", a.name, format_bytes(static_cast<double>(a.bytes)));
  return line;
}

/// Prints a line a part. `full_parts` have no room for more.
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
         : is_full(p)         ? "  full: no memory left"
                              : "");
  }
  for (std::size_t p = 0; p < lines.size(); ++p)
    verbose("memory: part {} takes {} bytes of its device", p, lines[p].bytes);
  return totals;
}

/// Measured on the CPU, whatever the devices of the plan.
PlannedStep plan_step(const Comm& comm, const PlanArguments& arguments, const ModelKind& kind,
                      const std::filesystem::path& work_dir) {
  DeviceOptions on_cpu;
  on_cpu.threads = arguments.devices.threads;
  DeviceSet cpu = open_devices("cpu", comm, on_cpu);
  std::vector<std::string> sets = arguments.sets;
  sets.emplace_back("balance.weights=\"equal\"");
  sets.emplace_back("devices.transport=\"auto\"");
  const Case everywhere = load_case(comm, arguments.file, sets);
  Phases phases;
  return kind.plan_step({comm, cpu, everywhere, work_dir, phases});
}

void plan(const Comm& comm, const PlanArguments& arguments) {
  const Case options = load_case(comm, arguments.file, arguments.sets);
  const ModelKind& kind = kind_of(options, models());
  comm.together([&] {
    if (!kind.plan_parts)
      fail(ErrorKind::usage, "tutti plan does not support the model {}; use it with another model", kind.name);
  });
  if (!arguments.nodes.nodes.empty()) {
    plan_nodes(comm, options, arguments.file, arguments.devices, arguments.nodes);
    return;
  }
  // A generator's files are not the user's: they go to a folder that is removed.
  const TemporaryFolder work_dir(comm);
  const PlannedStep step = plan_step(comm, arguments, kind, work_dir.path());
  TimePlan steps;
  comm.together([&] { steps = plan_steps(options, step.dt); });
  DeviceSet devices = arguments.devices.open(comm, options);
  Phases phases;
  const ModelSetup setup{comm, devices, options, work_dir.path(), phases};
  Sharing sharing = kind.sharing(options, *devices.threads);
  if (sharing.memory) sharing.memory->refuse_too_large = false;  // the table shows what is missing where
  const std::unique_ptr<Domain> domain = kind.rows(options);
  make_domain(*domain, setup, sharing);
  const std::vector<PlannedPart> parts = kind.plan_parts(setup, *domain, step);

  info("case {}: {} {}, {} parts on {} rank{}", arguments.file, format_count(domain->rows),
       step.rows.empty() ? domain->words().rows : step.rows, domain->rank_of_part.size(), comm.size(),
       comm.size() == 1 ? "" : "s");
  std::vector<PartLine> mine;
  std::string arrays;
  for (std::size_t p = 0; p < parts.size(); ++p) mine.push_back(plan_line(setup, *domain, parts[p], p, arrays));
  for (const std::string& text : comm.all_gather_text(arrays))
    info("{}", text.substr(0, text.find_last_not_of('\n') + 1));
  const auto lines = comm.all_gather(std::span<const PartLine>(mine));
  const PlanTotals totals = print_parts(lines, domain->balance.full_parts);
  for (const std::string& line : step.lines) info("{}", line);
  info("time step {:.6g}{}, {} steps", steps.dt, step.about.empty() ? "" : " (" + step.about + ")",
       format_count(steps.steps));
  const std::string bytes = format_bytes(static_cast<double>(totals.message_bytes));
  info("expected from bandwidth: {:.3g} s per step, {} in all; {} messages {}", totals.slowest,
       format_duration(totals.slowest * static_cast<double>(steps.steps)), totals.messages,
       step.bytes_between_parts ? fmt::format("a step between ranks, {} between parts", bytes)
                                : fmt::format("and {} per step between ranks", bytes));
  if (!totals.fits)
    warn("the devices are full: the run would stop with exit code 3; use more devices or {}", domain->words().smaller);
}

void add_nodes(CLI::App& command, NodesArguments& arguments) {
  CLI::Option* nodes =
      command.add_option("--nodes", arguments.nodes,
                         "instead, project the time of a step on N nodes like this host, e.g. 1,4,16,128,1024");
  nodes->delimiter(',')->check(CLI::Range(1, 1 << 20))->type_name("N,N,...");
  command
      .add_option("--real-nodes", arguments.real_nodes,
                  "partition the mesh for up to N nodes and 2,000 cells per part; extrapolate beyond")
      ->check(CLI::Range(2, 1 << 16))
      ->capture_default_str()
      ->needs(nodes)
      ->type_name("N");
  command
      .add_option("--network-gb-per-second", arguments.network_gb_per_second, "bandwidth of a node, in each direction")
      ->check(CLI::Range(1e-3, 1e6))
      ->capture_default_str()
      ->needs(nodes)
      ->type_name("X");
  command.add_option("--network-latency-us", arguments.network_latency_us, "latency of a message between nodes")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str()
      ->needs(nodes)
      ->type_name("X");
  command
      .add_option("--rates", arguments.rates,
                  "use the device rates that --json wrote on another machine, instead of measuring here")
      ->needs(nodes)
      ->type_name("FILE");
  command.add_option("--json", arguments.json, "write the figures of --nodes to this file")
      ->needs(nodes)
      ->type_name("FILE");
}

}  // namespace

void add_plan(CLI::App& program, Action& action) {
  auto arguments = std::make_shared<PlanArguments>();
  CLI::App* command =
      program.add_subcommand("plan", "estimate memory, time step, speed and messages without running the case");
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
