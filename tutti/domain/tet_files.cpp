// Where points lie in a tetrahedral mesh, and its cells in files.
#include <algorithm>

#include "tutti/domain/sampling/interpolation.hpp"
#include "tutti/domain/tet_domain.hpp"
#include "tutti/domain/vtu_pieces.hpp"

namespace tutti {
namespace {

class TetPieces final : public VtuPieces {
 public:
  TetPieces(const TetDomain& domain, const VtkOptions& options) : VtuPieces(domain), domain_(domain) {
    for (std::size_t p = 0; p < domain.mine(); ++p) {
      const LocalTetMesh& mesh = domain.meshes[p];
      const auto owned = static_cast<std::size_t>(mesh.owned);
      const CompactTets compact = compact_tets(mesh.vertices, std::span(mesh.cells).first(owned));
      grids_.emplace_back(compact.points, compact.tets, options);
      region_.emplace_back(mesh.regions.begin(), mesh.regions.begin() + mesh.owned);
    }
  }
  PieceCells cells(std::size_t i) const override {
    const LocalTetMesh& mesh = domain_.meshes[i];
    CompactTets compact =
        compact_tets(mesh.vertices, std::span(mesh.cells).first(static_cast<std::size_t>(mesh.owned)));
    PieceCells cells;
    cells.points = std::move(compact.points);
    cells.types.assign(compact.tets.size(), 10);
    for (const auto& tet : compact.tets) {
      cells.connectivity.insert(cells.connectivity.end(), tet.begin(), tet.end());
      cells.offsets.push_back(static_cast<std::int64_t>(cells.connectivity.size()));
    }
    return cells;
  }
  std::vector<VtkArray> arrays(std::optional<std::size_t> i) const override {
    std::vector<VtkArray> list;
    list.push_back({"part", 1, i ? std::span<const std::int32_t>(owner_[*i]) : std::span<const std::int32_t>()});
    list.push_back({"region", 1, i ? std::span<const std::int32_t>(region_[*i]) : std::span<const std::int32_t>()});
    return list;
  }

 private:
  const TetDomain& domain_;
  std::vector<std::vector<std::int32_t>> region_;
};

}  // namespace

std::unique_ptr<Pieces> TetDomain::pieces(const VtkOptions& options) const {
  return std::make_unique<TetPieces>(*this, options);
}

std::vector<RowPlace> TetDomain::locate(const Comm& comm, std::span<const Vec3> points,
                                        std::span<const std::string> labels) const {
  return rows_at(comm, maps, points, labels, "a cell",
                 [&](std::size_t p, Lid row, Vec3 point) { return meshes[p].contains(row, point); });
}

std::vector<WeightedRow> TetDomain::around(std::size_t p, const RowSet& row, Vec3 point) const {
  const LocalTetMesh& mesh = meshes[p];
  const Lid cell = row.rows.begin;
  std::vector<Lid> near;
  for (const Lid next : mesh.neighbours[cell]) {
    if (next < 0) continue;
    near.push_back(next);
    if (options_.layers < 2) continue;  // by the face neighbours alone: theirs are known to some parts only
    for (const Lid beyond : mesh.neighbours[next])
      if (beyond >= 0 && beyond != cell) near.push_back(beyond);
  }
  std::ranges::sort(near, {}, [&](Lid c) { return mesh.global[c]; });
  near.erase(std::unique(near.begin(), near.end()), near.end());
  near.insert(near.begin(), cell);
  std::vector<Vec3> points;
  std::vector<Gid> numbers;
  for (const Lid c : near) {
    points.push_back(mesh.centroid(c));
    numbers.push_back(mesh.global[c]);
  }
  return linear_rows(point, points, numbers);
}

std::vector<Vec3> TetDomain::middles(std::size_t p) const {
  std::vector<Vec3> points;
  for (Lid c = 0; c < meshes[p].owned; ++c) points.push_back(meshes[p].centroid(c));
  return points;
}

std::vector<std::int32_t> TetDomain::region_of_rows(std::size_t p) const {
  return {meshes[p].regions.begin(), meshes[p].regions.begin() + meshes[p].owned};
}

}  // namespace tutti
