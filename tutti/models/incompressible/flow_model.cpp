#include "tutti/models/incompressible/flow_model.hpp"
#include "tutti/base/mpi/over_ranks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tutti/models/incompressible/flow_plan.hpp"
#include "tutti/models/incompressible/flow_sums.hpp"
#include "tutti/models/incompressible/turbulence/subgrid.hpp"
#include "tutti/simulation/evaluate.hpp"

namespace tutti::incompressible {

// A step, as the paper's Listing 1 tells it: what the flow would become without pressure, the pressure that takes its
// divergence away, and the flow.

template <class T>
void FlowModel<T>::step(double time, double dt) {
  const bool looks = flow_.steady > 0 && std::fmod(steps_ + 1, steps_between_looks) == 0;
  if (looks) keep_flow();
  gained_ = 0;
  if (flow_.scheme == TimeScheme::ab2) {
    // Adams-Bashforth, for steps that may differ in length; the first is Euler's.
    const double ratio = last_dt_ > 0 ? dt / last_dt_ : 0;
    stage(time, dt, dt * (1 + ratio / 2), -dt * ratio / 2);
  } else {
    // Runge-Kutta 3 with two registers (Wray; Rai and Moin, J. Comput. Phys. 96, 1991).
    constexpr std::array<double, 3> now{8.0 / 15, 5.0 / 12, 3.0 / 4}, old{0, -17.0 / 60, -5.0 / 12};
    double reached = 0;
    for (std::size_t s = 0; s < now.size(); ++s) {
      const double part = now[s] + old[s];
      stage(time + reached * dt, part * dt, now[s] * dt, old[s] * dt);
      reached += part;
    }
  }
  last_dt_ = dt;
  bulk_force_ = gained_ / dt;
  ++steps_;
  if (profiles_ && profiles_->due(steps_, time + dt)) {
    update_eddy_viscosity();
    profiles_->sample(comm_, domain_, parts_);
  }
  if (looks) steady_ = rate_of_change(dt) < flow_.steady;
}

/// From `time` to `time + dt`: u* = u + now R(u) + old R(u before), projected.
template <class T>
void FlowModel<T>::stage(double time, double dt, double now, double old) {
  update_forcing(time);
  update_eddy_viscosity();
  if (diffusion_)
    predict_implicitly(time + dt, dt, now, old);
  else
    predict_velocity(time + dt, now, old);
  // A device finds the pressure while its sum is on its way; iterations with a tolerance have sums of their own.
  Pending<T> gain = start_bulk_gain();
  if (flow_.tolerance > 0) gain = [known = gain()] { return known; };
  solve_pressure(dt);
  correct_velocity(time + dt, dt, gain());
  ++stages_;
}

template <class T>
void FlowModel<T>::predict_velocity(double time, double now, double old) {
  const StageWeights<T> weights{static_cast<T>(now), static_cast<T>(old)};
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    FlowPart<T>& part = parts_[p];
    std::vector<T*> fields{part.intermediate[0].data(), part.intermediate[1].data(), part.intermediate[2].data()};
    for (PartScalar<T>& scalar : part.scalars) fields.push_back(scalar.next.data());
    intermediate_halo_->bind(p, std::vector<const T*>(fields.begin(), fields.end()), fields);
  }
  const double read = time_dependent_ends_ ? time : 0;  // what no formula reads must not tell passes apart
  predict_->run(
      [&](std::size_t p, Kernels& to) {
        if (eddies_) add_subgrid_force(to, parts_[p], constants_);
        predict(to, parts_[p], constants_, weights, predicted_row_ends(p));
      },
      [&](std::size_t p, int d, Kernels& to) {
        if (d == 0) fill_intermediate(to, parts_[p], ends_[p], read, predicted_row_ends(p).any());
        fill_scalars(to, parts_[p], ends_[p], d, read, true);
      });
  for (FlowPart<T>& part : parts_)
    for (PartScalar<T>& scalar : part.scalars) scalar.now.swap(scalar.next);
}

/// nu_t of the present velocity.
template <class T>
void FlowModel<T>::update_eddy_viscosity() {
  if (!eddies_) return;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    T* const to = parts_[p].eddy_viscosity.data();
    const T* const from = to;
    eddy_halo_->bind(p, std::span<const T* const>(&from, 1), std::span<T* const>(&to, 1));
  }
  eddies_->run([&](std::size_t p, Kernels& to) { eddy_viscosity(to, parts_[p], flow_); },
               [&](std::size_t p, int, Kernels& to) { fill_eddy_viscosity(to, parts_[p], ends_[p]); });
}

