#include "tutti/io/summary.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <nlohmann/json.hpp>

#include "tutti/base/system/atomic_file.hpp"
#include "tutti/io/provenance.hpp"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

Json part_json(const PartSummary& part) {
  Json json = {{"rank", part.rank},
               {"device", part.device},
               {"cells", part.cells},
               {"ghosts", part.ghosts},
               {"weight", part.weight}};
  json["seconds"] = {{"separator", part.seconds.separator},
                     {"interior", part.seconds.interior},
                     {"exchange", part.seconds.exchange},
                     {"idle", part.seconds.idle}};
  json["bytes"] = part.bytes;
  json["gb_per_second"] = part.gb_per_second;
  json["fraction_of_stream"] = part.fraction_of_stream ? Json(*part.fraction_of_stream) : Json(nullptr);
  for (const HeldArraySummary& held : part.held) {
    const Json entry = {{"array", held.array},
                        {"policy", held.policy},
                        {"format", held.format},
                        {"loss", held.loss},
                        {"device_bytes", held.device_bytes},
                        {"host_bytes", held.host_bytes},
                        {"brought_bytes", held.brought_bytes}};
    if (&held == part.held.data())
      json["residency"] = entry;
    else
      json["residency"]["others"].push_back(entry);
  }
  return json;
}

Json balance_json(const BalanceSummary& balance) {
  Json json = {{"weights", balance.weights}, {"full_parts", balance.full_parts}};
  if (const auto& share = balance.share)
    json["cpu_share"] = {{"cells", share->cpu_cells},
                         {"in_cache", share->in_cache},
                         {"seconds_a_step", share->seconds},
                         {"seconds_a_step_without", share->seconds_without},
                         {"gain", 1 - share->seconds / share->seconds_without}};
  if (const auto& one = balance.one_gpu)
    json["one_gpu"] = {
        {"part", one->part}, {"seconds_a_pass", one->seconds}, {"seconds_a_pass_together", one->seconds_together}};
  return json;
}

}  // namespace

std::string summary_json(const Summary& summary) {
  Json json;
  json["name"] = "tutti";
  json["version"] = summary.version;
  json["model"] = summary.model;
  json["case"] = summary.case_file;
  for (const auto& [name, value] : provenance()) json["provenance"][name] = value;
  json["cells"] = summary.cells;
  json["steps"] = summary.steps;
  json["first_step"] = summary.first_step;
  json["stopped"] = summary.stopped;
  json["steady"] = summary.steady;
  json["time"] = summary.time;
  json["dt"] = summary.dt;
  if (summary.rho) json["rho"] = *summary.rho;
  json["overlap"] = summary.overlap;
  json["ranks"] = summary.ranks;
  json["wall_seconds"] = summary.wall_seconds;
  json["cell_steps_per_second"] = summary.cell_steps_per_second;
  if (const auto& units = summary.units_of_advance)
    json["advance"] = {{"unit", units->unit}, {"work", units->work}, {"work_per_second", units->work_per_second}};
  json["setup_seconds"] = Json::object();
  // A phase may have been gone through twice.
  for (const auto& [phase, seconds] : summary.setup_seconds)
    json["setup_seconds"][phase] = json["setup_seconds"].value(phase, 0.0) + seconds;
  json["output_seconds"] = summary.output_seconds;
  json["checkpoint_seconds"] = summary.checkpoint_seconds;
  json["peak_memory_bytes"] = summary.peak_memory_bytes;
  json["parts"] = Json::array();
  for (const auto& part : summary.parts) json["parts"].push_back(part_json(part));
  json["rebalances"] = Json::array();
  for (const RebalanceSummary& r : summary.rebalances)
    json["rebalances"].push_back({{"step", r.step},
                                  {"idle", r.idle},
                                  {"seconds_a_step", r.seconds},
                                  {"predicted_seconds_a_step", r.seconds_then},
                                  {"cost_seconds", r.cost}});
  json["balance"] = balance_json(summary.balance);
  json["exchange"] = {{"bytes", summary.exchange.bytes}, {"messages", summary.exchange.messages}};
  json["diagnostics"] = Json::object();
  for (const auto& [name, value] : summary.diagnostics) json["diagnostics"][name] = value;
  for (const TracerSummary& tracer : summary.tracers) {
    nlohmann::ordered_json one = {{"name", tracer.name},
                                  {"mass", tracer.mass},
                                  {"mass_drift", tracer.mass_drift},
                                  {"min", tracer.min},
                                  {"max", tracer.max}};
    if (tracer.l1) one["l1"] = *tracer.l1;
    if (tracer.l2) one["l2"] = *tracer.l2;
    if (tracer.linf) one["linf"] = *tracer.linf;
    json["tracers"].push_back(one);
  }
  for (const ForceSummary& f : summary.forces) json["forces"][f.surface] = {{"force", f.force}, {"moment", f.moment}};
  if (summary.free_stream_error) json["free_stream_error"] = *summary.free_stream_error;
  if (summary.errors) {
    json["errors"] = {
        {"l2", summary.errors->l2}, {"linf", summary.errors->linf}, {"gradient_l2", summary.errors->gradient_l2}};
  }
  if (const auto& solver = summary.solver) {
    json["solver"] = {
        {"iterations", solver->iterations}, {"residual", solver->residual}, {"tolerance", solver->tolerance}};
    if (solver->linearisations > 0) json["solver"]["linearisations"] = solver->linearisations;
    if (!solver->not_solved.empty()) json["solver"]["not_solved"] = solver->not_solved;
  }
  if (const auto& flows = summary.flows)
    json["flows"] = {{"boundaries", flows->boundaries}, {"source", flows->source}, {"sum", flows->sum}};
  for (const FieldError& e : summary.field_errors)
    json["field_errors"][e.name] = {
        {"l2", e.l2}, {"linf", e.linf}, {"relative_l2", e.relative_l2}, {"relative_linf", e.relative_linf}};
  if (!summary.wrong.empty()) json["wrong"] = summary.wrong;
  if (!summary.problem.empty()) json["problem"] = summary.problem;
  if (summary.mass.drifts)
    json[summary.mass.name] = {
        {"initial", summary.mass.initial}, {"final", summary.mass.final}, {"drift", summary.mass.drift}};
  else
    json[summary.mass.name] = {{"final", summary.mass.final}};
  json["checksum"] = fmt::format("{:016x}", summary.checksum);  // text: JSON numbers have 53 bits in most readers
  json["units"] = summary.units;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void write_summary(const std::filesystem::path& path, const Summary& summary) {
  write_file(path, summary_json(summary));
}

Size peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<Size>(usage.ru_maxrss) * 1024;  // Linux counts in KiB
}

}  // namespace tutti
