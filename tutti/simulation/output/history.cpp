#include "tutti/simulation/output/history.hpp"

#include <limits>
#include <string>
#include <utility>

#include "tutti/base/log.hpp"

namespace tutti {
namespace {

constexpr const char* history_file = "history.csv";

}  // namespace

History::History(const Run& run) : when_(run.options, "output.history_"), integrals_(run) {
  if (run.before != nullptr) earlier_ = run.before->lines_of(history_file, run.time, when_, run.step < run.plan.steps);
}

void History::start(Run& run) {
  if (!integrals_.none()) {
    const auto& own = run.diagnose();
    run.comm.together([&] { integrals_.check_names(run.options, own); });
  }
  if (!when_.none() && (!earlier_ || earlier_->bytes == 0)) record(run);
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
  state.file_bytes[history_file] = there.bytes;
  if (there.lines) state.file_lines[history_file] = *there.lines;
}

void History::finish(Run& run, Summary& summary) {
  if (recorded_ == run.step)
    for (const Diagnostic& d : integrated_) summary.diagnostics.emplace_back(d.name, d.value);
  if (run.model.domain().in_space()) summary.units = named_units(run.options);
}

/// Where an exact solution has no value, there is none of its columns either.
std::vector<FieldError> History::errors_of(Run& run) {
  const auto names = run.model.exact_fields();
  if (names.empty()) return {};
  try {
    return run.model.field_errors(run.time);
  } catch (const SharedError& error) {
    if (error.kind() != ErrorKind::input) throw;
    if (!warned_) warn("{}; history.csv has nan there", error.what());
    warned_ = true;
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<FieldError> errors;
  for (const auto& exact : names) errors.push_back({exact, nan, nan, nan, nan});
  return errors;
}

/// The names of the first line are the columns.
void History::record(Run& run) {
  std::vector<std::string> names;
  std::vector<double> values;
  for (const Diagnostic& d : run.diagnose()) {
    names.push_back(d.name);
    values.push_back(d.value);
  }
  integrated_ = integrals_.values(run);
  recorded_ = run.step;
  for (const Diagnostic& d : integrated_) {
    names.push_back(d.name);
    values.push_back(d.value);
  }
  for (const FieldError& e : errors_of(run))
    for (const auto& [norm, value] : {std::pair{"L2 error", e.l2},
                                      {"Linf error", e.linf},
                                      {"relative L2 error", e.relative_l2},
                                      {"relative Linf error", e.relative_linf}}) {
      names.push_back(e.name + " " + norm);
      values.push_back(value);
    }
  run.comm.together([&] {
    if (!run.comm.is_root()) return;
    if (!file_) file_.emplace(run.folder / history_file, names, earlier_);
    file_->add(run.time, values);
  });
}

}  // namespace tutti
