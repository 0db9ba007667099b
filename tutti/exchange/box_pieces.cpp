#include "tutti/exchange/box_pieces.hpp"

namespace tutti {

std::vector<Piece> pieces_of(const BoxParts& parts, const std::vector<CellBox>& wanted) {
  std::vector<Piece> pieces;
  const auto reach = [&](std::size_t d) { return parts.periodic[d] ? 1 : 0; };
  for (const CellBox& want : wanted)
    for (std::size_t owner = 0; owner < parts.boxes.size(); ++owner)
      for (Lid z = -reach(2); z <= reach(2); ++z)
        for (Lid y = -reach(1); y <= reach(1); ++y)
          for (Lid x = -reach(0); x <= reach(0); ++x) {
            const std::array<Lid, 3> shift{x * parts.cells[0], y * parts.cells[1], z * parts.cells[2]};
            const CellBox cells = intersection(shifted(parts.boxes[owner], shift), want);
            if (!cells.empty()) pieces.push_back({static_cast<std::int32_t>(owner), cells, shift});
          }
  return pieces;
}

TransferCount count_transfer(const BoxParts& parts, const std::vector<std::vector<CellBox>>& wanted, std::int32_t part,
                             bool same_arrays, const std::function<bool(std::int32_t)>& stores) {
  TransferCount count;
  for (const Piece& piece : pieces_of(parts, wanted[part])) {
    if (piece.owner != part) {
      if (!stores(piece.owner)) count.arrivals += piece.cells.cells();
    } else if (!same_arrays || piece.shift != std::array<Lid, 3>{}) {
      count.copies += piece.cells.cells();
      ++count.moved;
    }
  }
  for (std::size_t other = 0; other < wanted.size(); ++other) {
    const auto reader = static_cast<std::int32_t>(other);
    if (reader == part) continue;
    Size sent = 0, pieces = 0;
    for (const Piece& piece : pieces_of(parts, wanted[other]))
      if (piece.owner == part) {
        sent += piece.cells.cells();
        ++pieces;
      }
    if (sent > 0) count.to.emplace_back(reader, sent);
    (stores(reader) ? count.moved : count.packed) += stores(reader) ? pieces : sent;
  }
  return count;
}

}  // namespace tutti
