// A mesh, or a layer of it, as files for ParaView: one of every part, and one that joins them.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tutti/io/vtk/vtk_file.hpp"
#include "tutti/io/vtk/vtkhdf.hpp"
#include "tutti/partition/cell_box.hpp"

namespace tutti {

/// Rows of a part: [begin, end) of its map; of a grid, cells of a box, x fastest.
struct RowSet {
  Range rows;
  CellBox box;  ///< of a grid only
};

/// Files of the parts. Parts without rows of it may have none.
class Pieces {
 public:
  virtual ~Pieces() = default;

  struct Piece {
    std::size_t p = 0;  ///< part of this rank
    int part = 0;       ///< of all
    RowSet rows;
    Size count = 0;
  };
  std::vector<Piece> mine;
  std::vector<int> all;  ///< parts with a file; looked at on the root only

  virtual std::string suffix() const = 0;
  /// Whether rows are points of the files, row i the i-th one, and not cells: arrays are point data then.
  virtual bool at_points() const { return false; }
  /// What is known of the rows besides a model's fields, as the part that owns them. Of mine[i]; without i, names and
  /// types only.
  virtual std::vector<VtkArray> arrays(std::optional<std::size_t> i) const = 0;
  /// The cells of mine[i], in the order of its rows; grids give hexahedra.
  virtual PieceCells cells(std::size_t i) const = 0;
  /// Writes mine[i]. Error(io).
  virtual void write(const std::filesystem::path& path, std::size_t i, std::span<const VtkArray> arrays,
                     const VtkOptions& options) const = 0;
  /// Writes the file that joins `files`, those of `all` in order, relative to it. Error(io).
  virtual void join(const std::filesystem::path& path, const std::vector<std::string>& files,
                    std::span<const VtkArray> arrays, std::optional<double> time) const = 0;
};

}  // namespace tutti
