// Values at the points of [[output.probe]] over time, probes.csv.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tutti/io/probes.hpp"
#include "tutti/simulation/observer.hpp"

namespace tutti {

/// A line at the start, as the keys output.probe_* say, and at the end.
class Probes : public Observer {
 public:
  /// Errors as Domain::locate.
  explicit Probes(const Run& run);
  void start(Run& run) override;
  Looks looks(const Run& run) const override { return due(run) ? Looks::at_fields : Looks::at_nothing; }
  void after_step(Run& run) override;
  void describe(RunState& state) override;

 private:
  bool due(const Run& run) const { return any_ && (run.last || run.due(when_)); }
  void record(Run& run);

  Occasions when_;
  std::vector<std::string> columns_;
  std::vector<RowPlace> places_;
  std::size_t probes_ = 0;
  std::optional<ProbeFile> file_;  ///< on the root
  bool any_ = false;
};

}  // namespace tutti
