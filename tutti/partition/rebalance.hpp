// Meeting the targets after a graph library has come near them.
#pragma once

#include <cstdint>
#include <span>

#include "tutti/partition/symmetric_graph.hpp"

namespace tutti {

/// Moves rows between parts until each part p holds quotas[p] rows, give or take floor(tolerance * quotas[p]); a quota
/// > 0 is never left empty. Rows leave where they add least to the cut: from the seam to the neighbour, over several
/// parts where the one that has too many does not touch the one that has too few. `part` holds numbers in
/// [0, quotas.size()), the quotas sum up to graph.rows(), 0 <= tolerance < 1. Deterministic.
void rebalance(const SymmetricGraph& graph, std::span<const std::int32_t> quotas, double tolerance,
               std::span<std::int32_t> part);

}  // namespace tutti
