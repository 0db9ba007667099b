#include "tutti/io/metrics.hpp"

#include <nlohmann/json.hpp>

namespace tutti {
namespace {

/// The step of a line; nothing where it is none of metrics.jsonl.
std::optional<double> step_of(std::string_view line) {
  const auto json = nlohmann::json::parse(line, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  const auto step = json.find("step");
  if (step == json.end() || !step->is_number()) return std::nullopt;
  return step->get<double>();
}

}  // namespace

std::string metrics_json(const MetricsLine& line) {
  nlohmann::ordered_json json = {{"step", line.step},
                                 {"time", line.time},
                                 {"dt", line.dt},
                                 {"wall_seconds", line.wall_seconds},
                                 {"cell_steps_per_second", line.cell_steps_per_second}};
  json["diagnostics"] = nlohmann::ordered_json::object();
  for (const auto& [name, value] : line.diagnostics) json["diagnostics"][name] = value;
  if (!line.seconds.separator.empty())
    json["seconds"] = {{"separator", line.seconds.separator},
                       {"interior", line.seconds.interior},
                       {"exchange", line.seconds.exchange},
                       {"idle", line.seconds.idle}};
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

MetricsFile::MetricsFile(const std::filesystem::path& path, const std::optional<EarlierLines>& earlier) {
  if (earlier)
    file_.emplace(path, "", *earlier, step_of);
  else
    file_.emplace(path, "");
}

}  // namespace tutti
