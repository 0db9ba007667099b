#include "tutti/base/system/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <thread>

#include "tutti/base/error.hpp"

namespace tutti {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

/// The environment that this process was started with: MPI_Init adds to the present one, even without a launcher.
std::vector<std::string> environment_at_start() {
  std::ifstream file("/proc/self/environ", std::ios::binary);
  std::vector<std::string> entries;
  for (std::string entry; std::getline(file, entry, '\0');) entries.push_back(entry);
  return entries;
}

/// Set by a launcher, not by a user: OMPI_MCA_* and OMPI_ALLOW_RUN_AS_ROOT* are kept where no launcher was.
bool is_launchers(std::string_view entry, bool launched) {
  return entry.starts_with("PMIX_") || entry.starts_with("PMI_") || entry.starts_with("HYDRA_") ||
         entry.starts_with("OMPI_COMM_WORLD_") || entry.starts_with("OMPI_UNIVERSE_") ||
         (launched && entry.starts_with("OMPI_"));
}

std::vector<std::string> child_environment(const ProgramOptions& options) {
  std::vector<std::string> result = options.environment;
  const bool launched = is_launched();
  for (const std::string& entry : environment_at_start()) {
    const std::string name = entry.substr(0, entry.find('=') + 1);
    const bool replaced = std::any_of(options.environment.begin(), options.environment.end(),
                                      [&](const std::string& e) { return e.starts_with(name); });
    if (!replaced && !is_launchers(entry, launched)) result.push_back(entry);
  }
  return result;
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> result;
  for (const std::string& w : words) result.push_back(const_cast<char*>(w.c_str()));
  result.push_back(nullptr);
  return result;
}

/// Reads what is there, and keeps the last megabyte. False at the end.
bool read_some(int file, std::string& output) {
  std::array<char, 4096> piece{};
  const ssize_t n = ::read(file, piece.data(), piece.size());
  if (n < 0 && errno == EINTR) return true;
  if (n <= 0) return false;
  output.append(piece.data(), static_cast<std::size_t>(n));
  constexpr std::size_t most = std::size_t{1} << 20;
  if (output.size() > 2 * most) output.erase(0, output.size() - most);
  return true;
}

/// Collects the output until the child ends, or kills it when its time is over.
ProgramResult attend(pid_t child, int pipe, double timeout, const std::string& name) {
  ProgramResult result;
  const auto start = Clock::now();
  const auto late = [&] {
    return timeout > 0 && std::chrono::duration<double>(Clock::now() - start).count() > timeout;
  };
  int status = 0;
  bool open = pipe >= 0;
  for (auto pause = 1ms;; pause = std::min(pause * 2, 50ms)) {
    if (open) {
      pollfd ready{pipe, POLLIN, 0};
      if (::poll(&ready, 1, static_cast<int>(pause.count())) > 0) {
        open = read_some(pipe, result.output);
        pause = 1ms;
      }
    }
    const pid_t ended = ::waitpid(child, &status, timeout > 0 || open ? WNOHANG : 0);
    if (ended == child) break;
    if (ended < 0 && errno != EINTR)
      fail(ErrorKind::resource, "lost contact with the program {}: {}; try again", name, std::strerror(errno));
    if (late()) {
      result.timed_out = true;
      ::kill(-child, SIGKILL);
    }
    if (!open) std::this_thread::sleep_for(pause);
  }
  // What is still in the pipe; a grandchild that keeps it open is not waited for.
  for (pollfd ready{pipe, POLLIN, 0}; open && ::poll(&ready, 1, 0) > 0;) open = read_some(pipe, result.output);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace

bool is_launched() {
  // Of Open MPI's mpirun, of PMI (MPICH's launchers, Slurm, Flux), of PMIx (Slurm, PRRTE).
  constexpr std::array<const char*, 6> names = {"OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE", "PMI_FD", "PMIX_RANK",
                                                "PMIX_NAMESPACE"};
  static const bool found =  // before MPI_Init: it sets some of them for a process on its own, too
      std::any_of(names.begin(), names.end(), [](const char* name) { return std::getenv(name) != nullptr; });
  return found;
}

ProgramResult run_program(const std::vector<std::string>& words, const ProgramOptions& options) {
  const std::vector<std::string> environment = child_environment(options);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  if (!options.folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, options.folder.c_str());
  std::array<int, 2> pipe = {-1, -1};
  if (options.log.empty()) {
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0)
      fail(ErrorKind::resource, "no pipe for the program {}: {}", words[0], system_cause(errno));
    posix_spawn_file_actions_adddup2(&actions, pipe[1], 1);
  } else {
    posix_spawn_file_actions_addopen(&actions, 1, options.log.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
  }
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  // A group of its own, so that a child's children end with it when its time is over.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  if (options.timeout > 0) {
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  }
  pid_t child = -1;
  const int code = posix_spawnp(&child, words[0].c_str(), &actions, &attributes, pointers(words).data(),
                                pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (pipe[1] >= 0) ::close(pipe[1]);
  if (code != 0) {
    if (pipe[0] >= 0) ::close(pipe[0]);
    if (code == ENOENT)
      fail(ErrorKind::resource, "the program {} was not found; install it or put it on PATH", words[0]);
    fail(ErrorKind::resource, "cannot run the program {}: {}", words[0], system_cause(code));
  }
  ProgramResult result = attend(child, pipe[0], options.timeout, words[0]);
  if (pipe[0] >= 0) ::close(pipe[0]);
  return result;
}

std::filesystem::path find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    // What lies in the current folder, or in one seen from there, is not taken for a program.
    if (!folder.starts_with('/')) continue;
    std::filesystem::path file = std::filesystem::path(folder) / name;
    std::error_code ignored;
    if (std::filesystem::is_regular_file(file, ignored) && ::access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

std::filesystem::path own_program() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored);
}

}  // namespace tutti
