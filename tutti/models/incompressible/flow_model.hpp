// The model: fields, the stages of a step, and what is told about them.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "tutti/base/exact_sum.hpp"
#include "tutti/device/sums/sum_and_largest.hpp"
#include "tutti/domain/box_domain.hpp"
#include "tutti/models/incompressible/incompressible.hpp"
#include "tutti/models/incompressible/pressure/pressure.hpp"
#include "tutti/models/incompressible/turbulence/profiles.hpp"
#include "tutti/models/incompressible/viscous/implicit_diffusion.hpp"
#include "tutti/simulation/error_norms.hpp"
#include "tutti/simulation/model.hpp"

namespace tutti::incompressible {

/// Steps from one look at whether the flow is steady to the next.
inline constexpr double steps_between_looks = 50;
/// What walls and inflows make of the speed, and what buoyancy does, and, where viscosity does not bound the time step,
/// forces: it is chosen by them.
double driven_speed(const FlowCase& flow);
/// The step that viscosity, flow and buoyancy allow, as Kang, Fedkiw and Liu (J. Sci. Comput. 15, 2000), but with the
/// stability intervals of the schemes: Adams-Bashforth reaches 1 on the negative axis, Runge-Kutta 2.5; on the
/// imaginary axis Runge-Kutta reaches 1.7, Adams-Bashforth needs some viscosity. Implicit viscosity allows any step; a
/// hundred times what is stable otherwise is enough: beyond it sweeps take most of what steps save. Infinite:
/// nothing bounds it; 0: what bounds it is out of range. `crossing`: 1 over the time to cross a cell;
/// `temperature_deviation`: largest |T - reference|; `eddies`: eddy_rate.
double longest_step(const FlowCase& flow, double crossing, double temperature_deviation, double eddies = 0);

/// The difference of temperature from the lower to the upper end of a direction, where both are held at one value each
/// and the values differ; else 0.
double temperature_fall(const FlowCase& flow, std::size_t d);

template <class T>
class FlowModel final : public Model {
 public:
  explicit FlowModel(const ModelSetup& setup);

  const BoxDomain& domain() const override { return domain_; }
  std::vector<ModelField> fields() override;
  std::vector<StateNumber> numbers() override;
  double time_step() const override { return dt_; }
  std::vector<std::string> describe() const override;
  void step(double time, double dt) override;
  Size adapts_every() const override;
  double adapted_step(double dt) override;
  void resume(double time) override;
  std::vector<Diagnostic> diagnose() override;
  bool finished() override { return steady_; }
  std::vector<double> measures(std::size_t p) override;
  std::vector<std::string> boundary_quantities() const override;
  BoundaryValues boundary_values(std::int32_t f, double time) override;
  void before_output() override;
  void write_results(const std::filesystem::path& folder) override;
  Size bytes_moved(std::size_t p) const override;
  ExchangeCounts exchanged() const override;
  std::vector<std::string> exact_fields() const override;
  std::vector<FieldError> field_errors(double time) override;
  void summarise(Summary& summary, double time) override;
  std::vector<const Step*> schedules() const override;

 private:
  void allocate();
  void make_passes();
  void make_diffusion();
  void set_initial();
  void choose_time_step();
  void check_solver();
  void update_forcing(double time);
  void update_eddy_viscosity();
  double eddies();
  Pending<T> start_bulk_gain();
  void stage(double time, double dt, double now, double old);
  void predict_velocity(double time, double now, double old);
  void predict_implicitly(double time, double dt, double now, double old);
  void solve_pressure(double dt);
  void correct_velocity(double time, double dt, T gain);
  RowEnds<T> predicted_row_ends(std::size_t p) const;
  void exchange_all(double time);
  void take_lower_outflow(std::size_t p, std::size_t d, std::span<double> to);
  void put_lower_outflow();
  double over_parts(const std::function<double(Stream&, FlowPart<T>&)>& of_part);
  double sum_over_parts(const std::function<ExactSum(Stream&, FlowPart<T>&)>& of_part);
  double amount(std::size_t s);
  std::array<double, 2> range_of(std::size_t s);
  double temperature_deviation();
  double divergence_left();
  void add_fastest(std::vector<Diagnostic>& all, bool finite);
  void add_nusselt(std::vector<Diagnostic>& all, bool finite);
  void add_scalars(std::vector<Diagnostic>& all);
  void keep_flow();
  double rate_of_change(double dt);
  void add_errors(const Buffer<T>& values, std::size_t p, int component, const Expression& exact, double time,
                  ErrorNorms& norms);
  Stream& stream(std::size_t p) { return *domain_.streams[p].compute; }
  std::vector<double> owned_values(std::size_t p, const Buffer<T>& buffer) {
    std::vector<double> values(parts_[p].box.cells());
    take_owned(stream(p), buffer, domain_.arrays[p], parts_[p].box, values);
    return values;
  }
  void take_centred_velocity(std::size_t p, const CellBox& box, std::span<double> to);
  void add_extra_fields(std::vector<ModelField>& all);
  void find_stream_function();
  ModelField field_of(std::string name, std::function<Buffer<T>&(std::size_t)> buffer);

  const Comm& comm_;
  DeviceSet& devices_;
  Case options_;
  FlowCase flow_;
  BoxDomain domain_;
  FlowConstants<T> constants_;
  std::vector<FlowPart<T>> parts_;
  std::vector<BoundaryConditions> ends_;
  std::unique_ptr<BoxTransfer<T>> intermediate_halo_, velocity_halo_, scalar_halo_;
  std::unique_ptr<BoxTransfer<T>> eddy_halo_;  ///< as eddies_, only with a subgrid model
  std::unique_ptr<Pass> eddies_, predict_, divide_, correct_;
  std::unique_ptr<PressureSolver<T>> solver_;
  std::unique_ptr<ImplicitDiffusion<T>> diffusion_;  ///< only where it is implicit
  std::optional<FlowProfiles<T>> profiles_;
  double dt_ = 0, limit_ = 0;
  double last_dt_ = 0;                  ///< of the step before; 0: there was none
  double largest_ = 0;                  ///< velocity at the last report, or what the ends make it
  double ends_time_ = 0;                ///< for which values at and beyond the ends were set last
  double volume_ = 0;                   ///< of the box, as volume_sum adds it up; only where a mass flow is kept
  double gained_ = 0, bulk_force_ = 0;  ///< what keeps it has added in this step; as a force, in the last one
  double initial_heat_ = 0, heat_scale_ = 0;
  std::vector<std::vector<Buffer<T>>> kept_;  ///< velocity and scalars before a step that is looked at
  std::vector<double> stream_function_;       ///< of all cells of a plane, where it is written
  bool forcing_done_ = false, steady_ = false;
  bool time_dependent_ends_ = false;  ///< values at the ends depend on time
  double steps_ = 0;                  ///< also those before a restart, so that the same are looked at
  Size stages_ = 0;
};

}  // namespace tutti::incompressible
