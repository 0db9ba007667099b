// What a model gives to the simulation around it.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tutti/base/error.hpp"
#include "tutti/base/types.hpp"
#include "tutti/base/vec3.hpp"
#include "tutti/io/checkpoint.hpp"
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

  /// A model whose flow decides how long steps may be is asked every so many steps; 0: steps stay as they are.
  virtual Size adapts_every() const { return 0; }
  /// The step from now on, after steps of `dt`. The bits do not depend on the partition.
  virtual double adapted_step(double dt) { return dt; }

  /// What a checkpoint keeps of the model: with these fields and numbers put back, resume() and the same time, the run
  /// goes on bit for bit. A model that returns nothing cannot be checkpointed.
  virtual ModelState state() { return {}; }
  /// The fields and numbers of state() have been put back: bring ghosts and whatever follows from them up to date.
  virtual void resume(double time) { (void)time; }

  /// Whether nothing is left to compute, as where a flow is steady: asked after each step, and answered alike on all
  /// ranks; the run then ends as after its last step.
  virtual bool finished() { return false; }

  /// Numbers worth watching; the first is shown in the progress line. The bits do not depend on the partition. A value
  /// that is not finite ends the run.
  virtual std::vector<Diagnostic> diagnose() = 0;
  /// What the case's data (initial and boundary values, sources) allow the first diagnostic at most, if `largest`, its
  /// value at `time`, is beyond that by orders of magnitude: ends the run. Nothing where the model knows no such bound.
  /// The same on all ranks.
  virtual std::optional<double> passed_bound(double time, double largest) {
    (void)time, (void)largest;
    return {};
  }
  /// Where the row of a part of state() lies, for messages. Not collective. A model with bounds says it.
  virtual Vec3 place_of(std::size_t part, Lid row) {
    (void)part, (void)row;
    return {};
  }
  /// Opens the results in `folder` (it exists); the fields to write come from the case. A run that goes on in the
  /// folder of an earlier one gives the times that were written `before`.
  virtual void open_results(const std::filesystem::path& folder, std::span<const double> before) = 0;
  /// Writes the fields at `time`.
  virtual void write_results(double time) = 0;
  /// Opens the slices of the case, [[output.slice]], in `folder` (it exists); those that an earlier run has written
  /// into it go on behind the times `before`, one list a slice. Error(input) names a slice that cannot be. Only cases
  /// of models on boxes have slices.
  virtual void open_slices(const std::filesystem::path& folder, std::span<const std::vector<double>> before) {
    (void)folder;
    require(before.empty(), "this model writes no slices");
  }
  /// Writes the fields of one of them at `time`.
  virtual void write_slice(std::size_t slice, double time) { (void)slice, (void)time; }
  /// Chooses the points that `sample` looks at. Error(input) names a point outside the domain.
  virtual void set_probes(std::vector<Vec3> points) = 0;
  /// Names of what `sample` gives in a probe's cell, at least one; the same on all ranks. A lone name is not written.
  virtual std::vector<std::string> sampled() const { return {"u"}; }
  /// The quantities of sampled() in the cells of the probes, probe after probe, on all ranks.
  virtual std::vector<double> sample() = 0;

  /// Fills what the model knows: parts, exchange, errors, mass, checksum.
  virtual void summarise(Summary& summary, double time) = 0;
  /// The graphs that a step runs, at least one, in the order of their first runs; each may run several times. For
  /// timings, timelines and --verbose.
  virtual std::vector<const Step*> schedules() const = 0;
  /// Until the devices have done all steps: called before anybody looks at a field. Throws what went wrong on them. Not
  /// collective.
  virtual void wait() {
    for (const Step* schedule : schedules()) schedule->wait();
  }
};

/// Seconds of this rank's parts, over all graphs of the model's steps so far.
std::vector<PartSeconds> part_seconds(const Model& model);

}  // namespace tutti
