// Points of a face as one of its elements sees them.
#pragma once

#include <vector>

#include "tutti/models/compressible/elements/element_map.hpp"
#include "tutti/models/compressible/elements/quadrature.hpp"

namespace tutti::compressible {

/// Of all elements whose faces have the same number, rule and orientation.
class SidePoints {
 public:
  /// The points of the face's rule, padded: the last ones are the first again. orientation: that of the right side
  /// (mesh/elements/element_faces.hpp); -1: this is the left one.
  SidePoints(const ElementMap& map, int face, int orientation, const Quadrature& rule);
  const std::vector<Vec3>& reference() const { return reference_; }
  /// In physical space: x, y and z of all points in rows of reference().size() numbers.
  void map_places(const ElementMap& map, double* to) const { shapes_.map_places(map.nodes(), to); }
  std::vector<Vec3> places(const ElementMap& map) const;

  struct Point {
    Vec3 place, area;  ///< area: the outward normal times the ratio of the face's area to its reference's
  };
  std::vector<Point> points(const ElementMap& map) const;

 private:
  std::vector<Vec3> reference_;
  ShapeTable shapes_;
  FaceAreas areas_;
};

}  // namespace tutti::compressible
