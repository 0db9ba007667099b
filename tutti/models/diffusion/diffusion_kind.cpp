#include "tutti/models/diffusion/diffusion_kind.hpp"

#include "tutti/io/probes.hpp"
#include "tutti/models/diffusion/diffusion.hpp"
#include "tutti/models/diffusion/diffusion_plan.hpp"
#include "tutti/models/diffusion/ionic/ionic_bench.hpp"

namespace tutti::diffusion {
namespace {

/// The time step is a property of the assembled operator.
PlannedStep plan_step(const ModelSetup& setup) {
  const Diffusion model(setup);
  // Refuses what a run would.
  model.domain().locate(setup.comm, probe_points(setup.options), probe_labels(setup.options));
  PlannedStep step;
  step.dt = model.time_step();
  step.stages = model.stages();
  step.solves = is_implicit(model.method());
  step.about = step.solves ? model.describe().front()
                           : fmt::format("spectral radius {:.6g}{}", model.stability().rho,
                                         step.stages > 1 ? fmt::format(", {} stages", step.stages) : "");
  return step;
}

std::vector<PlannedPart> plan_parts(const ModelSetup& setup, const Domain& of, const PlannedStep& step) {
  const auto& domain = dynamic_cast<const TetDomain&>(of);
  std::vector<PlannedPart> parts(domain.mine());
  setup.comm.together([&] {
    const DiffusionPhysics physics(setup.options, domain.region_names, domain.boundary_names, domain.region_tags,
                                   domain.boundary_tags);
    for (std::size_t p = 0; p < parts.size(); ++p) {
      Device& device = domain.device(p);
      const bool apart =
          keeps_apart(setup.options, physics, domain.meshes[p], domain.maps[p], device, device.budget().capacity());
      parts[p].arrays = plan_arrays(setup.options, physics, domain.meshes[p], domain.maps[p], device.is_host(), apart);
      parts[p].keeps_apart = apart;
    }
  });
  plan_exchanges(setup.comm, domain, 1, step.stages, parts);
  setup.comm.together([&] {
    for (std::size_t p = 0; p < parts.size(); ++p) {
      Device& device = domain.device(p);
      const IndexMap& map = domain.maps[p];
      if (parts[p].keeps_apart) {
        const Size room = device.budget().capacity() - parts[p].bytes() - held_margin(device);
        const HeldPlan held = plan_coefficients(setup.options, map, room);
        add_held(parts[p], "coefficients A", held, step.stages);
      }
      // Of what stays here and what comes, a step reads all.
      parts[p].bytes_a_step = plan_bytes_a_step(parts[p].arrays, map, step.stages) + parts[p].copied_a_step;
    }
  });
  return parts;
}

}  // namespace

ModelKind diffusion_kind() {
  ModelKind kind{"diffusion", add_diffusion_keys, [](const ModelSetup& s) { return std::make_unique<Diffusion>(s); }};
  kind.rows = [](const Case& options) { return std::make_unique<TetDomain>(diffusion_tet_options(options)); };
  kind.sharing = diffusion_sharing;
  kind.plan_step = plan_step;
  kind.plan_parts = plan_parts;
  kind.plan_pass = [](const Case&) {
    return PlannedPass{"a step of explicit Euler, a stage of rkc2", 8, 216, 33, "Langguth 2015, eq. 3"};
  };
  kind.add_bench = [](CLI::App& command, Action& action) {
    add_diffusion_bench(command, action);
    add_monodomain_bench(command, action);
  };
  return kind;
}

}  // namespace tutti::diffusion
