#include "tutti/simulation/output/history.hpp"

#include <string>

namespace tutti {
namespace {

constexpr const char* name = "history.csv";

}  // namespace

History::History(const Run& run) : every_(run.options.integer("output.history_every")) {
  if (run.before != nullptr) earlier_ = run.before->lines_of(name, run.time, every_, run.step < run.plan.steps);
}

void History::start(Run& run) {
  if (every_ > 0 && (!earlier_ || earlier_->bytes == 0)) record(run);
}

void History::after_step(Run& run) {
  if (due(run)) record(run);
}

void History::describe(RunState& state) {
  if (file_) file_->sync();
  // Until its first line, what an earlier run has left is there.
  const EarlierLines there = file_      ? EarlierLines{0, file_->bytes(), file_->lines()}
                             : earlier_ ? *earlier_
                                        : EarlierLines{0, 0, 0};
  state.file_bytes[name] = there.bytes;
  if (there.lines) state.file_lines[name] = *there.lines;
}

/// The names of the first line are the columns.
void History::record(Run& run) {
  std::vector<std::string> names;
  std::vector<double> values;
  for (const Diagnostic& d : run.diagnose()) {
    names.push_back(d.name);
    values.push_back(d.value);
  }
  run.comm.together([&] {
    if (!run.comm.is_root()) return;
    if (!file_) file_.emplace(run.folder / name, names, earlier_);
    file_->add(run.time, values);
  });
}

}  // namespace tutti
