// The subcommands of the program: each declares its options and leaves a function to be run.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tutti/base/comm.hpp"
#include "tutti/device/device_list.hpp"
#include "tutti/io/case.hpp"
#include "tutti/simulation/model.hpp"
#include "tutti/simulation/phases.hpp"

namespace tutti::app {

/// What the chosen subcommand does. All ranks run it.
using Action = std::function<void(const Comm&)>;

void add_run(CLI::App& program, Action& action);
void add_plan(CLI::App& program, Action& action);
void add_doctor(CLI::App& program, Action& action);
void add_devices(CLI::App& program, Action& action);
void add_mesh(CLI::App& program, Action& action);
void add_partition(CLI::App& program, Action& action);
void add_plot(CLI::App& program, Action& action);
void add_bench(CLI::App& program, Action& action);
/// Scripts that complete what stands in `program`: all other subcommands, too, that are added until they are printed.
void add_completion(CLI::App& program, Action& action);
void add_reference(CLI::App& program, Action& action);

/// Options that choose and describe devices, shared by several subcommands.
struct DeviceArguments {
  std::string list;         ///< --devices; empty: what the case says, else "all"
  int threads = 0;          ///< --threads
  std::string fake_memory;  ///< --fake-memory
  void add_to(CLI::App& command);
  DeviceSet open(const Comm& comm) const;
  /// The command line goes before the case.
  DeviceSet open(const Comm& comm, const Case& from) const;
};

/// The case file of `path`: read by rank 0, parsed by all. Collective.
Case load_case(const Comm& comm, const std::string& path, const std::vector<std::string>& sets);
/// The keys of a model.
CaseSchema schema_of(const std::string& model);
const std::vector<std::string>& model_names();
/// The model that the case names, set up and ready to run. Collective.
std::unique_ptr<Model> make_model(const Comm& comm, DeviceSet& devices, const Case& options,
                                  const std::filesystem::path& work_dir, Phases& phases);

}  // namespace tutti::app
