#include "tutti/models/compressible/compressible.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "tutti/base/hash.hpp"
#include "tutti/base/mpi/over_ranks.hpp"
#include "tutti/base/units.hpp"
#include "tutti/domain/held_arrays.hpp"

namespace tutti::compressible {

// A stage, as the paper tells it: fluxes through the faces of separators, separators, whose coefficients then travel,
// and meanwhile the faces and elements inside.

void CompressibleFlow::build_step(Overlap overlap) {
  const int row_cost = std::max(1, variables * flow_.bases());
  step_ = std::make_unique<Step>(*devices_.threads, domain_.streams, row_cost);
  const auto fluxes = [this](std::size_t p) {
    return [this, p](Stream& on, Range faces) {
      FlowPart& part = *parts_[p];
      BoundaryView boundary = part.boundary();
      boundary.passive = work_.passive;
      compute_fluxes(on, faces, part.stage_view(), boundary, flow_.eta, part.u[work_.stage->from].data(),
                     part.at_faces());
    };
  };
  const auto elements = [this](std::size_t p) {
    return [this, p](Stream& on, Range rows) {
      FlowPart& part = *parts_[p];
      advance_elements(on, rows, part.stage_view(), part.u[work_.stage->from].data(), part.at_faces(), arrays_of(p),
                       flow_.limited && !work_.passive ? part.u[work_.stage->target()].data() : nullptr);
    };
  };
  std::vector<TaskId> separator_faces, separators;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const int part = static_cast<int>(p);
    separator_faces.push_back(
        step_->compute("separator faces", part, Step::Role::separator, parts_[p]->separator_fluxes(), fluxes(p)));
    separators.push_back(
        step_->compute("separators", part, Step::Role::separator, domain_.maps[p].separator_rows(), elements(p)));
    step_->after(separators[p], separator_faces[p]);
  }
  step_->exchange(*exchange_, separators);
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    for (const TaskId interior :
         parts_[p]->add_interior(*step_, static_cast<int>(p), domain_.maps[p].interior_rows(), fluxes(p), elements(p)))
      step_->after(interior, separator_faces[p]);
  }
  step_->finish(overlap);
}

StageArrays CompressibleFlow::arrays_of(std::size_t p) const {
  const Stage& stage = *work_.stage;
  const auto array = [&](int k) { return parts_[p]->u[k].data(); };
  StageArrays arrays;
  for (const Stage::Term& term : stage.terms) {
    arrays.x[arrays.count] = array(term.array);
    arrays.weight[arrays.count++] = term.weight;
  }
  arrays.factor = stage.factor * work_.dt;
  arrays.source = work_.passive ? nullptr : parts_[p]->source();
  arrays.out = array(stage.out);
  if (stage.second >= 0) {
    arrays.base = array(stage.from);
    arrays.second = array(stage.second);
    arrays.second_factor = stage.second_factor;
  }
  return arrays;
}

/// The same number for the same stage of a step of the same length, on arrays in the same roles. 0: of this work no
/// graph can be made.
std::uint64_t CompressibleFlow::work_of() const {
  if (parts_.empty() || !captured_) return 0;
  std::vector<std::uint64_t> what{reinterpret_cast<std::uintptr_t>(work_.stage),
                                  std::bit_cast<std::uint64_t>(work_.dt)};
  // Of all parts: one without rows has no arrays, so that it does not tell who has which role.
  for (const auto& part : parts_)
    for (const auto& u : part->u) what.push_back(reinterpret_cast<std::uintptr_t>(u.data()));
  return hash_bytes(detail::as_chars(std::span<const std::uint64_t>(what)));
}

void CompressibleFlow::run_stage(const Stage& stage, double dt, bool passive) {
  const auto target = static_cast<std::size_t>(stage.target());
  std::vector<FieldView<double>> views;
  for (auto& part : parts_) views.push_back(part->u[target].view());
  exchange_->bind(views);
  work_ = {&stage, dt, passive};
  step_->run_ahead(passive ? 0 : work_of());
  ++applications_;
}

