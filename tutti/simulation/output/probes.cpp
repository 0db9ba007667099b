#include "tutti/simulation/output/probes.hpp"

#include <fmt/core.h>

#include "tutti/base/system/fault.hpp"
#include "tutti/simulation/field_values.hpp"

namespace tutti {
namespace {

constexpr const char* probes_file = "probes.csv";

}  // namespace

Probes::Probes(const Run& run) : when_(run.options, "output.probe_") {
  const std::vector<Vec3> points = probe_points(run.options);
  const std::vector<std::string> quantities = probed_names(run.model.fields());
  for (int i = 0; i < run.options.count("output.probe"); ++i) {
    const std::string probe = run.options.text(fmt::format("output.probe[{}].name", i));
    for (const std::string& quantity : quantities)
      columns_.push_back(quantities.size() == 1 ? probe : probe + " " + quantity);
  }
  any_ = !points.empty() && run.exchanges;
  if (any_)
    places_ = sampled_rows(run.comm, run.model.domain(), points, probe_labels(run.options),
                           run.options.flag("output.interpolate"));
  probes_ = points.size();
}

void Probes::start(Run& run) {
  if (!any_) return;
  std::optional<EarlierLines> earlier;
  if (run.before != nullptr) earlier = run.before->lines_of(probes_file, run.time, when_, run.step < run.plan.steps);
  run.comm.together([&] {
    if (run.comm.is_root()) file_.emplace(run.folder / probes_file, columns_, earlier);
  });
  if (!earlier || earlier->bytes == 0) record(run);
}

void Probes::after_step(Run& run) {
  if (due(run)) record(run);
}

void Probes::describe(RunState& state) {
  if (file_) file_->sync();
  state.file_bytes[probes_file] = file_ ? file_->bytes() : 0;
  state.file_lines[probes_file] = file_ ? file_->lines() : 0;
}

void Probes::record(Run& run) {
  fault_point("probe");
  run.model.before_output();
  const auto values = probed_values(run.comm, run.model.fields(), places_, probes_);
  run.comm.together([&] {
    if (file_) file_->add(run.time, values);
  });
}

}  // namespace tutti
