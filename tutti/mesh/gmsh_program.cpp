#include "tutti/mesh/gmsh_program.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "tutti/base/error.hpp"
#include "tutti/mesh/gmsh.hpp"

extern char** environ;

namespace tutti {
namespace {

namespace fs = std::filesystem;

void write_script(const fs::path& path, const std::string& text) {
  std::ofstream out(path);
  out << text;
  out.close();
  if (!out) fail(ErrorKind::io, "{}: cannot write the geometry: {}", path.string(), std::strerror(errno));
}

/// The environment without what an MPI launcher put there: a child that finds it would take itself for a rank. Nor may
/// the options that a user keeps for gmsh decide what mesh a case gets.
std::vector<char*> child_environment() {
  static char no_user_options[] = "GMSH_HOME=.";
  std::vector<char*> result;
  for (char** e = environ; *e != nullptr; ++e) {
    const std::string_view entry(*e);
    const bool launcher = entry.starts_with("OMPI_") || entry.starts_with("PMIX_") || entry.starts_with("PMI_");
    if (!launcher && !entry.starts_with("GMSH_HOME=")) result.push_back(*e);
  }
  result.push_back(no_user_options);
  result.push_back(nullptr);
  return result;
}

/// Runs `words` in `folder` with its output in the folder's file `log`; returns the exit status, 128 + n for signal n.
int run_program(const std::vector<std::string>& words, const fs::path& folder, const char* log) {
  std::vector<char*> arguments;
  for (const std::string& w : words) arguments.push_back(const_cast<char*>(w.c_str()));
  arguments.push_back(nullptr);
  std::vector<char*> environment = child_environment();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = -1;
  const int code = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  if (code == ENOENT)
    fail(ErrorKind::resource, "the program {} was not found; install it (Debian: apt install gmsh) or put it on PATH",
         words[0]);
  if (code != 0) fail(ErrorKind::resource, "cannot run the program {}: {}", words[0], std::strerror(code));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) fail(ErrorKind::resource, "lost the program {}: {}", words[0], std::strerror(errno));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// The last line of the log that reports an error, or the last line at all.
std::string last_words(const fs::path& log, bool& reports_error) {
  std::ifstream in(log);
  std::string line, last, last_error;
  while (std::getline(in, line)) {
    if (line.find_first_not_of(" \t\r-") == std::string::npos) continue;
    last = line;
    if (line.starts_with("Error")) last_error = line;
  }
  reports_error = !last_error.empty();
  return reports_error ? last_error : last;
}

/// One run of gmsh in `folder`: from stem.geo to stem.msh, with the output in stem.log.
void mesh_script(const fs::path& folder, const std::string& stem, std::vector<std::string> options, int threads) {
  const fs::path mesh = folder / (stem + ".msh"), log = folder / (stem + ".log");
  // An old mesh must not be taken for the new one.
  std::error_code ignored;
  fs::remove(mesh, ignored);
  std::vector<std::string> words = {"gmsh", stem + ".geo", "-o", stem + ".msh", "-bin", "-nt", std::to_string(threads)};
  words.insert(words.end(), options.begin(), options.end());
  const int status = run_program(words, folder, (stem + ".log").c_str());
  // gmsh 4.8 ends with 0 after most errors, so its log and its file are asked too.
  bool reports_error = false;
  const std::string last = last_words(log, reports_error);
  if (status != 0 || reports_error || !fs::exists(mesh))
    fail(ErrorKind::input, "gmsh failed (exit code {}): '{}'; the whole output is in {}", status, last, log.string());
}

}  // namespace

TetMesh run_gmsh(const fs::path& work_dir, const GmshScripts& scripts, int threads) {
  if (threads < 1) fail(ErrorKind::usage, "gmsh: {} threads; at least 1 is needed", threads);
  std::error_code code;
  fs::create_directories(work_dir, code);
  if (code) fail(ErrorKind::io, "{}: cannot make the folder for gmsh: {}", work_dir.string(), code.message());
  const std::string surface = scripts.stem + "-surface";
  write_script(work_dir / (surface + ".geo"), scripts.surface);
  write_script(work_dir / (scripts.stem + ".geo"), fmt::format("Merge \"{}.msh\";\n{}", surface, scripts.volume));
  mesh_script(work_dir, surface, {"-2", "-format", "msh22"}, threads);
  mesh_script(work_dir, scripts.stem, {"-3", "-algo", "hxt", "-format", "msh41"}, threads);
  return read_gmsh(work_dir / (scripts.stem + ".msh"));
}

}  // namespace tutti
