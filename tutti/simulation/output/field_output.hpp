// The fields of a model over time, results.pvd and fields/, or results.vtkhdf.
#pragma once

#include <optional>
#include <vector>

#include "tutti/simulation/observer.hpp"
#include "tutti/simulation/output/field_files.hpp"

namespace tutti {

/// Writes the fields at the start, every output.every steps, at the times of output.interval and output.times, and at
/// the end.
class FieldOutput : public Observer {
 public:
  /// Error(io).
  explicit FieldOutput(const Run& run);
  void start(Run& run) override;
  Looks looks(const Run& run) const override { return due(run) ? Looks::at_fields : Looks::at_nothing; }
  void after_step(Run& run) override;
  void describe(RunState& state) override { state.outputs = times_; }
  void finish(Run& run, Summary& summary) override;

 private:
  bool due(const Run& run) const { return run.last || run.due(when_); }
  void write(Run& run);

  Occasions when_;
  std::optional<FieldFiles> files_;
  std::optional<HdfFieldFile> one_file_;  ///< instead
  std::vector<double> times_;             ///< of what is written
  double seconds_ = 0;
};

}  // namespace tutti
