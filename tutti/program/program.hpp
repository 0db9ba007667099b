// A whole program around models: MPI, options, one message an error, the exit code.
#pragma once

#include <functional>
#include <string>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/program/device_arguments.hpp"
#include "tutti/program/model_kind.hpp"

namespace tutti {

struct ProgramInfo {
  std::string name = {};     ///< begins every message of an error
  std::string about = {};    ///< one line
  std::string version = {};  ///< of the program; --version tells tutti's, too
  std::string footer = {};   ///< end of its help: examples
};

/// A main for programs with models of their own: `NAME run CASE -o DIR` runs a case, `NAME plan CASE` tells what it
/// would take, `NAME reference MODEL` prints its keys. Returns the exit code (ErrorKind).
int run_program(int argc, char** argv, const ProgramInfo& info, const ModelKinds& models);

/// The same with other subcommands: `declare` adds them to the program (CLI11), and the callback of the chosen one
/// leaves its action. The options --quiet and --verbose are there.
int run_commands(int argc, char** argv, const ProgramInfo& info,
                 const std::function<void(CLI::App& program, Action& action)>& declare);

/// The subcommands that any program with models can have. `models` must outlive the program; `example` are lines
/// for the help.
void add_run_command(CLI::App& program, Action& action, const ModelKinds& models, const std::string& example);
/// `instead`: does another thing with the case and returns true. Returns the command, for more options.
using PlanInstead = std::function<bool(const Comm&, const Case&, const std::string& file, const DeviceArguments&)>;
CLI::App* add_plan_command(CLI::App& program, Action& action, const ModelKinds& models, const std::string& example,
                           const PlanInstead& instead = {});
void add_reference_command(CLI::App& program, Action& action, const ModelKinds& models, const std::string& example);

}  // namespace tutti
