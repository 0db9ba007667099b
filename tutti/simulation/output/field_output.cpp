#include "tutti/simulation/output/field_output.hpp"

#include "tutti/simulation/output/timed_output.hpp"

namespace tutti {

FieldOutput::FieldOutput(const Run& run) : every_(run.options.integer("output.every")) {
  if (run.before != nullptr) times_ = run.before->outputs;
  if (run.exchanges) run.model.open_results(run.folder, times_);
}

void FieldOutput::start(Run& run) {
  if (times_.empty()) write(run);
}

void FieldOutput::after_step(Run& run) {
  if (due(run)) write(run);
}

void FieldOutput::write(Run& run) {
  if (!run.exchanges) return;
  run.comm.together([&] { run.require_folder(); });
  seconds_ += timed_output(run.trace, [&] {
    run.model.write_results(run.time);
    times_.push_back(run.time);
  });
}

void FieldOutput::finish(Run& run, Summary& summary) {
  (void)run;
  summary.output_seconds += seconds_;
}

}  // namespace tutti
