#include "tutti/simulation/output/history.hpp"

#include <string>

namespace tutti {

History::History(const Run& run)
    : keep_(run.before != nullptr ? run.before->bytes_of("history.csv") : 0),
      every_(run.options.integer("output.history_every")) {}

void History::start(Run& run) {
  if (every_ > 0 && keep_ == 0) record(run);
}

void History::after_step(Run& run) {
  if (due(run)) record(run);
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
    if (!file_) file_.emplace(run.folder / "history.csv", names, keep_);
    file_->add(run.time, values);
  });
}

}  // namespace tutti
