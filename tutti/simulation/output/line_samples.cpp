#include "tutti/simulation/output/line_samples.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "tutti/base/error.hpp"
#include "tutti/io/output_folder.hpp"
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
  for (int i = 0; i < options.count("output.line") && run.exchanges; ++i) {
    const std::string table = fmt::format("output.line[{}]", i), name = options.text(table + ".name"),
                      where = options.where(table + ".name");
    Line& line = lines_.emplace_back();
    line.file = "lines/" + name + ".csv";
    run.comm.together([&] {
      if (!can_name_a_file(name))
        fail(ErrorKind::input, "{}: line '{}': its file is called by its name; take 1 to 100 letters, digits, - and _",
             where, name);
      if (std::any_of(lines_.begin(), lines_.end() - 1, [&](const Line& other) { return other.file == line.file; }))
        fail(ErrorKind::input, "{}: there is a line '{}' already; take another name", where, name);
      line.points = points_of(options, table);
    });
    const std::string label = fmt::format("{}: line '{}'", options.where(table + ".from"), name);
    line.places = run.model.domain().locate(run.comm, line.points, std::vector(line.points.size(), label));
  }
}

void LineSamples::start(Run& run) {
  const auto quantities = probed_names(run.model.fields());
  std::vector<std::string> columns{"x", "y", "z"};
  columns.insert(columns.end(), quantities.begin(), quantities.end());
  for (Line& line : lines_) {
    std::optional<EarlierLines> earlier;
    if (run.before != nullptr) {
      earlier = run.before->lines_of(line.file, run.time, when_, run.step < run.plan.steps);
      if (earlier->until < run.time && earlier->lines)  // all of the end's rows go, not the last one only
        earlier->lines = std::max<Size>(0, *earlier->lines + 1 - static_cast<Size>(line.points.size()));
    }
    run.comm.together([&] {
      if (run.comm.is_root()) line.csv.emplace(run.folder / line.file, columns, earlier);
    });
    if (!earlier || earlier->bytes == 0) record(run, line);
  }
}

void LineSamples::after_step(Run& run) {
  if (!due(run)) return;
  for (Line& line : lines_) record(run, line);
}

void LineSamples::describe(RunState& state) {
  for (Line& line : lines_) {
    if (line.csv) line.csv->sync();
    state.file_bytes[line.file] = line.csv ? line.csv->bytes() : 0;
    state.file_lines[line.file] = line.csv ? line.csv->lines() : 0;
  }
}

void LineSamples::record(Run& run, Line& line) {
  run.model.before_output();
  const auto values = probed_values(run.comm, run.model.fields(), line.places, line.points.size());
  run.comm.together([&] {
    if (!line.csv) return;
    const std::size_t width = values.size() / line.points.size();
    for (std::size_t i = 0; i < line.points.size(); ++i) {
      const Vec3& p = line.points[i];
      std::vector<double> row{p.x, p.y, p.z};
      row.insert(row.end(), values.begin() + static_cast<std::ptrdiff_t>(i * width),
                 values.begin() + static_cast<std::ptrdiff_t>((i + 1) * width));
      line.csv->add(run.time, row);
    }
  });
}

}  // namespace tutti
