// What a model gives to the simulation around it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tutti/domain/domain.hpp"
#include "tutti/exchange/exchange.hpp"
#include "tutti/io/checkpoint/checkpoint.hpp"
#include "tutti/io/summary.hpp"
#include "tutti/schedule/step.hpp"
#include "tutti/simulation/model_field.hpp"

namespace tutti {

/// A number that tells how a run is doing: shown in progress lines, kept in histories.
struct Diagnostic {
  std::string name;
  double value = 0;
};

/// What a model advances in whose case has no table [time]. Times of the run are counts of it, and a step takes as many
/// as the model says; how the whole is cut into steps changes no result.
struct Advance {
  std::string unit;      ///< "sources"
  double end = 0;        ///< how many there are; a whole number
  std::string work;      ///< what rates count: "edges x sources"
  double work_each = 1;  ///< of one unit
};

/// A face of the boundary: a number that no other face of the mesh has, where it lies, and its area.
struct BoundaryFace {
  Gid number = 0;
  Vec3 place;
  double area = 0;
};
/// Quantities at faces of the boundary: [face][quantity], of faces that this rank's parts own.
struct BoundaryValues {
  std::vector<BoundaryFace> faces;
  std::vector<double> values;
};

/// A model that advances fields in time, or in what advance() says. All members are collective.
class Model {
 public:
  virtual ~Model() = default;

  /// The rows of its mesh; the same object as long as the model lives.
  virtual const Domain& domain() const = 0;
  /// Its fields, declared once. What they read is the state after the last step.
  virtual std::vector<ModelField> fields() = 0;
  Gid cells() const { return domain().rows; }
  /// The largest stable time step that the case allows, chosen at set-up [time unit of the case].
  virtual double time_step() const = 0;
  /// Of a model without time: then time_step() and adapted_step() are in its unit.
  virtual std::optional<Advance> advance() const { return {}; }
  /// Lines about what the set-up found, for people.
  virtual std::vector<std::string> describe() const = 0;
  /// Advances every field from `time` to `time + dt`.
  virtual void step(double time, double dt) = 0;

  /// A model whose flow decides how long steps may be is asked every so many steps; 0: steps stay as they are.
  virtual Size adapts_every() const { return 0; }
  /// The step from now on, after steps of `dt`. The bits do not depend on the partition.
  virtual double adapted_step(double dt) { return dt; }

  /// Numbers that a run goes on from besides the fields marked `restart`. With these fields and numbers put back,
  /// resume() and the same time, the run goes on bit for bit.
  virtual std::vector<StateNumber> numbers() { return {}; }
  /// What a checkpoint keeps of the model. A model without a field to restart from cannot be checkpointed.
  ModelState state();
  /// Fields and numbers of a checkpoint have been put back: bring ghosts and whatever follows from them up to date.
  virtual void resume(double time) { (void)time; }

  /// Whether nothing is left to compute, as where a flow is steady: asked after each step, and answered alike on all
  /// ranks; the run then ends as after its last step.
  virtual bool finished() { return false; }

  /// Numbers worth watching; the first is shown in the progress line. The bits do not depend on the partition. A value
  /// that is not finite ends the run.
  virtual std::vector<Diagnostic> diagnose() = 0;
  /// Fields with an exact solution in the case, and how far each is from it at `time`, in the same order.
  /// Error(input): the exact solution has no value somewhere.
  virtual std::vector<std::string> exact_fields() const { return {}; }
  virtual std::vector<FieldError> field_errors(double time) {
    (void)time;
    return {};
  }
  /// The volume, or area, that each owned row of part p stands for. Not collective.
  virtual std::vector<double> measures(std::size_t p) {
    (void)p;
    return {};
  }
  /// What there is to be known at the boundary, "T flux", each for a unit of area; fluxes count out of the domain.
  virtual std::vector<std::string> boundary_quantities() const { return {}; }
  /// These on the faces of a group of domain().boundaries(), of the state at `time`.
  virtual BoundaryValues boundary_values(std::int32_t tag, double time) {
    (void)tag, (void)time;
    return {};
  }
  /// Brings fields up to date that are only computed to be written. Before results, slices and probes are.
  virtual void before_output() {}
  /// Writes what is no field on a mesh into the results folder. Called when the run has reached its end.
  virtual void write_results(const std::filesystem::path& folder) { (void)folder; }
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

  /// Bytes that the kernels of a part of this rank have moved, all steps, by the model's count.
  virtual Size bytes_moved(std::size_t p) const = 0;
  /// Where part p's large read-only arrays are held, if [residency] says something of them: two at most.
  virtual std::vector<HeldArraySummary> held_arrays(std::size_t p) const {
    (void)p;
    return {};
  }
  /// What this rank has sent, all steps.
  virtual ExchangeCounts exchanged() const = 0;
  /// Adds what only the model knows: errors, mass, its own numbers.
  virtual void summarise(Summary& summary, double time) = 0;
  /// The graphs that a step runs, in the order of their first runs; each may run several times. For timings, timelines
  /// and --verbose.
  virtual std::vector<const Step*> schedules() const = 0;
  /// Until the devices have done all steps: called before anybody looks at a field. Throws what went wrong on them. Not
  /// collective.
  virtual void wait() {
    for (const Step* schedule : schedules()) schedule->wait();
  }
};

/// Seconds of this rank's parts, over all graphs of the model's steps so far.
std::vector<PartSeconds> part_seconds(const Model& model);

/// Fills what a summary tells of any model at `time`: parts, exchange, checksum; then what the model adds. Collective.
void summarise(const Comm& comm, Model& model, Summary& summary, double time);

}  // namespace tutti
