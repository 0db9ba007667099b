// How even nodes on the sphere are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tutti/mesh/sphere/node_cloud.hpp"

namespace tutti {

/// Angles in radians, along great circles. Exact up to rounding: of each node's cell (Voronoi's), cut out of
/// the plane that touches the sphere there by the bisectors with the nodes around.
struct NodeReport {
  Gid nodes = 0;
  double spacing = 0;                           ///< h = sqrt(4 pi / nodes)
  double separation = 0;                        ///< the smallest distance of two nodes; pi for one node
  Gid nearest_first = -1, nearest_second = -1;  ///< the two nodes; -1 for one node
  double covering = 0;    ///< radius of the largest hole; pi / 2 stands for all from 89 degrees on
  Vec3 hole;              ///< its centre
  double mesh_ratio = 0;  ///< covering / (separation / 2): 1.155 for a hexagonal lattice, the lowest
  double smallest_cell = 0, largest_cell = 0;  ///< area of a node's cell, in 4 pi / nodes
  struct Weights {
    double sum = 0, lowest = 0, largest = 0;
  };
  std::optional<Weights> weights;  ///< of quadrature, if there are any
};

/// At least one node. Errors (input): two nodes at one place. Does not depend on `parallel`.
NodeReport inspect(const NodeCloud& cloud, const ParallelFor& parallel = {});
/// Several lines for people, the last one without its end.
std::string describe(const NodeReport& report);

/// Area of each node's cell: weights of a quadrature of second order. Their sum is 4 pi where no hole has 89 degrees.
std::vector<double> cell_areas(std::span<const Vec3> points, const ParallelFor& parallel = {});

}  // namespace tutti
