// Values on each face of a part of the boundary over time, surfaces/<name>.csv.
#pragma once

#include <deque>

#include "tutti/simulation/observer.hpp"
#include "tutti/simulation/sampling/integrals.hpp"
#include "tutti/simulation/sampling/sample_file.hpp"

namespace tutti {

/// Of each [[output.surface]] with `profile`, at the times of the fields: a row a face, in the order of their numbers:
/// time, x, y, z of its middle, its area, the value.
class SurfaceProfiles : public Observer {
 public:
  /// Collective. Errors as read_surface; Error(input): a name that cannot name a file, or that two tables have.
  explicit SurfaceProfiles(const Run& run);
  void start(Run& run) override;
  Looks looks(const Run& run) const override { return due(run) ? Looks::at_fields : Looks::at_nothing; }
  void after_step(Run& run) override;
  void describe(RunState& state) override;

 private:
  struct Profile {
    SurfaceChoice choice;
    double scale = 1;
    SampleFile file;
  };
  bool due(const Run& run) const { return !profiles_.empty() && (run.last || run.due(when_)); }
  static void record(Run& run, Profile& profile);

  Occasions when_;
  std::deque<Profile> profiles_;
};

}  // namespace tutti
