// What a summary says of a run.
#include <algorithm>
#include <cmath>
#include <mutex>

#include "tutti/base/mpi/over_ranks.hpp"
#include "tutti/models/compressible/compressible.hpp"
#include "tutti/models/compressible/elements/samples.hpp"

namespace tutti::compressible {

/// Of rho, at the points of a rule in the elements of this rank.
ErrorNorms CompressibleFlow::error_norms(double time) {
  const auto bases = static_cast<std::size_t>(flow_.bases());
  ErrorNorms norms;
  std::mutex mutex;
  comm_.together([&] {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const std::vector<double> u = coefficients(p);
      const Samples samples(domain_.meshes[p], domain_.maps[p].owned_rows(), flow_.order, flow_.stored, true);
      samples.for_each(*devices_.threads, [&](Lid e, double volume, std::span<const Vec3> at,
                                              std::span<const double> shares, std::span<const double> basis) {
        std::vector<double> exact(at.size());
        flow_.exact_rho->evaluate(at, time, exact);
        const double* rho = u.data() + static_cast<std::size_t>(e) * variables * bases;
        ErrorNorms of_element;
        for (std::size_t q = 0; q < at.size(); ++q) {
          double value = 0;
          for (std::size_t l = 0; l < bases; ++l) value = std::fma(basis[q * bases + l], rho[l], value);
          of_element.add(volume * shares[q], value, exact[q]);
        }
        const std::lock_guard lock(mutex);
        norms.merge(of_element);
      });
    }
  });
  return norms;
}

ErrorSummary CompressibleFlow::errors(double time) {
  return error_norms(time).integral_over_ranks(comm_);
}

std::vector<std::string> CompressibleFlow::exact_fields() const {
  return flow_.exact_rho ? std::vector<std::string>{"rho"} : std::vector<std::string>{};
}

std::vector<FieldError> CompressibleFlow::field_errors(double time) {
  return {error_norms(time).over_ranks(comm_, "rho")};
}

double CompressibleFlow::free_stream_error() {
  wait();
  // Of the mean state's density and pressure, across all faces at once.
  double volume = 0, mass = total(0);
  ExactSum volumes;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const LocalElementMesh& mesh = domain_.meshes[p];
    std::vector<double> of_elements(domain_.maps[p].owned);
    devices_.threads->for_range(domain_.maps[p].owned, [&](Size begin, Size end) {
      for (Size e = begin; e < end; ++e)
        of_elements[e] =
            ElementShape(ElementMap(mesh.types[e], mesh.element_nodes(static_cast<Lid>(e))), 0, flow_.stored).volume();
    });
    for (const double v : of_elements) volumes.add(v);
  }
  volume = sum_over_ranks(comm_, volumes);
  Primitive s;
  s.rho = mass / volume;
  const double kinetic = [&] {
    double sum = 0;
    for (int d = 1; d <= 3; ++d) {
      const double m = total(d);
      sum += m * m;
    }
    return 0.5 * sum / mass;
  }();
  s.p = (flow_.gas.gamma - 1) * (total(4) - kinetic) / volume;
  const double sound = sound_speed(flow_.gas, s.rho, s.p);
  s.u = 0.5 * sound;
  s.v = 0.3 * sound;
  s.w = 0.2 * sound;
  double state[variables];
  to_conserved(flow_.gas, s, state);
  const double scale[variables] = {state[0], state[0] * sound, state[0] * sound, state[0] * sound, state[4]};

  std::vector<std::vector<double>> kept;
  const auto bases = static_cast<std::size_t>(flow_.bases());
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    kept.push_back(coefficients(p));
    std::vector<double> uniform(kept[p].size(), 0.0);
    for (std::size_t i = 0; i < uniform.size(); i += bases) uniform[i] = state[i / bases % variables];
    upload(stream(p), parts_[p]->u[0].buffer(), std::span<const double>(uniform));
  }
  exchange_now(0);
  const Size before = applications_;
  const double dt = stable_step();
  run_stage(right_hand_side_alone().stages.front(), dt, true);
  step_->wait();
  applications_ = before;
  double largest = 0;
  for (std::size_t p = 0; p < parts_.size(); ++p)
    if (!owned(p).empty())
      largest = std::max(largest, largest_scaled(stream(p), owned(p), flow_.bases(), parts_[p]->u[1].data(), scale));
  for (std::size_t p = 0; p < parts_.size(); ++p)
    upload(stream(p), parts_[p]->u[0].buffer(), std::span<const double>(kept[p]));
  exchange_now(0);
  return max_over_ranks(comm_, largest);
}

