// Cuts through the mesh over time, planes/plane-<name>.pvd.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "tutti/domain/sampling/plane_cut.hpp"
#include "tutti/simulation/observer.hpp"
#include "tutti/simulation/output/field_files.hpp"
#include "tutti/simulation/sampling/sample_file.hpp"

namespace tutti {

/// The planes of [[output.plane]], at the times of the fields: the fields of the cells that a plane cuts.
class Planes : public Observer {
 public:
  /// Collective. Error(input): a plane beside the mesh, a normal without a direction, a bad name.
  explicit Planes(const Run& run);
  void start(Run& run) override;
  Looks looks(const Run& run) const override { return due(run) ? Looks::at_fields : Looks::at_nothing; }
  void after_step(Run& run) override;
  void describe(RunState& state) override;
  void finish(Run& run, Summary& summary) override;

 private:
  struct Plane {
    std::string what;                ///< "middle at (0, 0, 0.5) across (0, 0, 1)"
    std::vector<PlaneCut> cuts;      ///< of each part of this rank
    std::vector<double> times = {};  ///< of what is written
    std::optional<FieldFiles> files = {};
    std::optional<SampleFile> csv = {};
  };
  bool due(const Run& run) const { return !planes_.empty() && (run.last || run.due(when_)); }
  static void write(Run& run, Plane& plane);
  static void add_rows(Run& run, Plane& plane);

  Occasions when_;
  std::deque<Plane> planes_;
  double seconds_ = 0;
};

}  // namespace tutti
