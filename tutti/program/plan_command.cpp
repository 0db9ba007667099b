// The subcommand `plan`: what a run would need and how fast it should be, without running it.
#include <algorithm>

#include <CLI/CLI.hpp>
#include <chrono>

#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"
#include "tutti/device/triad.hpp"
#include "tutti/program/program.hpp"
#include "tutti/program/temporary_folder.hpp"
#include "tutti/simulation/simulation.hpp"

namespace tutti {
namespace {

struct PlanArguments {
  std::string file;
  std::vector<std::string> sets;
  DeviceArguments devices;
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
    const double rate = measure_copies(device, MeasureLimits::quick()).copy_to_device;
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
PlannedStep plan_step(const Comm& comm, const PlanArguments& arguments, const ModelKinds& models, const ModelKind& kind,
                      const std::filesystem::path& work_dir) {
  DeviceOptions on_cpu;
  on_cpu.threads = arguments.devices.threads;
  DeviceSet cpu = open_devices("cpu", comm, on_cpu);
  std::vector<std::string> sets = arguments.sets;
  sets.emplace_back("balance.weights=\"equal\"");
  sets.emplace_back("devices.transport=\"auto\"");
  const Case everywhere = load_case(comm, arguments.file, sets, models);
  Phases phases;
  return kind.plan_step({comm, cpu, everywhere, work_dir, phases});
}

struct TimedSteps {
  double advanced = 0, seconds = 0;
};
/// Steps of a model until they have taken half a second, a hundred at most. The first, which is like no other, counts
/// only if there is but one.
TimedSteps time_steps(const Comm& comm, Model& model, double dt, double end) {
  using Clock = std::chrono::steady_clock;
  const bool adapts = model.advance().has_value();
  TimedSteps timed;
  double time = 0;
  const double rounding = 1e-9 * dt;
  for (Size k = 0; k < 100 && time < end - rounding && (k < 2 || timed.seconds < 0.5); ++k) {
    const double length = std::min(dt, end - time);
    const auto begin = Clock::now();
    model.step(time, length);
    model.wait();
    const double one = comm.max(std::chrono::duration<double>(Clock::now() - begin).count());
    if (k == 1) timed = {};
    timed.advanced += length;
    timed.seconds += one;
    time += length;
    if (adapts) dt = model.adapted_step(dt);
  }
  return timed;
}

/// Of a model that says nothing for plans: it is set up as for a run, and some steps are timed.
void plan_by_steps(const Comm& comm, const Case& options, const PlanArguments& arguments, const ModelKinds& models) {
  const TemporaryFolder work_dir(comm);
  DeviceSet devices = arguments.devices.open(comm, options);
  Phases phases;
  const std::unique_ptr<Model> model = create_model({comm, devices, options, work_dir.path(), phases}, models);
  const double dt = model->time_step();
  const std::optional<Advance> units = model->advance();
  TimePlan steps;
  if (!units) comm.together([&] { steps = plan_steps(options, dt); });
  const double end = units ? units->end : dt * static_cast<double>(steps.steps);
  const TimedSteps timed = time_steps(comm, *model, dt, end);
  const Domain& domain = model->domain();
  info("case {}: {} {}, {} part{} on {} rank{}", arguments.file, format_count(model->cells()), domain.words().rows,
       domain.rank_of_part.size(), domain.rank_of_part.size() == 1 ? "" : "s", comm.size(),
       comm.size() == 1 ? "" : "s");
  std::string mine;
  for (std::size_t p = 0; p < domain.mine(); ++p) {
    const Budget& budget = domain.device(p).budget();
    // Where rows have no place, devices may all have the whole.
    const std::string rows =
        domain.in_space() ? fmt::format("{} {}, ", format_count(domain.owned_count(p)), domain.words().rows) : "";
    mine += fmt::format("part {} on {} of rank {}: {}{} of {}\n", domain.part(p), domain.device(p).name(), comm.rank(),
                        rows, format_bytes(static_cast<double>(budget.peak())),
                        format_bytes(static_cast<double>(budget.capacity())));
  }
  for (const std::string& text : comm.all_gather_text(mine))
    info("{}", text.substr(0, text.find_last_not_of('\n') + 1));
  for (const std::string& line : model->describe()) info("{}", line);
  const double in_all = timed.advanced > 0 ? std::max(timed.seconds, 1e-9) / timed.advanced * end : 0;
  if (!units) info("time step {:.6g}, {} steps", steps.dt, format_count(steps.steps));
  if (timed.advanced == 0) return;
  if (units)
    info("measured: {} {}/s, {} for {} {}", format_count(static_cast<Size>(units->work_each * end / in_all)),
         units->work, format_duration(in_all), format_count(static_cast<Size>(end)), units->unit);
  else
    info("measured: {:.3g} s per step, {} in all", in_all / static_cast<double>(steps.steps), format_duration(in_all));
}

void plan(const Comm& comm, const PlanArguments& arguments, const ModelKinds& models, const PlanInstead& instead) {
  const Case options = load_case(comm, arguments.file, arguments.sets, models);
  const ModelKind& kind = kind_of(options, models);
  if (instead && instead(comm, options, arguments.file, arguments.devices)) return;
  if (!kind.plan_parts) return plan_by_steps(comm, options, arguments, models);
  // A generator's files are not the user's: they go to a folder that is removed.
  const TemporaryFolder work_dir(comm);
  const PlannedStep step = plan_step(comm, arguments, models, kind, work_dir.path());
  TimePlan steps;
  // A steady solution has no time step.
  if (!step.solves || step.dt > 0) comm.together([&] { steps = plan_steps(options, step.dt); });
  DeviceSet devices = arguments.devices.open(comm, options);
  Phases phases;
  const ModelSetup setup{comm, devices, options, work_dir.path(), phases};
  Sharing sharing = kind.sharing(options, *devices.threads);
  if (sharing.memory) sharing.memory->refuse_too_large = false;  // the table shows what is missing where
  const std::unique_ptr<Domain> domain = kind.rows(options);
  make_domain(*domain, setup, sharing);
  const std::vector<PlannedPart> parts = kind.plan_parts(setup, *domain, step);
  const std::vector<std::string> of_devices = kind.plan_lines ? kind.plan_lines(setup) : std::vector<std::string>{};

  info("case {}: {} {}, {} part{} on {} rank{}", arguments.file, format_count(domain->rows),
       step.rows.empty() ? domain->words().rows : step.rows, domain->rank_of_part.size(),
       domain->rank_of_part.size() == 1 ? "" : "s", comm.size(), comm.size() == 1 ? "" : "s");
  std::vector<PartLine> mine;
  std::string arrays;
  for (std::size_t p = 0; p < parts.size(); ++p) mine.push_back(plan_line(setup, *domain, parts[p], p, arrays));
  for (const std::string& text : comm.all_gather_text(arrays))
    info("{}", text.substr(0, text.find_last_not_of('\n') + 1));
  const auto lines = comm.all_gather(std::span<const PartLine>(mine));
  const PlanTotals totals = print_parts(lines, domain->balance.full_parts);
  for (const auto* told : {&step.lines, &of_devices})
    for (const std::string& line : *told) info("{}", line);
  if (steps.steps > 0)
    info("time step {:.6g}{}, {} steps", steps.dt, step.about.empty() ? "" : " (" + step.about + ")",
         format_count(steps.steps));
  else
    info("{}", step.about);
  const std::string bytes = format_bytes(static_cast<double>(totals.message_bytes));
  const std::string all = format_duration(totals.slowest * static_cast<double>(steps.steps));
  info("expected from bandwidth: {:.3g} s {}; {} messages {}", totals.slowest,
       step.solves ? "per iteration of the solver" : fmt::format("per step, {} in all", all), totals.messages,
       step.bytes_between_parts ? fmt::format("a step between ranks, {} between parts", bytes)
                                : fmt::format("and {} per step between ranks", bytes));
  if (!totals.fits) warn("the devices are full: the run would stop with exit code 3; {}", domain->advice);
}

}  // namespace

CLI::App* add_plan_command(CLI::App& program, Action& action, const ModelKinds& models, const std::string& example,
                           const PlanInstead& instead) {
  auto arguments = std::make_shared<PlanArguments>();
  CLI::App* command =
      program.add_subcommand("plan", "estimate memory, time step, speed and messages without running the case");
  command->add_option("case", arguments->file, "case file (TOML), or a folder with a case.toml")
      ->required()
      ->type_name("CASE");
  command->add_option("--set", arguments->sets, "change a key of the case, e.g. --set mesh.h=2; may be repeated")
      ->type_name("A.B=V")
      ->allow_extra_args(false);
  arguments->devices.add_to(*command);
  command->footer("Examples:\n" + example);
  command->callback([arguments, &action, &models, instead] {
    action = [arguments, &models, instead](const Comm& comm) { plan(comm, *arguments, models, instead); };
  });
  return command;
}

}  // namespace tutti
