// Puts the steps of a run on the timeline: a row a stream of each device, one for MPI, one a thread.
#pragma once

#include "tutti/base/mpi/comm.hpp"
#include "tutti/io/trace.hpp"
#include "tutti/schedule/step.hpp"

namespace tutti {

/// Traces the chosen steps of a model: the runs of its graphs. Of a trace that is off it does nothing.
class StepTracer {
 public:
  /// The run makes the steps first_step .. last_step (after a restart, first_step is not 1). Without --trace-steps, of
  /// a run that is shorter than the usual window all steps are traced. Collective.
  StepTracer(const Comm& comm, Trace& trace, std::vector<const Step*> schedules, Size first_step, Size last_step);
  ~StepTracer();
  StepTracer(const StepTracer&) = delete;
  StepTracer& operator=(const StepTracer&) = delete;

  /// Around each step of the model, which may run its graphs several times. `end` of the last traced step writes the
  /// file: collective.
  void begin(Size step);
  void end(Size step);
  /// False when the window lies behind the run's end.
  bool traces_any() const { return first_ <= last_step_; }

 private:
  void add_run(const Step& schedule);
  void add_tasks(const Step& schedule, const std::vector<TaskTimes>& tasks);
  void add_threads(const Step& schedule, const std::vector<TaskTimes>& tasks);
  int message_row(double begin, double end);
  TraceSlice slice(const Step& schedule, const std::string& name, int row, double begin, double end) const;

  Trace& trace_;
  std::vector<const Step*> schedules_;
  Size first_ = 1, last_ = 0;  ///< traced steps
  Size last_step_ = 0;
  int first_part_ = 0;  ///< global number of this rank's first part
  Size step_ = 0;
  Trace::Clock::time_point step_begin_;
  std::vector<double> lanes_;  ///< end of the last message on each row for messages, in this run of a graph
  int message_rows_ = 0;
};

}  // namespace tutti
