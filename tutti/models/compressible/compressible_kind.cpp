// What programs know of this model, and what they plan of a flow.
#include "tutti/models/compressible/compressible_kind.hpp"

#include <algorithm>
#include <limits>

#include "tutti/io/probes.hpp"
#include "tutti/models/compressible/compressible.hpp"
#include "tutti/models/compressible/compressible_plan.hpp"
#include "tutti/models/compressible/compressible_rate.hpp"

namespace tutti::compressible {
namespace {

/// The first time step follows from the initial state: the model is made for it.
PlannedStep plan_step(const ModelSetup& setup) {
  const CompressibleFlow model(setup);
  // Refuses what a run would.
  model.domain().locate(setup.comm, probe_points(setup.options), probe_labels(setup.options));
  const CompressibleCase& flow = model.flow();
  PlannedStep step;
  step.dt = model.time_step();
  step.stages = static_cast<int>(time_scheme(flow.method).stages.size());
  step.about = fmt::format("at the start, {} stages", step.stages);
  step.rows = fmt::format("elements of order {}", flow.order);
  step.lines.push_back(
      fmt::format("{} values per element, {} of them a variable", variables * flow.bases(), flow.bases()));
  const std::string forms = compare_forms(setup.comm, flow, dynamic_cast<const ElementDomain&>(model.domain()));
  if (!forms.empty()) step.lines.push_back(forms);
  return step;
}

std::vector<std::string> plan_lines(const ModelSetup& setup) {
  CompressibleCase flow = read_compressible_case(setup.options);
  choose_kernels(flow, setup.comm, setup.devices);
  return {flow.tuned ? tuned_line : "kernels: portable, with the same bits on CPUs and GPUs"};
}

/// Without end where the device has no room for a sample: then it has none for the part.
double known_rate(const MeasureRate& rate, Device& device, Gid rows) {
  try {
    return rate(device, rows);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::resource) throw;
    return std::numeric_limits<double>::infinity();
  }
}

std::vector<PlannedPart> plan_parts(const ModelSetup& setup, const Domain& of, const PlannedStep& step) {
  const auto& domain = dynamic_cast<const ElementDomain&>(of);
  CompressibleCase flow = read_compressible_case(setup.options);
  choose_kernels(flow, setup.comm, setup.devices);
  const MeasureRate rate = stage_rate(setup.options, flow, *setup.devices.threads);
  std::vector<PlannedPart> parts(domain.mine());
  for (std::size_t p = 0; p < parts.size(); ++p) {
    parts[p].keeps_apart = keeps_apart(flow, domain, p);
    parts[p].arrays = plan_arrays(flow, domain, p, parts[p].keeps_apart);
    parts[p].bytes_a_step = plan_bytes_a_step(flow, domain, p);
    const Lid owned = domain.maps[p].owned;
    if (owned == 0) continue;
    // Few elements are computed as fast as bytes are moved.
    const double seconds = step.stages * owned / known_rate(rate, domain.device(p), std::min<Gid>(owned, 20'000));
    const double moving =
        static_cast<double>(parts[p].bytes_a_step) / quick_triad(domain.device(p), *setup.devices.threads);
    parts[p].seconds_a_step = std::max(0.0, seconds - moving);
  }
  plan_exchanges(setup.comm, domain, variables * flow.bases(), step.stages, parts);
  for (std::size_t p = 0; p < parts.size(); ++p)
    if (parts[p].keeps_apart) {
      Device& device = domain.device(p);
      const Size room = device.budget().capacity() - parts[p].bytes() - held_margin(device);
      for (const auto& [name, held] : plan_held_tables(flow, domain, p, room))
        add_held(parts[p], name, held, step.stages);
    }
  return parts;
}

}  // namespace

ModelKind compressible_kind() {
  ModelKind kind{"compressible", add_compressible_keys,
                 [](const ModelSetup& setup) { return std::make_unique<CompressibleFlow>(setup); },
                 DomainKeys::elements};
  kind.rows = [](const Case&) { return std::make_unique<ElementDomain>(); };
  kind.sharing = [](const Case& options, Threads& threads) {
    return element_sharing(options, read_compressible_case(options), threads);
  };
  kind.plan_step = plan_step;
  kind.plan_parts = plan_parts;
  kind.plan_lines = plan_lines;
  kind.plan_pass = [](const Case& options) {
    return PlannedPass{"a stage of the time method", 8 * Size{variables} * read_compressible_case(options).bases()};
  };
  kind.add_bench = add_compressible_bench;
  return kind;
}

}  // namespace tutti::compressible
