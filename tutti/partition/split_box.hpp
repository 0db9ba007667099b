// A box of cells cut into one box a part.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "tutti/partition/cell_box.hpp"

namespace tutti {

/// In how many directions a box is cut.
enum class BoxCut : std::uint8_t {
  slabs,    ///< one, the first in order that is thicker than a cell: contiguous planes travel (Jacobsen 2010)
  pencils,  ///< two
  blocks,   ///< three: the least surface with many parts
};
/// "slabs", "pencils", "blocks". Error(usage) for another word.
BoxCut parse_box_cut(const std::string& name);

/// Orders in which directions are cut.
inline constexpr std::array<int, 3> z_first{2, 1, 0}, y_first{1, 2, 0}, x_first{0, 2, 1};
constexpr std::array<int, 3> first_cut_along(int direction) {
  return direction == 0 ? x_first : direction == 1 ? y_first : z_first;
}

/// One box a part, with as near to weights[p] of the cells as whole planes allow. A part of weight 0 gets none, another
/// at least one plane. The cut is tried in as many directions as asked for, with the factors that leave the least
/// surface. `order`: directions, the first to be cut first. Error(input) where the box has fewer planes than there are
/// parts to cut it for.
std::vector<CellBox> split_box(const std::array<Lid, 3>& cells, std::span<const double> weights, BoxCut how,
                               const std::array<int, 3>& order = z_first);

}  // namespace tutti
