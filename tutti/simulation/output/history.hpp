// The diagnostics over time, and the errors where there is an exact solution, history.csv.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "tutti/io/probes.hpp"
#include "tutti/simulation/observer.hpp"
#include "tutti/simulation/sampling/integrals.hpp"

namespace tutti {

/// A line as the keys output.history_* say, or at each report, and at the end.
class History : public Observer {
 public:
  explicit History(const Run& run);
  /// With steps or times of its own, the state that the run starts from is a line, too.
  void start(Run& run) override;
  Looks looks(const Run& run) const override { return due(run) ? Looks::at_diagnostics : Looks::at_nothing; }
  void after_step(Run& run) override;
  void describe(RunState& state) override;
  /// The last integrals, as diagnostics, and units.
  void finish(Run& run, Summary& summary) override;

 private:
  bool due(const Run& run) const { return run.last || (when_.none() ? run.reports : run.due(when_)); }
  void record(Run& run);
  std::vector<FieldError> errors_of(Run& run);

  std::optional<EarlierLines> earlier_;
  Occasions when_;
  Integrals integrals_;
  std::optional<ProbeFile> file_;       ///< on the root, from the first line on
  std::vector<Diagnostic> integrated_;  ///< of step `recorded_`
  std::optional<Size> recorded_;
  bool warned_ = false;  ///< that an exact solution has no value
};

}  // namespace tutti
