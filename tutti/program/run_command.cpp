// The subcommand `run`: a case from start to end, or from a checkpoint on.
#include <fmt/chrono.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <optional>

#include "tutti/base/log.hpp"
#include "tutti/base/log_copy.hpp"
#include "tutti/base/system/atomic_file.hpp"
#include "tutti/base/units.hpp"
#include "tutti/base/version.hpp"
#include "tutti/device/host/core_load.hpp"
#include "tutti/device/host/host_load.hpp"
#include "tutti/io/output_folder.hpp"
#include "tutti/io/provenance.hpp"
#include "tutti/program/device_arguments.hpp"
#include "tutti/program/program.hpp"
#include "tutti/simulation/simulation.hpp"

namespace tutti {
namespace {

namespace fs = std::filesystem;

struct RunArguments {
  std::string program, file, output, restart;
  std::vector<std::string> sets;
  bool overwrite = false, fall_back = false, no_exchange = false;
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
  if (model.schedules().empty()) return;
  const auto roles =
      comm.all_gather_text(fmt::format("{}", fmt::join(model.schedules().front()->describe_roles(), "; ")));
  for (std::size_t r = 0; r < roles.size(); ++r) verbose("rank {}: {}", r, roles[r]);
  for (const Step* schedule : model.schedules())
    for (const auto& line : schedule->describe_tasks()) verbose("task of rank 0: {}", line);
}

std::string describe_errors(const ErrorSummary& errors) {
  return fmt::format("; errors: L2 {:.4g}, Linf {:.4g}{}", errors.l2, errors.linf,
                     std::isnan(errors.gradient_l2) ? "" : fmt::format(", gradient L2 {:.4g}", errors.gradient_l2));
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

/// The case that is run: of the file, or of the checkpoint, or of the file and the same as the checkpoint's.
Case choose_case(const Comm& comm, const RunArguments& arguments, const ModelKinds& models, const Restart* restart) {
  if (restart == nullptr) return load_case(comm, arguments.file, arguments.sets, models);
  const RunState& state = restart->state;
  const std::string name = restart->reader.path().string() + ": case";
  Case before, now;
  comm.together([&] {
    const auto names = model_names(models);
    if (std::find(names.begin(), names.end(), state.model) == names.end())
      fail(
          ErrorKind::input,
          "{}: the checkpoint is of the model '{}', which this program does not include; use the program that wrote it",
          name, state.model);
    const CaseSchema schema = schema_of(models, state.model);
    before = parse_case(state.case_toml, name, schema, {});
    if (arguments.file.empty()) now = parse_case(state.case_toml, name, schema, arguments.sets);
  });
  if (!arguments.file.empty()) now = load_case(comm, arguments.file, arguments.sets, models);
  comm.together([&] { check_same_case(now, before, restart->reader.path().string()); });
  return now;
}

/// Something to restart from may be there; open_restart tells the rest.
bool has_checkpoint(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return !find_checkpoints(path).empty();
  return path.extension() == ".h5" && fs::exists(path, error);
}

/// run.log from here on, which holds what was said so far, too.
void keep_log(const Comm& comm, const std::string& program, const fs::path& folder) {
  comm.together([&] {
    if (!comm.is_root()) return;
    const fs::path path = folder / "run.log";
    const int file = open_to_append(path);
    if (file < 0) fail(ErrorKind::io, "{}: cannot be written: {}", path.string(), system_cause(errno));
    std::string head = fmt::format("{}tutti {}, {:%Y-%m-%dT%H:%M:%S%z}", program == "tutti" ? "" : program + ", ",
                                   version(), fmt::localtime(std::time(nullptr)));
    for (const auto& [name, value] : provenance()) head += fmt::format("\n{}: {}", name, value);
    copy_log_to(file, head);
  });
}

void run_in_folder(const Comm& comm, const RunArguments& arguments, const ModelKinds& models, const Case& options,
                   const fs::path& folder, const FolderLock* lock, std::optional<Restart>& restart) {
  Trace trace = make_trace(comm, arguments);
  DeviceSet devices = arguments.devices.open(comm, options);
  warn_of_full_cores(comm, devices.threads->count());
  Phases phases;
  StoredPartition stored;
  if (restart) {
    stored.devices = restart->state.devices;
    if (stored.devices == device_kinds(comm, devices)) stored.owner = restart->reader.owners();
  }
  std::unique_ptr<Model> model =
      create_model({comm, devices, options, folder / "mesh", phases, restart ? &stored : nullptr}, models);
  phases.add_to(trace);
  describe_setup(comm, *model, devices, phases);
  keep_log(comm, arguments.program, folder);
  RunSoFar so_far;
  const CoreWait wait;
  const auto began = std::chrono::steady_clock::now();
  Summary summary =
      simulate(comm, *model, devices, options, {folder, phases, trace, restart ? &*restart : nullptr, lock, &so_far});
  while (!so_far.weights.empty()) {
    const std::vector<double> weights = std::exchange(so_far.weights, {});
    model.reset();  // its memory is needed
    restart.emplace(open_restart(comm, so_far.restart_from, false));
    Phases again;
    model = create_model({comm, devices, options, folder / "mesh", again, nullptr, weights}, models);
    summary = simulate(comm, *model, devices, options, {folder, phases, trace, &*restart, lock, &so_far});
  }
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began;
  if (const double share = comm.max(wait.longest() / passed.count());
      share > 1.0 / 3 && passed.count() > 1 && !waits_passively())
    warn(
        "threads waited up to {:.0f} % of the run for a core used by other programs; use fewer with --threads, or stop "
        "the other programs",
        100 * share);
  // The last state is written all the same.
  if (summary.solver && !summary.solver->not_solved.empty())
    comm.together(
        [&] { fail(ErrorKind::numerical, "{}, then restart from {}", summary.solver->not_solved, folder.string()); });
  if (const auto& units = summary.units_of_advance; units && !summary.solver) {
    info("{} {}/s, {} of steps", format_count(static_cast<Size>(units->work_per_second)), units->work,
         format_duration(summary.wall_seconds));
    info("results: {}", folder.string());
    if (trace.on()) info("timeline: {} (open it in https://ui.perfetto.dev)", arguments.trace);
    return;
  }
  if (const auto& flows = summary.flows) {
    std::string text;
    for (const auto& [name, flow] : flows->boundaries) text += fmt::format("{} {:.6g}, ", name, flow);
    info("flows into the domain: {}source {:.6g}; their sum is {:.2g}", text, flows->source, flows->sum);
  }
  info("{}{} of steps{}{}{}",
       summary.units_of_advance
           ? std::string()
           : fmt::format("{} cell-steps/s, ", format_count(static_cast<Size>(summary.cell_steps_per_second))),
       format_duration(summary.wall_seconds),
       summary.mass.drifts ? fmt::format("; {} drift {:.2g}", summary.mass.name, summary.mass.drift) : "",
       summary.solver ? fmt::format("; {} iterations", format_count(summary.solver->iterations)) : "",
       summary.errors ? describe_errors(*summary.errors) : "");
  if (summary.wrong.empty() && options.text("output.format") == "vtkhdf")
    info("results: {} (open results.vtkhdf in ParaView)", folder.string());
  else if (summary.wrong.empty())
    info("results: {} (open results.pvd in ParaView, or: tutti plot {})", folder.string(), folder.string());
  if (trace.on()) info("timeline: {} (open it in https://ui.perfetto.dev)", arguments.trace);
  // The results are there in any case; a number about them is not.
  if (!summary.problem.empty())
    comm.together([&] { fail(ErrorKind::input, "{}; the results are in {}", summary.problem, folder.string()); });
}

/// Where results go without --output: results/NAME for NAME.toml, a folder NAME, or NAME/case.toml.
fs::path default_folder_of(const std::string& file) {
  std::error_code unknown;
  fs::path path = fs::absolute(file, unknown).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();  // "examples/heart/"
  const fs::path results = "results";
  if (fs::is_directory(path, unknown)) return results / path.filename();
  if (path.filename() == "case.toml") return results / path.parent_path().filename();
  return results / path.stem();
}

fs::path choose_folder(const Comm& comm, const RunArguments& arguments) {
  if (!arguments.output.empty()) return arguments.output;
  if (!arguments.restart.empty()) return results_folder_of(arguments.restart);
  std::string folder;
  if (comm.is_root()) folder = default_folder_of(arguments.file).string();  // other machines may not have the file
  comm.broadcast(folder);
  return folder;
}

void run_case(const Comm& comm, const RunArguments& arguments, const ModelKinds& models) {
  // Before anything of the folder is read: what a run that has just ended left there is seen whole.
  const fs::path folder = choose_folder(comm, arguments);
  std::optional<FolderLock> lock;
  const auto lock_folder = [&] {
    std::error_code error;
    if (comm.is_root() && !lock && fs::is_directory(folder, error)) lock.emplace(folder);
  };
  comm.together([&] {
    if (has_checkpoint(arguments.restart)) lock_folder();
  });
  std::optional<Restart> restart;
  if (!arguments.restart.empty()) restart.emplace(open_restart(comm, arguments.restart, arguments.fall_back));
  const Case options = choose_case(comm, arguments, models, restart ? &*restart : nullptr);
  std::vector<fs::path> made;
  comm.together([&] {
    if (!comm.is_root()) return;
    made = folders_to_make(folder);
    make_output_folder(folder);
    lock_folder();
    std::error_code error;
    const bool same = restart && fs::equivalent(folder, restart->folder, error);
    prepare_output_folder(folder, same                  ? OutputUse::go_on
                                  : arguments.overwrite ? OutputUse::overwrite
                                                        : OutputUse::fresh);
  });
  try {
    run_in_folder(comm, arguments, models, options, folder, lock ? &*lock : nullptr, restart);
  } catch (const SharedError& error) {
    lock.reset();  // its file would keep the folder
    if (comm.is_root()) remove_unused_folders(made, error.kind() == ErrorKind::numerical);
    throw;
  }
}

/// What the options must be together. Error(usage).
void check_arguments(const RunArguments& a, const std::string& help) {
  if (a.restart.empty() && a.file.empty())
    fail(ErrorKind::usage, "CASE is missing: give a case file, or --restart DIR; see {}", help);
  if (a.restart.empty() && a.fall_back) fail(ErrorKind::usage, "--fallback belongs to --restart; see {}", help);
}

}  // namespace

void add_run_command(CLI::App& program, Action& action, const ModelKinds& models, const std::string& example) {
  auto arguments = std::make_shared<RunArguments>();
  arguments->program = program.get_name();
  CLI::App* command = program.add_subcommand("run", "run a case on all processors and write results");
  command
      ->add_option("case", arguments->file, "case file (TOML), or a folder with a case.toml; not needed with --restart")
      ->type_name("CASE");
  command
      ->add_option(
          "-o,--output", arguments->output,
          "folder for the results, created if missing (default: results/NAME for NAME.toml or NAME/case.toml; with "
          "--restart: the folder of that run)")
      ->type_name("DIR");
  command->add_flag("--overwrite", arguments->overwrite, "remove the results of an earlier run from DIR first");
  command
      ->add_option("--restart", arguments->restart,
                   "continue from the newest checkpoint of a results folder, or from a checkpoint file")
      ->type_name("DIR");
  command->add_flag("--fallback", arguments->fall_back, "if the newest checkpoint is damaged, use the one before it");
  command->add_option("--set", arguments->sets, "change a key of the case, e.g. --set time.end=2; may be repeated")
      ->type_name("A.B=V")
      ->allow_extra_args(false);
  CLI::Option* trace = command->add_option("--trace", arguments->trace, "write a timeline of some steps, for Perfetto")
                           ->type_name("FILE.json");
  command
      ->add_option("--trace-steps", arguments->trace_steps,
                   "steps A:B, counted from the start of this run (default: 10:14, or all of a shorter run)")
      ->type_name("A:B")
      ->needs(trace);
  command->add_flag("--no-exchange", arguments->no_exchange,
                    "leave out all communication, to measure its cost; results are wrong and are not written");
  arguments->devices.add_to(*command);
  command->footer("Examples:\n" + example);
  const std::string help = program.get_name() + " run --help";
  command->callback([arguments, &action, &models, help] {
    action = [arguments, &models, help](const Comm& comm) {
      comm.together([&] { check_arguments(*arguments, help); });
      if (arguments->no_exchange) arguments->sets.emplace_back("devices.exchange=false");
      run_case(comm, *arguments, models);
    };
  });
}

}  // namespace tutti
