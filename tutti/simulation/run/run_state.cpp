#include "tutti/simulation/run/run_state.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <nlohmann/json.hpp>

#include "tutti/base/log.hpp"
#include "tutti/base/version.hpp"

namespace tutti {
namespace {

/// Keys that may differ: they change who computes, what is said and where the run ends, not what is computed. Formats
/// of [residency] that lose something depend on the partition as well, which may differ, too.
bool may_differ(const std::string& path) {
  for (const char* table : {"output.", "report.", "devices.", "partition.", "balance.", "checkpoint.", "residency."})
    if (path.starts_with(table)) return true;
  // Mesh and graph are compared by their checksums, so the file may have moved.
  return path == "time.end" || path == "time.steps" || path == "mesh.file" || path == "graph.file" ||
         path == "steps.sources" || path == "solver.iterations" || path == "solver.linearisations" ||
         path == "pressure.pieces";
}

/// `more`: times on the way that may take a step of their own.
Size steps_to(const Case& options, double length, double dt, double more = 0) {
  const double count = std::ceil(length / dt - 1e-6) + more;  // no last step that is next to nothing
  if (!(count < 1e15))
    fail(ErrorKind::input, "{}: time.end needs {:g} steps; that is too many; use {}", options.where("time.end"), count,
         more > length / dt ? "longer intervals of output and checkpoints" : "a longer time.dt");
  return std::max<Size>(1, static_cast<Size>(count));
}

/// The plan, if its steps still change the time when it ends.
TimePlan checked_end(const Case& options, TimePlan plan) {
  check_time_step(options, plan.dt, plan.time_of(plan.steps));
  if (plan.longest == 0) plan.longest = plan.dt;
  return plan;
}

/// The plan in equal, shorter steps up to the next time at which something is due, even if the end comes before it: so
/// a longer run makes the same steps.
TimePlan with_occasions(const Case& options, TimePlan plan) {
  plan.longest = plan.dt;
  const double at = next_occasion(options, plan.base_time), length = at - plan.base_time;
  const bool behind = !is_reached(at, plan.end);
  if (behind && !(length / plan.dt < 1e15)) return plan;
  const Size count = steps_to(options, length, plan.dt);
  plan.dt = length / static_cast<double>(count);
  check_time_step(options, plan.dt, std::min(at, plan.end));
  if (behind) {
    plan.steps = plan.base_step + steps_to(options, plan.end - plan.base_time, plan.dt);
    return plan;
  }
  plan.until = plan.base_step + count;
  plan.until_time = at;
  const double rest = is_reached(plan.end, at) ? 0 : plan.end - at;
  plan.steps =
      plan.until + (rest == 0 ? 0 : steps_to(options, rest, plan.longest, occasions_until(options, at, plan.end)));
  return plan;
}

}  // namespace

std::string run_state_json(const RunState& s) {
  nlohmann::ordered_json json;
  json["tutti"] = s.version;
  for (const auto& [name, value] : s.provenance) json["provenance"][name] = value;
  json["model"] = s.model;
  json["step"] = s.step;
  json["time"] = s.time;
  json["rows"] = s.rows;
  json["mesh_checksum"] = fmt::format("{:016x}", s.mesh_checksum);
  json["plan"] = {{"steps", s.plan.steps},         {"dt", s.plan.dt},       {"base_step", s.plan.base_step},
                  {"base_time", s.plan.base_time}, {"until", s.plan.until}, {"until_time", s.plan.until_time},
                  {"longest", s.plan.longest},     {"end", s.end}};
  json["devices"] = s.devices;
  json["outputs"] = s.outputs;
  json["slices"] = s.slices;
  json["file_bytes"] = s.file_bytes;
  json["file_lines"] = s.file_lines;
  json["numbers"] = s.numbers;
  json["case_name"] = s.case_name;
  json["case"] = s.case_toml;
  return json.dump(1);
}

EarlierLines RunState::lines_of(const std::string& file, double until, const Occasions& when, bool goes_on) const {
  EarlierLines earlier;
  earlier.until = until;
  if (const auto at = file_bytes.find(file); at != file_bytes.end()) earlier.bytes = at->second;
  if (const auto at = file_lines.find(file); at != file_lines.end()) earlier.lines = at->second;
  const bool at_end = step == plan.steps && !when.none() && !when.due(step, plan.time_of(step - 1), time);
  if (goes_on && at_end && earlier.lines.value_or(0) > 0) {
    earlier.until = std::nextafter(until, -std::numeric_limits<double>::infinity());
    earlier.lines = *earlier.lines - 1;
  }
  return earlier;
}

RunState parse_run_state(const std::string& json, const std::string& source) {
  RunState s;
  bool good = false;
  const auto finite = [](double v) { return std::isfinite(v); };
  try {
    const auto j = nlohmann::json::parse(json);
    s.version = j.at("tutti");
    if (j.contains("provenance"))  // older checkpoints know none
      for (const auto& [name, value] : j.at("provenance").items()) s.provenance.emplace_back(name, value);
    s.model = j.at("model");
    s.step = j.at("step");
    s.time = j.at("time");
    s.rows = j.at("rows");
    s.mesh_checksum = std::stoull(j.at("mesh_checksum").get<std::string>(), nullptr, 16);
    const auto& plan = j.at("plan");
    s.plan = {plan.at("steps"), plan.at("dt"), plan.at("base_step"), plan.at("base_time")};
    s.plan.until = plan.value("until", Size{0});  // older checkpoints know none
    s.plan.until_time = plan.value("until_time", 0.0);
    s.plan.longest = plan.value("longest", s.plan.dt);
    s.end = s.plan.end = plan.at("end");
    s.devices = j.at("devices").get<std::vector<std::string>>();
    s.outputs = j.at("outputs").get<std::vector<double>>();
    s.slices = j.value("slices", s.slices);  // older checkpoints know none
    s.file_bytes = j.at("file_bytes").get<std::map<std::string, Size>>();
    s.file_lines = j.value("file_lines", s.file_lines);
    s.numbers = j.at("numbers").get<std::map<std::string, double>>();
    s.case_name = j.at("case_name");
    s.case_toml = j.at("case");
    good = s.step >= 0 && s.rows >= 0 && s.plan.steps >= 0 && s.plan.base_step >= 0 && s.plan.base_step <= s.step &&
           finite(s.time) && finite(s.end) && finite(s.plan.dt) && finite(s.plan.base_time) &&
           finite(s.plan.until_time) && finite(s.plan.longest) &&
           std::all_of(s.outputs.begin(), s.outputs.end(), finite);
    for (const auto& [_, times] : s.slices) good = good && std::all_of(times.begin(), times.end(), finite);
    for (const auto& [_, bytes] : s.file_bytes) good = good && bytes >= 0;
    for (const auto& [_, number] : s.numbers) good = good && finite(number);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    fail(ErrorKind::input, "{}: /meta is not what tutti writes: {}; use the previous checkpoint (--fallback)", source,
         error.what());
  }
  if (!good)
    fail(ErrorKind::input,
         "{}: /meta is not what tutti writes: a number is out of range; use the previous checkpoint (--fallback)",
         source);
  return s;
}

std::filesystem::path results_folder_of(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::path folder = path.has_filename() ? path : path.parent_path();  // "results/" is "results"
  if (!std::filesystem::is_directory(folder, error)) folder = folder.parent_path();
  if (folder.filename() == "checkpoints") folder = folder.parent_path();
  return folder.empty() ? "." : folder;
}

namespace {

/// The checkpoints that `path` means, the newest first, the same on all ranks.
std::vector<std::filesystem::path> checkpoints_of(const Comm& comm, const std::filesystem::path& path) {
  std::string list;
  comm.together([&] {
    if (!comm.is_root()) return;
    std::error_code error;
    if (!std::filesystem::exists(path, error))
      fail(ErrorKind::io, "{}: there is no such checkpoint or results folder; check the name", path.string());
    if (!std::filesystem::is_directory(path, error)) {
      list = path.string() + '\n';
      return;
    }
    for (const auto& file : find_checkpoints(path)) list += file.string() + '\n';
    if (list.empty())
      fail(ErrorKind::io, "{}: it contains no checkpoint (checkpoints/step-*.h5); start a new run", path.string());
  });
  comm.broadcast(list);
  std::vector<std::filesystem::path> files;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = list.find('\n', at);
    files.emplace_back(list.substr(at, end - at));
    at = end + 1;
  }
  return files;
}

Restart open_first(const Comm& comm, const std::vector<std::filesystem::path>& files, bool fall_back) {
  for (std::size_t f = 0; f < files.size(); ++f) {
    const std::filesystem::path& file = files[f];
    try {
      CheckpointReader reader(comm, file);
      RunState state;
      comm.together([&] {
        if (reader.header().version != version())
          warn(
              "{}: the checkpoint was written by tutti {}, this is tutti {}: its results may differ; use that version "
              "for the same bits",
              file.string(), reader.header().version, version());
        state = parse_run_state(reader.frame().meta, file.string());
        if (state.step != reader.header().step || state.rows != reader.frame().rows() ||
            state.devices.size() + 1 != reader.frame().part_begin.size())
          fail(ErrorKind::input,
               "{}: /meta has step {}, {} rows and {} parts, the arrays have step {}, {} and {}; use the previous "
               "checkpoint (--fallback)",
               file.string(), state.step, state.rows, state.devices.size(), reader.header().step, reader.frame().rows(),
               reader.frame().part_begin.size() - 1);
      });
      return {std::move(reader), std::move(state), results_folder_of(file)};
    } catch (const SharedError& error) {
      if (!fall_back || error.kind() != ErrorKind::input || f + 1 == files.size()) throw;
      warn("{}; trying the previous one", error.what());
    }
  }
  throw std::logic_error("internal error: no checkpoint to open");
}

}  // namespace

