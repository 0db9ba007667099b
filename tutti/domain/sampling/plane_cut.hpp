// What a plane cuts out of cells.
#pragma once

#include <cstdint>
#include <vector>

#include "tutti/base/types.hpp"
#include "tutti/base/vec3.hpp"
#include "tutti/io/vtk/vtkhdf.hpp"

namespace tutti {

/// Polygons, one of each cell that is cut; the points of polygon k are connectivity[ends[k - 1] .. ends[k]).
struct PlaneCut {
  std::vector<Vec3> points;
  std::vector<Lid> connectivity;
  std::vector<Size> ends;
  std::vector<Lid> cells;  ///< in ascending order
  std::vector<Vec3> middles;
  std::vector<double> areas;
};

/// Cells are taken as straight and convex, by their corners; a cell that is no body has no polygon. A face in the plane
/// belongs to the cell that the normal points away from, so that the polygons of a mesh cover the cut once.
PlaneCut cut_by_plane(const PieceCells& cells, Vec3 point, Vec3 normal);

}  // namespace tutti
