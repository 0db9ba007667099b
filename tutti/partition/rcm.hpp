// Reverse Cuthill-McKee.
#pragma once

#include <vector>

#include "tutti/partition/symmetric_graph.hpp"

namespace tutti {

/// Order of small bandwidth: result[k] is the row that comes k-th. Breadth first from a pseudo-peripheral row of each
/// component, neighbours by rising degree, then all reversed (Cuthill & McKee 1969; George & Liu 1979 for the start).
/// Ties go to the lower row. O(edges) for bounded degree, in any number of components.
std::vector<Lid> reverse_cuthill_mckee(const SymmetricGraph& graph);

}  // namespace tutti
