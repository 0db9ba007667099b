#include "tutti/simulation/field_watch.hpp"

#include <algorithm>
#include <cmath>

namespace tutti {

void require_bounds(const Comm& comm, Model& model, std::span<const Diagnostic> diagnostics, Size step, double time,
                    const std::string& advice) {
  if (diagnostics.empty() || !std::isfinite(diagnostics[0].value)) return;
  const auto bound = model.passed_bound(time, diagnostics[0].value);
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
                              field.name, values[i], map.global[static_cast<std::size_t>(row)], at.x, at.y, at.z,
                              comm.rank(), map.part);
        }
      }
  });
  const double all = comm.max(largest);
  comm.together([&] {
    if (largest == all)
      fail(ErrorKind::numerical,
           "{} at time {:g}, step {}: the data of the case allow {:.3g} at most, so that the run is unstable{}", where,
           time, step, *bound, advice);
  });
}

}  // namespace tutti
