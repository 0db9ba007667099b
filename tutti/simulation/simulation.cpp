#include "tutti/simulation/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "tutti/base/alarm.hpp"
#include "tutti/base/fault.hpp"
#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"
#include "tutti/io/atomic_file.hpp"
#include "tutti/io/probes.hpp"
#include "tutti/schedule/balance.hpp"
#include "tutti/schedule/step_tracer.hpp"
#include "tutti/simulation/checkpoints.hpp"
#include "tutti/simulation/field_watch.hpp"
#include "tutti/simulation/load_monitor.hpp"
#include "tutti/simulation/metrics.hpp"
#include "tutti/simulation/progress.hpp"
#include "tutti/simulation/slices.hpp"
#include "tutti/simulation/tet_domain.hpp"

namespace tutti {
namespace {

using Clock = std::chrono::steady_clock;

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

/// Probes of [[output.probe]], written every output.probe_every steps.
class Probes {
 public:
  /// `keep`: length of an earlier run's file to go on behind.
  Probes(const Comm& comm, Model& model, const Case& options, const std::filesystem::path& folder, Size keep)
      : comm_(comm), model_(model) {
    const std::vector<Vec3> points = probe_points(options);
    std::vector<std::string> columns;
    const std::vector<std::string> quantities = model.sampled();
    for (int i = 0; i < options.count("output.probe"); ++i) {
      const std::string name = options.text(fmt::format("output.probe[{}].name", i));
      for (const std::string& quantity : quantities)
        columns.push_back(quantities.size() == 1 ? name : name + " " + quantity);
    }
    any_ = !points.empty() && options.flag("devices.exchange");
    if (!any_) return;
    model_.set_probes(points);
    comm_.together([&] {
      if (comm_.is_root()) file_.emplace(folder / "probes.csv", columns, keep);
    });
  }
  /// Length of the file so far, on the root.
  Size bytes() const { return file_ ? file_->bytes() : 0; }
  bool any() const { return any_; }
  void record(double time) {
    if (!any_) return;
    fault_point("probe");
    const auto values = model_.sample();
    comm_.together([&] {
      if (file_) file_->add(time, values);
    });
  }

 private:
  const Comm& comm_;
  Model& model_;
  std::optional<ProbeFile> file_;
  bool any_ = false;
};

/// The diagnostics over time in history.csv: at each report, or every output.history_every steps.
class History {
 public:
  /// `keep`: length of an earlier run's file to go on behind.
  History(const Comm& comm, const Case& options, const std::filesystem::path& folder, Size keep)
      : comm_(comm), path_(folder / "history.csv"), keep_(keep), every_(options.integer("output.history_every")) {}
  /// Whether the state that the run starts from is a line, too.
  bool starts() const { return every_ > 0 && keep_ == 0; }
  bool due(Size step, bool reports) const { return every_ > 0 ? step % every_ == 0 : reports; }
  /// The names of the first call are the columns. Collective.
  void record(double time, const std::vector<Diagnostic>& diagnostics) {
    std::vector<std::string> names;
    std::vector<double> values;
    for (const Diagnostic& d : diagnostics) {
      names.push_back(d.name);
      values.push_back(d.value);
    }
    comm_.together([&] {
      if (!comm_.is_root()) return;
      if (!file_) file_.emplace(path_, names, keep_);
      file_->add(time, values);
    });
  }
  /// Length of the file so far, on the root.
  Size bytes() const { return file_ ? file_->bytes() : keep_; }

