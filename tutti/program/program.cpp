#include "tutti/program/program.hpp"

#include <mpi.h>
#include <sys/mman.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <system_error>

#include "tutti/base/log.hpp"
#include "tutti/base/log_copy.hpp"
#include "tutti/base/mpi/alarm.hpp"
#include "tutti/base/system/fault.hpp"
#include "tutti/base/system/program.hpp"
#include "tutti/base/system/refused_memory.hpp"
#include "tutti/base/version.hpp"
#include "tutti/program/help_internal.hpp"
#include "tutti/program/last_resort.hpp"
#include "tutti/simulation/run/stop.hpp"

namespace tutti {
namespace {

void say_error(const std::string& program, const char* message) {
  std::fprintf(stderr, "%s: error: %s\n", program.c_str(), message);
  std::fflush(stderr);
  copy_line(std::string("error: ") + message);
}

/// The run that is under way, for what ends it.
struct RunUnderWay {
  const std::string& program;
  const Comm& comm;
  Alarm& alarm;
};

/// In a catch block: tells of the exception and ends all ranks; returns the exit code where there is but one.
int end_run(const RunUnderWay& run) {
  const auto end_all = [&](const char* message, int code) {
    if (run.alarm.claim()) say_error(run.program, message);
    LastResort::let_go(code);
    if (run.comm.size() > 1) MPI_Abort(run.comm.handle(), code);
    return code;
  };
  try {
    throw;
  } catch (const Error& error) {
    return end_all(error.what(), error.exit_code());
  } catch (const std::bad_alloc&) {
    return end_all(no_memory_message().c_str(), static_cast<int>(ErrorKind::resource));
  } catch (const std::system_error& error) {
    const int cause = error.code().value();
    if (!is_shortage(cause)) return end_all(error.what(), 1);
    const std::string message = fmt::format("the system has no memory or thread left: {}", system_cause(cause));
    return end_all(message.c_str(), static_cast<int>(ErrorKind::resource));
  } catch (const std::exception& error) {
    return end_all(error.what(), 1);
  }
}

/// What a command prints is its result. Error(io): not all of it arrived.
void check_output() {
  const bool flushed = std::fflush(stdout) == 0;
  if (!flushed || std::ferror(stdout) != 0)
    fail(ErrorKind::io, "standard output: not all of it could be written; free space, or redirect it elsewhere");
}

/// Runs the action; `prints`: its result is what it prints. An error that all ranks share ends in order with one
/// message; one that only this rank has ends the others.
int run_action(const std::string& program, const Action& action, bool prints) {
  const Comm comm;
  Alarm alarm(comm);
  const RunUnderWay run{program, comm, alarm};
  set_lone_failure_handler([&] {
    if (comm.size() > 1) end_run(run);
  });
  int code = 0;
  try {
    // Every rank is there before anyone may fail.
    comm.together([&] {
      const char* fault = std::getenv("TUTTI_FAULT");
      arm_fault(fault != nullptr ? fault : "", comm.rank());
    });
    action(comm);
    if (prints)
      comm.together([&] {
        if (comm.is_root()) check_output();
      });
  } catch (const SharedError& error) {
    if (comm.is_root()) say_error(program, error.what());
    code = error.exit_code();
  } catch (const std::exception&) {
    code = end_run(run);
  }
  set_lone_failure_handler({});
  return code;
}

/// Without a launcher there is one rank and nobody to talk to. Open MPI looks for partners all the same, for 0.4 s of
/// the 0.5 s that a run of one cell took (docs/notebook/program.md). It also keeps a folder in the temporary folder,
/// and all programs that are alone share its name: one that ends takes it from one that starts. What the user has set
/// goes first.
void start_mpi() {
  if (!is_launched()) {
    setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
    setenv("OMPI_MCA_orte_create_session_dirs", "0", 0);
    setenv("OMPI_MCA_pml", "ob1", 0);
    setenv("OMPI_MCA_btl", "self", 0);
  }
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  // A lost partner is an error that tutti tells, not the end of this process inside MPI.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}

/// Ends all ranks where this one has no room for messages. Open MPI makes room for them at the first ones, and what it
/// is refused it asks for again without end (seen: 4 MiB, by its TCP transport, in MPI_Comm_dup).
void require_room_for_messages(const std::string& program) {
  constexpr std::size_t room = std::size_t{32} << 20;
  void* there = ::mmap(nullptr, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (there != MAP_FAILED) {
    ::munmap(there, room);
    return;
  }
  const std::string message =
      fmt::format("no memory for messages between ranks: {} bytes are needed; use fewer ranks or more nodes", room);
  say_error(program, message.c_str());
  const int code = static_cast<int>(ErrorKind::resource);
  LastResort::let_go(code);
  MPI_Abort(MPI_COMM_WORLD, code);
}

/// A line for tutti, and one before it for a program of its own.
std::string version_text(const ProgramInfo& info) {
  std::string tutti = fmt::format("tutti {}, commit {}", version(), commit());
  if (info.name == "tutti") return tutti;
  return fmt::format("{}{}{}\n{}", info.name, info.version.empty() ? "" : " ", info.version, tutti);
}

int parse_and_run(int argc, char** argv, const ProgramInfo& info,
                  const std::function<void(CLI::App&, Action&)>& declare) {
  set_log_name(info.name);
  CLI::App program{info.about};
  program.name(info.name);
  program.formatter(make_help_format());
  program.set_help_flag("-h,--help", "show this help");
  if (!info.footer.empty()) program.footer(info.footer);
  program.set_version_flag("--version", version_text(info), "print the version");
  program.require_subcommand(1);
  bool quiet = false, loud = false;
  program.add_flag("-q,--quiet", quiet, "print warnings and errors only");
  program.add_flag("-v,--verbose", loud, "print more: thread roles, set-up times, the task graph of a step");
  program.fallthrough();
  Action action;
  declare(program, action);

  // A run ends in order whenever it is asked to; anything else ends at once. Which of them this is, is not known yet.
  catch_stop_signals();

  // Alone, a question for help or a wrong word needs no MPI.
  int rank = 0;
  if (is_launched()) {
    start_mpi();
    require_room_for_messages(info.name);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  }
  try {
    program.parse(argc, argv);
    if (program.get_subcommands().front()->get_name() != "run") release_stop_signals();
  } catch (const CLI::ParseError& error) {
    release_stop_signals();
    const bool asked = error.get_exit_code() == 0;  // --help, --version
    if (rank == 0) {
      if (asked)
        program.exit(error, std::cout, std::cerr);
      else
        say_error(info.name, explain_command_line(program, {argv + 1, argv + argc}, error.what()).c_str());
    }
    if (!asked) return static_cast<int>(ErrorKind::usage);
    try {
      check_output();
      return 0;
    } catch (const Error& cut) {
      if (rank == 0) say_error(info.name, cut.what());
      return cut.exit_code();
    }
  }
  if (!is_launched()) start_mpi();
  set_log(quiet ? LogLevel::quiet : loud ? LogLevel::verbose : LogLevel::normal, rank == 0);
  // A run's results are in a folder: what it says on the way is not worth its end.
  const auto commands = program.get_subcommands();
  const bool prints = commands.empty() || commands.front()->get_name() != "run";
  return run_action(info.name, action, prints);
}

}  // namespace

int run_commands(int argc, char** argv, const ProgramInfo& info,
                 const std::function<void(CLI::App&, Action&)>& declare) {
  int code = static_cast<int>(ErrorKind::resource);
  {
    const LastResort watch(info.name);
    try {
      code = parse_and_run(argc, argv, info, declare);
    } catch (const std::bad_alloc&) {  // before there is a run
      say_error(info.name, no_memory_message().c_str());
    }
    int started = 0;
    MPI_Initialized(&started);
    if (started != 0) MPI_Finalize();
  }
  return code;
}

int run_program(int argc, char** argv, const ProgramInfo& info, const ModelKinds& models) {
  return run_commands(argc, argv, info, [&](CLI::App& program, Action& action) {
    add_run_command(program, action, models,
                    "  " + info.name + " run case.toml -o results --set time.end=2 --devices cpu");
    add_plan_command(program, action, models, "  " + info.name + " plan case.toml --devices cpu");
    add_reference_command(program, action, models, info.name + " reference");
  });
}

}  // namespace tutti
