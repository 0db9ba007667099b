#include "tutti/mesh/gmsh_program.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "tutti/base/error.hpp"
#include "tutti/base/program.hpp"
#include "tutti/mesh/gmsh.hpp"

namespace tutti {
namespace {

namespace fs = std::filesystem;

void write_script(const fs::path& path, const std::string& text) {
  // A new file: one that lies there under this name may be a link to another place.
  std::error_code ignored;
  fs::remove(path, ignored);
  std::ofstream out(path);
  out << text;
  out.close();
  if (!out) fail(ErrorKind::io, "{}: cannot write the geometry: {}", path.string(), system_cause(errno));
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
  fs::remove(log, ignored);
  std::vector<std::string> words = {"gmsh", stem + ".geo", "-o", stem + ".msh", "-bin", "-nt", std::to_string(threads)};
  words.insert(words.end(), options.begin(), options.end());
  if (find_program(words[0]).empty())
    fail(ErrorKind::resource, "the program {} was not found; install it (Debian: apt install gmsh) or put it on PATH",
         words[0]);
  // The options that a user keeps for gmsh must not decide what mesh a case gets.
  ProgramOptions program;
  program.folder = folder;
  program.log = stem + ".log";
  program.environment = {"GMSH_HOME=."};
  const int status = run_program(words, program).status;
  // gmsh 4.8 ends with 0 after most errors, so its log and its file are asked too.
  bool reports_error = false;
  const std::string last = last_words(log, reports_error);
  if (status != 0 || reports_error || !fs::exists(mesh))
    fail(ErrorKind::input, "{}: gmsh failed (exit code {}): '{}'; see its whole output in this file", log.string(),
         status, last);
}

}  // namespace

TetMesh run_gmsh(const fs::path& work_dir, const GmshScripts& scripts, int threads) {
  if (threads < 1) fail(ErrorKind::usage, "gmsh: {} threads; at least 1 is needed", threads);
  std::error_code code;
  fs::create_directories(work_dir, code);
  if (code)
    fail(ErrorKind::io, "{}: cannot make the folder for gmsh: {}", work_dir.string(), system_cause(code.value()));
  const std::string surface = scripts.stem + "-surface";
  write_script(work_dir / (surface + ".geo"), scripts.surface);
  write_script(work_dir / (scripts.stem + ".geo"), fmt::format("Merge \"{}.msh\";\n{}", surface, scripts.volume));
  mesh_script(work_dir, surface, {"-2", "-format", "msh22"}, threads);
  mesh_script(work_dir, scripts.stem, {"-3", "-algo", "hxt", "-format", "msh41"}, threads);
  return read_gmsh(work_dir / (scripts.stem + ".msh"));
}

}  // namespace tutti
