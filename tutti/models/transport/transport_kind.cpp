#include "tutti/models/transport/transport_kind.hpp"

#include "tutti/io/probes.hpp"
#include "tutti/models/transport/transport.hpp"
#include "tutti/models/transport/transport_plan.hpp"
#include "tutti/models/transport/transport_rate.hpp"

namespace tutti::transport {
namespace {

/// The time step is a property of the operators.
PlannedStep plan_step(const ModelSetup& setup) {
  const SphereTransport model(setup);
  // Refuses what a run would.
  model.domain().locate(setup.comm, probe_points(setup.options), probe_labels(setup.options));
  PlannedStep step;
  step.dt = model.time_step();
  step.stages = stages_of(read_transport_case(setup.options).method);
  step.about = fmt::format("spectral radius {:.6g}, {} stages", model.spectrum().advection, step.stages);
  step.rows = fmt::format("nodes with stencils of {}", model.domain().stencil);
  return step;
}

std::vector<PlannedPart> plan_parts(const ModelSetup& setup, const Domain& of, const PlannedStep& step) {
  const auto& domain = dynamic_cast<const NodeDomain&>(of);
  const TransportCase transport = read_transport_case(setup.options);
  std::vector<PlannedPart> parts(domain.mine());
  for (std::size_t p = 0; p < parts.size(); ++p) {
    parts[p].keeps_apart = keeps_apart(transport, domain, p);
    parts[p].arrays = plan_arrays(transport, domain, p, parts[p].keeps_apart);
    parts[p].bytes_a_step = plan_bytes_a_step(transport, domain, p);
  }
  plan_exchanges(setup.comm, domain, static_cast<int>(transport.tracers.size()), step.stages, parts);
  for (std::size_t p = 0; p < parts.size(); ++p)
    if (parts[p].keeps_apart) {
      Device& device = domain.device(p);
      const Size room = device.budget().capacity() - parts[p].bytes() - held_margin(device);
      add_held(parts[p], "weights of stencils", plan_weights(transport, domain, p, room), step.stages);
    }
  return parts;
}

}  // namespace

ModelKind transport_kind() {
  ModelKind kind{"transport", add_transport_keys,
                 [](const ModelSetup& s) { return std::make_unique<SphereTransport>(s); }, DomainKeys::nodes};
  kind.rows = [](const Case& options) { return std::make_unique<NodeDomain>(read_transport_case(options).basis.size); };
  kind.sharing = [](const Case& options, Threads& threads) {
    return transport_sharing(read_transport_case(options), threads);
  };
  kind.plan_step = plan_step;
  kind.plan_parts = plan_parts;
  kind.plan_pass = [](const Case& options) {
    return PlannedPass{"a stage of the time method",
                       8 * static_cast<Size>(read_transport_case(options).tracers.size())};
  };
  kind.add_bench = add_transport_bench;
  kind.write_spectrum = write_transport_spectrum;
  return kind;
}

}  // namespace tutti::transport
