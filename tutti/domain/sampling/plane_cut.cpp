#include "tutti/domain/sampling/plane_cut.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

namespace tutti {
namespace {

using Edge = std::array<std::uint8_t, 2>;
constexpr std::array<Edge, 6> tetrahedron = {{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}};
constexpr std::array<Edge, 12> hexahedron = {
    {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6}, {6, 7}, {7, 4}, {0, 4}, {1, 5}, {2, 6}, {3, 7}}};
constexpr std::array<Edge, 9> prism = {{{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}, {0, 3}, {1, 4}, {2, 5}}};
constexpr std::array<Edge, 8> pyramid = {{{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 4}, {1, 4}, {2, 4}, {3, 4}}};

/// Of VTK's type, straight or curved; the corners come first.
std::span<const Edge> edges_of(std::uint8_t type) {
  switch (type) {
    case 10:
    case 24:
      return tetrahedron;
    case 12:
    case 29:
      return hexahedron;
    case 13:
    case 32:
      return prism;
    case 14:
    case 27:
      return pyramid;
    default:
      return {};
  }
}

/// Corners of the polygon in their order around its middle, each once.
void sort_around(std::vector<Vec3>& corners, Vec3 normal) {
  Vec3 middle;
  for (const Vec3& c : corners) middle = middle + (1.0 / static_cast<double>(corners.size())) * c;
  const Vec3 a = std::abs(normal.x) < 0.6 ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
  const Vec3 along = cross(normal, a), across = cross(normal, along);
  std::ranges::sort(corners, {}, [&](Vec3 c) { return std::atan2(dot(c - middle, across), dot(c - middle, along)); });
}

}  // namespace

PlaneCut cut_by_plane(const PieceCells& cells, Vec3 point, Vec3 normal) {
  const Vec3 unit = (1 / norm(normal)) * normal;
  PlaneCut cut;
  std::vector<Vec3> corners;
  for (std::size_t c = 0; c < cells.types.size(); ++c) {
    const std::int64_t* const nodes = cells.connectivity.data() + cells.offsets[c];
    corners.clear();
    double size = 0;
    for (const auto& [from, to] : edges_of(cells.types[c])) {
      const Vec3 p = cells.points[static_cast<std::size_t>(nodes[from])],
                 q = cells.points[static_cast<std::size_t>(nodes[to])];
      const double at_p = dot(unit, p - point), at_q = dot(unit, q - point);
      size = std::max(size, dot(q - p, q - p));
      if ((at_p >= 0) == (at_q >= 0)) continue;
      // From the corner above, so that one in the plane is met exactly, whatever the edge.
      const Vec3 x = at_p >= 0 ? p + (at_p / (at_p - at_q)) * (q - p) : q + (at_q / (at_q - at_p)) * (p - q);
      if (std::ranges::find(corners, x) == corners.end()) corners.push_back(x);
    }
    if (corners.size() < 3) continue;
    sort_around(corners, unit);
    double area = 0;
    Vec3 moment;
    for (std::size_t k = 1; k + 1 < corners.size(); ++k) {
      const double triangle = 0.5 * norm(cross(corners[k] - corners[0], corners[k + 1] - corners[0]));
      area += triangle;
      moment = moment + (triangle / 3) * (corners[0] + corners[k] + corners[k + 1]);
    }
    if (!(area > 1e-14 * size)) continue;
    for (const Vec3& x : corners) {
      cut.connectivity.push_back(static_cast<Lid>(cut.points.size()));
      cut.points.push_back(x);
    }
    cut.ends.push_back(static_cast<Size>(cut.connectivity.size()));
    cut.cells.push_back(static_cast<Lid>(c));
    cut.middles.push_back((1 / area) * moment);
    cut.areas.push_back(area);
  }
  return cut;
}

}  // namespace tutti