 private:
  const Comm& comm_;
  std::filesystem::path path_;
  Size keep_, every_;
  std::optional<ProbeFile> file_;
};

/// For the progress line.
std::string first_of(const std::vector<Diagnostic>& diagnostics) {
  return diagnostics.empty() ? "" : fmt::format("{} = {:.6g}", diagnostics[0].name, diagnostics[0].value);
}

/// What travels of a PartSummary.
struct PartRecord {
  PartSummary summary_without_name() const {
    PartSummary s;
    s.rank = rank;
    s.device = device;
    s.cells = cells;
    s.ghosts = ghosts;
    s.weight = weight;
    s.seconds.separator = seconds[0];
    s.seconds.interior = seconds[1];
    s.seconds.exchange = seconds[2];
    s.seconds.idle = seconds[3];
    s.bytes = bytes;
    s.gb_per_second = gb_per_second;
    if (fraction >= 0) s.fraction_of_stream = fraction;
    return s;
  }
  int rank = 0;
  char device[32] = "";
  Gid cells = 0, ghosts = 0;
  double weight = 0, seconds[4] = {0, 0, 0, 0};
  Size bytes = 0;
  double gb_per_second = 0, fraction = -1;
};

void gather_parts(const Comm& comm, Summary& summary) {
  std::vector<PartRecord> mine;
  for (const PartSummary& s : summary.parts) {
    PartRecord r;
    r.rank = s.rank;
    std::strncpy(r.device, s.device.c_str(), sizeof(r.device) - 1);
    r.cells = s.cells;
    r.ghosts = s.ghosts;
    r.weight = s.weight;
    r.seconds[0] = s.seconds.separator;
    r.seconds[1] = s.seconds.interior;
    r.seconds[2] = s.seconds.exchange;
    r.seconds[3] = s.seconds.idle;
    r.bytes = s.bytes;
    r.gb_per_second = s.gb_per_second;
    r.fraction = s.fraction_of_stream.value_or(-1);
    mine.push_back(r);
  }
  summary.parts.clear();
  for (const PartRecord& r : comm.all_gather(std::span<const PartRecord>(mine)))
    summary.parts.push_back(r.summary_without_name());
}

/// Each device's bandwidth beside the triad of the same run; skipped for runs that are over at once.
void add_stream_fractions(DeviceSet& devices, Summary& summary) {
  constexpr double worth_measuring = 5;  // seconds: on a busy machine the triad itself takes several
  if (summary.wall_seconds < worth_measuring) return;
  for (std::size_t p = 0; p < summary.parts.size(); ++p) {
    Device& device = *devices.devices[p];
    // A fake device is slow on purpose: its triad takes a minute and says nothing.
    if (device.kind() == DeviceKind::fake) continue;
    // A full device has no room for the triad's arrays; its run is not lost for that.
    constexpr Size room = Size{96} << 20;
    if (device.budget().capacity() - device.budget().used() < room) continue;
    const double triad = quick_triad(device, *devices.threads);
    if (triad > 0 && summary.parts[p].bytes > 0)
      summary.parts[p].fraction_of_stream = summary.parts[p].gb_per_second * 1e9 / triad;
  }
}

/// A run whose numbers are not numbers any more, or cannot be right, ends here. Names the first bad cell of the lowest
/// rank.
void require_finite(const Comm& comm, Model& model, const std::vector<Diagnostic>& diagnostics, Size step, double time,
                    const std::filesystem::path* checkpoints) {
  const auto bad =
      std::find_if(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& d) { return !std::isfinite(d.value); });
  const std::string advice =
      checkpoints != nullptr
          ? fmt::format("; lower time.dt or look at the input; the last good state is in {}", checkpoints->string())
          : "; lower time.dt or look at the input";
  if (bad == diagnostics.end()) return require_bounds(comm, model, diagnostics, step, time, advice);  // on all ranks
  ModelState state = model.state();
  comm.together([&] {
    for (const StateField& field : state.fields)
      for (std::size_t p = 0; p < state.maps.size(); ++p) {
        const IndexMap& map = state.maps[p];
        std::vector<double> values(static_cast<std::size_t>(map.owned) * static_cast<std::size_t>(field.components));
        field.save(p, values);
        const auto at = std::find_if(values.begin(), values.end(), [](double v) { return !std::isfinite(v); });
        if (at == values.end()) continue;
        const auto row = static_cast<std::size_t>(at - values.begin()) / static_cast<std::size_t>(field.components);
        fail(ErrorKind::numerical, "field '{}' is {} in cell {} (rank {}, part {}) at time {:g}, step {}{}", field.name,
             std::isnan(*at) ? "nan"
             : *at > 0       ? "inf"
                             : "-inf",
             map.global[row], comm.rank(), map.part, time, step, advice);
      }
  });
  comm.together([&] {
    fail(ErrorKind::numerical, "{} is {} at time {:g}, step {}{}", bad->name, bad->value, time, step, advice);
  });
}

/// Puts a checkpoint's state into the model. Error(input): another mesh, another model.
void resume(const Comm& comm, Model& model, const Restart& restart) {
  const ModelState state = model.state();
  comm.together([&] {
    const std::string from = restart.reader.path().string();
    if (state.empty())
      fail(ErrorKind::usage, "{}: this model keeps no state, it cannot be restarted; start anew", from);
    if (state.mesh_checksum != restart.state.mesh_checksum)
      fail(ErrorKind::input,
           "{}: the mesh is another one: {} cells with checksum {:016x} now, {} with {:016x} when the checkpoint was "
           "made; "
           "give the same mesh, e.g. with --set mesh.file=...",
           from, state.rows, state.mesh_checksum, restart.state.rows, restart.state.mesh_checksum);
    for (const StateNumber& number : state.numbers) {
      const auto at = restart.state.numbers.find(number.name);
      if (at == restart.state.numbers.end())
        fail(ErrorKind::input, "{}: there is no number '{}'; use the case that it was made with", from, number.name);
      *number.value = at->second;
    }
  });
  restart.reader.load(state);
  model.resume(restart.state.time);
}

constexpr std::size_t most_rebalances = 3;

void tell(const NewShares& shares) {
  info(
      "part {} waits {:.0f} % of a step for the slowest device: the mesh is shared anew; a step shall take {:.3g} ms, "
      "not {:.3g} ms",
      shares.idle_part, 100 * shares.idle, 1e3 * shares.seconds_then, 1e3 * shares.seconds);
}

/// What an earlier run has left in the same folder and a restart goes on behind.
struct Earlier {
  std::vector<double> outputs;
  Slices::Times slices;
  Size probes = 0, history = 0;
  std::optional<Size> metrics;
};
Earlier what_is_there(const Restart* restart, const std::filesystem::path& folder) {
  std::error_code error;
  if (restart == nullptr || !std::filesystem::equivalent(restart->folder, folder, error)) return {};
  const RunState& state = restart->state;
  const auto bytes = [&](const char* file) {
    const auto at = state.file_bytes.find(file);
    return at == state.file_bytes.end() ? Size{0} : at->second;
  };
  return {state.outputs, state.slices, bytes("probes.csv"), bytes("history.csv"), bytes("metrics.jsonl")};
}

}  // namespace

