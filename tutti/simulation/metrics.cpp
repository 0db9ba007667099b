#include "tutti/simulation/metrics.hpp"

#include <array>

namespace tutti {

Metrics::Metrics(const Comm& comm, const Model& model, const std::filesystem::path& folder, Size first_step,
                 std::optional<Size> keep)
    : comm_(comm), model_(model), step_before_(first_step), seconds_before_(part_seconds(model)) {
  parts_ = static_cast<std::size_t>(comm.sum(static_cast<Size>(seconds_before_.size()))) <= most_parts;
  comm_.together([&] {
    if (comm_.is_root()) file_.emplace(folder / "metrics.jsonl", keep);
  });
}

void Metrics::add_seconds(MetricsLine& line) {
  const std::vector<PartSeconds> now = part_seconds(model_);
  std::vector<std::array<double, 4>> mine;
  for (std::size_t p = 0; p < now.size(); ++p) {
    const PartSeconds& before = seconds_before_[p];
    mine.push_back({now[p].separator - before.separator, now[p].interior - before.interior,
                    now[p].exchange - before.exchange, now[p].idle - before.idle});
  }
  seconds_before_ = now;
  for (const auto& part : comm_.all_gather(std::span<const std::array<double, 4>>(mine))) {
    line.seconds.separator.push_back(part[0]);
    line.seconds.interior.push_back(part[1]);
    line.seconds.exchange.push_back(part[2]);
    line.seconds.idle.push_back(part[3]);
  }
}

void Metrics::report(Size step, double time, double dt, double wall, const std::vector<Diagnostic>& diagnostics) {
  MetricsLine line;
  line.step = step;
  line.time = time;
  line.dt = dt;
  line.wall_seconds = wall;
  const double seconds = wall - wall_before_;
  line.cell_steps_per_second =
      seconds > 0 ? static_cast<double>(model_.cells()) * static_cast<double>(step - step_before_) / seconds : 0;
  for (const Diagnostic& d : diagnostics) line.diagnostics.emplace_back(d.name, d.value);
  if (parts_) add_seconds(line);
  step_before_ = step;
  wall_before_ = wall;
  comm_.together([&] {
    if (file_) file_->add(line);
  });
}

Size Metrics::bytes() const {
  return comm_.sum(file_ ? file_->bytes() : 0);
}

}  // namespace tutti
