#include "tutti/models/transport/transport.hpp"
#include "tutti/base/mpi/over_ranks.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tutti/base/units.hpp"
#include "tutti/models/transport/transport_plan.hpp"
#include "tutti/models/transport/transport_sums.hpp"
#include "tutti/simulation/error_norms.hpp"
#include "tutti/simulation/evaluate.hpp"

namespace tutti::transport {

// A step of the model, as the paper tells it: in each stage every device computes what others read, and what reads
// others' nodes, and then the rest while the first travels.

void SphereTransport::make_pass(Overlap overlap) {
  pass_ = std::make_unique<Pass>("", *devices_.threads, domain_.streams, row_pass_parts(domain_.maps), exchange_.get(),
                                 overlap, transport_.row_cost());
  // A pass that weights come for one piece after the other is not the same each time.
  for (std::size_t p = 0; p < parts_.size(); ++p)
    if (transport_.held.policy != Policy::compressed && keeps_apart(transport_, domain_, p)) pass_->never_capture();
}

void SphereTransport::step(double time, double dt) {
  if (transport_.method == RungeKutta::rk4)
    runge_kutta_step(time, dt);
  else
    ssp_rk3_step(time, dt);
}

/// The classical method of four stages. Arrays: 0 is u, 1 and 2 stages in turn, 3 the sum of rates.
void SphereTransport::runge_kutta_step(double time, double dt) {
  update_velocity(time);
  apply(0, 1, [dt](const auto& q) { return RungeKuttaFirst{q(1), q(3), dt / 2, dt / 6}; });
  update_velocity(time + dt / 2);
  apply(1, 2, [dt](const auto& q) { return RungeKuttaMiddle{q(0), q(2), q(3), dt / 2, dt / 3}; });
  apply(2, 1, [dt](const auto& q) { return RungeKuttaMiddle{q(0), q(1), q(3), dt, dt / 3}; });
  update_velocity(time + dt);
  apply(1, 0, [dt](const auto& q) { return RungeKuttaLast{q(3), q(0), dt / 6}; });
}

/// Shu and Osher's method of three stages. Arrays: 0 is u, 1 and 2 are stages.
void SphereTransport::ssp_rk3_step(double time, double dt) {
  const auto stage = [&](std::size_t from, std::size_t to, double w, double at) {
    update_velocity(at);
    apply(from, to, [&](const auto& q) { return SspRk3Stage{q(0), q(to), w, dt}; });
  };
  stage(0, 1, 1, time);
  stage(1, 2, 0.25, time + dt);
  stage(2, 0, 2.0 / 3, time + dt / 2);
}

void SphereTransport::update_velocity(double time) {
  if (transport_.steady()) return;
  // The GPUs are given their work before the CPU does its own.
  for (const bool host : {false, true})
    for (std::size_t p = 0; p < parts_.size(); ++p)
      if (domain_.streams[p].is_host() == host) parts_[p].velocity.update(stream(p), time);
}

std::vector<FieldView<double>> SphereTransport::views(std::size_t field) {
  std::vector<FieldView<double>> all;
  for (TransportPart& part : parts_) all.push_back(part.q[field].view());
  return all;
}

void SphereTransport::exchange_now(std::size_t field) {
  exchange_->begin(views(field));
  exchange_->end();
}

// Watching and finishing.

std::vector<HeldArraySummary> SphereTransport::held_arrays(std::size_t p) const {
  const Residency* held = parts_[p].rows.held();
  if (held == nullptr) return {};
  return {summarise_held("weights of stencils", *held)};
}

double SphereTransport::largest() {
  double all = 0;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const Range rows = value_maps_[p].owned_rows();
    const double high = tracer_extreme(stream(p), rows, {parts_[p].q[0].data(), 0, 1}, 1),
                 low = tracer_extreme(stream(p), rows, {parts_[p].q[0].data(), 0, 1}, -1);
    if (rows.empty()) continue;
    all = std::isnan(high) || std::isnan(all) ? std::numeric_limits<double>::quiet_NaN() : std::max({all, high, low});
  }
  return max_over_ranks(comm_, all);
}