void CompressibleFlow::step(double time, double dt) {
  for (const Stage& stage : scheme_->stages) {
    update_forcing(time + stage.time * dt);
    run_stage(stage, dt);
    // The first stage's fluxes are those of the state at `time`.
    if (&stage == scheme_->stages.data() && !flow_.forces.surface.empty() && steps_ % flow_.forces.every == 0)
      take_force(time);
  }
  ++steps_;
  if (scheme_->result != 0)
    for (auto& part : parts_) std::swap(part->u[0], part->u[scheme_->result]);
  time_ = time + dt;
}

/// The GPUs are given their work before the CPU does its own.
void CompressibleFlow::update_forcing(double time) {
  for (const bool host : {false, true})
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      if (domain_.streams[p].is_host() != host) continue;
      FlowPart& part = *parts_[p];
      const bool again = !forcing_done_ || time != forcing_time_;
      if (!forcing_done_ || (again && part.boundary_depends_on_time())) part.update_boundary(stream(p), time);
      if (!forcing_done_ || (again && part.source_depends_on_time())) part.update_source(stream(p), time);
    }
  forcing_time_ = time;
  forcing_done_ = true;
}

void CompressibleFlow::exchange_now(std::size_t array) {
  std::vector<FieldView<double>> views;
  for (auto& part : parts_) views.push_back(part->u[array].view());
  exchange_->begin(views);
  exchange_->end();
}

// Watching and finishing.

double CompressibleFlow::largest_of_parts(const std::function<double(std::size_t p)>& of_part) {
  double largest = -std::numeric_limits<double>::infinity();
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    if (owned(p).empty()) continue;
    const double mine = of_part(p);
    largest =
        std::isnan(mine) || std::isnan(largest) ? std::numeric_limits<double>::quiet_NaN() : std::max(largest, mine);
  }
  return max_over_ranks(comm_, largest);
}

double CompressibleFlow::total(int variable) {
  ExactSum sum;
  for (std::size_t p = 0; p < parts_.size(); ++p)
    sum.merge(total_of(stream(p), owned(p), parts_[p]->view(), parts_[p]->u[0].data(), variable));
  return sum_over_ranks(comm_, sum);
}

/// Error(numerical) names an element without a density or a pressure above 0: the first, by number, of those that had
/// negative numbers before they had none, else of all.
void CompressibleFlow::require_physical() {
  constexpr double beyond = 1e15;  // any number of an element
  double first = -std::numeric_limits<double>::infinity();
  std::string what;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const auto marks = parts_[p]->broken(stream(p));
    for (const int which : {0, 1})
      for (Lid e = 0; e < domain_.maps[p].owned; ++e) {
        const auto number = static_cast<double>(domain_.maps[p].global[e]);
        const double rank = -number - (marks[e] == 1 ? 0 : beyond);
        if (rank <= first) continue;
        const double smallest =
            -smallest_negated(stream(p), {e, e + 1}, parts_[p]->view(), parts_[p]->u[0].data(), which);
        if (smallest > 0) continue;
        first = rank;
        const Vec3 at = place_of(p, e);
        what = fmt::format(
            "the {} is {} in element {} around ({:.6g}, {:.6g}, {:.6g})", which == 0 ? "density" : "pressure",
            std::isnan(smallest) ? "not a number" : fmt::format("{:g}", smallest), number, at.x, at.y, at.z);
      }
  }
  const double all = comm_.max(first);
  comm_.together([&] {
    if (first == all && !what.empty())
      fail(ErrorKind::numerical, "{} at time {:g}; {}lower time.safety or time.dt, or refine the mesh there", what,
           time_, flow_.limited ? "" : "set numerics.limiter to \"positivity\" where there are shocks, ");
  });
}

