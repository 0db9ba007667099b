#include "tutti/io/probes.hpp"

#include <algorithm>
#include <charconv>

#include "tutti/base/error.hpp"

namespace tutti {
namespace {

/// A cell of a CSV line: between quotes where the text has a comma, a quote or a line break (RFC 4180).
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

/// The time of a line of numbers; nothing where it has another number of columns, or the time is none.
std::optional<double> time_of(std::string_view line, std::size_t columns) {
  if (static_cast<std::size_t>(std::count(line.begin(), line.end(), ',')) != columns) return std::nullopt;
  double time = 0;
  const char* end = line.data() + std::min(line.find(','), line.size());
  const auto [at, error] = std::from_chars(line.data(), end, time);
  if (error != std::errc{} || at != end) return std::nullopt;
  return time;
}

}  // namespace

std::vector<Vec3> probe_points(const Case& options) {
  std::vector<Vec3> points;
  for (int i = 0; i < options.count("output.probe"); ++i) {
    const auto p = options.numbers(fmt::format("output.probe[{}].point", i));
    points.push_back({p[0], p[1], p[2]});
  }
  return points;
}

std::vector<std::string> probe_labels(const Case& options) {
  std::vector<std::string> labels;
  for (int i = 0; i < options.count("output.probe"); ++i) {
    const std::string table = fmt::format("output.probe[{}]", i);
    labels.push_back(fmt::format("{}: probe '{}'", options.where(table + ".point"), options.text(table + ".name")));
  }
  return labels;
}

ProbeFile::ProbeFile(const std::filesystem::path& path, const std::vector<std::string>& names,
                     const std::optional<EarlierLines>& earlier)
    : columns_(names.size()) {
  std::string head = "time";
  for (const auto& name : names) head += "," + csv_cell(name);
  if (earlier)
    file_.emplace(path, head, *earlier, [&](std::string_view line) { return time_of(line, columns_); });
  else
    file_.emplace(path, head);
}

void ProbeFile::add(double time, std::span<const double> values) {
  require(values.size() == columns_, "{} probe values for {} columns", values.size(), columns_);
  std::string line = fmt::format("{}", time);
  for (const double value : values) line += fmt::format(",{}", value);
  file_->add(line);
}

}  // namespace tutti
