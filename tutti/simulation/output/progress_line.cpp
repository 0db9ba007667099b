#include "tutti/simulation/output/progress_line.hpp"

#include <fmt/core.h>

#include <cmath>

namespace tutti {

namespace {

Progress progress_of(const Run& run, const std::optional<Advance>& units) {
  if (!units) return {run.first, run.plan.steps, run.model.cells()};
  return {std::llround(run.time), std::llround(units->end), units->work_each, units->unit, units->work};
}

}  // namespace

ProgressLine::ProgressLine(const Run& run) : units_(run.model.advance()), progress_(progress_of(run, units_)) {}

void ProgressLine::after_step(Run& run) {
  if (!run.reports) return;
  const auto& all = run.diagnose();
  progress_.end_at(units_ ? std::llround(units_->end) : run.plan.steps);
  progress_.show(units_ ? std::llround(run.time) : run.step, run.time,
                 all.empty() ? "" : fmt::format("{} = {:.6g}", all[0].name, all[0].value));
}

void ProgressLine::finish(Run& run, Summary& summary) {
  (void)run, (void)summary;
  progress_.finish();
}

}  // namespace tutti
