#include "tutti/simulation/box_results.hpp"

#include <algorithm>
#include <optional>

namespace tutti {
namespace {

bool overlap(const CellBox& a, const CellBox& b) {
  for (std::size_t d = 0; d < 3; ++d)
    if (std::max(a.lower[d], b.lower[d]) >= std::min(a.upper[d], b.upper[d])) return false;
  return true;
}

/// VTK would read what nobody wrote, or one of two values.
void require_whole(const CellBox& grid, const std::vector<CellBox>& boxes) {
  Gid cells = 0;
  for (std::size_t a = 0; a < boxes.size(); ++a) {
    cells += boxes[a].cells();
    for (std::size_t b = 0; b < a; ++b) require(!overlap(boxes[a], boxes[b]), "parts {} and {} overlap", b, a);
  }
  require(cells == grid.cells(), "the parts have {} cells, the grid {}", cells, grid.cells());
}

}  // namespace

BoxResults::BoxResults(const Comm& comm, BoxGridShape grid, std::vector<BoxPiece> mine, std::vector<CellBox> all,
                       const std::filesystem::path& folder, int compress, int threads, std::span<const double> before,
                       const SeriesNames& names)
    : grid_(std::move(grid)),
      mine_(std::move(mine)),
      all_(std::move(all)),
      series_(comm, folder, grid_.suffix(), before, names) {
  options_.level = compress;
  options_.threads = threads;
  comm.together([&] {
    if (comm.is_root()) require_whole(grid_.box(), all_);
  });
  for (const BoxPiece& piece : mine_) owner_.emplace_back(static_cast<std::size_t>(piece.box.cells()), piece.part);
}

void BoxResults::write(double time, const std::vector<BoxFieldValues>& fields) {
  options_.time = time;
  std::vector<int> mine, all;    // parts with cells; the others have no files
  std::vector<std::size_t> row;  // of mine_, of each part in `mine`
  for (std::size_t p = 0; p < mine_.size(); ++p) {
    if (mine_[p].box.empty()) continue;
    mine.push_back(mine_[p].part);
    row.push_back(p);
  }
  for (std::size_t p = 0; p < all_.size(); ++p)
    if (!all_[p].empty()) all.push_back(static_cast<int>(p));
  // Of part p of this rank; without p, names and types only: the root may drive no part.
  const auto arrays = [&](std::optional<std::size_t> p) {
    const auto values = [&]<class T>(const std::vector<std::vector<T>>& parts) {
      return p ? std::span<const T>(parts[*p]) : std::span<const T>();
    };
    std::vector<VtkArray> list;
    for (const BoxFieldValues& f : fields)
      std::visit([&](const auto& parts) { list.push_back({f.name, f.components, values(parts)}); }, f.parts);
    list.push_back({"part", 1, values(owner_)});
    return list;
  };
  series_.write(
      time, mine, all,
      [&](std::size_t i, const std::filesystem::path& path) {
        write_box_piece(path, grid_, mine_[row[i]].box, arrays(row[i]), options_);
      },
      [&](const std::filesystem::path& path, const std::vector<std::string>& files) {
        std::vector<BoxPieceFile> pieces;
        for (std::size_t i = 0; i < all.size(); ++i)
          pieces.push_back({all_[static_cast<std::size_t>(all[i])], files[i]});
        write_joined_boxes(path, grid_, pieces, arrays({}), time);
      });
}

}  // namespace tutti
