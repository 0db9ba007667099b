// Points between corners: from elements of first order to second order.
#pragma once

#include "tutti/mesh/elements/element_mesh.hpp"

namespace tutti {

/// The same mesh with elements of second order: points in the middle of edges and quadrangles and in the centre of
/// hexahedra, shared by all elements around them and numbered behind the corners. The shape stays; move the points to
/// curve it. Elements that are of second order are kept. Periodic pairs are kept.
ElementMesh make_quadratic(const ElementMesh& mesh);

/// Completes elements of serendipity_node_count() nodes, as files have them, by the points that leave their shape as it
/// is (1/2 of the edges' middles less 1/4 of the corners in a quadrangle). Others are kept.
ElementMesh complete_serendipity(const ElementMesh& mesh);

}  // namespace tutti
