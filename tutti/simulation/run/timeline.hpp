// The chosen steps of a run on its timeline.
#pragma once

#include "tutti/schedule/step_tracer.hpp"
#include "tutti/simulation/observer.hpp"

namespace tutti {

/// Traces the steps of the run's trace, if it is on.
class Timeline : public Observer {
 public:
  /// `first_step`: done before the program started, which is what --trace-steps counts from.
  Timeline(const Run& run, Size first_step);
  void begin_step(const Run& run) override { tracer_.begin(run.step); }
  void end_step(const Run& run) override { tracer_.end(run.step); }
  void finish(Run& run, Summary& summary) override;

 private:
  StepTracer tracer_;
};

}  // namespace tutti