double SphereTransport::mass(int tracer, bool of_magnitudes) {
  ExactSum sum;
  for (std::size_t p = 0; p < parts_.size(); ++p)
    sum.merge(tracer_mass(stream(p), domain_.maps[p].owned_rows(), parts_[p].areas.data(),
                          {parts_[p].q[0].data(), tracer, tracers()}, of_magnitudes));
  return sum_over_ranks(comm_, sum);
}

std::vector<Diagnostic> SphereTransport::diagnose() {
  const double size = largest();
  std::vector<Diagnostic> all{{"max|q|", size}};
  for (int t = 0; t < tracers(); ++t) {
    const std::string& name = transport_.tracers[t].name;
    // Exact sums know no infinities.
    all.push_back({tracers() == 1 ? "mass" : "mass of " + name, std::isfinite(size) ? mass(t) : size});
  }
  return all;
}

/// Transport makes no new extremes: the initial ones bound a tracer. The scheme overshoots; not by orders of magnitude.
std::optional<double> SphereTransport::passed_bound(double, double largest) {
  constexpr double orders = 1e3;
  if (!(largest > orders * initial_level_)) return {};
  return initial_level_;
}

Vec3 SphereTransport::place_of(std::size_t part, Lid row) {
  return domain_.owned_points(part)[row];
}

std::vector<double> SphereTransport::values(std::size_t p) {
  std::vector<double> result(value_maps_[p].owned);
  download(stream(p), std::span<double>(result), parts_[p].q[0].buffer());
  return result;
}

std::vector<TracerSummary> SphereTransport::tracer_summaries(double time) {
  const auto count = static_cast<std::size_t>(tracers());
  std::vector<TracerSummary> all(count);
  struct Norms {
    ExactSum difference, square, size, square_size;
    double largest = 0, largest_exact = 0, high = -std::numeric_limits<double>::infinity(),
           low = -std::numeric_limits<double>::infinity();
  };
  std::vector<Norms> norms(count);
  comm_.together([&] {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const auto q = values(p);
      const auto points = domain_.owned_points(p);
      std::vector<double> areas(points.size());
      download(stream(p), std::span<double>(areas), parts_[p].areas);
      for (std::size_t t = 0; t < count; ++t) {
        Norms& n = norms[t];
        const auto& exact = transport_.tracers[t].exact;
        const auto should = exact ? evaluate_at(*exact, points, time, *devices_.threads) : std::vector<double>();
        for (std::size_t i = 0; i < points.size(); ++i) {
          const double value = q[i * count + t];
          n.high = std::max(n.high, value);
          n.low = std::max(n.low, -value);
          if (!exact || !std::isfinite(value)) continue;
          const double error = value - should[i], area = areas[i];
          n.difference.add(area * std::abs(error));
          n.square.add(area * error * error);
          n.size.add(area * std::abs(should[i]));
          n.square_size.add(area * should[i] * should[i]);
          n.largest = std::max(n.largest, std::abs(error));
          n.largest_exact = std::max(n.largest_exact, std::abs(should[i]));
        }
      }
    }
  });
  for (std::size_t t = 0; t < count; ++t) {
    Norms& n = norms[t];
    TracerSummary& s = all[t];
    s.name = transport_.tracers[t].name;
    s.mass = mass(static_cast<int>(t));
    s.mass_drift = mass_scale_[t] > 0 ? (s.mass - initial_mass_[t]) / mass_scale_[t] : s.mass;
    s.max = comm_.max(n.high);
    s.min = -comm_.max(n.low);
    if (!transport_.tracers[t].exact) continue;
    const auto relative = [](double error, double size) { return size > 0 ? error / size : error; };
    s.l1 = relative(sum_over_ranks(comm_, n.difference), sum_over_ranks(comm_, n.size));
    s.l2 = std::sqrt(relative(sum_over_ranks(comm_, n.square), sum_over_ranks(comm_, n.square_size)));
    s.linf = relative(comm_.max(n.largest), comm_.max(n.largest_exact));
  }
  return all;
}

