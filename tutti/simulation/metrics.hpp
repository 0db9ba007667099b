// What a run reports of itself, brought together from all ranks for metrics.jsonl.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "tutti/base/comm.hpp"
#include "tutti/io/metrics.hpp"
#include "tutti/simulation/model.hpp"

namespace tutti {

/// The history of a run in DIR/metrics.jsonl. All members are collective unless said otherwise.
class Metrics {
 public:
  /// The run goes on from `first_step` steps done before (0, or those of a checkpoint); `keep`: see MetricsFile.
  /// Error(io).
  Metrics(const Comm& comm, const Model& model, const std::filesystem::path& folder, Size first_step = 0,
          std::optional<Size> keep = std::nullopt);
  /// `step` steps are done, the simulated time is `time`; `wall` seconds is what the steps of this run took. Error(io).
  void report(Size step, double time, double dt, double wall, const std::vector<Diagnostic>& diagnostics);
  /// Length of the file so far, on all ranks: what a checkpoint notes, for `keep`.
  Size bytes() const;

  /// Seconds of single parts are written for up to so many parts.
  static constexpr std::size_t most_parts = 64;

 private:
  void add_seconds(MetricsLine& line);

  const Comm& comm_;
  const Model& model_;
  std::optional<MetricsFile> file_;  ///< on rank 0
  Size step_before_;
  double wall_before_ = 0;
  std::vector<PartSeconds> seconds_before_;
  bool parts_ = false;
};

}  // namespace tutti
