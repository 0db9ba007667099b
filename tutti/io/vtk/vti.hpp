// Results on structured grids for ParaView: VTK's XML files of image data (.vti) and rectilinear grids (.vtr).
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tutti/base/types.hpp"
#include "tutti/io/vtk/vtk_file.hpp"
#include "tutti/partition/cell_box.hpp"

namespace tutti {

/// A structured grid: direction d has cells(d) cells between the planes faces[d] (m, ascending).
class BoxGridShape {
 public:
  /// Error(input): a direction has fewer than two faces, or its faces do not ascend or are not finite.
  explicit BoxGridShape(std::array<std::vector<double>, 3> faces);
  Lid cells(int d) const { return static_cast<Lid>(faces(d).size()) - 1; }
  const std::vector<double>& faces(int d) const { return faces_[d]; }
  CellBox box() const { return {{0, 0, 0}, {cells(0), cells(1), cells(2)}}; }
  /// True when no face is off the even spacing by more than the rounding of its number: such a grid is written as image
  /// data, which holds no coordinates.
  bool uniform() const { return uniform_; }
  /// "vti" or "vtr".
  const char* suffix() const { return uniform_ ? "vti" : "vtr"; }

 private:
  std::array<std::vector<double>, 3> faces_;
  bool uniform_ = true;
};

/// Writes the cells `piece` of a grid as a .vti, or .vtr where the grid is not uniform: appended raw data in zlib
/// blocks, 64-bit headers, little endian. Arrays hold the piece's cells, x fastest. An empty piece is a file without
/// cells. The file appears whole or not at all. Error(io) names the path, the bytes written and the cause.
void write_box_piece(const std::filesystem::path& path, const BoxGridShape& grid, const CellBox& piece,
                     std::span<const VtkArray> cell_arrays, const VtkOptions& options = {});

struct BoxPieceFile {
  CellBox box;
  std::string file;  ///< relative to the folder of the file that joins
};

/// Writes the .pvti or .pvtr that joins pieces; empty ones are left out. `arrays` give names, types and components
/// (their values are not looked at), the same in every piece. Error(io).
void write_joined_boxes(const std::filesystem::path& path, const BoxGridShape& grid,
                        std::span<const BoxPieceFile> pieces, std::span<const VtkArray> arrays,
                        std::optional<double> time = {});

}  // namespace tutti
