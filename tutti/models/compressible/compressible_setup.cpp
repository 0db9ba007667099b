// Set-up of compressible flow: tables, the initial state, the time step.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tutti/base/mpi/over_ranks.hpp"
#include "tutti/domain/held_arrays.hpp"
#include "tutti/models/compressible/compressible.hpp"
#include "tutti/models/compressible/compressible_plan.hpp"
#include "tutti/models/compressible/elements/samples.hpp"
#include "tutti/models/compressible/elements/tetrahedron_symmetry.hpp"
#include "tutti/models/compressible/kernels/straight.hpp"
#include "tutti/simulation/evaluate.hpp"

namespace tutti::compressible {
namespace {

CompressibleCase checked_case(const ModelSetup& setup) {
  CompressibleCase flow;
  setup.comm.together([&] { flow = read_compressible_case(setup.options); });
  choose_kernels(flow, setup.comm, setup.devices);
  return flow;
}

}  // namespace

void choose_kernels(CompressibleCase& flow, const Comm& comm, const DeviceSet& devices) {
  bool others = false, small = false;
  for (const auto& device : devices.devices)
    if (device->kind() != DeviceKind::cuda)
      others = true;
    else if (!has_room_for_tuned_kernels(*device))
      small = true;
  const bool only_gpus = comm.max(others ? 1.0 : 0.0) == 0;
  if (flow.kernels == KernelChoice::automatic)
    flow.tuned = only_gpus && !flow.sensor.on() && flow.order >= 1 && flow.order <= 3;
  if (comm.max(small ? 1.0 : 0.0) > 0) flow.tuned = false;  // all GPUs have the same kernels
}

CompressibleFlow::~CompressibleFlow() = default;

CompressibleFlow::CompressibleFlow(const ModelSetup& setup)
    : comm_(setup.comm),
      devices_(setup.devices),
      options_(setup.options),
      flow_(checked_case(setup)),
      scheme_(&time_scheme(flow_.method)),
      domain_(make_element_domain(setup, element_sharing(options_, flow_, *devices_.threads))) {
  const int values = variables * flow_.bases();
  comm_.together([&] {
    for (const IndexMap& map : domain_.maps)
      if (Size{map.local()} * values > std::numeric_limits<Lid>::max())
        fail(ErrorKind::resource,
             "a part of {} elements with {} values each is too large for 32-bit numbers; use more devices", map.owned,
             values);
  });
  Phases& phases = setup.phases;
  phases.begin("tables");
  for (const IndexMap& map : domain_.maps) value_maps_.push_back(with_components(map, values));
  comm_.together([&] {
    const auto conditions = conditions_of_tags(options_, flow_, domain_.boundary_names, domain_.boundary_tags);
    if (!flow_.forces.surface.empty())
      body_ = tag_of_surface(options_.where("forces.surface"), flow_.forces.surface, domain_.boundary_names,
                             domain_.boundary_tags);
    for (std::size_t p = 0; p < domain_.mine(); ++p)
      parts_.push_back(std::make_unique<FlowPart>(stream(p), flow_, domain_.meshes[p], domain_.maps[p], value_maps_[p],
                                                  conditions, scheme_->arrays, parallel_for(*devices_.threads),
                                                  keeps_apart(flow_, domain_, p)));
  });
  bool tetrahedra = false;
  for (const LocalElementMesh& mesh : domain_.meshes)
    tetrahedra =
        tetrahedra || std::find(mesh.types.begin(), mesh.types.end(), ElementType::tetrahedron) != mesh.types.end();
  has_new_basis_ = max_over_ranks(comm_, tetrahedra ? 1.0 : 0.0) > 0 && !flow_.stored &&
                   has_symmetric_basis(ElementType::tetrahedron, flow_.order);
  use_alike_kernels();
  comm_.together([&] {
    for (std::size_t p = 0; p < parts_.size(); ++p) parts_[p]->reuse_fluxes(stream(p), devices_.threads->count());
  });
  plan_ = make_plan(value_maps_, comm_.rank());
  exchange_ = std::make_unique<Exchange<double>>(comm_, plan_, value_maps_, domain_.streams, 1, &domain_.routing);
  build_step(parse_overlap(options_.text("devices.overlap")));
  hold_tables();
  phases.begin("initial");
  set_initial();
  automatic_ = options_.is_word("time.dt", "auto");
  dt_ = automatic_ ? stable_step() : options_.number("time.dt");
  // A GPU loads kernels when they are first launched, tens of milliseconds that the first step need not take.
  for (std::size_t p = 0; p < parts_.size(); ++p)
    if (domain_.device(p).kind() == DeviceKind::cuda) {
      FlowPart& part = *parts_[p];
      compute_fluxes(stream(p), part.all_fluxes(), part.view(), part.boundary(), flow_.eta, part.u[0].data(),
                     part.at_faces());
      if (part.view().straight != nullptr && part.view().straight->fused) {
        StageArrays stage;
        stage.out = part.u[1].data();
        advance_elements(stream(p), owned(p), part.view(), part.u[0].data(), part.at_faces(), stage);
      }
      stream(p).synchronize();
    }
  phases.end();
}

/// Where tuned kernels are not asked for, all parts have those of GPUs or none, so that no partition changes a bit.
void CompressibleFlow::use_alike_kernels() {
  bool tuned = false, portable = false;
  const auto on_gpu = [&](std::size_t p) { return domain_.device(p).kind() == DeviceKind::cuda; };
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    if (owned(p).empty()) continue;
    (on_gpu(p) && parts_[p]->view().straight != nullptr ? tuned : portable) = true;
  }
  portable = comm_.max(portable ? 1.0 : 0.0) > 0;
  flow_.tuned = comm_.max(tuned ? 1.0 : 0.0) > 0 && !(portable && flow_.kernels == KernelChoice::automatic);
  if (flow_.tuned) return;
  comm_.together([&] {
    for (std::size_t p = 0; p < parts_.size(); ++p)
      if (on_gpu(p)) parts_[p]->use_portable_kernels(stream(p));
  });
}