std::vector<std::string> SphereTransport::exact_fields() const {
  std::vector<std::string> names;
  for (const Tracer& tracer : transport_.tracers)
    if (tracer.exact) names.push_back(tracer.name);
  return names;
}

std::vector<FieldError> SphereTransport::field_errors(double time) {
  const auto count = static_cast<std::size_t>(tracers());
  std::vector<ErrorNorms> norms(count);
  comm_.together([&] {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const auto q = values(p);
      const auto points = domain_.owned_points(p);
      std::vector<double> areas(points.size());
      download(stream(p), std::span<double>(areas), parts_[p].areas);
      for (std::size_t t = 0; t < count; ++t) {
        if (!transport_.tracers[t].exact) continue;
        const auto exact = evaluate_at(*transport_.tracers[t].exact, points, time, *devices_.threads);
        for (std::size_t i = 0; i < points.size(); ++i) norms[t].add(areas[i], q[i * count + t], exact[i]);
      }
    }
  });
  std::vector<FieldError> errors;
  for (std::size_t t = 0; t < count; ++t)
    if (transport_.tracers[t].exact) errors.push_back(norms[t].over_ranks(comm_, transport_.tracers[t].name));
  return errors;
}

std::vector<double> SphereTransport::measures(std::size_t p) {
  std::vector<double> areas(domain_.maps[p].owned);
  download(stream(p), std::span<double>(areas), parts_[p].areas);
  return areas;
}

std::vector<ModelField> SphereTransport::fields() {
  ModelField q{.name = "tracers", .components = tracers(), .restart = true, .checksum = true, .output = true};
  for (const Tracer& tracer : transport_.tracers) q.component_names.push_back(tracer.name);
  q.probes = q.component_names;
  q.read = [this](std::size_t p, const RowSet& rows, std::span<double> to) {
    download(stream(p), to, parts_[p].q[0].data() + Size{rows.rows.begin} * tracers());
  };
  q.write = [this](std::size_t p, std::span<const double> from) { upload(stream(p), parts_[p].q[0].buffer(), from); };
  std::vector<ModelField> all;
  all.push_back(std::move(q));
  return all;
}

std::vector<StateNumber> SphereTransport::numbers() {
  std::vector<StateNumber> all;
  for (std::size_t t = 0; t < initial_mass_.size(); ++t)
    for (const auto& [name, numbers] : {std::pair{"initial_mass ", &initial_mass_}, {"mass_scale ", &mass_scale_}})
      all.push_back({name + transport_.tracers[t].name, &(*numbers)[t]});
  return all;
}

void SphereTransport::resume(double) {
  exchange_now(0);
}

std::vector<std::string> SphereTransport::describe() const {
  return {fmt::format("{} nodes, stencils of {}, condition numbers up to {:.3g}", format_count(cells()), basis_.size,
                      report_.max_condition),
          fmt::format("spectral radius of the advection {:.5g}, of Delta^{} {:.5g}; gamma {:.5g}{}",
                      spectrum_.advection, basis_.hyper, spectrum_.hyper, spectrum_.gamma,
                      transport_.damping != Damping::spectral
                          ? ""
                          : fmt::format(" (beta {:g}{})", spectrum_.beta, spectrum_.local ? ", local" : ""))};
}

Size SphereTransport::bytes_moved(std::size_t p) const {
  return applications_ * parts_[p].rows.bytes_applied(tracers());
}

ExchangeCounts SphereTransport::exchanged() const {
  ExchangeCounts counts;
  add_counts(counts, exchange_->counts_per_exchange(), applications_);
  return counts;
}

void SphereTransport::summarise(Summary& summary, double time) {
  summary.rho = spectrum_.advection;
  try {
    summary.tracers = tracer_summaries(time);
  } catch (const SharedError& error) {
    // The exact solution has no value somewhere. The run itself is good: its summary and its fields are written.
    if (error.kind() != ErrorKind::input) throw;
    summary.problem = error.what();
  }
  if (!summary.tracers.empty()) {
    summary.mass.initial = initial_mass_[0];
    summary.mass.final = summary.tracers[0].mass;
    summary.mass.drift = summary.tracers[0].mass_drift;
  }
}

}  // namespace tutti::transport
