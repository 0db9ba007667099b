// What a run reports of itself, brought together from all ranks for metrics.jsonl.
#pragma once

#include <optional>
#include <vector>

#include "tutti/io/metrics.hpp"
#include "tutti/simulation/observer.hpp"

namespace tutti {

/// The history of a run in DIR/metrics.jsonl: a line a report.
class Metrics : public Observer {
 public:
  explicit Metrics(const Run& run);
  void start(Run& run) override;
  Looks looks(const Run& run) const override { return run.reports ? Looks::at_diagnostics : Looks::at_nothing; }
  void after_step(Run& run) override;
  void describe(RunState& state) override;

  /// Seconds of single parts are written for up to so many parts.
  static constexpr std::size_t max_parts = 64;

 private:
  void add_seconds(Run& run, MetricsLine& line);

  std::optional<MetricsFile> file_;  ///< on the root
  Size step_before_;
  double time_before_;
  double wall_before_ = 0;
  std::vector<PartSeconds> seconds_before_;
  bool parts_ = false;
};

}  // namespace tutti
