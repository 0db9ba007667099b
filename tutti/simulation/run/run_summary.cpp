#include "tutti/simulation/run/run_summary.hpp"

#include <cstring>

#include "tutti/base/version.hpp"
#include "tutti/schedule/balance.hpp"

namespace tutti {
namespace {

/// What travels of a HeldArraySummary, and of a PartSummary.
struct HeldRecord {
  char array[32] = "", policy[16] = "", format[16] = "";
  double loss = 0;
  Size bytes[3] = {0, 0, 0};
};
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
    for (const HeldRecord& h : held)
      if (h.array[0] != 0) s.held.push_back({h.array, h.policy, h.format, h.loss, h.bytes[0], h.bytes[1], h.bytes[2]});
    return s;
  }
  int rank = 0;
  char device[32] = "";
  Gid cells = 0, ghosts = 0;
  double weight = 0, seconds[4] = {0, 0, 0, 0};
  Size bytes = 0;
  double gb_per_second = 0, fraction = -1;
  HeldRecord held[2];
};

template <std::size_t n>
void copy_text(char (&to)[n], const std::string& from) {
  std::strncpy(to, from.c_str(), n - 1);
}

void gather_parts(const Comm& comm, Summary& summary) {
  std::vector<PartRecord> mine;
  for (const PartSummary& s : summary.parts) {
    PartRecord r;
    r.rank = s.rank;
    copy_text(r.device, s.device);
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
    require(s.held.size() <= std::size(r.held), "a part holds more arrays than travel");
    for (std::size_t k = 0; k < s.held.size(); ++k) {
      const HeldArraySummary& held = s.held[k];
      copy_text(r.held[k].array, held.array);
      copy_text(r.held[k].policy, held.policy);
      copy_text(r.held[k].format, held.format);
      r.held[k].loss = held.loss;
      r.held[k].bytes[0] = held.device_bytes;
      r.held[k].bytes[1] = held.host_bytes;
      r.held[k].bytes[2] = held.brought_bytes;
    }
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

}  // namespace

void complete_summary(Run& run, DeviceSet& devices, const Phases& setup, const RunSoFar& so_far, Summary& summary) {
  summary.version = version();
  summary.model = run.options.text("model");
  summary.case_file = run.options.name();
  summary.steps = run.step;
  summary.stopped = run.stopped;
  summary.steady = run.finished && !(summary.solver && !summary.solver->not_solved.empty());
  summary.dt = run.plan.dt;
  summary.time = run.time;
  if (!run.exchanges) summary.wrong = "steps exchanged nothing";
  summary.overlap = run.options.text("devices.overlap");
  summary.ranks = run.comm.size();
  summary.setup_seconds = setup.seconds();
  for (const Diagnostic& d : run.diagnose()) summary.diagnostics.emplace_back(d.name, d.value);
  summary.first_step = so_far.first_step;
  summary.wall_seconds = so_far.wall_seconds;
  summary.output_seconds = so_far.output_seconds;
  summary.checkpoint_seconds = so_far.checkpoint_seconds;
  summary.exchange.bytes = so_far.exchange_bytes;
  summary.exchange.messages = so_far.exchange_messages;
  summary.rebalances = so_far.rebalances;
  summary.cell_steps_per_second = summary.wall_seconds > 0
                                      ? static_cast<double>(summary.cells) *
                                            static_cast<double>(run.step - summary.first_step) / summary.wall_seconds
                                      : 0;
  if (const auto units = run.model.advance()) {
    const double done = run.time - run.began;
    summary.cell_steps_per_second = 0;
    summary.units_of_advance = {units->unit, units->work,
                                summary.wall_seconds > 0 ? units->work_each * done / summary.wall_seconds : 0};
  }
  add_stream_fractions(devices, summary);
  gather_parts(run.comm, summary);
  summary.peak_memory_bytes = run.comm.sum(peak_memory());
}

}  // namespace tutti