/// Last of all arrays, in the room that they leave.
void CompressibleFlow::hold_tables() {
  std::string lines;
  comm_.together([&] {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      FlowPart& part = *parts_[p];
      if (!part.waits_to_be_held()) continue;
      ResidencyOptions options = flow_.held;
      options.leave_bytes = held_margin(domain_.device(p)) + rotation_bytes(domain_.maps[p].owned);
      options.parallel = parallel_for(*devices_.threads);
      for (const std::string& line : part.hold(stream(p), flow_, options))
        lines += fmt::format("{} of rank {}: {}\n", domain_.device(p).name(), comm_.rank(), line);
      for (const Residency* array : part.held()) captured_ = captured_ && array->can_be_captured();
    }
  });
  if (comm_.max(lines.empty() ? 0.0 : 1.0) > 0) {
    const std::string forms = compare_forms(comm_, flow_, domain_);
    if (comm_.is_root()) lines += forms;
  }
  say_what_is_held(comm_, lines);
}

/// The projection of the initial state, by a rule of a higher degree than the method's.
void CompressibleFlow::set_initial() {
  comm_.together([&] {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const LocalElementMesh& mesh = domain_.meshes[p];
      const auto bases = static_cast<std::size_t>(flow_.bases());
      std::vector<double> u(value_maps_[p].owned, 0.0);
      const Samples samples(mesh, domain_.maps[p].owned_rows(), flow_.order, flow_.stored);
      samples.for_each(*devices_.threads, [&](Lid e, double, std::span<const Vec3> at, std::span<const double> shares,
                                              std::span<const double> basis) {
        std::array<std::vector<double>, variables> values;
        for (std::size_t k = 0; k < variables; ++k) {
          values[k].resize(at.size());
          flow_.initial[k].evaluate(at, 0, values[k]);
        }
        double* to = u.data() + static_cast<std::size_t>(e) * variables * bases;
        for (std::size_t q = 0; q < at.size(); ++q) {
          const Primitive s{values[0][q], values[1][q], values[2][q], values[3][q], values[4][q]};
          if (!(s.rho > 0 && s.p > 0))
            fail(ErrorKind::input, "{}: {} is {:g} at ({:g}, {:g}, {:g}); density and pressure must be above 0",
                 options_.where(s.rho > 0 ? "physics.initial.p" : "physics.initial.rho"), s.rho > 0 ? "p" : "rho",
                 s.rho > 0 ? s.p : s.rho, at[q].x, at[q].y, at[q].z);
          double state[variables];
          to_conserved(flow_.gas, s, state);
          for (std::size_t v = 0; v < variables; ++v)
            for (std::size_t l = 0; l < bases; ++l)
              to[v * bases + l] = std::fma(shares[q] * basis[q * bases + l], state[v], to[v * bases + l]);
        }
      });
      upload(stream(p), parts_[p]->u[0].buffer(), std::span<const double>(u));
      if (flow_.limited) keep_positive(stream(p), owned(p), parts_[p]->view(), parts_[p]->u[0].data());
    }
  });
  update_forcing(0);
  exchange_now(0);
  initial_mass_ = total(0);
}

/// The time that waves take through an element, over 2p + 1 [Choi 2019].
double CompressibleFlow::stable_step() {
  const double step = -largest_of_parts([&](std::size_t p) {
    return smallest_step_negated(stream(p), owned(p), parts_[p]->view(), parts_[p]->u[0].data(),
                                 parts_[p]->projected());
  });
  const bool stable = step > 0 && std::isfinite(step);
  if (!stable) require_physical();
  comm_.together([&] {
    if (!stable)
      fail(ErrorKind::numerical,
           "no time step is stable: density or pressure is not above 0 somewhere; use other initial values, or refine "
           "the mesh");
  });
  return options_.number("time.safety") * scheme_->step_factor * step / (2 * flow_.order + 1);
}

Size CompressibleFlow::adapts_every() const {
  if (!automatic_) return 0;
  return flow_.sensor.on() ? 1 : 10;  // artificial viscosity comes and goes with shocks
}

/// Steps stay as they are while they are near to what is stable: work that is the same can be captured.
double CompressibleFlow::adapted_step(double dt) {
  if (!automatic_) return dt;
  const double step = stable_step();
  if (dt <= 1.02 * step && dt >= 0.9 * step) return dt;
  return dt_ = step;
}

}  // namespace tutti::compressible
