// Where a CPU part keeps what is computed at faces.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tutti/models/compressible/elements/straight_tables.hpp"

namespace tutti::compressible {

/// Rows of fluxes and jumps, where a face's row is not that of its number.
struct FluxRows {
  std::vector<Lid> tiles;           ///< of the faces in StraightView::faces
  std::vector<std::int32_t> sides;  ///< as StraightView::sides, with rows for numbers
  Lid unused = 0;                   ///< rows that no face has
};
/// A face between elements of one block is needed until the elements of this block are done. Its row is one of such a
/// face `window` blocks earlier, where that block has enough of them: so fluxes stay in caches, and are neither fetched
/// from memory to be written nor written back. The faces of a block must then wait for the elements `window` blocks
/// earlier. `faces`: how many there are; `sides`: of all elements; `view`: of tables on the host.
FluxRows reuse_flux_rows(const StraightView& view, Lid faces, std::span<const StraightBlock> blocks,
                         std::span<const std::int32_t> sides, int window);

}  // namespace tutti::compressible
