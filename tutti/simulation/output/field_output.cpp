#include "tutti/simulation/output/field_output.hpp"

#include "tutti/simulation/output/timed_output.hpp"

namespace tutti {

FieldOutput::FieldOutput(const Run& run) : when_(run.options, "output.") {
  if (run.before != nullptr) times_ = run.before->outputs;
  if (!run.exchanges) return;
  const VtkOptions options = vtk_options(run.options, run.threads);
  if (run.options.text("output.format") == "vtkhdf")
    one_file_.emplace(run.comm, run.model.domain(), options, run.folder, static_cast<Size>(times_.size()));
  else
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
    if (one_file_)
      one_file_->write(run.time, run.fields());
    else
      files_->write(run.time, run.fields());
    times_.push_back(run.time);
  });
}

void FieldOutput::finish(Run& run, Summary& summary) {
  (void)run;
  summary.output_seconds += seconds_;
}

}  // namespace tutti
