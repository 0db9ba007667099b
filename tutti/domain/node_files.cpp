// The nodes nearest to points, and nodes in files.
#include <algorithm>
#include <cmath>

#include "tutti/domain/node_domain.hpp"
#include "tutti/domain/sampling/interpolation.hpp"
#include "tutti/domain/vtu_pieces.hpp"
#include "tutti/mesh/sphere/nearest.hpp"

namespace tutti {
namespace {

class NodePieces final : public VtuPieces {
 public:
  NodePieces(const NodeDomain& domain, const VtkOptions& options) : VtuPieces(domain), domain_(domain) {
    for (std::size_t p = 0; p < domain.mine(); ++p) {
      const IndexMap& map = domain.maps[p];
      grids_.push_back(VtuGrid::of_points(domain.owned_points(p), options));
      number_.emplace_back(map.global.begin(), map.global.begin() + map.owned);
    }
  }
  bool at_points() const override { return true; }
  PieceCells cells(std::size_t i) const override {
    const auto points = domain_.owned_points(i);
    PieceCells cells;
    cells.points.assign(points.begin(), points.end());
    cells.types.assign(points.size(), 1);
    for (std::size_t k = 0; k < points.size(); ++k) {
      cells.connectivity.push_back(static_cast<std::int64_t>(k));
      cells.offsets.push_back(static_cast<std::int64_t>(k + 1));
    }
    return cells;
  }
  std::vector<VtkArray> arrays(std::optional<std::size_t> i) const override {
    std::vector<VtkArray> list;
    list.push_back({"node", 1, i ? std::span<const std::int64_t>(number_[*i]) : std::span<const std::int64_t>()});
    list.push_back({"part", 1, i ? std::span<const std::int32_t>(owner_[*i]) : std::span<const std::int32_t>()});
    return list;
  }

 private:
  const NodeDomain& domain_;
  std::vector<std::vector<std::int64_t>> number_;
};

}  // namespace

std::vector<WeightedRow> NodeDomain::around(std::size_t p, const RowSet& row, Vec3 at) const {
  const auto n = static_cast<std::size_t>(stencil);
  const auto near =
      std::span(stencils[p]).subspan(static_cast<std::size_t>(row.rows.begin) * n, std::min<std::size_t>(n, 12));
  std::vector<Vec3> points;
  std::vector<Gid> numbers;
  for (const Lid node : near) {
    points.push_back(point(p, node));
    numbers.push_back(maps[p].global[node]);
  }
  return linear_rows((1 / norm(at)) * at, points, numbers);
}

std::unique_ptr<Pieces> NodeDomain::pieces(const VtkOptions& options) const {
  return std::make_unique<NodePieces>(*this, options);
}

std::vector<RowPlace> NodeDomain::locate(const Comm& comm, std::span<const Vec3> points,
                                         std::span<const std::string> labels) const {
  std::vector<RowPlace> places;
  comm.together([&] {
    if (points.empty()) return;
    const NearestNodes nearest(cloud.points);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double length = norm(points[i]);
      if (!(length > 0))
        fail(ErrorKind::input, "{} at the sphere's centre has no nearest node; move it away from there", labels[i]);
      constexpr double near = 0.01;  // points in few digits
      if (!(std::abs(length - 1) <= near))
        fail(ErrorKind::input,
             "{} at a distance of {:.4g} from the centre is off the unit sphere; move it onto the sphere", labels[i],
             length);
      Gid node = 0;
      nearest.find((1 / length) * points[i], 1, std::span(&node, 1));
      for (std::size_t p = 0; p < mine(); ++p) {
        const auto begin = maps[p].global.begin(), end = begin + maps[p].owned;
        if (const auto at = std::find(begin, end, node); at != end) {
          const Lid row = static_cast<Lid>(at - begin);
          places.push_back({i, p, {{row, row + 1}, {}}});
        }
      }
    }
  });
  return places;
}

}  // namespace tutti
