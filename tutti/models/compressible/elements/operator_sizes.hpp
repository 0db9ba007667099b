// How large the tables of a part would be, without making them.
#pragma once

#include "tutti/models/compressible/elements/operators.hpp"

namespace tutti::compressible {

/// Numbers of doubles, but for `faces`, `boundary_points` and `turns` (bytes).
struct OperatorSizes {
  Size tables = 0, normals = 0, flux = 0;
  Size faces = 0, boundary_points = 0;
  Size turns = max_face_points;
  Size source_points = 0;             ///< of the volume of all owned elements
  Size recomputed = 0;                ///< elements, ghosts, too
  Size own_volumes = 0;               ///< as Operators has it
  int element_row = 0, face_row = 0;  ///< as TablesApart has them
};

/// What make_operators makes.
OperatorSizes count_operators(const LocalElementMesh& mesh, const IndexMap& map, const OperatorOptions& options);

}  // namespace tutti::compressible
