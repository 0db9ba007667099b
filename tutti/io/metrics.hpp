// metrics.jsonl: how a run went, a line a report (schema: docs/reference/metrics.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tutti/base/types.hpp"

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

/// A file that grows by whole lines, each written through at once: a killed run leaves what it had reported.
class MetricsFile {
 public:
  /// Makes or overwrites `path`; with `keep`, goes on behind the last whole line of the first `keep` bytes of what is
  /// there (a restart from a checkpoint forgets what came after it). Error(io).
  explicit MetricsFile(std::filesystem::path path, std::optional<Size> keep = std::nullopt);
  ~MetricsFile();
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;

  /// Error(io) with path, bytes and cause; the file then still ends with a whole line.
  void add(const MetricsLine& line);
  /// Length of the file so far.
  Size bytes() const { return bytes_; }

 private:
  std::filesystem::path path_;
  int file_ = -1;
  Size bytes_ = 0;
};

}  // namespace tutti