Restart open_restart(const Comm& comm, const std::filesystem::path& path, bool fall_back) {
  constexpr int most_looks = 20;
  for (int look = 1;; ++look) {
    const std::vector<std::filesystem::path> files = checkpoints_of(comm, path);
    try {
      return open_first(comm, files, fall_back);
    } catch (const SharedError&) {
      // A run that is still under way takes old checkpoints away, and may have taken this one.
      std::error_code error;
      const bool gone = comm.is_root() && files.front() != path &&
                        !std::all_of(files.begin(), files.end(),
                                     [&](const auto& file) { return std::filesystem::exists(file, error); });
      if (comm.max(gone ? 1.0 : 0.0) == 0 || look == most_looks) throw;
    }
  }
}

void check_same_case(const Case& now, const Case& before, const std::string& source) {
  const auto a = now.effective_values(), b = before.effective_values();
  const auto shown = [](const std::map<std::string, std::string>& values, const std::string& path) {
    const auto at = values.find(path);
    return at == values.end() ? std::string("nothing") : at->second;
  };
  std::vector<std::string> paths;
  for (const auto& [path, _] : a) paths.push_back(path);
  for (const auto& [path, _] : b)
    if (a.count(path) == 0) paths.push_back(path);
  for (const auto& path : paths) {
    if (may_differ(path) || shown(a, path) == shown(b, path)) continue;
    const std::string where = now.has(path) ? now.where(path) : now.name();
    fail(ErrorKind::input,
         "{}: {} is now {}, but the checkpoint {} was written with {}; a restart continues the same case: change it "
         "back, or start a new run",
         where.starts_with("default of") ? now.name() : where, path, shown(a, path), source, shown(b, path));
  }
}

