// Compressible flow by the discontinuous Galerkin method on any elements, on every processor at once (Choi 2019).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tutti/domain/element_domain.hpp"
#include "tutti/exchange/exchange.hpp"
#include "tutti/models/compressible/compressible_case.hpp"
#include "tutti/models/compressible/flow_part.hpp"
#include "tutti/models/compressible/runge_kutta.hpp"
#include "tutti/schedule/step.hpp"
#include "tutti/simulation/error_norms.hpp"
#include "tutti/simulation/model.hpp"

namespace tutti::compressible {

class CompressibleFlow final : public Model {
 public:
  /// Sets up everything: mesh, partition (or a checkpoint's), tables, initial state, time step. Collective.
  explicit CompressibleFlow(const ModelSetup& setup);
  ~CompressibleFlow() override;

  const ElementDomain& domain() const override { return domain_; }
  std::vector<ModelField> fields() override;
  std::vector<StateNumber> numbers() override;
  double time_step() const override { return dt_; }
  std::vector<std::string> describe() const override;
  void step(double time, double dt) override;
  Size adapts_every() const override;
  double adapted_step(double dt) override;
  std::vector<Diagnostic> diagnose() override;
  Vec3 place_of(std::size_t part, Lid row) override { return domain_.meshes[part].centre(row); }
  void resume(double time) override;
  std::vector<double> measures(std::size_t p) override;
  std::vector<std::string> boundary_quantities() const override;
  BoundaryValues boundary_values(std::int32_t tag, double time) override;
  void before_output() override;
  std::vector<HeldArraySummary> held_arrays(std::size_t p) const override;
  Size bytes_moved(std::size_t p) const override;
  ExchangeCounts exchanged() const override;
  std::vector<std::string> exact_fields() const override;
  std::vector<FieldError> field_errors(double time) override;
  void summarise(Summary& summary, double time) override;
  std::vector<const Step*> schedules() const override { return {step_.get()}; }

  const CompressibleCase& flow() const { return flow_; }
  /// Coefficients of the owned elements of a part of this rank: element, variable, basis function.
  std::vector<double> coefficients(std::size_t p);
  /// The largest change that a uniform flow suffers in a time step, over its own size: nothing but rounding. The state
  /// stays what it was. Collective.
  double free_stream_error();
  /// From now on a step calculates the right-hand side once and leaves the state as it is: for benchmarks.
  void keep_state() { scheme_ = &right_hand_side_alone(); }
  /// Norms of the difference of rho and the exact solution, by a rule of a higher degree than the method's. Collective.
  ErrorSummary errors(double time);

 private:
  ErrorNorms error_norms(double time);
  struct Work {
    const Stage* stage = nullptr;
    double dt = 0;
    bool passive = false;  ///< no boundary
  };
  Stream& stream(std::size_t p) { return *domain_.streams[p].compute; }
  Range owned(std::size_t p) const { return domain_.maps[p].owned_rows(); }
  void allocate(const Phases& phases);
  void build_step(Overlap overlap);
  void run_stage(const Stage& stage, double dt, bool passive = false);
  StageArrays arrays_of(std::size_t p) const;
  std::uint64_t work_of() const;
  void update_forcing(double time);
  void exchange_now(std::size_t array);
  void use_alike_kernels();
  void hold_tables();
  void set_initial();
  double stable_step();
  void require_physical();
  std::vector<ForceSummary> forces(double time);
  double force_component(std::int32_t tag, int component);
  void take_force(double time);
  void compute_face_fluxes(double time);
  ModelField rotation_field(std::string name, int first, int components);
  /// Of parts with elements; NaN if one is none. Collective.
  double largest_of_parts(const std::function<double(std::size_t p)>& of_part);
  double total(int variable);
  void add_cell_fields(std::vector<ModelField>& all);

  const Comm& comm_;
  DeviceSet& devices_;
  Case options_;
  CompressibleCase flow_;
  const TimeScheme* scheme_;
  ElementDomain domain_;
  std::vector<IndexMap> value_maps_;  ///< of values, all coefficients of an element together
  std::vector<std::unique_ptr<FlowPart>> parts_;
  Plan plan_;
  std::unique_ptr<Exchange<double>> exchange_;
  std::unique_ptr<Step> step_;
  Work work_;
  double dt_ = 0;
  double time_ = 0;          ///< of the state
  double forcing_time_ = 0;  ///< for which boundary data and sources were evaluated last
  bool forcing_done_ = false, automatic_ = false;
  bool captured_ = true;  ///< stages can be
  double initial_mass_ = 0;
  bool has_new_basis_ = false;  ///< some elements have that of basis_name
  double basis_ = 1;            ///< a checkpoint has it by that name
  Size applications_ = 0;
  std::int32_t body_ = 0;       ///< tag of the surface whose forces are watched
  Size steps_ = 0;              ///< of this object
  double drag_ = 0, lift_ = 0;  ///< coefficients as they were taken last
  LiftPeriods periods_;
};

}  // namespace tutti::compressible
