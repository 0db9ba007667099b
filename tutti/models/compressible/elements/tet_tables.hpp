// Tables and tiles for the kernels tuned for straight tetrahedra.
#pragma once

#include <vector>

#include "tutti/models/compressible/elements/operators.hpp"
#include "tutti/models/compressible/kernels/tet_view.hpp"

namespace tutti::compressible {

/// All on the host; `view` has no pointers.
struct TetTables {
  std::vector<double> element_fragments, trace_fragments, scales;
  std::vector<TetFace> faces;
  std::vector<std::int32_t> tables, sides;
  std::vector<Lid> at_boundary;
  TetView view;
};

/// Of a part whose elements all are straight tetrahedra of an order that has such kernels; else none: view.order = 0.
/// `viscous`: with what gradients take; the operators have derivatives.
TetTables make_tet_tables(const Operators& made, const IndexMap& map, int order, Lid interior_faces, bool viscous);

}  // namespace tutti::compressible
