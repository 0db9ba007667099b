#include "tutti/models/compressible/elements/flux_rows.hpp"

#include <numeric>

namespace tutti::compressible {

FluxRows reuse_flux_rows(const StraightView& view, Lid faces, std::span<const StraightBlock> blocks,
                         std::span<const std::int32_t> sides, int window) {
  FluxRows all;
  std::vector<Lid> row_of(static_cast<std::size_t>(faces));
  std::iota(row_of.begin(), row_of.end(), Lid{0});
  std::vector<std::vector<Lid>> rows(static_cast<std::size_t>(window));  // of faces inside blocks, by turns
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const auto inside = [elements = blocks[b].rows](Lid e) { return e >= elements.begin && e < elements.end; };
    std::vector<Lid>& here = rows[b % rows.size()];
    std::size_t used = 0;
    Lid before = -1;
    for (Size i = Size{tile_rows} * blocks[b].tiles.begin; i < Size{tile_rows} * blocks[b].tiles.end; ++i) {
      const StraightFace& face = view.faces[i];
      if (face.face == before || !inside(face.left) || !inside(face.right)) continue;
      before = face.face;  // behind a class of faces, tiles repeat the last
      if (used == here.size())
        here.push_back(face.face);
      else
        ++all.unused;
      row_of[static_cast<std::size_t>(face.face)] = here[used++];
    }
  }
  for (Size i = 0; i < Size{tile_rows} * view.ends.back(); ++i)
    all.tiles.push_back(row_of[static_cast<std::size_t>(view.faces[i].face)]);
  for (const std::int32_t code : sides)
    all.sides.push_back(max_turns * row_of[static_cast<std::size_t>(code / max_turns)] + code % max_turns);
  return all;
}

}  // namespace tutti::compressible