std::vector<Diagnostic> CompressibleFlow::diagnose() {
  const auto smallest = [&](int which) {
    return -largest_of_parts([&](std::size_t k) {
      return smallest_negated(stream(k), owned(k), parts_[k]->view(), parts_[k]->u[0].data(), which);
    });
  };
  const double rho = smallest(0), p = smallest(1);
  if (!(rho > 0 && p > 0)) require_physical();
  const double mach = largest_of_parts(
      [&](std::size_t k) { return largest_mach(stream(k), owned(k), parts_[k]->view(), parts_[k]->u[0].data()); });
  std::vector<Diagnostic> all{{"Mach", mach}};
  const bool finite = std::isfinite(all[0].value);  // exact sums know no infinities
  const auto sum = [&](ExactSum (*of_part)(Stream&, Range, const PartView&, const double*)) {
    ExactSum all_parts;
    for (std::size_t k = 0; finite && k < parts_.size(); ++k)
      all_parts.merge(of_part(stream(k), owned(k), parts_[k]->view(), parts_[k]->u[0].data()));
    return finite ? sum_over_ranks(comm_, all_parts) : all[0].value;
  };
  all.push_back({"mass", finite ? total(0) : all[0].value});
  all.push_back({"kinetic energy", sum(kinetic_energy_of)});
  all.push_back({"enstrophy", sum(enstrophy_of)});
  all.push_back({"smallest rho", rho});
  all.push_back({"smallest p", p});
  if (!flow_.forces.surface.empty()) {
    const ForceCoefficients c = periods_.coefficients(flow_.forces.length, flow_.forces.speed);
    all.push_back({"drag coefficient", drag_});
    all.push_back({"lift coefficient", lift_});
    all.push_back({"mean drag coefficient", c.drag});
    all.push_back({"mean lift coefficient", c.lift});
    all.push_back({"rms lift coefficient", c.lift_rms});
    all.push_back({"periods of lift", static_cast<double>(c.periods)});
    all.push_back({"Strouhal", c.strouhal});
  }
  return all;
}

std::vector<double> CompressibleFlow::coefficients(std::size_t p) {
  std::vector<double> values(value_maps_[p].owned);
  download(stream(p), std::span<double>(values), parts_[p]->u[0].buffer());
  return values;
}

namespace {

/// What is written of an element: functions of its mean state.
struct CellField {
  const char* name;
  int components;
  void (*of)(const Gas&, const Primitive&, double*);
};
constexpr std::array<CellField, 5> cell_fields = {{
    {"rho", 1, [](const Gas&, const Primitive& s, double* to) { to[0] = s.rho; }},
    {"velocity", 3, [](const Gas&, const Primitive& s, double* to) { to[0] = s.u, to[1] = s.v, to[2] = s.w; }},
    {"p", 1, [](const Gas&, const Primitive& s, double* to) { to[0] = s.p; }},
    {"temperature", 1, [](const Gas& g, const Primitive& s, double* to) { to[0] = s.p / (g.constant * s.rho); }},
    {"Mach", 1,
     [](const Gas& g, const Primitive& s, double* to) {
       to[0] = std::sqrt(s.u * s.u + s.v * s.v + s.w * s.w) / sound_speed(g, s.rho, s.p);
     }},
}};

}  // namespace

void CompressibleFlow::add_cell_fields(std::vector<ModelField>& all) {
  for (const CellField& field : cell_fields) {
    ModelField f{.name = field.name, .components = field.components, .output = true};
    if (field.components == 1)
      f.probes = {field.name};
    else
      f.probes = {"u", "v", "w"};
    f.read = [this, &field](std::size_t p, const RowSet& rows, std::span<double> to) {
      const Size row = Size{variables} * flow_.bases();
      std::vector<double> values(row * rows.rows.size());
      download(stream(p), std::span<double>(values), parts_[p]->u[0].data() + row * rows.rows.begin);
      for (Lid e = 0; e < rows.rows.size(); ++e) {
        double mean[variables];
        for (int v = 0; v < variables; ++v) mean[v] = values[row * e + Size{v} * flow_.bases()];
        field.of(flow_.gas, to_primitive(flow_.gas, mean),
                 to.data() + static_cast<std::size_t>(e) * static_cast<std::size_t>(field.components));
      }
    };
    f.at = [this, &field](std::size_t p, Lid row, Vec3 point, std::span<double> to) {
      const auto bases = static_cast<std::size_t>(flow_.bases());
      std::vector<double> u(variables * bases);
      download(stream(p), std::span<double>(u), parts_[p]->u[0].data() + static_cast<Size>(u.size()) * row);
      const LocalElementMesh& mesh = domain_.meshes[p];
      const ElementBasis basis(ElementMap(mesh.types[row], mesh.element_nodes(row)), flow_.order, flow_.stored);
      const std::vector<double> phi = basis.values_at(point);
      double state[variables] = {};
      for (std::size_t v = 0; v < variables; ++v)
        for (std::size_t l = 0; l < bases; ++l) state[v] = std::fma(phi[l], u[v * bases + l], state[v]);
      field.of(flow_.gas, to_primitive(flow_.gas, state), to.data());
    };
    all.push_back(std::move(f));
  }
}

