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

CLI::Option* BenchArguments::add_seconds(CLI::App& command, const std::string& of) {
  return command.add_option("--seconds", seconds, "seconds of timed steps per " + of)
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

void BenchArguments::add_timing(CLI::App& command, const std::vector<std::string>& kinds_of_weights) {
  command.add_option("--weights", weights, "weights of the devices")
      ->check(CLI::IsMember(kinds_of_weights))
      ->capture_default_str();
  command.add_option("--steps", steps, "number of timed steps; 0: as many as --seconds allows")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  add_seconds(command, "row");
}

void BenchArguments::add_report(CLI::App& command) {
  command.add_option("--json", json, "write all figures to this file")->type_name("FILE");
  devices.add_to(command);
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
