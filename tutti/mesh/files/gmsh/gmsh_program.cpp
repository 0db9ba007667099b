#include "tutti/mesh/files/gmsh/gmsh_program.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <vector>

#include "tutti/base/error.hpp"
#include "tutti/base/system/atomic_file.hpp"
#include "tutti/base/system/program.hpp"
#include "tutti/mesh/files/gmsh/gmsh.hpp"

namespace tutti {
namespace {

namespace fs = std::filesystem;

/// Two empty folders that only this user can look into, for one use of gmsh: what lies in its home and beside a script
/// may be commands that gmsh runs, so neither may be a folder that somebody else gave us.
class PrivateFolder {
 public:
  PrivateFolder() {
    std::error_code error;
    std::string name = (fs::temp_directory_path(error) / "tutti-gmsh-XXXXXX").string();
    if (error || ::mkdtemp(name.data()) == nullptr)
      fail(ErrorKind::io, "{}: cannot create a folder for gmsh: {}; set TMPDIR to a writable one", name,
           std::strerror(error ? error.value() : errno));
    root_ = name;
    for (const fs::path& folder : {home(), work()}) {
      fs::create_directory(folder, error);
      if (error) fail(ErrorKind::io, "{}: cannot create the folder: {}", folder.string(), system_cause(error.value()));
    }
  }
  ~PrivateFolder() {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  fs::path home() const { return root_ / "home"; }
  fs::path work() const { return root_ / "work"; }

 private:
  fs::path root_;
};

/// Copies a file that there may be.
void keep(const fs::path& from, const fs::path& to) {
  std::ifstream in(from, std::ios::binary);
  if (!in) return;
  AtomicFile out(to);
  std::vector<char> piece(std::size_t{1} << 20);
  while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())), in.gcount() > 0)
    out.write({piece.data(), static_cast<std::size_t>(in.gcount())});
  if (in.bad()) fail(ErrorKind::io, "{}: cannot be read: {}", from.string(), system_cause(errno));
  out.commit();
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

/// One run of gmsh in the private folder: from stem.geo to stem.msh, with the output in stem.log; all are kept in `to`.
void mesh_script(const PrivateFolder& place, const std::string& stem, const std::string& script,
                 std::vector<std::string> options, int threads, const fs::path& to) {
  const std::string geometry = stem + ".geo", mesh = stem + ".msh", log = stem + ".log";
  const fs::path gmsh = find_program("gmsh");
  if (gmsh.empty())
    fail(ErrorKind::resource,
         "the program gmsh was not found; install it (Debian: apt install gmsh) or put it on PATH");
  write_file(place.work() / geometry, script);
  keep(place.work() / geometry, to / geometry);
  std::vector<std::string> words = {gmsh.string(), geometry, "-o", mesh, "-bin", "-nt", std::to_string(threads)};
  words.insert(words.end(), options.begin(), options.end());
  ProgramOptions program;
  program.folder = place.work();
  program.log = log;
  // The options that a user keeps for gmsh must not decide what mesh a case gets, either.
  for (const char* name : {"GMSH_HOME", "HOME", "TMPDIR", "TMP", "TEMP", "XDG_CONFIG_HOME", "XDG_DATA_HOME"})
    program.environment.push_back(fmt::format("{}={}", name, place.home().string()));
  const int status = run_program(words, program).status;
  keep(place.work() / log, to / log);
  keep(place.work() / mesh, to / mesh);
  // gmsh 4.8 ends with 0 after most errors, so its log and its file are asked too.
  bool reports_error = false;
  const std::string last = last_words(place.work() / log, reports_error);
  if (status != 0 || reports_error || !fs::exists(place.work() / mesh))
    fail(ErrorKind::input, "{}: gmsh failed (exit code {}): '{}'; see its whole output in this file",
         (to / log).string(), status, last);
}

}  // namespace

TetMesh run_gmsh(const fs::path& work_dir, const GmshScripts& scripts, int threads) {
  if (threads < 1) fail(ErrorKind::usage, "gmsh: {} threads; at least 1 is needed", threads);
  if (const int cause = make_folders(work_dir); cause != 0)
    fail(ErrorKind::io, "{}: cannot create the folder for gmsh: {}", work_dir.string(), system_cause(cause));
  const PrivateFolder place;
  const std::string surface = scripts.stem + "-surface";
  mesh_script(place, surface, scripts.surface, {"-2", "-format", "msh22"}, threads, work_dir);
  mesh_script(place, scripts.stem, fmt::format("Merge \"{}.msh\";\n{}", surface, scripts.volume),
              {"-3", "-algo", "hxt", "-format", "msh41"}, threads, work_dir);
  return read_gmsh(place.work() / (scripts.stem + ".msh"));
}

}  // namespace tutti