void RunSoFar::add(const Summary& summary, double wall, double output, double checkpoint) {
  wall_seconds += wall;
  output_seconds += output;
  checkpoint_seconds += checkpoint;
  exchange_bytes += summary.exchange.bytes;
  exchange_messages += summary.exchange.messages;
}

Summary simulate(const Comm& comm, Model& model, DeviceSet& devices, const Case& options, const RunContext& context) {
  const std::filesystem::path& folder = context.folder;
  const Restart* restart = context.restart;
  Trace& trace = context.trace;
  TimePlan plan;
  comm.together(
      [&] { plan = restart != nullptr ? plan_rest(options, restart->state) : plan_steps(options, model.time_step()); });
  if (restart != nullptr) resume(comm, model, *restart);
  const Size first = restart != nullptr ? restart->state.step : 0;
  RunSoFar so_far = context.so_far != nullptr ? *context.so_far : RunSoFar{};
  if (so_far.rebalances.empty())
    so_far.first_step = first;
  else
    so_far.rebalances.back().cost = seconds_since(so_far.interrupted);
  comm.together([&] {
    if (comm.is_root()) write_file_atomically(folder / "effective.toml", options.effective_toml());
  });
  if (restart != nullptr)
    info("{} cells, from step {} (t = {:g}) of {} on to step {}, {:.4g} each", format_count(model.cells()), first,
         restart->state.time, restart->reader.path().string(), plan.steps, plan.dt);
  else
    info("{} cells, {} steps of {:.4g}", format_count(model.cells()), format_count(plan.steps), plan.dt);

  if (restart != nullptr && first >= plan.steps)
    warn("{} stands at the end of the run already: nothing is left to do; go on with a later {}",
         restart->reader.path().string(), options.has("time.steps") ? "--set time.steps=N" : "--set time.end=T");

  Earlier earlier;
  comm.together([&] { earlier = what_is_there(restart, folder); });
  double wall = 0, output_seconds = 0;
  const Size every = options.integer("output.every"), probe_every = options.integer("output.probe_every");
  std::vector<double> outputs = earlier.outputs;
  const bool exchanges = options.flag("devices.exchange");
  if (!exchanges)
    warn("steps exchange nothing: their results are wrong, and no fields, probes or checkpoints are written");
  const auto timed_output = [&](const auto& write) {
    const auto scope = trace.scope("output");
    const auto start = Clock::now();
    fault_point("output");
    write();
    output_seconds += seconds_since(start);
  };
  const auto output = [&](double time) {
    if (!exchanges) return;
    timed_output([&] {
      model.write_results(time);
      outputs.push_back(time);
    });
  };
  if (exchanges) model.open_results(folder, earlier.outputs);
  Slices slices(model, options, folder, earlier.slices);
  Probes probes(comm, model, options, folder, earlier.probes);
  Progress progress(first, plan.steps, model.cells());
  Metrics metrics(comm, model, folder, first, earlier.metrics);
  History history(comm, options, folder, earlier.history);
  StepTracer tracer(comm, trace, model.schedules(), so_far.first_step + 1, plan.steps);
  if (!tracer.traces_any()) warn("--trace-steps lies behind the last step, {}: no step will be traced", plan.steps);
  ReportClock reports(comm, options);
  const std::vector<std::string> kinds = device_kinds(comm, devices);
  // Steps may be ahead of the devices; who looks at the fields waits for them, and that is the steps' time.
  const auto wait_for_devices = [&] {
    const auto start = Clock::now();
    model.wait();
    wall += seconds_since(start);
  };
  std::vector<Diagnostic> diagnostics;  // of the step that was looked at last
  std::optional<Size> diagnosed;
  const std::filesystem::path checkpoint_folder = folder / "checkpoints";
  Checkpoints checkpoints(comm, exchanges ? model.state() : ModelState{}, options, folder, TUTTI_VERSION, trace,
                          [&](RunState& state) {
                            state.version = TUTTI_VERSION;
                            state.model = options.text("model");
                            state.case_name = options.name();
                            state.case_toml = options.effective_toml();
                            state.plan = plan;
                            state.end = options.has("time.end") ? options.number("time.end") : 0;
                            state.devices = kinds;
                            state.outputs = outputs;
                            state.slices = slices.times();
                            state.file_bytes["probes.csv"] = probes.bytes();
                            state.file_bytes["history.csv"] = history.bytes();
                            state.file_bytes["metrics.jsonl"] = metrics.bytes();
                            wait_for_devices();
                            if (diagnosed == state.step) return;
                            // No state that cannot be right takes a good one's place.
                            diagnostics = model.diagnose();
                            diagnosed = state.step;
                            require_finite(comm, model, diagnostics, state.step, state.time,
                                           checkpoints.any() || restart != nullptr ? &checkpoint_folder : nullptr);
                          });

  if (earlier.outputs.empty()) output(plan.time_of(first));
  slices.start(plan.time_of(first));
  if (earlier.probes == 0) probes.record(plan.time_of(first));
  if (history.starts()) history.record(plan.time_of(first), model.diagnose());
  Size step = first;
  bool stopped = false, finished = false;
  std::optional<LoadMonitor> monitor;
  const bool always = options.is_word("balance.rebalance", "always");
  if (context.so_far != nullptr && checkpoints.possible() && (always || options.flag("balance.rebalance")) &&
      so_far.rebalances.size() < most_rebalances)
    monitor.emplace(comm, model, always ? 0 : context.setup.total());
  std::optional<NewShares> shares;
  try {
    while (step < plan.steps && !stopped && !finished && !shares) {
      ++step;
      tracer.begin(step);
      const auto start = Clock::now();
      fault_point("step");
      model.step(plan.time_of(step - 1), plan.dt);
      wall += seconds_since(start);
      tracer.end(step);

      finished = model.finished();
      const double time = plan.time_of(step);
      const bool last = step == plan.steps || finished;
      const bool writes = last || (every > 0 && step % every == 0), slices_now = slices.due(step, last),
                 samples = probes.any() && (last || step % probe_every == 0), reports_now = last || reports.due(step),
                 records = last || history.due(step, reports_now);
      if (reports_now || writes || slices_now || samples || records) wait_for_devices();
      if (reports_now || records) {
        const auto scope = trace.scope("report");
        fault_point("report");
        diagnostics = model.diagnose();
        diagnosed = step;
        if (exchanges)
          require_finite(comm, model, diagnostics, step, time,
                         checkpoints.any() || restart != nullptr ? &checkpoint_folder : nullptr);
        if (records) history.record(time, diagnostics);
      }
      if (reports_now) {
        progress.show(step, time, first_of(diagnostics));
        metrics.report(step, time, plan.dt, wall, diagnostics);
        reports.reported(step, step - first, wall);
        if (monitor && !last) shares = monitor->look(step, plan.steps - step);
      }
      const Size adapts = model.adapts_every();
      if (adapts > 0 && step % adapts == 0 && !last) {
        const double dt = model.adapted_step(plan.dt);
        comm.together([&] {
          if (dt != plan.dt) plan = plan_from(options, step, time, dt);
        });
        progress.end_at(plan.steps);
      }
      if (writes) output(time);
      if (slices_now) timed_output([&] { slices.write(time); });
      if (samples) probes.record(time);
      stopped = checkpoints.after_step(step, time, last);
      if (shares && !stopped) {
        so_far.interrupted = Clock::now();
        checkpoints.write_now(step, time);
      }
    }
  } catch (const SharedError&) {
    throw;
  } catch (const std::exception&) {
    on_lone_failure();  // a checkpoint's messages may be under way
    throw;
  }
  progress.finish();
  Summary summary;
  const double checkpoint_seconds = comm.max(checkpoints.blocked_seconds());
  if (shares && !stopped) {
    model.summarise(summary, plan.time_of(step));  // for what was exchanged
    so_far.add(summary, comm.max(wall), output_seconds, checkpoint_seconds);
    tell(*shares);
    so_far.rebalances.push_back({step, shares->idle, shares->seconds, shares->seconds_then, 0});
    so_far.weights = shares->weights;
    so_far.go_on_from = checkpoint_name(checkpoint_folder, step);
    *context.so_far = so_far;
    return summary;
  }
  trace.write();
  if (finished && step < plan.steps) info("steady after step {} of {}, t = {:g}", step, plan.steps, plan.time_of(step));
  if (stopped)
    info("stopped after step {} of {}, t = {:g}; go on with: tutti run --restart {}", step, plan.steps,
         plan.time_of(step), folder.string());

  summary.version = TUTTI_VERSION;
  summary.case_file = options.name();
  summary.steps = step;
  summary.stopped = stopped;
  summary.steady = finished;
  summary.dt = plan.dt;
  summary.time = plan.time_of(step);
  if (!exchanges) summary.wrong = "steps exchanged nothing";
  summary.overlap = options.text("devices.overlap");
  summary.ranks = comm.size();
  summary.setup_seconds = context.setup.seconds();
  if (diagnosed != step) diagnostics = model.diagnose();
  for (const Diagnostic& d : diagnostics) summary.diagnostics.emplace_back(d.name, d.value);
  model.summarise(summary, summary.time);
  so_far.add(summary, comm.max(wall), output_seconds, checkpoint_seconds);
  summary.first_step = so_far.first_step;
  summary.wall_seconds = so_far.wall_seconds;
  summary.output_seconds = so_far.output_seconds;
  summary.checkpoint_seconds = so_far.checkpoint_seconds;
  summary.exchange.bytes = so_far.exchange_bytes;
  summary.exchange.messages = so_far.exchange_messages;
  summary.rebalances = so_far.rebalances;
  summary.cell_steps_per_second =
      summary.wall_seconds > 0
          ? static_cast<double>(summary.cells) * static_cast<double>(step - summary.first_step) / summary.wall_seconds
          : 0;
  add_stream_fractions(devices, summary);
  gather_parts(comm, summary);
  summary.peak_memory_bytes = comm.sum(peak_memory());
  comm.together([&] {
    if (comm.is_root()) write_summary(folder / "summary.json", summary);
  });
  return summary;
}

}  // namespace tutti
