// metrics.jsonl: how a run went, a line a report (schema: docs/reference/metrics.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tutti/base/types.hpp"
#include "tutti/io/line_file.hpp"

namespace tutti {

struct MetricsLine {
  Size step = 0;
  double time = 0, dt = 0;           ///< simulated
  double wall_seconds = 0;           ///< of the steps of this run so far, without set-up and output
  double cell_steps_per_second = 0;  ///< since the line before
  std::vector<std::pair<std::string, double>> diagnostics;
  /// Since the line before, one entry a part; empty lists are left out.
  struct {
    std::vector<double> separator, interior, exchange, idle;
  } seconds;
};

/// One JSON object without its line break. A number that is not finite becomes null.
std::string metrics_json(const MetricsLine& line);

/// The file: each line is written through at once.
class MetricsFile {
 public:
  /// Makes or overwrites `path`; or goes on with an earlier run's file (see LineFile), whose lines stand at their
  /// steps. Error(io).
  explicit MetricsFile(const std::filesystem::path& path, const std::optional<EarlierLines>& earlier = std::nullopt);
  /// Error(io) with path, bytes and cause; the file then still ends with a whole line.
  void add(const MetricsLine& line) { file_->add(metrics_json(line)); }
  /// What is written is on the disk on return. Error(io).
  void sync() { file_->sync(); }
  Size bytes() const { return file_->bytes(); }  ///< so far
  Size lines() const { return file_->lines(); }

 private:
  std::optional<LineFile> file_;
};

}  // namespace tutti
