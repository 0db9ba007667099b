#include "tutti/simulation/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "tutti/base/log.hpp"
#include "tutti/base/mpi/alarm.hpp"
#include "tutti/base/system/atomic_file.hpp"
#include "tutti/base/system/fault.hpp"
#include "tutti/base/units.hpp"
#include "tutti/base/version.hpp"
#include "tutti/io/provenance.hpp"
#include "tutti/simulation/checkpoints.hpp"
#include "tutti/simulation/finite_watch.hpp"
#include "tutti/simulation/output/field_output.hpp"
#include "tutti/simulation/output/history.hpp"
#include "tutti/simulation/output/line_samples.hpp"
#include "tutti/simulation/output/metrics.hpp"
#include "tutti/simulation/output/model_results.hpp"
#include "tutti/simulation/output/probes.hpp"
#include "tutti/simulation/output/progress_line.hpp"
#include "tutti/simulation/output/slices.hpp"
#include "tutti/simulation/output/statistics.hpp"
#include "tutti/simulation/rebalance.hpp"
#include "tutti/simulation/run/run_summary.hpp"
#include "tutti/simulation/run/steady.hpp"
#include "tutti/simulation/run/timeline.hpp"
#include "tutti/simulation/sampling/planes.hpp"
#include "tutti/simulation/sampling/surface_profiles.hpp"
#include "tutti/simulation/step_length.hpp"

namespace tutti {
namespace {

using Clock = std::chrono::steady_clock;
using Observers = std::vector<std::unique_ptr<Observer>>;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Decides at which steps to report: every so many, or about once a second. All ranks decide alike, because only the
/// root's clock counts and it tells the others at each report.
class ReportClock {
 public:
  ReportClock(const Comm& comm, const Case& options)
      : comm_(comm), every_(options.is_word("report.every", "auto") ? 0 : options.integer("report.every")) {}
  bool due(Size step) const { return step >= next_; }
  /// `step` steps are done, `made` of them in `wall` seconds by this run.
  void reported(Size step, Size made, double wall) {
    Size interval = every_;
    if (every_ == 0) {
      const double rate = static_cast<double>(made) / std::max(wall, 1e-6);
      std::vector<Size> decided{std::max<Size>(1, static_cast<Size>(std::min(rate, 1e9)))};
      comm_.broadcast(decided);
      interval = decided[0];
    }
    next_ = step + interval;
  }

