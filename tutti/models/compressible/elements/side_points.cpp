#include "tutti/models/compressible/elements/side_points.hpp"

#include "tutti/mesh/elements/element_faces.hpp"
#include "tutti/models/compressible/kernels/view.hpp"

namespace tutti::compressible {

SidePoints::SidePoints(const ElementMap& map, int face, int orientation, const Quadrature& rule)
    : areas_(map.type(), face) {
  for (int q = 0; q < padded(rule.size()); ++q) {
    const Vec3 p = rule.points[q < rule.size() ? q : 0];
    const FacePoint there = orientation < 0
                                ? FacePoint{p.x, p.y}
                                : right_face_point(face_corner_count(map.type(), face), orientation, p.x, p.y);
    reference_.push_back(face_reference(map.type(), face, there.u, there.v));
  }
  shapes_ = {map.type(), map.geometry_order(), reference_};
}

std::vector<Vec3> SidePoints::places(const ElementMap& map) const {
  const std::size_t row = reference_.size();
  thread_local std::vector<double> x;
  x.resize(3 * row);
  map_places(map, x.data());
  std::vector<Vec3> all(row);
  for (std::size_t q = 0; q < row; ++q) all[q] = {x[q], x[row + q], x[2 * row + q]};
  return all;
}

std::vector<SidePoints::Point> SidePoints::points(const ElementMap& map) const {
  const std::size_t row = reference_.size();
  thread_local std::vector<double> rows;
  rows.resize(12 * row);
  shapes_.map_all(map.nodes(), rows.data());
  const auto vector = [&](std::size_t kind, std::size_t q) {
    const double* const x = rows.data() + 3 * kind * row + q;
    return Vec3{x[0], x[row], x[2 * row]};
  };
  std::vector<Point> all(row);
  for (std::size_t q = 0; q < row; ++q) {
    all[q].place = vector(0, q);
    all[q].area = areas_.at({{}, vector(1, q), vector(2, q), vector(3, q)});
  }
  return all;
}

}  // namespace tutti::compressible
