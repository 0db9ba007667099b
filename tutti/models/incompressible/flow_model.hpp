// The model: fields, the stages of a step, and what is told about them.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "tutti/base/exact_sum.hpp"
#include "tutti/models/incompressible/implicit_diffusion.hpp"
#include "tutti/models/incompressible/incompressible.hpp"
#include "tutti/models/incompressible/pressure.hpp"
#include "tutti/simulation/box_probes.hpp"
#include "tutti/simulation/box_slices.hpp"

namespace tutti {

/// Steps from one look at whether the flow is steady to the next.
inline constexpr double steps_between_looks = 50;
/// What walls and inflows make of the speed, and what buoyancy does, and, where friction does not bound the time step,
/// forces: it is chosen by them.
double driven_speed(const FlowCase& flow);
/// The step that friction, flow and buoyancy allow, as Kang, Fedkiw and Liu (J. Sci. Comput. 15, 2000), but with the
/// stability intervals of the schemes: Adams-Bashforth reaches 1 on the negative axis, Runge-Kutta 2.5; on the
/// imaginary axis Runge-Kutta reaches 1.7, Adams-Bashforth needs some friction. Implicit friction allows any step; a
/// hundred times what is stable otherwise is enough: beyond it sweeps take most of what steps save. Infinite:
/// nothing bounds it; 0: what bounds it is out of range. `crossing`: 1 over the time to cross a cell; `warmth`: largest
/// |T - reference|.
double longest_step(const FlowCase& flow, double crossing, double warmth);

template <class T>
class FlowModel final : public Model {
 public:
  explicit FlowModel(const ModelSetup& setup);

  Gid cells() const override { return domain_.grid.cell_count(); }
  double time_step() const override { return dt_; }
  std::vector<std::string> describe() const override;
  void step(double time, double dt) override;
  Size adapts_every() const override;
  double adapted_step(double dt) override;
  ModelState state() override;
  void resume(double time) override;
  std::vector<Diagnostic> diagnose() override;
  bool finished() override { return steady_; }
  void open_results(const std::filesystem::path& folder, std::span<const double> before) override;
  void write_results(double time) override;
  void open_slices(const std::filesystem::path& folder, std::span<const std::vector<double>> before) override;
  void write_slice(std::size_t slice, double time) override;
  void set_probes(std::vector<Vec3> points) override;
  std::vector<std::string> sampled() const override;
  std::vector<double> sample() override;
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
  void stage(double time, double dt, double now, double old);
  std::uint64_t same_work(std::initializer_list<double> numbers) const;
  void predict_velocity(double time, double now, double old);
  void predict_implicitly(double time, double dt, double now, double old);
  void solve_pressure(double dt);
  void correct_velocity(double time, double dt);
  void exchange_all(double time);
  void take_lower_outflow(std::size_t p, std::size_t d, std::span<double> to);
  void put_lower_outflow(std::size_t d);
  double over_parts(const std::function<double(Stream&, FlowPart<T>&)>& of_part);
  double sum_over_parts(const std::function<ExactSum(Stream&, FlowPart<T>&)>& of_part);
  double amount(std::size_t s);
  std::array<double, 2> range_of(std::size_t s);
  double warmth();
  double divergence_left();
  void add_fastest(std::vector<Diagnostic>& all);
  void add_nusselt(std::vector<Diagnostic>& all);
  void add_scalars(std::vector<Diagnostic>& all);
  void keep_flow();
  double rate_of_change(double dt);
  ErrorSummary errors(double time);
  Stream& stream(std::size_t p) { return *domain_.streams[p].compute; }
  std::vector<double> values_in(std::size_t p, const Buffer<T>& buffer, const CellBox& box);
  std::vector<double> owned_values(std::size_t p, const Buffer<T>& buffer) {
    return values_in(p, buffer, parts_[p].box);
  }
  std::vector<double> centred_velocity(std::size_t p, const CellBox& box);
  std::vector<const Buffer<T>*> pressure_fields();
  std::vector<BoxFieldValues> fields_in(std::span<const CellBox> boxes);

  const Comm& comm_;
  DeviceSet& devices_;
  Case options_;
  FlowCase flow_;
  BoxDomain domain_;
  FlowConstants<T> constants_;
  std::vector<FlowPart<T>> parts_;
  std::vector<FlowEnds> ends_;
  std::unique_ptr<BoxTransfer<T>> predicted_halo_, velocity_halo_, scalar_halo_;
  std::unique_ptr<BoxPass<T>> predict_, divide_, correct_;
  std::unique_ptr<PressureSolver<T>> solver_;
  std::unique_ptr<ImplicitDiffusion<T>> diffusion_;  ///< only where it is implicit
  std::unique_ptr<BoxResults> results_;
  std::unique_ptr<BoxSlices> slices_;
  BoxProbes probes_;
  double dt_ = 0, limit_ = 0;
  double last_dt_ = 0;    ///< of the step before; 0: there was none
  double largest_ = 0;    ///< velocity at the last report, or what the ends make it
  double ends_time_ = 0;  ///< for which values at and beyond the ends were set last
  double initial_heat_ = 0, heat_scale_ = 0;
  std::vector<std::vector<Buffer<T>>> kept_;  ///< velocity and scalars before a step that is looked at
  bool forcing_done_ = false, steady_ = false;
  bool timely_ends_ = false;  ///< values at the ends depend on time
  double steps_ = 0;          ///< also those before a restart, so that the same are looked at
  Size stages_ = 0;
};

}  // namespace tutti
