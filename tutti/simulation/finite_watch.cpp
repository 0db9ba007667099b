#include "tutti/simulation/finite_watch.hpp"

#include <algorithm>
#include <cmath>

namespace tutti {

void FiniteWatch::after_step(Run& run) {
  if (!run.exchanges || run.diagnosed != run.step) return;
  const auto bad = std::find_if(run.diagnostics.begin(), run.diagnostics.end(),
                                [](const Diagnostic& d) { return !std::isfinite(d.value); });
  if (bad == run.diagnostics.end()) return;  // the same on all ranks
  const std::string advice = run.has_checkpoint
                                 ? fmt::format("; lower time.dt or look at the input; the last good state is in {}",
                                               (run.folder / "checkpoints").string())
                                 : "; lower time.dt or look at the input";
  ModelState state = run.model.state();
  run.comm.together([&] {
    for (const StateField& field : state.fields)
      for (std::size_t p = 0; p < state.maps.size(); ++p) {
        const IndexMap& map = state.maps[p];
        std::vector<double> values(static_cast<std::size_t>(map.owned) * static_cast<std::size_t>(field.components));
        field.save(p, values);
        const auto at = std::find_if(values.begin(), values.end(), [](double v) { return !std::isfinite(v); });
        if (at == values.end()) continue;
        const auto row = static_cast<std::size_t>(at - values.begin()) / static_cast<std::size_t>(field.components);
        fail(ErrorKind::numerical, "field '{}' is {} in cell {} (rank {}, part {}) at time {:g}, step {}{}", field.name,
             std::isnan(*at) ? "nan"
             : *at > 0       ? "inf"
                             : "-inf",
             map.global[row], run.comm.rank(), map.part, run.time, run.step, advice);
      }
  });
  run.comm.together([&] {
    fail(ErrorKind::numerical, "{} is {} at time {:g}, step {}{}", bad->name, bad->value, run.time, run.step, advice);
  });
}

}  // namespace tutti
