// Tables and tiles for the kernels tuned for straight tetrahedra and hexahedra.
#pragma once

#include <vector>

#include "tutti/models/compressible/elements/operators.hpp"
#include "tutti/models/compressible/elements/product_tables.hpp"
#include "tutti/models/compressible/kernels/straight_view.hpp"

namespace tutti::compressible {

/// On CPUs: elements inside a part, and the faces that first need one of them, as many as caches hold.
struct StraightBlock {
  Range tiles;             ///< of inner faces
  Range rows;              ///< of elements
  std::vector<int> after;  ///< blocks, this one too, with faces of these elements
};

/// All on the host; `view` has no pointers.
struct StraightTables {
  std::vector<double> element_fragments, trace_fragments, scales, face_scales;
  std::vector<StraightFace> faces;
  std::vector<std::int32_t> tables, sides, beyond;
  std::vector<StraightBlock> blocks;
  ProductTables products;  ///< of CPUs
  ElementProducts element_products;
  std::vector<SideProducts> side_products;
  StraightView view;
};

/// Of a part whose elements all are straight tetrahedra, or all straight hexahedra, of an order that the device has
/// such kernels for; else none: view.order = 0. `viscous`: with what gradients take; the operators have derivatives.
StraightTables make_straight_tables(const Operators& made, const LocalElementMesh& mesh, const IndexMap& map, int order,
                                    bool viscous, DeviceKind device);

}  // namespace tutti::compressible
