#include "tutti/simulation/sampling/surface_profiles.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "tutti/base/mpi/over_ranks.hpp"

namespace tutti {

SurfaceProfiles::SurfaceProfiles(const Run& run) : when_(run.options, "output.") {
  const Case& options = run.options;
  const std::string list = "output.surface";
  if (!options.schema().is_table_list(list) || !run.exchanges) return;
  for (int i = 0; i < options.count(list); ++i) {
    const std::string table = fmt::format("{}[{}]", list, i);
    if (!options.flag(table + ".profile")) continue;
    SurfaceChoice choice;
    std::string name;
    run.comm.together([&] {
      choice = read_surface(run, table);
      name = file_name_of(options, list, i);
    });
    const auto faces = run.comm.sum(static_cast<Size>(run.model.boundary_values(choice.tag, run.time).faces.size()));
    profiles_.push_back({choice, options.number(table + ".scale"),
                         SampleFile("surfaces/" + name + ".csv", {"x", "y", "z", "area", options.text(table + ".of")},
                                    static_cast<std::size_t>(faces))});
  }
}

void SurfaceProfiles::start(Run& run) {
  for (Profile& profile : profiles_)
    if (profile.file.start(run, when_)) record(run, profile);
}

void SurfaceProfiles::after_step(Run& run) {
  if (!due(run)) return;
  for (Profile& profile : profiles_) record(run, profile);
}

void SurfaceProfiles::describe(RunState& state) {
  for (Profile& profile : profiles_) profile.file.describe(state);
}

void SurfaceProfiles::record(Run& run, Profile& profile) {
  struct Row {
    BoundaryFace face;
    double value;
  };
  run.model.before_output();
  const auto [faces, values] = run.model.boundary_values(profile.choice.tag, run.time);
  const std::size_t width = run.model.boundary_quantities().size();
  std::vector<Row> mine;
  for (std::size_t f = 0; f < faces.size(); ++f)
    mine.push_back({faces[f], profile.scale * values[f * width + profile.choice.quantity]});
  std::vector<Row> all = on_root(run.comm, std::span<const Row>(mine));
  std::ranges::sort(all, {}, [](const Row& row) { return row.face.number; });
  std::vector<double> rows;
  for (const auto& [face, value] : all)
    for (const double number : {face.place.x, face.place.y, face.place.z, face.area, value}) rows.push_back(number);
  profile.file.add(run, rows);
}

}  // namespace tutti
