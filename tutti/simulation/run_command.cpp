// The subcommand `run`: a case from start to end.
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>

#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"
#include "tutti/device/host_load.hpp"
#include "tutti/io/output_folder.hpp"
#include "tutti/simulation/device_arguments.hpp"
#include "tutti/simulation/program.hpp"
#include "tutti/simulation/simulation.hpp"

namespace tutti {
namespace {

struct RunArguments {
  std::string file, output;
  std::vector<std::string> sets;
  bool overwrite = false;
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

std::string describe_errors(const ErrorSummary& errors) {
  return fmt::format("; errors: L2 {:.4g}, Linf {:.4g}{}", errors.l2, errors.linf,
                     std::isnan(errors.gradient_l2) ? "" : fmt::format(", gradient L2 {:.4g}", errors.gradient_l2));
}

void run_case(const Comm& comm, const RunArguments& arguments, const ModelKinds& models) {
  const Case options = load_case(comm, arguments.file, arguments.sets, models);
  const std::filesystem::path folder = arguments.output;
  comm.together([&] {
    if (comm.is_root()) prepare_output_folder(folder, arguments.overwrite ? OutputUse::overwrite : OutputUse::fresh);
  });
  DeviceSet devices = arguments.devices.open(comm, options);
  warn_of_full_cores(comm, devices.threads->count());
  Phases phases;
  const auto model = create_model({comm, devices, options, folder / "mesh", phases}, models);
  describe_setup(comm, *model, devices, phases);
  const Summary summary = simulate(comm, *model, devices, options, folder, phases);
  info("{} cell-steps/s, {} of steps; mass drift {:.2g}{}",
       format_count(static_cast<Size>(summary.cell_steps_per_second)), format_duration(summary.wall_seconds),
       summary.mass.drift, summary.errors ? describe_errors(*summary.errors) : "");
  info("results: {} (open results.pvd in ParaView, or: tutti plot {})", folder.string(), folder.string());
  // The results are there in any case; a number about them is not.
  if (!summary.problem.empty())
    comm.together([&] { fail(ErrorKind::input, "{}; the results are in {}", summary.problem, folder.string()); });
}

}  // namespace

void add_run_command(CLI::App& program, Action& action, const ModelKinds& models, const std::string& example) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* command = program.add_subcommand("run", "run a case on all processors and write results");
  command->add_option("case", arguments->file, "case file (TOML)")->required()->type_name("CASE");
  command->add_option("-o,--output", arguments->output, "folder for the results; made if missing")
      ->required()
      ->type_name("DIR");
  command->add_flag("--overwrite", arguments->overwrite, "remove the results of an earlier run from DIR first");
  command->add_option("--set", arguments->sets, "change a key of the case, e.g. --set time.end=2; may be repeated")
      ->type_name("A.B=V")
      ->allow_extra_args(false);
  arguments->devices.add_to(*command);
  command->footer("Examples:\n" + example);
  command->callback([arguments, &action, &models] {
    action = [arguments, &models](const Comm& comm) { run_case(comm, *arguments, models); };
  });
}

}  // namespace tutti
