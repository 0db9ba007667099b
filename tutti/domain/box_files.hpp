// A grid that is cut into boxes, or a layer of its cells, in files.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "tutti/base/vec3.hpp"
#include "tutti/domain/pieces.hpp"
#include "tutti/io/case/case.hpp"
#include "tutti/io/vtk/vti.hpp"
#include "tutti/mesh/box_grid.hpp"

namespace tutti {

/// What one part has of a grid in files: the cells there, and the same cells by their numbers in the whole grid.
struct BoxPiece {
  std::size_t p = 0;  ///< part of this rank
  int part = 0;       ///< of all
  CellBox box;
  CellBox cells;
};

/// .vti files (.vtr where the grid is stretched) of every part that has cells.
class BoxPieces final : public Pieces {
 public:
  /// `of_rank`: the pieces of this rank. `boxes`: the box of every part, by number, looked at on the root only;
  /// together they must be the grid, each cell once (else std::logic_error: VTK would read what nobody wrote, or one of
  /// two values).
  BoxPieces(BoxGridShape grid, std::span<const BoxPiece> of_rank, std::vector<CellBox> boxes);
  std::string suffix() const override { return grid_.suffix(); }
  std::vector<VtkArray> arrays(std::optional<std::size_t> i) const override;
  PieceCells cells(std::size_t i) const override;
  void write(const std::filesystem::path& path, std::size_t i, std::span<const VtkArray> arrays,
             const VtkOptions& options) const override;
  void join(const std::filesystem::path& path, const std::vector<std::string>& files, std::span<const VtkArray> arrays,
            std::optional<double> time) const override;

 private:
  BoxGridShape grid_;
  std::vector<CellBox> boxes_, mine_boxes_;
  std::vector<std::vector<std::int32_t>> owner_;
};

/// A layer of cells across an axis.
struct BoxSlice {
  std::string name;
  std::size_t axis = 0;
  Lid layer = 0;
};
/// The tables [[output.slice]] of a case. Error(input): a name twice, or one that cannot be part of a file's name; a
/// position outside the box.
std::vector<BoxSlice> read_slices(const Case& options, const BoxGrid& grid);

/// The cells of points. Error(input) for a point outside the box, which begins with its label. A point on a plane
/// between cells belongs to the upper one.
std::vector<std::array<Lid, 3>> probe_cells(const BoxGrid& grid, std::span<const Vec3> points,
                                            std::span<const std::string> labels);

}  // namespace tutti
