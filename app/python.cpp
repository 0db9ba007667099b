#include "app/python.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "tutti/base/error.hpp"
#include "tutti/base/log.hpp"
#include "tutti/base/system/program.hpp"

namespace tutti::app {
namespace {

/// The folder of the package beside the program.
std::filesystem::path package_folder() {
  const auto beside = own_program().parent_path().parent_path() / "share" / "tutti" / "python";
  std::error_code ignored;
  return std::filesystem::is_regular_file(beside / "tutti" / "__main__.py", ignored) ? beside : "";
}

ProgramOptions python_options(const std::filesystem::path& folder) {
  ProgramOptions options;
  // No module of the folder that the user happens to be in (Python 3.11), no window on any screen.
  options.environment = {"PYTHONSAFEPATH=1", "MPLBACKEND=Agg"};
  if (folder.empty()) return options;
  const char* before = std::getenv("PYTHONPATH");
  options.environment.push_back("PYTHONPATH=" + folder.string() +
                                (before == nullptr || *before == '\0' ? "" : ":" + std::string(before)));
  // The package may lie where this user cannot, or another test must not, write.
  options.environment.emplace_back("PYTHONDONTWRITEBYTECODE=1");
  return options;
}

std::string choose_interpreter() {
  if (const char* wanted = std::getenv("TUTTI_PYTHON"); wanted != nullptr && *wanted != '\0') return wanted;
  // The environment's own (venv, conda), where pip or conda put this program: there is the package.
  const auto beside = own_program().parent_path() / "python3";
  std::error_code ignored;
  for (const char* mark : {"pyvenv.cfg", "conda-meta"})
    if (std::filesystem::exists(beside.parent_path().parent_path() / mark, ignored) &&
        ::access(beside.c_str(), X_OK) == 0)
      return beside;
  // The system's first: a python3 of pyenv or conda that shadows it does not see the distribution's modules.
  if (::access("/usr/bin/python3", X_OK) == 0) return "/usr/bin/python3";
  return find_program("python3").string();
}

/// Says its version, then what of the words it can import; looks without importing.
constexpr const char* questions =
    "import sys, importlib.util as u\n"
    "print('python', '.'.join(map(str, sys.version_info[:3])))\n"
    "for m in ('numpy', 'matplotlib', 'tutti', 'vtkmodules'):\n"
    "    print(m, 'yes' if u.find_spec(m) else 'no')\n";

std::string last_line(const std::string& text) {
  std::istringstream lines(text);
  std::string last;
  for (std::string line; std::getline(lines, line);)
    if (line.find_first_not_of(" \t\r") != std::string::npos) last = line;
  return last;
}

}  // namespace

PythonPackage find_python() {
  PythonPackage python;
  python.interpreter = choose_interpreter();
  python.folder = package_folder();
  if (python.interpreter.empty()) {
    python.problem =
        "plots need Python: install it (Debian: apt install python3 python3-numpy python3-matplotlib), or "
        "set TUTTI_PYTHON to an interpreter";
    return python;
  }
  ProgramResult answer;
  try {
    ProgramOptions options = python_options(python.folder);
    options.timeout = 60;
    answer = run_program({python.interpreter, "-c", questions}, options);
  } catch (const Error& error) {
    python.problem = std::string(error.what()) + "; set TUTTI_PYTHON to the interpreter for plots";
    return python;
  }
  std::istringstream lines(answer.output);
  for (std::string word, value; lines >> word >> value;) {
    if (word == "python") python.version = value;
    if (word == "vtkmodules") python.has_vtk = value == "yes";
    if (word != "python" && word != "vtkmodules" && value == "no") python.missing.push_back(word);
  }
  if (answer.status != 0 || python.version.empty()) {
    python.problem =
        fmt::format("{} is not a working Python interpreter (exit code {}); set TUTTI_PYTHON to another interpreter",
                    python.interpreter, answer.status);
  } else if (!python.missing.empty()) {
    std::vector<std::string> modules = python.missing;
    const bool own = std::erase(modules, "tutti") > 0;
    if (!modules.empty())
      python.problem = fmt::format(
          "{} has no {}: install {} (Debian: apt install python3-{}), or set TUTTI_PYTHON to "
          "another interpreter",
          python.interpreter, fmt::join(modules, " and no "), modules.size() == 1 ? "it" : "them",
          fmt::join(modules, " python3-"));
    else if (own)
      python.problem = fmt::format("{} has no module tutti: install it with pip from the folder python/ of the sources",
                                   python.interpreter);
  }
  return python;
}

void run_with_python(const PythonPackage& python, const std::vector<std::string>& words) {
  std::vector<std::string> all = {python.interpreter, "-m", "tutti"};
  all.insert(all.end(), words.begin(), words.end());
  const ProgramResult result = run_program(all, python_options(python.folder));
  if (result.status == 0) {
    info("{}", result.output.substr(0, result.output.find_last_not_of('\n') + 1));
    return;
  }
  std::string message = last_line(result.output);
  if (message.starts_with("tutti.") && message.find(": ") != std::string::npos)
    message.erase(0, message.find(": ") + 2);
  if (const std::string_view wrong = "error: argument "; message.starts_with(wrong)) message.erase(0, wrong.size());
  const bool known = result.status >= 2 && result.status <= 7;
  if (!known)
    message = fmt::format("{} ended with exit code {} in tutti {}: {}; see tutti doctor", python.interpreter,
                          result.status, words.front(), message);
  fail(known ? static_cast<ErrorKind>(result.status) : ErrorKind::resource, "{}", message);
}

}  // namespace tutti::app
