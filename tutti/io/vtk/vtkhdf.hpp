// Results of a run in one HDF5 file that VTK 9.3 and ParaView 5.12 read: VTKHDF, an unstructured grid over time
// (https://docs.vtk.org/en/latest/vtk_file_formats/vtkhdf_file_format/index.html, version 2.0).
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "tutti/base/types.hpp"
#include "tutti/base/vec3.hpp"
#include "tutti/io/vtk/vtk_file.hpp"

namespace tutti {

/// Cells of a part in VTK's numbering: the points of cell c are connectivity[offsets[c] .. offsets[c + 1]).
struct PieceCells {
  std::vector<Vec3> points;
  std::vector<std::int64_t> connectivity, offsets = {0};
  std::vector<std::uint8_t> types;
};

/// The one file of a run: its mesh once, and the arrays of its cells, or of its points, at every time. The file is
/// whole between two calls; a run that is killed within one may leave it damaged. Used on one rank.
class VtkhdfFile {
 public:
  /// `level`: of zlib. Nothing is written yet.
  VtkhdfFile(std::filesystem::path path, int level, bool at_points = false)
      : path_(std::move(path)), level_(level), data_(at_points ? "PointData" : "CellData"), at_points_(at_points) {}
  /// Makes the file, with all parts in order and no time yet. Error(io).
  void create(std::span<const PieceCells> parts);
  /// Goes on with a file behind its first `times` times: what is behind them is given up. Error(io): there is no such
  /// file. Error(input): it has other numbers of cells than `parts`, fewer times, or is no file of this format.
  void go_on(std::span<const PieceCells> parts, Size times);
  /// Adds a time; `arrays` hold all cells, or all points. They are the same at all times: Error(usage) else. Error(io).
  void add(double time, std::span<const VtkArray> arrays);

 private:
  std::filesystem::path path_;
  int level_;
  std::string data_;  ///< the group of the arrays
  bool at_points_;
};

}  // namespace tutti
