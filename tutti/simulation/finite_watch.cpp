#include "tutti/simulation/finite_watch.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace tutti {
namespace {

/// The first diagnostic has left what the model's data allow by orders of magnitude: says so, with the cell of the
/// largest value and its place.
void require_bounds(const Run& run, const std::string& advice) {
  const std::vector<Diagnostic>& diagnostics = run.diagnostics;
  const Comm& comm = run.comm;
  Model& model = run.model;
  if (diagnostics.empty()) return;
  const auto bound = model.passed_bound(run.time, diagnostics[0].value);
  if (!bound) return;
  ModelState state = model.state();
  double largest = -1;
  std::string where = fmt::format("{} is {:g}", diagnostics[0].name, diagnostics[0].value);  // of a model without state
  comm.together([&] {
    for (const StateField& field : state.fields)
      for (std::size_t p = 0; p < state.maps.size(); ++p) {
        const IndexMap& map = state.maps[p];
        std::vector<double> values(static_cast<std::size_t>(map.owned) * static_cast<std::size_t>(field.components));
        field.save(p, values);
        for (std::size_t i = 0; i < values.size(); ++i) {
          if (!(std::abs(values[i]) > largest)) continue;
          largest = std::abs(values[i]);
          const auto row = static_cast<Lid>(i / static_cast<std::size_t>(field.components));
          const Vec3 at = model.place_of(p, row);
          where = fmt::format("field '{}' is {:g} in cell {} at ({:.6g}, {:.6g}, {:.6g}) (rank {}, part {})",
                              field.name, values[i], map.global[row], at.x, at.y, at.z, comm.rank(), map.part);
        }
      }
  });
  const double all = comm.max(largest);
  comm.together([&] {
    if (largest == all)
      fail(ErrorKind::numerical,
           "{} at time {:g}, step {}: the data of the case allow at most {:.3g}: the run is unstable{}", where,
           run.time, run.step, *bound, advice);
  });
}

}  // namespace

void FiniteWatch::after_step(Run& run) {
  if (run.exchanges && run.diagnosed == run.step) require_good_state(run);
}

void require_good_state(const Run& run) {
  const auto bad = std::find_if(run.diagnostics.begin(), run.diagnostics.end(),
                                [](const Diagnostic& d) { return !std::isfinite(d.value); });
  const std::string advice = run.has_checkpoint
                                 ? fmt::format("; lower time.dt or check the input; the last good state is in {}",
                                               (run.folder / "checkpoints").string())
                                 : "; lower time.dt or check the input";
  if (bad == run.diagnostics.end()) return require_bounds(run, advice);  // the same on all ranks
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
