// tutti run: a case from start to end.
#include <fmt/ranges.h>

#include <filesystem>
#include <optional>

#include "app/commands.hpp"
#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"
#include "tutti/simulation/simulation.hpp"

namespace tutti::app {
namespace {

struct RunArguments {
  std::string file, output;
  std::vector<std::string> sets;
  std::string trace, trace_steps;
  DeviceArguments devices;
};

void describe_setup(const Comm& comm, const Model& model, DeviceSet& devices, const Phases& phases) {
  info("{} rank{}, rank 0: {}", comm.size(), comm.size() == 1 ? "" : "s", describe(devices));
  for (const auto& line : model.describe()) info("{}", line);
  for (const auto& [name, seconds] : phases.seconds()) verbose("set-up: {:<12} {:8.3f} s", name, seconds);
  std::vector<Size> bytes;
  for (const auto& device : devices.devices) bytes.push_back(device->budget().peak());
  const auto all = comm.all_gather(std::span<const Size>(bytes));
  for (std::size_t p = 0; p < all.size(); ++p) verbose("memory: part {} has taken {} bytes of its device", p, all[p]);
  const auto roles = comm.all_gather_text(fmt::format("{}", fmt::join(model.schedule().describe_roles(), "; ")));
  for (std::size_t r = 0; r < roles.size(); ++r) verbose("rank {}: {}", r, roles[r]);
  for (const auto& line : model.schedule().describe_tasks()) verbose("task of rank 0: {}", line);
}

/// The options --trace and --trace-steps. A constructor's result, for a Trace does not move.
Trace make_trace(const Comm& comm, const RunArguments& arguments) {
  std::optional<TraceWindow> window;
  comm.together([&] {
    if (!arguments.trace_steps.empty()) window = parse_trace_window(arguments.trace_steps);
  });
  if (arguments.trace.empty()) return {};
  return {comm, arguments.trace, window};
}

void run_case(const Comm& comm, const RunArguments& arguments) {
  const Case options = load_case(comm, arguments.file, arguments.sets);
  const std::filesystem::path folder = arguments.output;
  comm.together([&] {
    if (!comm.is_root()) return;
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
      fail(ErrorKind::io, "{}: cannot make the folder: {}; choose another with -o", folder.string(), error.message());
  });
  Trace trace = make_trace(comm, arguments);
  DeviceSet devices = arguments.devices.open(comm, options);
  Phases phases;
  const auto model = make_model(comm, devices, options, folder / "mesh", phases);
  phases.add_to(trace);
  describe_setup(comm, *model, devices, phases);
  const Summary summary = simulate(comm, *model, devices, options, folder, phases, trace);
  info("{} cell-steps/s, {} of steps; mass drift {:.2g}{}",
       format_count(static_cast<Size>(summary.cell_steps_per_second)), format_duration(summary.wall_seconds),
       summary.mass.drift,
       summary.errors ? fmt::format("; errors: L2 {:.4g}, Linf {:.4g}, gradient L2 {:.4g}", summary.errors->l2,
                                    summary.errors->linf, summary.errors->gradient_l2)
                      : "");
  info("results: {} (open results.pvd in ParaView)", folder.string());
  if (trace.on()) info("timeline: {} (open it in https://ui.perfetto.dev)", arguments.trace);
}

}  // namespace

void add_run(CLI::App& program, Action& action) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* command = program.add_subcommand("run", "run a case on all processors and write results");
  command->add_option("case", arguments->file, "case file (TOML)")->required()->type_name("CASE");
  command->add_option("-o,--output", arguments->output, "folder for the results")->required()->type_name("DIR");
  command->add_option("--set", arguments->sets, "change a key of the case, e.g. --set time.end=2")
      ->type_name("A.B=V")
      ->allow_extra_args(false);
  CLI::Option* trace = command->add_option("--trace", arguments->trace, "write a timeline of some steps, for Perfetto")
                           ->type_name("FILE.json");
  command
      ->add_option("--trace-steps", arguments->trace_steps,
                   "which steps, counted from the start of this run (default: 10:14, or all of a shorter run)")
      ->type_name("A:B")
      ->needs(trace);
  arguments->devices.add_to(*command);
  command->footer("Example:\n  tutti run examples/heart/case.toml -o results/heart --set time.end=5 --devices cpu");
  command->callback([arguments, &action] { action = [arguments](const Comm& comm) { run_case(comm, *arguments); }; });
}

}  // namespace tutti::app
