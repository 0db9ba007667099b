// One part's tetrahedra: its own cells first, then the halo that their stencils read.
#pragma once

#include <array>
#include <limits>
#include <vector>

#include "tutti/base/types.hpp"
#include "tutti/base/vec3.hpp"
#include "tutti/mesh/tet_mesh.hpp"

namespace tutti {

/// Cells [0, owned) belong to the part, cells [owned, cells.size()) are ghosts in two layers of face neighbours, so
/// that every face neighbour of an owned cell has its own four neighbours here.
struct LocalTetMesh {
  /// In `neighbours`: the cell behind the face exists, but outside this halo (only for outer ghosts).
  static constexpr Lid outside_halo = std::numeric_limits<Lid>::min();

  Lid owned = 0;
  std::vector<Vec3> vertices;
  std::vector<std::array<Lid, 4>> cells;       ///< local vertex numbers, in the order of the file
  std::vector<std::array<Lid, 4>> neighbours;  ///< >= 0 local cell; outside_halo; else boundary face, tag = -1 - value
  std::vector<Gid> global;                     ///< global cell numbers
  std::vector<std::int32_t> regions;           ///< physical volume tags
  std::vector<CellData> cell_data;

  Lid cell_count() const { return static_cast<Lid>(cells.size()); }
  Vec3 centroid(Lid c) const {
    const auto& v = cells[c];
    const auto at = [&](int i) { return vertices[v[i]]; };
    return 0.25 * (at(0) + at(1) + at(2) + at(3));
  }
  double volume(Lid c) const {
    const auto& v = cells[c];
    const auto at = [&](int i) { return vertices[v[i]]; };
    return tet_volume(at(0), at(1), at(2), at(3));
  }
  /// Is the point inside the cell (or on its surface, to rounding)?
  bool contains(Lid c, Vec3 point) const {
    const auto& v = cells[c];
    const double whole = volume(c);
    for (std::size_t i = 0; i < 4; ++i) {
      std::array<Vec3, 4> corner;
      for (std::size_t k = 0; k < 4; ++k) corner[k] = k == i ? point : vertices[v[k]];
      if (tet_volume(corner[0], corner[1], corner[2], corner[3]) < -1e-12 * whole) return false;
    }
    return true;
  }
};

}  // namespace tutti
