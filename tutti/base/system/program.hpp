// Other programs, run as child processes without a shell.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tutti {

struct ProgramOptions {
  std::filesystem::path folder;  ///< where it runs; empty: where this program runs
  std::filesystem::path log;     ///< new; takes stdout and stderr, relative to `folder`; empty: they are returned
  std::vector<std::string> environment;  ///< "NAME=value" entries that are added or replaced
  double timeout = 0;                    ///< seconds after which the child and its group are killed; 0: never
};

struct ProgramResult {
  int status = 0;  ///< exit status; 128 + n when signal n ended it
  bool timed_out = false;
  std::string output;  ///< stdout and stderr together, the last megabyte; empty with a log
};

/// Runs words[0] (looked up on PATH when it has no slash) with the other words as they are: no shell reads them, so
/// spaces and quotes are nothing special. Its environment is this program's, as it was at the start, without what an
/// MPI launcher put there: a child that finds it would take itself for a rank. stdin is empty. Error(resource) when the
/// program is not there or cannot be started.
ProgramResult run_program(const std::vector<std::string>& words, const ProgramOptions& options = {});

/// Where `name` is in the absolute folders of PATH; empty when it is not there.
std::filesystem::path find_program(const std::string& name);
/// The file of the running program.
std::filesystem::path own_program();
/// An MPI launcher started this process. To be asked before MPI_Init for the first time.
bool is_launched();

}  // namespace tutti