void CompressibleFlow::before_output() {
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    FlowPart& part = *parts_[p];
    if (part.rotation.empty())
      part.rotation = Buffer<double>(domain_.device(p), Size{4} * domain_.maps[p].owned, "vorticity and Q");
    rotation_of(stream(p), owned(p), part.view(), part.u[0].data(), part.rotation.data());
  }
}

ModelField CompressibleFlow::rotation_field(std::string name, int first, int components) {
  ModelField field{.name = std::move(name), .components = components, .output = true};
  field.read = [this, first, components](std::size_t p, const RowSet& rows, std::span<double> to) {
    std::vector<double> values(4 * rows.rows.size());
    download(stream(p), std::span<double>(values), parts_[p]->rotation.data() + Size{4} * rows.rows.begin);
    for (std::size_t e = 0; e < values.size() / 4; ++e)
      for (int c = 0; c < components; ++c)
        to[e * static_cast<std::size_t>(components) + static_cast<std::size_t>(c)] =
            values[4 * e + static_cast<std::size_t>(first + c)];
  };
  return field;
}

std::vector<ModelField> CompressibleFlow::fields() {
  ModelField state{.name = "state", .components = variables * flow_.bases(), .restart = true, .checksum = true};
  state.read = [this](std::size_t p, const RowSet& rows, std::span<double> to) {
    download(stream(p), to, parts_[p]->u[0].data() + Size{variables} * flow_.bases() * rows.rows.begin);
  };
  state.write = [this](std::size_t p, std::span<const double> from) {
    upload(stream(p), parts_[p]->u[0].buffer(), from);
  };
  std::vector<ModelField> all;
  all.push_back(std::move(state));
  add_cell_fields(all);
  all.push_back(rotation_field("vorticity", 0, 3));
  all.push_back(rotation_field("Q", 3, 1));
  return all;
}

std::vector<StateNumber> CompressibleFlow::numbers() {
  std::vector<StateNumber> all;
  all.push_back({"initial_mass", &initial_mass_});
  if (has_new_basis_) all.push_back({basis_name, &basis_});
  if (flow_.forces.surface.empty()) return all;
  all.push_back({"force_drag_coefficient", &drag_});
  all.push_back({"force_lift_coefficient", &lift_});
  for (const StateNumber& n : periods_.numbers()) all.push_back(n);
  return all;
}

void CompressibleFlow::resume(double time) {
  time_ = time;
  forcing_done_ = false;
  exchange_now(0);
}

std::vector<std::string> CompressibleFlow::describe() const {
  std::vector<std::string> lines = {fmt::format("{} elements of order {}: {} degrees of freedom; step {:.5g}",
                                                format_count(cells()), flow_.order,
                                                format_count(cells() * variables * flow_.bases()), dt_)};
  if (flow_.tuned) lines.push_back(tuned_line);
  return lines;
}

std::vector<HeldArraySummary> CompressibleFlow::held_arrays(std::size_t p) const {
  std::vector<HeldArraySummary> all;
  for (const Residency* array : parts_[p]->held())
    all.push_back(summarise_held(all.empty() ? element_tables : face_tables, *array));
  return all;
}

Size CompressibleFlow::bytes_moved(std::size_t p) const {
  return applications_ * parts_[p]->bytes();
}

ExchangeCounts CompressibleFlow::exchanged() const {
  ExchangeCounts counts;
  add_counts(counts, exchange_->counts_per_exchange(), applications_);
  return counts;
}

}  // namespace tutti::compressible
