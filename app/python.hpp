// The Python package that draws: which interpreter runs it, where it lies, what it lacks.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tutti::app {

struct PythonPackage {
  std::string interpreter;           ///< TUTTI_PYTHON, else the system's python3, else python3 of PATH; empty: none
  std::filesystem::path folder;      ///< holds tutti/; empty: the interpreter's own (pip install)
  std::string version;               ///< of the interpreter
  std::vector<std::string> missing;  ///< modules that plots need and that are not there
  bool has_vtk = false;              ///< VTK's readers; without them tutti's own are used
  std::string problem;               ///< one line that says what is wrong and what to install; empty: plots work
};

/// Looks beside the program: ../share/tutti/python (build tree and install tree). Starts the interpreter once.
PythonPackage find_python();

/// Draws a picture or converts a mesh: `python3 -m tutti WORDS`. Its errors are those of the Python side: same kind,
/// same words.
void run_with_python(const PythonPackage& python, const std::vector<std::string>& words);

}  // namespace tutti::app
