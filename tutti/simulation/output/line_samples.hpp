// Values along the lines of [[output.line]] over time, lines/<name>.csv.
#pragma once

#include <deque>
#include <vector>

#include "tutti/simulation/observer.hpp"
#include "tutti/simulation/sampling/sample_file.hpp"

namespace tutti {

/// A row a point, at the times of the fields: time, x, y, z and the values of the cell (or node) that the point lies
/// in, as a probe's.
class LineSamples : public Observer {
 public:
  /// Errors as Domain::locate; Error(input): a name that cannot name a file, or that two lines have.
  explicit LineSamples(const Run& run);
  void start(Run& run) override;
  Looks looks(const Run& run) const override { return due(run) ? Looks::at_fields : Looks::at_nothing; }
  void after_step(Run& run) override;
  void describe(RunState& state) override;

 private:
  struct Line {
    std::vector<Vec3> points;
    std::vector<RowPlace> places;
    SampleFile file;
  };
  bool due(const Run& run) const { return !lines_.empty() && (run.last || run.due(when_)); }
  void record(Run& run, Line& line);

  Occasions when_;
  std::deque<Line> lines_;
};

}  // namespace tutti
