// When slices of a grid are written, and what has been.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tutti/simulation/observer.hpp"
#include "tutti/simulation/output/field_files.hpp"

namespace tutti {

/// The slices of [[output.slice]], written as the keys output.slice_* say and at the end. Meshes without layers of
/// cells have none.
class Slices : public Observer {
 public:
  /// By what describes a slice, "middle at z = 0.5": times of what is written.
  using Times = std::map<std::string, std::vector<double>>;
  /// Opens them; a slice that lies elsewhere than in an earlier run is another one. Errors as Domain::slices.
  explicit Slices(const Run& run);
  /// Writes those of which there is nothing yet.
  void start(Run& run) override;
  Looks looks(const Run& run) const override { return due(run) ? Looks::at_fields : Looks::at_nothing; }
  void after_step(Run& run) override;
  void describe(RunState& state) override;
  void finish(Run& run, Summary& summary) override;

 private:
  bool due(const Run& run) const { return !what_.empty() && (run.last || run.due(when_)); }
  void write_one(Run& run, std::size_t slice);

  Occasions when_;
  std::vector<std::string> what_;
  std::vector<FieldFiles> files_;
  std::vector<std::vector<double>> times_;
  double seconds_ = 0;
};

}  // namespace tutti
