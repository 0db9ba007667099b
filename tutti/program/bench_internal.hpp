// What the benchmarks of all models share.
#pragma once

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
};

/// A subcommand of bench with its options. That CLI11 reads them is known to bench.cpp alone: its headers take seconds
/// to compile. A list holds values that are measured one after the other.
class BenchCommand {
 public:
  BenchCommand(CLI::App& bench, const char* name, const char* text);

  /// Numbers from `least` to `most`.
  void add(const char* name, int& value, int least, int most, const char* text);
  void add(const char* name, Gid& value, Gid least, Gid most, const char* text);
  void add(const char* name, double& value, double least, double most, const char* text);
  void add_list(const char* name, std::vector<int>& values, int least, int most, const char* text);
  void add_list(const char* name, std::vector<Gid>& values, Gid least, Gid most, const char* text, const char* type);
  /// One of `choices`.
  void add(const char* name, std::string& value, const std::vector<std::string>& choices, const char* text);
  void add_list(const char* name, std::vector<std::string>& values, const std::vector<std::string>& choices,
                const char* text);
  void add_flag(const char* name, bool& value, const char* text);
  /// Any text, called `type` in the help.
  void add_text(const char* name, std::string& value, const char* text, const char* type);
  void add_texts(const char* name, std::vector<std::string>& values, const char* text, const char* type);

  void add_seconds(BenchArguments& arguments, const std::string& of);
  /// --weights, --steps and --seconds of a model's steps, a row of the table after the other.
  void add_timing(BenchArguments& arguments, const std::vector<std::string>& kinds_of_weights);
  void add_report(BenchArguments& arguments);
  /// What the subcommand does, and an example of it for the help.
  void run(Action& action, std::function<void(const Comm&)> bench, const char* example);

 private:
  CLI::App& command_;
};

/// Opens the devices, says who takes part, lets `measure` fill the results, and writes the report. Collective.
void run_bench(const Comm& comm, const BenchArguments& arguments,
               const std::function<void(DeviceSet& devices, nlohmann::json& results)>& measure);

/// A case of the model from the lines behind its name.
Case bench_case(const ModelKind& kind, const std::string& text);
/// The words that a key of the model's cases may have.
std::vector<std::string> choices_of(const ModelKind& kind, const std::string& key);

}  // namespace tutti
