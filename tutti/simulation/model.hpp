// What a model gives to the simulation around it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tutti/base/types.hpp"
#include "tutti/base/vec3.hpp"
#include "tutti/io/summary.hpp"
#include "tutti/schedule/step.hpp"

namespace tutti {

/// A number that tells how a run is doing: shown in progress lines, kept in histories.
struct Diagnostic {
  std::string name;
  double value = 0;
};

/// A model that advances fields in time. All members are collective.
class Model {
 public:
  virtual ~Model() = default;

  virtual Gid cells() const = 0;
  /// The largest stable time step that the case allows, chosen at set-up [time unit of the case].
  virtual double time_step() const = 0;
  /// Lines about what the set-up found, for people.
  virtual std::vector<std::string> describe() const = 0;
  /// Advances every field from `time` to `time + dt`.
  virtual void step(double time, double dt) = 0;

  /// Numbers worth watching; the first is shown in the progress line. The bits do not depend on the partition.
  virtual std::vector<Diagnostic> diagnose() = 0;
  /// Opens the results in `folder` (it exists); the fields to write come from the case.
  virtual void open_results(const std::filesystem::path& folder) = 0;
  /// Writes the fields at `time`.
  virtual void write_results(double time) = 0;
  /// Chooses the points that `sample` looks at. Error(input) names a point outside the domain.
  virtual void set_probes(std::vector<Vec3> points) = 0;
  /// The solution in the cells of the probes, on all ranks.
  virtual std::vector<double> sample() = 0;

  /// Fills what the model knows: parts, exchange, errors, mass, checksum.
  virtual void summarise(Summary& summary, double time) = 0;
  /// The graph of its step, for timings and --verbose.
  virtual const Step& schedule() const = 0;
};

}  // namespace tutti
