#include "tutti/simulation/output/line_samples.hpp"

#include <fmt/core.h>

#include "tutti/simulation/field_values.hpp"

namespace tutti {
namespace {

/// From end to end in equal steps; on the sphere, above them.
std::vector<Vec3> points_of(const Case& options, const std::string& table) {
  const auto from = options.numbers(table + ".from"), to = options.numbers(table + ".to");
  const Size count = options.integer(table + ".points");
  const bool on_sphere = options.schema().find("nodes.generate") != nullptr;
  std::vector<Vec3> points;
  for (Size i = 0; i < count; ++i) {
    const double s = static_cast<double>(i) / static_cast<double>(count - 1);
    Vec3 point{(1 - s) * from[0] + s * to[0], (1 - s) * from[1] + s * to[1], (1 - s) * from[2] + s * to[2]};
    if (on_sphere && norm(point) > 0) point = (1 / norm(point)) * point;
    points.push_back(point);
  }
  return points;
}

}  // namespace

LineSamples::LineSamples(const Run& run) : when_(run.options, "output.") {
  const Case& options = run.options;
  const std::string list = "output.line";
  std::vector<std::string> columns{"x", "y", "z"};
  const auto quantities = probed_names(run.model.fields());
  columns.insert(columns.end(), quantities.begin(), quantities.end());
  for (int i = 0; i < options.count(list) && run.exchanges; ++i) {
    const std::string table = fmt::format("{}[{}]", list, i);
    std::string name;
    std::vector<Vec3> points;
    run.comm.together([&] {
      name = file_name_of(options, list, i);
      points = points_of(options, table);
    });
    const std::string label = fmt::format("{}: line '{}'", options.where(table + ".from"), name);
    auto places = sampled_rows(run.comm, run.model.domain(), points, std::vector(points.size(), label),
                               options.flag("output.interpolate"));
    lines_.push_back({points, std::move(places), SampleFile("lines/" + name + ".csv", columns, points.size())});
  }
}

void LineSamples::start(Run& run) {
  for (Line& line : lines_)
    if (line.file.start(run, when_)) record(run, line);
}

void LineSamples::after_step(Run& run) {
  if (!due(run)) return;
  for (Line& line : lines_) record(run, line);
}

void LineSamples::describe(RunState& state) {
  for (Line& line : lines_) line.file.describe(state);
}

void LineSamples::record(Run& run, Line& line) {
  run.model.before_output();
  const auto values = probed_values(run.comm, run.model.fields(), line.places, line.points.size());
  const std::size_t width = values.size() / line.points.size();
  std::vector<double> rows;
  for (std::size_t i = 0; i < line.points.size(); ++i) {
    const Vec3& p = line.points[i];
    rows.insert(rows.end(), {p.x, p.y, p.z});
    rows.insert(rows.end(), values.begin() + static_cast<std::ptrdiff_t>(i * width),
                values.begin() + static_cast<std::ptrdiff_t>((i + 1) * width));
  }
  line.file.add(run, rows);
}

}  // namespace tutti