/// By the fluxes that are there.
double CompressibleFlow::force_component(std::int32_t tag, int component) {
  ExactSum sum;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    FlowPart& part = *parts_[p];
    sum.merge(force_on(stream(p), part.all_faces(), part.view(), part.at_faces().flux, part.boundary_places(), tag,
                       component));
  }
  return sum_over_ranks(comm_, sum);
}

void CompressibleFlow::take_force(double time) {
  wait();
  const ForceOptions& options = flow_.forces;
  Vec3 force;
  for (int d = 0; d < 3; ++d) force[d] = force_component(body_, d);
  drag_ = options.coefficient(force, options.drag);
  lift_ = options.coefficient(force, options.lift);
  if (time >= options.from && std::isfinite(drag_) && std::isfinite(lift_)) periods_.add(time, drag_, lift_);
}

void CompressibleFlow::compute_face_fluxes(double time) {
  wait();
  update_forcing(time);
  for (std::size_t p = 0; p < parts_.size(); ++p)
    compute_fluxes(stream(p), parts_[p]->all_fluxes(), parts_[p]->view(), parts_[p]->boundary(), flow_.eta,
                   parts_[p]->u[0].data(), parts_[p]->at_faces());
}

std::vector<std::string> CompressibleFlow::boundary_quantities() const {
  return {"mass flux", "force x", "force y", "force z", "energy flux"};
}

/// Means over the faces, by the numerical fluxes of the present state; forces are those on what is beyond the boundary.
BoundaryValues CompressibleFlow::boundary_values(std::int32_t tag, double time) {
  BoundaryValues found;
  comm_.together([&] {
    compute_face_fluxes(time);
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const auto& faces = domain_.meshes[p].faces;
      std::vector<double> sums(boundary_sums * faces.size());
      Buffer<double> there(domain_.device(p), static_cast<Size>(sums.size()), "sums at the boundary");
      boundary_sums_of(stream(p), parts_[p]->all_faces(), parts_[p]->view(), parts_[p]->at_faces().flux,
                       parts_[p]->boundary_places(), tag, there.data());
      download(stream(p), std::span<double>(sums), there);
      for (std::size_t f = 0; f < faces.size(); ++f) {
        if (faces[f].right >= 0 || faces[f].tag != tag) continue;
        const double* of = &sums[boundary_sums * f];
        const double area = of[variables];
        found.faces.push_back(
            {faces[f].number, (1 / area) * Vec3{of[variables + 1], of[variables + 2], of[variables + 3]}, area});
        for (int v = 0; v < variables; ++v) found.values.push_back(of[v] / area);
      }
    }
  });
  return found;
}

std::vector<double> CompressibleFlow::measures(std::size_t p) {
  std::vector<double> volumes;
  for (Lid e = 0; e < domain_.maps[p].owned; ++e)
    volumes.push_back(
        ElementShape(ElementMap(domain_.meshes[p].types[e], domain_.meshes[p].element_nodes(e)), 0, flow_.stored)
            .volume());
  return volumes;
}

/// The fluxes of momentum through walls, of the present state.
std::vector<ForceSummary> CompressibleFlow::forces(double time) {
  std::vector<ForceSummary> all;
  const auto conditions = conditions_of_tags(options_, flow_, domain_.boundary_names, domain_.boundary_tags);
  if (conditions.empty()) return all;
  compute_face_fluxes(time);
  for (const auto& [tag, condition] : conditions) {
    if (!is_wall(flow_.conditions[condition].kind)) continue;
    const auto name = domain_.boundary_names.find(tag);
    ForceSummary force{name == domain_.boundary_names.end() ? fmt::format("{}", tag) : name->second, {}, {}};
    for (int d = 0; d < 6; ++d) (d < 3 ? force.force : force.moment)[d % 3] = force_component(tag, d);
    all.push_back(force);
  }
  return all;
}

void CompressibleFlow::summarise(Summary& summary, double time) {
  summary.mass.initial = initial_mass_;
  summary.mass.final = total(0);
  summary.mass.drift = (summary.mass.final - initial_mass_) / initial_mass_;
  // A face between two parts is one of both; walls belong to one.
  summary.forces = forces(time);
  summary.free_stream_error = free_stream_error();
  if (!flow_.exact_rho) return;
  try {
    summary.errors = errors(time);
  } catch (const SharedError& error) {
    // The exact solution has no value somewhere. The run itself is good: its summary and its fields are written.
    if (error.kind() != ErrorKind::input) throw;
    summary.problem = error.what();
  }
}

}  // namespace tutti::compressible