/// What the velocity in the bulk direction must gain: the pressure changes no mean along a periodic direction, so that
/// u* tells it.
template <class T>
Pending<T> FlowModel<T>::start_bulk_gain() {
  if (!flow_.bulk) return [] { return T(0); };
  std::vector<Pending<SumAndLargest>> of_parts;
  for (std::size_t p = 0; p < parts_.size(); ++p)
    if (!parts_[p].box.empty()) of_parts.push_back(start_intermediate_sum(stream(p), parts_[p], flow_.bulk->direction));
  return [this, of_parts = std::move(of_parts)] {
    // What is enqueued by now is for the devices to do while this waits.
    for (std::size_t p = 0; p < parts_.size(); ++p) stream(p).release_held();
    ExactSum sum;
    for (const Pending<SumAndLargest>& of_part : of_parts) sum.merge(of_part().sum);
    const T gain = static_cast<T>(flow_.bulk->velocity - sum_over_ranks(comm_, sum) / volume_);
    gained_ += static_cast<double>(gain);
    return gain;
  };
}

/// Convection, buoyancy and forces as above; viscosity and conduction from the mean of both ends of the step.
template <class T>
void FlowModel<T>::predict_implicitly(double time, double dt, double now, double old) {
  const StageWeights<T> weights{static_cast<T>(now), static_cast<T>(old)};
  FlowConstants<T> without_viscosity = constants_;
  without_viscosity.viscosity = 0;
  without_viscosity.diffuses = false;
  diffusion_->solve(time, dt, [&](std::size_t p, Kernels& to) { predict(to, parts_[p], without_viscosity, weights); });
  for (FlowPart<T>& part : parts_)
    for (PartScalar<T>& scalar : part.scalars) scalar.now.swap(scalar.next);
}

template <class T>
void FlowModel<T>::solve_pressure(double dt) {
  if (solver_->divides()) return solver_->solve_divided(static_cast<T>(dt));
  divide_->run([&](std::size_t p, Kernels& to) { pressure_right_hand_side(to, parts_[p], static_cast<T>(dt)); });
  double scale = 0;
  if (flow_.tolerance > 0) {
    // From rest it is u* that moves.
    const double speed = std::max(over_parts(largest_intermediate<T>), largest_);
    scale = speed > 0 ? dt * domain_.grid.smallest_width() / speed : 0;
  }
  solver_->solve(scale);
}

template <class T>
void FlowModel<T>::correct_velocity(double time, double dt, T gain) {
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    FlowPart<T>& part = parts_[p];
    const std::array<T*, 3> fields{part.u[0].data(), part.u[1].data(), part.u[2].data()};
    const std::array<const T*, 3> from{fields[0], fields[1], fields[2]};
    velocity_halo_->bind(p, from, fields);
  }
  ends_time_ = time;
  const double read = time_dependent_ends_ ? time : 0;
  const T length = static_cast<T>(dt);
  const Gain<T> added{flow_.bulk ? flow_.bulk->direction : -1, gain};
  correct_->run(
      [&](std::size_t p, Kernels& to) { correct(to, parts_[p], length, added, ends_[p].template row_ends<T>()); },
      [&](std::size_t p, int d, Kernels& to) {
        const bool done = d == 0 && ends_[p].template row_ends<T>().any();
        fill_velocity(to, parts_[p], ends_[p], d, read, length, done);
      });
}

/// Ends in x that momentum sets in u*, unless scalars need their own pass there anyway.
template <class T>
RowEnds<T> FlowModel<T>::predicted_row_ends(std::size_t p) const {
  return parts_[p].scalars.empty() ? ends_[p].template row_ends<T>() : RowEnds<T>{};
}

// Watching and finishing.

template <class T>
double FlowModel<T>::over_parts(const std::function<double(Stream&, FlowPart<T>&)>& of_part) {
  double largest = 0;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    if (parts_[p].box.empty()) continue;
    const double mine = of_part(stream(p), parts_[p]);
    largest =
        std::isnan(mine) || std::isnan(largest) ? std::numeric_limits<double>::quiet_NaN() : std::max(largest, mine);
  }
  return max_over_ranks(comm_, largest);
}

template <class T>
double FlowModel<T>::sum_over_parts(const std::function<ExactSum(Stream&, FlowPart<T>&)>& of_part) {
  ExactSum sum;
  for (std::size_t p = 0; p < parts_.size(); ++p)
    if (!parts_[p].box.empty()) sum.merge(of_part(stream(p), parts_[p]));
  return sum_over_ranks(comm_, sum);
}

/// sum of V s, of scalar s.
template <class T>
double FlowModel<T>::amount(std::size_t s) {
  return sum_over_parts([&](Stream& on, FlowPart<T>& part) { return scalar_sum(on, part, s); });
}

