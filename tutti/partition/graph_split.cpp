#include "tutti/partition/graph_split.hpp"

#include <algorithm>
#include <numeric>

#include "tutti/base/error.hpp"
#include "tutti/partition/rebalance.hpp"

namespace tutti {
namespace {

// Below this many rows a part, METIS' k-way runs out of coarse vertices, says so on stdout and leaves parts empty;
// bisection does not.
constexpr std::int64_t k_way_rows = 32;
// With few rows a part k-way spends its time on the coarsest graph: many small parts (cache blocks) are reached in
// stages of 16, for blocks of 64 rows in half the time and with 5 % fewer ghosts.
constexpr std::int64_t small_part_rows = 1024;
constexpr std::size_t small_part_groups = 16;
// More parts than this are reached in stages in any case.
constexpr std::size_t k_way_parts = 1024;

/// Into how many groups of parts the graph is split at once.
std::size_t group_count(std::int64_t rows, std::size_t parts) {
  if (parts <= 2) return parts;
  if (rows < k_way_rows * static_cast<std::int64_t>(parts)) return 2;
  if (rows < small_part_rows * static_cast<std::int64_t>(parts) && parts > 2 * small_part_groups) {
    return small_part_groups;
  }
  if (parts <= k_way_parts) return parts;
  std::size_t groups = 64;
  while (groups * groups < parts && groups < k_way_parts) groups *= 2;
  return groups;
}

/// First part of group g, when `parts` are dealt to `groups` in equal runs.
std::size_t first_of(std::size_t g, std::size_t groups, std::size_t parts) {
  return g * parts / groups;
}

/// Parts of consecutive rows: all there is to do where no row has a neighbour.
void deal_rows(std::span<const std::int32_t> quotas, std::span<std::int32_t> part) {
  std::size_t row = 0;
  for (std::size_t p = 0; p < quotas.size(); ++p) {
    for (std::int32_t k = 0; k < quotas[p]; ++k) part[row++] = static_cast<std::int32_t>(p);
  }
}

void split_at_once(const SymmetricGraph& graph, std::span<const std::int32_t> quotas, GraphLibrary library,
                   double tolerance, std::span<std::int32_t> part) {
  if (quotas.size() == 1 || graph.columns.empty()) {
    deal_rows(quotas, part);
    return;
  }
  if (library == GraphLibrary::metis) {
    metis_split(graph, quotas, part);
  } else {
    scotch_split(graph, quotas, part);
  }
  rebalance(graph, quotas, tolerance, part);
}

}  // namespace

std::vector<std::int32_t> split_graph(const SymmetricGraph& graph, std::span<const std::int32_t> quotas,
                                      GraphLibrary library, double tolerance) {
  const std::size_t parts = quotas.size();
  std::vector<std::int32_t> part(graph.rows());
  const std::size_t groups = group_count(graph.rows(), parts);
  if (groups == parts) {
    split_at_once(graph, quotas, library, tolerance, part);
    return part;
  }

  std::vector<std::int32_t> group_quotas(groups);
  for (std::size_t g = 0; g < groups; ++g) {
    const auto first = quotas.begin() + static_cast<std::ptrdiff_t>(first_of(g, groups, parts));
    const auto last = quotas.begin() + static_cast<std::ptrdiff_t>(first_of(g + 1, groups, parts));
    group_quotas[g] = std::accumulate(first, last, std::int32_t{0});
  }
  // Groups are met exactly, so that the quotas of the parts in them still add up.
  split_at_once(graph, group_quotas, library, 0.0, part);
  std::vector<std::vector<std::int32_t>> rows(groups);
  for (std::size_t i = 0; i < part.size(); ++i) {
    rows[part[i]].push_back(static_cast<std::int32_t>(i));
  }
  std::vector<std::int32_t> scratch(part.size(), -1);
  for (std::size_t g = 0; g < groups; ++g) {
    const std::size_t first = first_of(g, groups, parts);
    const SymmetricGraph piece = induced_graph(graph, rows[g], scratch);
    const auto inside =
        split_graph(piece, quotas.subspan(first, first_of(g + 1, groups, parts) - first), library, tolerance);
    for (std::size_t k = 0; k < inside.size(); ++k) {
      part[rows[g][k]] = static_cast<std::int32_t>(first) + inside[k];
    }
  }
  return part;
}

}  // namespace tutti