void check_time_step(const Case& options, double dt, double time) {
  // Steps of subnormal length are 0 for processors that flush them.
  if (std::isnormal(dt) && dt > 0 && std::isfinite(time) && time + dt != time) return;
  const char* key = options.is_word("time.dt", "auto") ? "time.safety" : "time.dt";
  fail(ErrorKind::numerical,
       "{}: a time step of {:g} cannot be taken at time {:g}: steps must be positive and finite, and change the time; "
       "check the units of the mesh and of the data, and [time]",
       options.where(options.has(key) ? key : "model"), dt, time);
}

TimePlan plan_steps(const Case& options, double model_dt) {
  return plan_from(options, 0, 0, model_dt);
}

TimePlan plan_rest(const Case& options, const RunState& state) {
  TimePlan plan = state.plan;
  if (options.has("time.steps")) {
    plan.until = 0, plan.end = 0;  // the case had an end before
    plan.steps = std::max(state.step, options.integer("time.steps"));
    return checked_end(options, plan);
  }
  const double end = options.number("time.end");
  const bool moved = end != state.end;
  if (moved ? end <= state.time : state.step == plan.steps) return {state.step, plan.dt, state.step, state.time};
  // The steps go on as they were planned, unless something is due at other times now, or the last one was shortened.
  TimePlan again = plan_from(options, plan.base_step, plan.base_time, plan.longest);
  const bool shortened = state.step == plan.steps && plan.fitted();
  if (shortened || again.dt != plan.dt || (again.until > 0 && again.until <= state.step))
    return plan_from(options, state.step, state.time, plan.longest);
  if (moved) again.steps = std::max(state.step + 1, again.steps);
  return checked_end(options, again);
}

TimePlan plan_units(double end, Size step, double begin, double dt) {
  const double rest = std::max(0.0, end - begin);
  const auto steps = static_cast<Size>(std::ceil(rest / std::max(1.0, dt)));
  return {step + steps, steps == 0 ? dt : rest / static_cast<double>(steps), step, begin};
}

TimePlan plan_from(const Case& options, Size step, double time, double dt) {
  check_time_step(options, dt, options.has("time.end") ? options.number("time.end") : time);
  if (options.has("time.steps")) return checked_end(options, {options.integer("time.steps"), dt, step, time});
  const double end = options.number("time.end");
  return with_occasions(options, {step + steps_to(options, end - time, dt), dt, step, time, end});
}

}  // namespace tutti
