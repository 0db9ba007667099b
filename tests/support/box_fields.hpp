// Structured grids with known fields: what tests/python/read_boxes.py expects.
#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tutti/io/vtk/vti.hpp"

namespace tutti::test {

inline std::vector<double> even_faces(double origin, double h, int cells) {
  std::vector<double> faces;
  for (int i = 0; i <= cells; ++i) faces.push_back(origin + i * h);
  return faces;
}

/// Cells that grow by `factor` from one to the next.
inline std::vector<double> growing_faces(double origin, double h, double factor, int cells) {
  std::vector<double> faces = {origin};
  for (int i = 0; i < cells; ++i, h *= factor) faces.push_back(faces.back() + h);
  return faces;
}

/// Values in the cells of a box, x fastest.
struct BoxFields {
  std::vector<double> cell;
  std::vector<float> velocity;

  BoxFields(const BoxGridShape& grid, const CellBox& box, double time) {
    const auto centre = [&](int d, Lid i) {
      const auto& f = grid.faces(d);
      return 0.5 * (f[i] + f[i + 1]);
    };
    for (Lid k = box.lower[2]; k < box.upper[2]; ++k)
      for (Lid j = box.lower[1]; j < box.upper[1]; ++j)
        for (Lid i = box.lower[0]; i < box.upper[0]; ++i) {
          cell.push_back(static_cast<double>(i + grid.cells(0) * (j + grid.cells(1) * k)));
          velocity.push_back(static_cast<float>(centre(0, i) + time));
          velocity.push_back(static_cast<float>(centre(1, j)));
          velocity.push_back(static_cast<float>(centre(2, k)));
        }
  }
};

/// Exit code of read_boxes.py on `folder`; `script` is its path.
inline int read_boxes(const std::string& script, const std::filesystem::path& folder, const BoxGridShape& grid,
                      const std::vector<double>& times) {
  std::ofstream faces(folder / "faces.txt"), moments(folder / "times.txt");
  for (int d = 0; d < 3; ++d) {
    for (const double x : grid.faces(d)) faces << fmt::format("{:.17g} ", x);
    faces << '\n';
  }
  for (const double t : times) moments << fmt::format("{:.17g}\n", t);
  faces.close();
  moments.close();
  const char* python = std::getenv("TUTTI_PYTHON");
  return std::system(
      fmt::format("{} '{}' '{}'", python != nullptr ? python : "/usr/bin/python3", script, folder.string()).c_str());
}

}  // namespace tutti::test
