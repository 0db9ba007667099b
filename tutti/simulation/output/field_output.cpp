#include "tutti/simulation/output/field_output.hpp"

#include "tutti/simulation/output/timed_output.hpp"

namespace tutti {

FieldOutput::FieldOutput(const Run& run) : every_(run.options.integer("output.every")) {
  if (run.before != nullptr) times_ = run.before->outputs;
  if (!run.exchanges) return;
  const VtkOptions options = vtk_options(run.options, run.threads);
  files_.emplace(run.comm, run.model.domain().pieces(options), run.folder, options, times_);
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
    run.model.before_output();
    files_->write(run.time, run.model.fields());
    times_.push_back(run.time);
  });
}

void FieldOutput::finish(Run& run, Summary& summary) {
  (void)run;
  summary.output_seconds += seconds_;
}

}  // namespace tutti
