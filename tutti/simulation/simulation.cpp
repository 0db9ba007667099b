#include "tutti/simulation/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <optional>

#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"
#include "tutti/io/atomic_file.hpp"
#include "tutti/io/probes.hpp"
#include "tutti/schedule/balance.hpp"
#include "tutti/schedule/step_tracer.hpp"
#include "tutti/simulation/metrics.hpp"
#include "tutti/simulation/progress.hpp"

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
  void reported(Size step, double wall) {
    Size interval = every_;
    if (every_ == 0) {
      const double rate = static_cast<double>(step) / std::max(wall, 1e-6);
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
  Probes(const Comm& comm, Model& model, const Case& options, const std::filesystem::path& folder)
      : comm_(comm), model_(model) {
    std::vector<Vec3> points;
    std::vector<std::string> names;
    for (int i = 0; i < options.count("output.probe"); ++i) {
      const std::string table = fmt::format("output.probe[{}]", i);
      const auto p = options.numbers(table + ".point");
      points.push_back({p[0], p[1], p[2]});
      names.push_back(options.text(table + ".name"));
    }
    any_ = !points.empty();
    if (!any_) return;
    model_.set_probes(points);
    comm_.together([&] {
      if (comm_.is_root()) file_.emplace(folder / "probes.csv", names);
    });
  }
  void record(double time) {
    if (!any_) return;
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
  constexpr double worth_measuring = 0.5;
  if (summary.wall_seconds < worth_measuring) return;
  for (std::size_t p = 0; p < summary.parts.size(); ++p) {
    // A full device has no room for the triad's arrays; its run is not lost for that.
    Device& device = *devices.devices[p];
    constexpr Size room = Size{96} << 20;
    if (device.budget().capacity() - device.budget().used() < room) continue;
    const double triad = quick_triad(device, *devices.threads);
    if (triad > 0 && summary.parts[p].bytes > 0)
      summary.parts[p].fraction_of_stream = summary.parts[p].gb_per_second * 1e9 / triad;
  }
}

}  // namespace

TimeSteps plan_steps(const Case& options, double model_dt) {
  if (options.has("time.steps")) return {options.integer("time.steps"), model_dt};
  const double end = options.number("time.end");
  const double count = std::ceil(end / model_dt * (1 - 1e-12));
  if (!(count < 1e15))
    fail(ErrorKind::input, "{}: {:g} steps of {:g} reach time.end; that is too many", options.where("time.end"), count,
         model_dt);
  const Size steps = std::max<Size>(1, static_cast<Size>(count));
  return {steps, end / static_cast<double>(steps)};
}

Summary simulate(const Comm& comm, Model& model, DeviceSet& devices, const Case& options,
                 const std::filesystem::path& folder, const Phases& setup, Trace& trace) {
  TimeSteps plan;
  comm.together([&] { plan = plan_steps(options, model.time_step()); });
  comm.together([&] {
    if (comm.is_root()) write_file_atomically(folder / "effective.toml", options.effective_toml());
  });
  info("{} cells, {} steps of {:.4g}", format_count(model.cells()), format_count(plan.steps), plan.dt);

  double wall = 0, output_seconds = 0;
  const Size every = options.integer("output.every"), probe_every = options.integer("output.probe_every");
  const auto output = [&](double time) {
    const auto scope = trace.scope("output");
    const auto start = Clock::now();
    model.write_results(time);
    output_seconds += seconds_since(start);
  };
  model.open_results(folder);
  Probes probes(comm, model, options, folder);
  Progress progress(0, plan.steps, model.cells());
  Metrics metrics(comm, model, folder);
  StepTracer tracer(comm, trace, model.schedule(), 1, plan.steps);
  if (!tracer.traces_any()) warn("--trace-steps lies behind the last step, {}: no step will be traced", plan.steps);
  ReportClock reports(comm, options);

  output(0);
  probes.record(0);
  for (Size step = 1; step <= plan.steps; ++step) {
    tracer.begin(step);
    const auto start = Clock::now();
    model.step(static_cast<double>(step - 1) * plan.dt, plan.dt);
    wall += seconds_since(start);
    tracer.end(step);

    const double time = static_cast<double>(step) * plan.dt;
    const bool last = step == plan.steps;
    if (reports.due(step) || last) {
      const auto scope = trace.scope("report");
      const auto diagnostics = model.diagnose();
      progress.show(step, time, first_of(diagnostics));
      metrics.report(step, time, plan.dt, wall, diagnostics);
      reports.reported(step, wall);
    }
    const bool writes = last || (every > 0 && step % every == 0);
    if (writes) output(time);
    if (last || step % probe_every == 0) probes.record(time);
  }
  progress.finish();
  trace.write();

  Summary summary;
  summary.version = TUTTI_VERSION;
  summary.case_file = options.name();
  summary.steps = plan.steps;
  summary.dt = plan.dt;
  summary.time = static_cast<double>(plan.steps) * plan.dt;
  summary.overlap = options.text("devices.overlap");
  summary.ranks = comm.size();
  summary.wall_seconds = comm.max(wall);
  summary.output_seconds = output_seconds;
  summary.setup_seconds = setup.seconds();
  model.summarise(summary, summary.time);
  summary.cell_steps_per_second = summary.wall_seconds > 0 ? static_cast<double>(summary.cells) *
                                                                 static_cast<double>(plan.steps) / summary.wall_seconds
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
