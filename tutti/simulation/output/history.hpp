// The diagnostics over time, history.csv.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "tutti/io/probes.hpp"
#include "tutti/simulation/observer.hpp"

namespace tutti {

/// A line every output.history_every steps, or at each report, and at the end.
class History : public Observer {
 public:
  explicit History(const Run& run);
  /// With a distance of its own, the state that the run starts from is a line, too.
  void start(Run& run) override;
  Looks looks(const Run& run) const override { return due(run) ? Looks::at_diagnostics : Looks::at_nothing; }
  void after_step(Run& run) override;
  void describe(RunState& state) override;

 private:
  bool due(const Run& run) const { return run.last || (every_ > 0 ? run.step % every_ == 0 : run.reports); }
  void record(Run& run);

  std::optional<EarlierLines> earlier_;
  Size every_;
  std::optional<ProbeFile> file_;  ///< on the root, from the first line on
};

}  // namespace tutti
