// Coarser grids of a multigrid method: neighbouring planes' cells are merged in pairs, where they are small.
//
// Point relaxation smooths along strong couplings only, those of small cells. So pairs are merged in every direction
// and place where cells are not much larger than the level's smallest: this coarsens the short directions of a box
// first (semi-coarsening), and on a stretched grid the cells at the walls before those in the middle.
#pragma once

#include <optional>

#include "tutti/mesh/box_grid.hpp"
#include "tutti/models/incompressible/pressure/direct/line_operator.hpp"
#include "tutti/partition/cell_box.hpp"

namespace tutti::incompressible {

/// The coarse cell c of a direction consists of the fine cells [first[c], first[c + 1]): one or two.
struct CoarseGrid {
  BoxGrid grid;
  std::array<std::vector<Lid>, 3> first;  ///< cells + 1
};

/// Merges pairs that together are at most sqrt(2) * 2 `width` wide; where there is none, pairs up to twice as wide, and
/// so on. `width`: what a cell of the fine grid should have (the smallest width, on the finest); then that of the
/// coarse one. A single cell that is left over lies at the upper end, or with `from_above` at the lower one: take
/// turns. Empty: one cell, nothing to merge.
std::optional<CoarseGrid> coarsen(const BoxGrid& fine, double& width, bool from_above);

/// Coarse cells whose first fine cells are in `box`.
CellBox coarse_box(const CoarseGrid& coarse, const CellBox& box);
/// With those that interpolation to the cells of `box` reads: one layer more, there even where coarse_box is empty.
CellBox coarse_reach(const CoarseGrid& coarse, const CellBox& box);
/// Linear interpolation between the centres of coarse cells, one entry a fine cell: a coarse cell and one beside it,
/// which lies beyond an end only with weight 0 or where the line is periodic. Between the last centre and an end p is
/// constant (Neumann), or falls to 0 (Dirichlet).
struct LineInterpolation {
  std::vector<Lid> parent, neighbour;
  std::vector<double> parent_weight, neighbour_weight;
};
LineInterpolation interpolate_line(const GridLine& fine, const GridLine& coarse, const std::vector<Lid>& first,
                                   LineEnd low, LineEnd high);

/// Each coarse cell's value as a sum over `count` fine ones: [n * coarse cells + c] is the n-th one of cell c, which
/// may have fewer and repeats its last with weight 0. The sum over the volume stays what it is, but for what a
/// Dirichlet end lets out. Fine cells beyond an end occur where the line is periodic. `linear`: the adjoint of the
/// interpolation (also right where only every other cell has a value, as after a red-black sweep along this line
/// alone), else means of the cells that are merged.
struct LineRestriction {
  int count = 0;
  std::vector<Lid> cell;
  std::vector<double> weight;
  std::vector<Lid> begin, end;  ///< one a coarse cell: the range of its fine ones
};
LineRestriction restrict_line(const GridLine& fine, const GridLine& coarse, const std::vector<Lid>& first,
                              const LineInterpolation& interpolation, bool linear);

/// The cells of `all` that are not in `box`, in boxes that do not overlap.
std::vector<CellBox> difference(const CellBox& all, const CellBox& box);

}  // namespace tutti::incompressible
