#include "tutti/simulation/output/metrics.hpp"

#include <array>

namespace tutti {
namespace {

constexpr const char* metrics_file = "metrics.jsonl";

}  // namespace

Metrics::Metrics(const Run& run)
    : step_before_(run.first), time_before_(run.time), seconds_before_(part_seconds(run.model)) {
  parts_ = static_cast<std::size_t>(run.comm.sum(static_cast<Size>(seconds_before_.size()))) <= max_parts;
}

void Metrics::start(Run& run) {
  std::optional<EarlierLines> earlier;
  if (run.before != nullptr) earlier = run.before->lines_of(metrics_file, static_cast<double>(run.first));
  run.comm.together([&] {
    if (run.comm.is_root()) file_.emplace(run.folder / metrics_file, earlier);
  });
}

void Metrics::describe(RunState& state) {
  if (file_) file_->sync();
  state.file_bytes[metrics_file] = file_ ? file_->bytes() : 0;
  state.file_lines[metrics_file] = file_ ? file_->lines() : 0;
}

void Metrics::add_seconds(Run& run, MetricsLine& line) {
  const std::vector<PartSeconds> now = part_seconds(run.model);
  std::vector<std::array<double, 4>> mine;
  for (std::size_t p = 0; p < now.size(); ++p) {
    const PartSeconds& before = seconds_before_[p];
    mine.push_back({now[p].separator - before.separator, now[p].interior - before.interior,
                    now[p].exchange - before.exchange, now[p].idle - before.idle});
  }
  seconds_before_ = now;
  for (const auto& part : run.comm.all_gather(std::span<const std::array<double, 4>>(mine))) {
    line.seconds.separator.push_back(part[0]);
    line.seconds.interior.push_back(part[1]);
    line.seconds.exchange.push_back(part[2]);
    line.seconds.idle.push_back(part[3]);
  }
}

void Metrics::after_step(Run& run) {
  if (!run.reports) return;
  MetricsLine line;
  line.step = run.step;
  line.time = run.time;
  line.dt = run.plan.dt;
  line.wall_seconds = run.wall;
  const double seconds = run.wall - wall_before_;
  line.cell_steps_per_second =
      seconds > 0 ? static_cast<double>(run.model.cells()) * static_cast<double>(run.step - step_before_) / seconds : 0;
  if (const auto units = run.model.advance())
    line.cell_steps_per_second = seconds > 0 ? units->work_each * (run.time - time_before_) / seconds : 0;
  for (const Diagnostic& d : run.diagnose()) line.diagnostics.emplace_back(d.name, d.value);
  if (parts_) add_seconds(run, line);
  step_before_ = run.step;
  wall_before_ = run.wall;
  time_before_ = run.time;
  run.comm.together([&] {
    if (file_) file_->add(line);
  });
}

}  // namespace tutti
