// The progress of a run on the screen.
#pragma once

#include "tutti/simulation/observer.hpp"
#include "tutti/simulation/run/progress.hpp"

namespace tutti {

/// Shows a line at each report.
class ProgressLine : public Observer {
 public:
  explicit ProgressLine(const Run& run);
  Looks looks(const Run& run) const override { return run.reports ? Looks::at_diagnostics : Looks::at_nothing; }
  void after_step(Run& run) override;
  void finish(Run& run, Summary& summary) override;

 private:
  std::optional<Advance> units_;  ///< of a model without time
  Progress progress_;
};

}  // namespace tutti