template <class T>
std::vector<std::string> FlowModel<T>::describe() const {
  if (diffusion_)
    return {
        fmt::format("{}; implicit diffusion, {} sweeps per step", solver_->describe(), diffusion_sweeps(flow_, dt_))};
  return {fmt::format("{}; viscosity and diffusion allow steps of {:.5g}", solver_->describe(), limit_)};
}

template <class T>
std::vector<const Step*> FlowModel<T>::schedules() const {
  std::vector<const Step*> all;
  if (eddies_) all.push_back(&eddies_->step());
  all.push_back(&predict_->step());
  if (diffusion_)
    for (const Step* step : diffusion_->steps()) all.push_back(step);
  all.push_back(&divide_->step());
  for (const Step* step : solver_->steps()) all.push_back(step);
  all.push_back(&correct_->step());
  return all;
}

/// What leaves through the lower end in direction d lies in no cell: it is kept with the cells that touch the end, and
/// comes back into those of u*.
template <class T>
void FlowModel<T>::take_lower_outflow(std::size_t p, std::size_t d, std::span<double> to) {
  if (to.empty()) return;
  const Buffer<T>& u = parts_[p].u[d];
  const BoxArray& array = domain_.arrays[p];
  const Lid stride = array.stride(static_cast<int>(d));
  std::vector<T> all(u.size());
  download(stream(p), std::span<T>(all), u);
  const CellBox& box = parts_[p].box;
  auto value = to.begin();
  for (Lid k = box.lower[2]; k < box.upper[2]; ++k)
    for (Lid j = box.lower[1]; j < box.upper[1]; ++j)
      for (Lid i = box.lower[0]; i < box.upper[0]; ++i) {
        const bool at_end = std::array{i, j, k}[d] == 0;
        *value++ = at_end ? static_cast<double>(all[array.at(i, j, k) - stride]) : 0;
      }
}

template <class T>
void FlowModel<T>::put_lower_outflow() {
  for (std::size_t d = 0; d < 3; ++d) {
    if (flow_.ends[2 * d].velocity != VelocityEnd::outflow) continue;
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      T* const to = parts_[p].intermediate[d].data();
      const T* const from = to;
      velocity_halo_->bind(p, std::span<const T* const>(&from, 1), std::span<T* const>(&to, 1));
    }
    velocity_halo_->run();
  }
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    Kernels fill;
    fill_intermediate(fill, parts_[p], ends_[p], ends_time_);
    fill.enqueue(stream(p), {}, {0, ends_[p].cells()});
    stream(p).synchronize();
  }
}

template <class T>
void FlowModel<T>::resume(double) {
  forcing_done_ = false;
  put_lower_outflow();
  // Stages add up to a time that may differ from the loop's in its last bits.
  exchange_all(ends_time_);
}

template <class T>
Size FlowModel<T>::bytes_moved(std::size_t p) const {
  // Of the pressure, 3 a sweep, or 8 directly.
  const Size values = values_besides_pressure(flow_) + (solver_->sweeps() > 0 ? 3 * solver_->sweeps() : 8);
  return (stages_ * values + (diffusion_ ? diffusion_->values() : 0)) * parts_[p].box.cells() *
         static_cast<Size>(sizeof(T));
}

template <class T>
ExchangeCounts FlowModel<T>::exchanged() const {
  ExchangeCounts counts = solver_->exchanged();
  if (diffusion_)
    add_counts(counts, diffusion_->exchanged(), 1);
  else
    add_counts(counts, intermediate_halo_->counts_per_exchange(), stages_);
  add_counts(counts, velocity_halo_->counts_per_exchange(), stages_);
  if (eddies_) add_counts(counts, eddy_halo_->counts_per_exchange(), stages_);
  return counts;
}

template <class T>
void FlowModel<T>::summarise(Summary& summary, double time) {
  for (std::size_t p = 0; p < parts_.size(); ++p) summary.parts[p].ghosts = velocity_halo_->unpacked(p);
  if (flow_.has_temperature) {
    summary.mass.name = "heat";
    summary.mass.initial = initial_heat_;
    summary.mass.final = amount(0);
    summary.mass.drift = heat_scale_ > 0 ? (summary.mass.final - initial_heat_) / heat_scale_ : summary.mass.final;
  }
  if (!flow_.exact) return;
  const FieldError error = field_errors(time).front();
  summary.errors = ErrorSummary{error.l2, error.linf, std::numeric_limits<double>::quiet_NaN()};
}

std::unique_ptr<Model> make_incompressible(const ModelSetup& setup) {
  if (setup.options.text("numerics.precision") == "float") return std::make_unique<FlowModel<float>>(setup);
  return std::make_unique<FlowModel<double>>(setup);
}

template class FlowModel<double>;
template class FlowModel<float>;

}  // namespace tutti::incompressible
