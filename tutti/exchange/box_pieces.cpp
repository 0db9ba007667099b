#include "tutti/exchange/box_pieces.hpp"

namespace tutti {
namespace {

/// Boxes that do not overlap: so much of each as the ones before it have not.
class UnionOfBoxes {
 public:
  void add(const CellBox& box) {
    std::vector<CellBox> rest{box};
    for (const CellBox& known : boxes_) {
      std::vector<CellBox> left;
      for (const CellBox& one : rest) subtract(one, known, left);
      rest.swap(left);
    }
    for (const CellBox& one : rest) {
      boxes_.push_back(one);
      cells_ += one.cells();
    }
  }
  Size cells() const { return cells_; }

 private:
  /// Appends what of `box` is not in `other`.
  static void subtract(CellBox box, const CellBox& other, std::vector<CellBox>& left) {
    const CellBox both = intersection(box, other);
    if (both.empty()) {
      left.push_back(box);
      return;
    }
    for (std::size_t d = 0; d < 3; ++d) {
      CellBox below = box, above = box;
      below.upper[d] = both.lower[d];
      above.lower[d] = both.upper[d];
      if (!below.empty()) left.push_back(below);
      if (!above.empty()) left.push_back(above);
      box.lower[d] = both.lower[d];
      box.upper[d] = both.upper[d];
    }
  }
  std::vector<CellBox> boxes_;
  Size cells_ = 0;
};

/// Where its owner has it.
CellBox at_home(const Piece& piece) {
  return shifted(piece.cells, {-piece.shift[0], -piece.shift[1], -piece.shift[2]});
}

}  // namespace

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
                             bool same_arrays) {
  TransferCount count;
  std::vector<UnionOfBoxes> from(parts.boxes.size());
  for (const Piece& piece : pieces_of(parts, wanted[static_cast<std::size_t>(part)])) {
    if (piece.owner != part) {
      count.arrivals += piece.cells.cells();
      from[static_cast<std::size_t>(piece.owner)].add(at_home(piece));
    } else if (!same_arrays || piece.shift != std::array<Lid, 3>{}) {
      count.copies += piece.cells.cells();
    }
  }
  for (const UnionOfBoxes& boxes : from) count.received += boxes.cells();
  UnionOfBoxes all;
  for (std::size_t other = 0; other < wanted.size(); ++other) {
    if (static_cast<std::int32_t>(other) == part) continue;
    UnionOfBoxes sent;
    for (const Piece& piece : pieces_of(parts, wanted[other])) {
      if (piece.owner != part) continue;
      sent.add(at_home(piece));
      all.add(at_home(piece));
    }
    if (sent.cells() > 0) count.to.emplace_back(static_cast<std::int32_t>(other), sent.cells());
  }
  count.packed = all.cells();
  return count;
}

}  // namespace tutti
