#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>

#include "tutti/base/log.hpp"
#include "tutti/device/triad.hpp"
#include "tutti/program/bench_internal.hpp"
#include "tutti/program/report.hpp"

namespace tutti {

using Clock = std::chrono::steady_clock;

TimedStep time_steps(const Comm& comm, Model& model, double budget, int count) {
  std::vector<double> seconds;
  const double dt = model.time_step();
  const auto schedules = model.schedules();
  const bool mine = std::ranges::all_of(schedules, [](const Step* schedule) { return schedule->runs_ahead(); });
  const bool ahead = comm.max(mine ? 1 : 0) > 0;
  const auto run = [&](int steps) {
    model.wait();
    comm.barrier();
    const auto begin = Clock::now();
    for (int i = 0; i < steps; ++i) model.step(0, dt);
    model.wait();
    return comm.max(std::chrono::duration<double>(Clock::now() - begin).count()) / steps;
  };
  run(2);
  const int together = ahead ? static_cast<int>(std::clamp(std::min(0.05, budget / 5) / run(3), 1.0, 256.0)) : 1;
  run(together);
  const auto start = Clock::now();
  const auto goes_on = [&](std::size_t done) {
    if (count > 0) return done < static_cast<std::size_t>(count);
    return done < 5 || (done < 1000 && comm.max(std::chrono::duration<double>(Clock::now() - start).count()) < budget);
  };
  while (goes_on(seconds.size())) seconds.push_back(run(together));
  std::sort(seconds.begin(), seconds.end());
  return {seconds.front(), seconds[seconds.size() / 2]};
}

double all_triads(const Comm& comm, DeviceSet& devices, double seconds) {
  static double triad = 0;
  if (triad > 0) return triad;
  const auto limits = MeasureLimits::within(seconds);
  comm.barrier();
  std::vector<double> mine;
  for (auto& device : devices.devices)
    mine.push_back(device->is_host() ? measure_triad(*devices.threads, limits) : measure_triad(*device, limits));
  for (const double t : comm.all_gather(std::span<const double>(mine))) triad += t;
  return triad;
}

namespace {

template <class T, class Check>
void add_value(CLI::App& command, const char* name, T& value, const Check& check, const char* text) {
  command.add_option(name, value, text)->check(check)->capture_default_str();
}

template <class T, class Check>
void add_values(CLI::App& command, const char* name, std::vector<T>& values, const Check& check, const char* text,
                const char* type) {
  CLI::Option* option = command.add_option(name, values, text)->delimiter(',')->check(check)->type_name(type);
  if (!values.empty()) option->capture_default_str();
}

}  // namespace

BenchCommand::BenchCommand(CLI::App& bench, const char* name, const char* text)
    : command_(*bench.add_subcommand(name, text)) {}

void BenchCommand::add(const char* name, int& value, int least, int most, const char* text) {
  add_value(command_, name, value, CLI::Range(least, most), text);
}
void BenchCommand::add(const char* name, Gid& value, Gid least, Gid most, const char* text) {
  add_value(command_, name, value, CLI::Range(least, most), text);
}
void BenchCommand::add(const char* name, double& value, double least, double most, const char* text) {
  add_value(command_, name, value, CLI::Range(least, most), text);
}
void BenchCommand::add(const char* name, std::string& value, const std::vector<std::string>& choices,
                       const char* text) {
  add_value(command_, name, value, CLI::IsMember(choices), text);
}
void BenchCommand::add_list(const char* name, std::vector<int>& values, int least, int most, const char* text) {
  add_values(command_, name, values, CLI::Range(least, most), text, "N,...");
}
void BenchCommand::add_list(const char* name, std::vector<Gid>& values, Gid least, Gid most, const char* text,
                            const char* type) {
  add_values(command_, name, values, CLI::Range(least, most), text, type);
}
void BenchCommand::add_list(const char* name, std::vector<std::string>& values, const std::vector<std::string>& choices,
                            const char* text) {
  add_values(command_, name, values, CLI::IsMember(choices), text, "NAME,...");
}
void BenchCommand::add_flag(const char* name, bool& value, const char* text) {
  command_.add_flag(name, value, text);
}
void BenchCommand::add_text(const char* name, std::string& value, const char* text, const char* type) {
  command_.add_option(name, value, text)->type_name(type);
}
void BenchCommand::add_texts(const char* name, std::vector<std::string>& values, const char* text, const char* type) {
  command_.add_option(name, values, text)->type_name(type);
}

void BenchCommand::add_seconds(BenchArguments& a, const std::string& of) {
  add_value(command_, "--seconds", a.seconds, CLI::PositiveNumber, ("seconds of timed steps per " + of).c_str());
}

void BenchCommand::add_timing(BenchArguments& a, const std::vector<std::string>& kinds_of_weights) {
  add("--weights", a.weights, kinds_of_weights, "weights of the devices");
  add("--steps", a.steps, 0, 1'000'000, "number of timed steps; 0: as many as --seconds allows");
  add_seconds(a, "row");
}

void BenchCommand::add_report(BenchArguments& a) {
  add_text("--json", a.json, "write all figures to this file", "FILE");
  a.devices.add_to(command_);
}

void BenchCommand::run(Action& action, std::function<void(const Comm&)> bench, const char* example) {
  command_.footer(std::string("Example:\n  ") + example);
  command_.callback([&action, bench = std::move(bench)] { action = bench; });
}

void run_bench(const Comm& comm, const BenchArguments& a,
               const std::function<void(DeviceSet& devices, nlohmann::json& results)>& measure) {
  DeviceSet devices = a.devices.open(comm);
  nlohmann::json report;
  report["ranks"] = comm.size();
  report["devices"] = describe(devices);
  info("{} rank{}, {}", comm.size(), comm.size() == 1 ? "" : "s", describe(devices));
  measure(devices, report["results"]);
  comm.together([&] {
    if (comm.is_root() && !a.json.empty()) write_report(a.json, report.dump(2) + "\n");
  });
}

Case bench_case(const ModelKind& kind, const std::string& text) {
  return parse_case("model = \"" + kind.name + "\"\n" + text, "bench.toml", schema_of({kind}, kind.name));
}

std::vector<std::string> choices_of(const ModelKind& kind, const std::string& key) {
  return schema_of({kind}, kind.name).find(key)->choices;
}

}  // namespace tutti