 private:
  const Comm& comm_;
  Size every_;
  Size next_ = 1;
};

/// Puts a checkpoint's state into the model and the observers. Error(input): another mesh, another model.
void resume(Run& run, const Restart& restart) {
  const Comm& comm = run.comm;
  Model& model = run.model;
  const ModelState state = run.state();
  comm.together([&] {
    const std::string from = restart.reader.path().string();
    const bool in_space = model.domain().in_space();
    const char *mesh = in_space ? "mesh" : "graph", *rows = in_space ? "cells" : model.domain().words().rows;
    if (state.empty())
      fail(ErrorKind::usage, "{}: this model keeps no state and cannot be restarted; start a new run", from);
    if (state.mesh_checksum != restart.state.mesh_checksum)
      fail(ErrorKind::input,
           "{}: the {} has changed: {} {} with checksum {:016x} now, {} with {:016x} in the checkpoint; give the same "
           "{}, e.g. with --set {}.file=...",
           from, mesh, state.rows, rows, state.mesh_checksum, restart.state.rows, restart.state.mesh_checksum, mesh,
           mesh);
    for (const StateNumber& number : state.numbers) {
      const auto at = restart.state.numbers.find(number.name);
      if (at == restart.state.numbers.end())
        fail(ErrorKind::input,
             "{}: there is no number '{}'; use the case and the version of tutti that it was made with", from,
             number.name);
      *number.value = at->second;
    }
  });
  restart.reader.load(state);
  model.resume(restart.state.time);
}

void tell(const NewShares& shares) {
  info(
      "part {} waits {:.0f} % of a step for the slowest device: repartitioning; a step should take {:.3g} ms instead "
      "of {:.3g} ms",
      shares.idle_part, 100 * shares.idle, 1e3 * shares.seconds_then, 1e3 * shares.seconds);
}

/// What an earlier run has left in the folder, if the restart goes on in the same one.
const RunState* left_in(const std::filesystem::path& folder, const Restart* restart) {
  std::error_code error;
  return restart != nullptr && std::filesystem::equivalent(restart->folder, folder, error) ? &restart->state : nullptr;
}

void tell_start(const Run& run, const Restart* restart) {
  const TimePlan& plan = run.plan;
  if (const auto units = run.model.advance()) {
    info("{} {}, {} of {} {} done", format_count(run.model.cells()), run.model.domain().words().rows,
         format_count(std::llround(run.time)), format_count(std::llround(units->end)), units->unit);
    return;
  }
  if (plan.until > 0 && static_cast<double>(plan.steps - run.first) > 100 * (2 + (plan.end - run.time) / plan.longest))
    warn(
        "steps of {:.3g} are cut into {} to meet the times of output, history and checkpoints; longer intervals, or "
        "`every`, take fewer",
        plan.longest, format_count(plan.steps - run.first));
  if (restart == nullptr) {
    info("{} cells, {} steps of {:.4g}", format_count(run.model.cells()), format_count(plan.steps), plan.dt);
    return;
  }
  info("{} cells, continuing from step {} (t = {:g}) of {} to step {}, {:.4g} each", format_count(run.model.cells()),
       run.first, restart->state.time, restart->reader.path().string(), plan.steps, plan.dt);
  if (run.first >= plan.steps)
    warn("{} is already at the end of the run: nothing is left to do; continue with a later {}",
         restart->reader.path().string(), run.options.has("time.steps") ? "--set time.steps=N" : "--set time.end=T");
}

void tell_end(const Run& run, const Summary& summary) {
  if (summary.solver && !summary.solver->not_solved.empty()) return;  // the program tells
  if (const auto units = run.model.advance(); units && run.stopped) {
    info("stopped after {} of {} {}; continue with: tutti run --restart {}", format_count(std::llround(run.time)),
         format_count(std::llround(units->end)), units->unit, run.folder.string());
    return;
  }
  if (run.finished && run.step < run.plan.steps && run.model.advance())
    info("solved after {} iterations, residual {:.2g}", format_count(summary.solver->iterations),
         summary.solver->residual);
  else if (run.finished && run.step < run.plan.steps)
    info("steady after step {} of {}, t = {:g}", run.step, run.plan.steps, run.time);
  if (run.stopped)
    info("stopped after step {} of {}, t = {:g}; continue with: tutti run --restart {}", run.step, run.plan.steps,
         run.time, run.folder.string());
}

/// Puts the run where it starts: at t = 0, or at a checkpoint.
Run begin_run(const Comm& comm, Model& model, const Case& options, const RunContext& context) {
  const Restart* restart = context.restart;
  Run run{comm, model, options, context.folder, context.trace};
  run.lock = context.lock;
  run.exchanges = options.flag("devices.exchange");
  comm.together([&] {
    if (const auto units = model.advance()) {
      run.plan = restart != nullptr
                     ? plan_units(units->end, restart->state.step, restart->state.time, restart->state.plan.dt)
                     : plan_units(units->end, 0, 0, model.time_step());
      return;
    }
    run.plan = restart != nullptr ? plan_rest(options, restart->state) : plan_steps(options, model.time_step());
  });
  run.has_checkpoint = restart != nullptr;
  run.first = run.step = restart != nullptr ? restart->state.step : 0;
  run.began = run.time = run.plan.time_of(run.first);
  comm.together([&] { run.before = left_in(run.folder, restart); });
  return run;
}

/// Puts it into the state that it starts from.
void put_in_place(Run& run, const Restart* restart) {
  if (restart != nullptr) resume(run, *restart);
  run.comm.together([&] {
    if (run.comm.is_root()) write_file(run.folder / "effective.toml", run.options.effective_toml());
  });
  tell_start(run, restart);
  if (!run.exchanges) warn("no communication: results are wrong, and no fields, probes or checkpoints are written");
}

/// What a checkpoint says of the run besides the fields.
void describe_run(const Run& run, const std::vector<std::string>& devices, const Observers& observers,
                  RunState& state) {
  state.version = version();
  state.provenance = provenance();
  state.model = run.options.text("model");
  state.case_name = run.options.name();
  state.case_toml = run.options.effective_toml();
  state.plan = run.plan;
  const auto units = run.model.advance();
  state.end = units ? units->end : run.options.has("time.end") ? run.options.number("time.end") : 0;
  state.devices = devices;
  run.comm.together([&] {
    run.require_folder();
    for (const auto& observer : observers) observer->describe(state);
  });
}

bool may_rebalance(const Run& run, const RunSoFar* so_far) {
  if (run.options.schema().find("balance.rebalance") == nullptr) return false;
  const bool wanted = run.options.is_word("balance.rebalance", "always") || run.options.flag("balance.rebalance");
  return so_far != nullptr && wanted && so_far->rebalances.size() < Rebalance::most && run.exchanges &&
         !run.model.state().empty();
}

/// All that follows the run, in the order in which they look at a step: what may end the run before anything of a bad
/// step is written, files, what changes the steps to come, and checkpoints behind all that they mention.
void add_observers(Observers& observers, Run& run, DeviceSet& devices, const RunContext& context, Size first_step) {
  const auto add = [&]<class T>(std::unique_ptr<T> observer) { observers.push_back(std::move(observer)); };
  add(std::make_unique<Timeline>(run, first_step));
  add(std::make_unique<Steady>(run));
  add(std::make_unique<FiniteWatch>());
  if (run.model.domain().in_space()) add(std::make_unique<Statistics>(run));  // adds fields, which those below know
  add(std::make_unique<History>(run));
  add(std::make_unique<ProgressLine>(run));
  add(std::make_unique<Metrics>(run));
  add(std::make_unique<StepLength>());
  if (run.model.domain().in_space()) {
    add(std::make_unique<FieldOutput>(run));
    add(std::make_unique<Slices>(run));
    add(std::make_unique<Probes>(run));
    add(std::make_unique<LineSamples>(run));
    add(std::make_unique<Planes>(run));
    add(std::make_unique<SurfaceProfiles>(run));
  }
  if (may_rebalance(run, context.so_far)) {
    const bool always = run.options.is_word("balance.rebalance", "always");
    add(std::make_unique<Rebalance>(run, always ? 0 : context.setup.total()));
  }
  add(std::make_unique<ModelResults>());
  add(std::make_unique<Checkpoints>(run, [&, kinds = device_kinds(run.comm, devices)](RunState& state) {
    describe_run(run, kinds, observers, state);
  }));
}

/// One step, and all who look at it.
void advance(Run& run, const Observers& observers, ReportClock& reports) {
  run.before_step = run.time;
  ++run.step;
  for (const auto& observer : observers) observer->begin_step(run);
  const auto start = Clock::now();
  fault_point("step");
  run.model.step(run.before_step, run.plan.dt_of(run.step));
  run.wall += seconds_since(start);
  for (const auto& observer : observers) observer->end_step(run);

  run.finished = run.model.finished();
  run.time = run.plan.time_of(run.step);
  run.last = run.step == run.plan.steps || run.finished;
  run.reports = run.last || reports.due(run.step);
  auto looks = Looks::at_nothing;
  for (const auto& observer : observers) looks = std::max(looks, observer->looks(run));
  if (looks != Looks::at_nothing) run.wait_for_devices();
  if (looks == Looks::at_diagnostics) run.diagnose();
  for (const auto& observer : observers) observer->after_step(run);
  if (run.reports) reports.reported(run.step, run.step - run.first, run.wall);
}

}  // namespace

void RunSoFar::add(const Summary& summary, double wall) {
  wall_seconds += wall;
  output_seconds += summary.output_seconds;
  checkpoint_seconds += summary.checkpoint_seconds;
  exchange_bytes += summary.exchange.bytes;
  exchange_messages += summary.exchange.messages;
}

Summary simulate(const Comm& comm, Model& model, DeviceSet& devices, const Case& options, const RunContext& context) {
  Run run = begin_run(comm, model, options, context);
  run.threads = devices.threads->count();
  RunSoFar so_far = context.so_far != nullptr ? *context.so_far : RunSoFar{};
  if (so_far.rebalances.empty())
    so_far.first_step = run.first;
  else
    so_far.rebalances.back().cost = seconds_since(so_far.interrupted);
  Observers observers;
  add_observers(observers, run, devices, context, so_far.first_step);
  put_in_place(run, context.restart);
  ReportClock reports(comm, options);
  for (const auto& observer : observers) observer->start(run);
  try {
    while (run.step < run.plan.steps && !run.stopped && !run.finished && !run.shares) advance(run, observers, reports);
  } catch (const SharedError&) {
    throw;
  } catch (const std::exception&) {
    on_lone_failure();  // a checkpoint's messages may be under way
    throw;
  }
  if (run.stopped) run.shares.reset();
  Summary summary;
  for (const auto& observer : observers) observer->finish(run, summary);
  summarise(comm, model, summary, run.time);
  so_far.add(summary, comm.max(run.wall));
  if (run.shares) {
    tell(*run.shares);
    so_far.rebalances.push_back({run.step, run.shares->idle, run.shares->seconds, run.shares->seconds_then, 0});
    so_far.weights = run.shares->weights;
    so_far.restart_from = checkpoint_name(run.folder / "checkpoints", run.step);
    so_far.interrupted = run.interrupted;
    *context.so_far = so_far;
    return summary;
  }
  tell_end(run, summary);
  complete_summary(run, devices, context.setup, so_far, summary);
  comm.together([&] {
    run.require_folder();
    if (comm.is_root()) write_summary(run.folder / "summary.json", summary);
  });
  return summary;
}

}  // namespace tutti
