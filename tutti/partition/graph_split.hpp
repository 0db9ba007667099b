// Splitting a graph with METIS or Scotch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tutti/partition/symmetric_graph.hpp"

namespace tutti {

enum class GraphLibrary { metis, scotch };

/// How far a part's rows may be off its quota, as a fraction: 0.5 %, so parts below 200 rows are met exactly.
inline constexpr double default_tolerance = 0.005;

/// Part of every row, in [0, quotas.size()). The quotas are > 0 and sum up to graph.rows(); part p gets quotas[p] rows,
/// give or take floor(tolerance * quotas[p]). Any number of parts: thousands are reached in stages. The graph may be
/// disconnected. Deterministic. Errors: resource (out of memory in the library; Scotch is not built in).
std::vector<std::int32_t> split_graph(const SymmetricGraph& graph, std::span<const std::int32_t> quotas,
                                      GraphLibrary library, double tolerance = default_tolerance);

/// One call of METIS' k-way: faster than its recursive bisection and with fewer ghosts on heart meshes for 2, 3, 4 and
/// 8 parts (on boxes about equal). Nearly meets the quotas; may leave a part empty. `part` has graph.rows() entries.
/// Needs at least two parts and one edge.
void metis_split(const SymmetricGraph& graph, std::span<const std::int32_t> quotas, std::span<std::int32_t> part);

/// One call of Scotch on a weighted complete target graph; otherwise as metis_split. Error(resource) when tutti was
/// built without Scotch.
void scotch_split(const SymmetricGraph& graph, std::span<const std::int32_t> quotas, std::span<std::int32_t> part);

}  // namespace tutti
