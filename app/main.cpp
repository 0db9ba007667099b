// The program `tutti`: one subcommand a file, errors turned into one line and an exit code.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <thread>

#include "app/commands.hpp"
#include "tutti/base/log.hpp"

namespace tutti {
namespace {

void say_error(const char* message) {
  close_open_line();
  std::fprintf(stderr, "tutti: error: %s\n", message);
  std::fflush(stderr);
}

/// Several ranks may meet the same error in the middle of a step, where they cannot ask each other who tells it. The
/// lowest of them speaks first and ends the others before they do.
void let_lower_ranks_speak(const Comm& comm) {
  std::this_thread::sleep_for(std::chrono::milliseconds(std::min(100 * comm.rank(), 2000)));
}

/// Runs the action. An error that all ranks share ends in order with one message; one that only this rank has ends the
/// others.
int run_action(const app::Action& action) {
  const Comm comm;
  try {
    comm.together([] {});  // every rank is there before anyone may fail
    action(comm);
    return 0;
  } catch (const SharedError& error) {
    if (comm.is_root()) say_error(error.what());
    return error.exit_code();
  } catch (const Error& error) {
    let_lower_ranks_speak(comm);
    say_error(error.what());
    if (comm.size() > 1) MPI_Abort(comm.handle(), error.exit_code());
    return error.exit_code();
  } catch (const std::bad_alloc&) {
    let_lower_ranks_speak(comm);
    say_error("the system has no memory left; use a smaller mesh or more nodes");
    if (comm.size() > 1) MPI_Abort(comm.handle(), static_cast<int>(ErrorKind::resource));
    return static_cast<int>(ErrorKind::resource);
  } catch (const std::exception& error) {
    let_lower_ranks_speak(comm);
    say_error(error.what());
    if (comm.size() > 1) MPI_Abort(comm.handle(), 1);
    return 1;
  }
}

int parse_and_run(int argc, char** argv) {
  CLI::App program{"tutti runs mesh-based simulations on all CPU cores and all GPUs at once."};
  program.footer(
      "Example:\n  tutti run examples/heart/case.toml -o results/heart\n  mpirun -np 4 tutti run "
      "examples/heart/case.toml -o results/heart4\n\n"
      "Exit codes: 0 ok, 2 usage, 3 resources, 4 input, 5 input/output, 6 numerical, 7 another rank or a device was "
      "lost.");
  program.set_version_flag("--version", "tutti " TUTTI_VERSION);
  program.require_subcommand(1);
  bool quiet = false, loud = false;
  program.add_flag("-q,--quiet", quiet, "print warnings and errors only");
  program.add_flag("-v,--verbose", loud, "say more: thread roles, set-up times, the graph of a step");
  program.fallthrough();
  app::Action action;
  app::add_run(program, action);
  app::add_plan(program, action);
  app::add_devices(program, action);
  app::add_mesh(program, action);
  app::add_partition(program, action);
  app::add_bench(program, action);
  app::add_reference(program, action);

  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool asked = error.get_exit_code() == 0;  // --help, --version
    if (rank == 0) {
      if (asked)
        program.exit(error, std::cout, std::cerr);
      else
        say_error((std::string(error.what()) + "; see tutti --help").c_str());
    }
    return asked ? 0 : static_cast<int>(ErrorKind::usage);
  }
  set_log(quiet ? LogLevel::quiet : loud ? LogLevel::verbose : LogLevel::normal, rank == 0);
  return run_action(action);
}

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  const int code = tutti::parse_and_run(argc, argv);
  MPI_Finalize();
  return code;
}
