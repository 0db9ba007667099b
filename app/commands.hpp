// The subcommands of the program: each declares its options and leaves a function to be run.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/device/device_list.hpp"
#include "tutti/domain/phases.hpp"
#include "tutti/io/case/case.hpp"
#include "tutti/program/device_arguments.hpp"
#include "tutti/program/program.hpp"
#include "tutti/program/report.hpp"

namespace tutti::app {

void add_plan(CLI::App& program, Action& action);
void add_doctor(CLI::App& program, Action& action);
void add_devices(CLI::App& program, Action& action);
void add_mesh(CLI::App& program, Action& action);
void add_nodes(CLI::App& program, Action& action);
void add_partition(CLI::App& program, Action& action);
void add_spectrum(CLI::App& program, Action& action);
void add_plot(CLI::App& program, Action& action);
void add_bench(CLI::App& program, Action& action);
/// The manual page of all that stands in `program`.
void add_manual(CLI::App& program, Action& action);
/// Scripts that complete what stands in `program`: all other subcommands, too, that are added until they are printed.
void add_completion(CLI::App& program, Action& action);

/// The models of this program.
const ModelKinds& models();
/// Adds to `tutti mesh` what models have there.
void add_mesh_commands_of_models(CLI::App& mesh, Action& action);
/// The case file of `path`: read by rank 0, parsed by all. Collective.
Case load_case(const Comm& comm, const std::string& path, const std::vector<std::string>& sets);

}  // namespace tutti::app
