// A tetrahedral mesh as plain data: what readers and generators make and writers take.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "tutti/base/parallel.hpp"
#include "tutti/base/types.hpp"
#include "tutti/base/vec3.hpp"

namespace tutti {

/// A named array with a fixed number of components a cell, cell-major: values[cell * components + c].
struct CellData {
  std::string name;
  int components = 1;
  std::vector<double> values;
};

/// A whole mesh in global numbers. Cells are numbered in file order; that order is the mesh's identity: results,
/// checksums and reductions refer to it.
struct TetMesh {
  std::vector<Vec3> vertices;                ///< coordinates, in the file's unit of length
  std::vector<std::array<Gid, 4>> cells;     ///< vertex numbers, positive volume: (b-a)x(c-a).(d-a) > 0
  std::vector<std::int32_t> regions;         ///< one a cell: the physical volume's tag, 0 where the file gives none
  std::vector<std::array<Gid, 3>> boundary;  ///< triangles that carry a boundary tag
  std::vector<std::int32_t> boundary_tags;   ///< one a triangle: the physical surface's tag (> 0)
  std::map<std::int32_t, std::string> region_names;    ///< physical names of volumes
  std::map<std::int32_t, std::string> boundary_names;  ///< physical names of surfaces
  std::vector<CellData> cell_data;                     ///< e.g. fibre directions, in cell order

  Gid cell_count() const { return static_cast<Gid>(cells.size()); }
  /// A mesh of triangles alone: `boundary` holds them, with tag 0 where they have none.
  bool is_surface() const { return cells.empty() && !boundary.empty(); }
  Gid vertex_count() const { return static_cast<Gid>(vertices.size()); }
};

/// What lies behind each of a cell's four faces. Face f of a cell is opposite to its vertex f.
/// value >= 0: the neighbour cell; value < 0: a boundary face whose tag is -1 - value (tag 0: no physical surface).
using FaceNeighbours = std::vector<std::array<Gid, 4>>;

inline constexpr Gid boundary_face(std::int32_t tag) {
  return -1 - static_cast<Gid>(tag);
}
inline constexpr std::int32_t boundary_tag(Gid neighbour) {
  return static_cast<std::int32_t>(-1 - neighbour);
}

/// Local vertex numbers of face f, so that the normal (b-a)x(c-a) points out of a positive tetrahedron.
inline constexpr std::array<std::array<int, 3>, 4> tet_faces = {{{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}}};

/// Finds the neighbours of all cells. Errors (input): a face shared by three cells, a boundary triangle that is no face
/// of any cell. Interior triangles with a tag are allowed and ignored (an interface between regions).
FaceNeighbours find_face_neighbours(const TetMesh& mesh, const ParallelFor& parallel = {});

inline double tet_volume(Vec3 a, Vec3 b, Vec3 c, Vec3 d) {
  return dot(cross(b - a, c - a), d - a) / 6.0;
}

}  // namespace tutti
