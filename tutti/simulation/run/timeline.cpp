#include "tutti/simulation/run/timeline.hpp"

#include "tutti/base/log.hpp"

namespace tutti {

Timeline::Timeline(const Run& run, Size first_step)
    : tracer_(run.comm, run.trace, run.model.schedules(), first_step + 1, run.plan.steps) {
  if (run.trace.window() && !tracer_.traces_any())
    warn("--trace-steps is after the last step, {}: no step will be traced", run.plan.steps);
}

void Timeline::finish(Run& run, Summary& summary) {
  (void)summary;
  if (!run.shares) run.trace.write();
}

}  // namespace tutti
