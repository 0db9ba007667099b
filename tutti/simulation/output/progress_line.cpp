#include "tutti/simulation/output/progress_line.hpp"

#include <fmt/core.h>

namespace tutti {

void ProgressLine::after_step(Run& run) {
  if (!run.reports) return;
  const auto& all = run.diagnose();
  progress_.end_at(run.plan.steps);
  progress_.show(run.step, run.time, all.empty() ? "" : fmt::format("{} = {:.6g}", all[0].name, all[0].value));
}

void ProgressLine::finish(Run& run, Summary& summary) {
  (void)run, (void)summary;
  progress_.finish();
}

}  // namespace tutti
