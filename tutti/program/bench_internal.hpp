// What the benchmarks of all models share.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tutti/program/device_arguments.hpp"
#include "tutti/program/model_kind.hpp"

namespace tutti {

struct TimedStep {
  double best = 0, median = 0;
};
/// Seconds of a step: the best and the median of `count` measurements, or with 0 of as many as fit in about `budget`
/// seconds. Where steps run ahead of the devices, as many as 50 ms (or a fifth of the budget) take are timed as one.
/// Collective.
TimedStep time_steps(const Comm& comm, Model& model, double budget, int count = 0);

/// Sum over the devices of all ranks of the STREAM triad, measured at the same time in as many seconds at most as a row
/// of steps may take, or one [bytes/s]. Once per program: later calls, of later rows, return the same. Collective.
double all_triads(const Comm& comm, DeviceSet& devices, double seconds);

/// What every benchmark is asked for.
struct BenchArguments {
  double seconds = 2;
  int steps = 0;
  std::string weights = "equal", json;
  DeviceArguments devices;

  CLI::Option* add_seconds(CLI::App& command, const std::string& of);
  /// --weights, --steps and --seconds of a model's steps, a row of the table after the other.
  void add_timing(CLI::App& command, const std::vector<std::string>& kinds_of_weights);
  void add_report(CLI::App& command);
};

/// An option of several values, measured one after the other.
template <class T, class Check>
CLI::Option* add_list(CLI::App& command, const char* name, std::vector<T>& values, const char* text, const Check& check,
                      const char* type) {
  return command.add_option(name, values, text)->delimiter(',')->check(check)->type_name(type)->capture_default_str();
}

/// Opens the devices, says who takes part, lets `measure` fill the results, and writes the report. Collective.
void run_bench(const Comm& comm, const BenchArguments& arguments,
               const std::function<void(DeviceSet& devices, nlohmann::json& results)>& measure);

/// A case of the model from the lines behind its name.
Case bench_case(const ModelKind& kind, const std::string& text);
/// The words that a key of the model's cases may have.
std::vector<std::string> choices_of(const ModelKind& kind, const std::string& key);

}  // namespace tutti
