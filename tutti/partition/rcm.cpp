#include "tutti/partition/rcm.hpp"

#include <algorithm>
#include <numeric>

namespace tutti {
namespace {

/// Rows reached from a start, level after level.
struct Levels {
  std::vector<std::int32_t> rows;
  std::size_t last_begin = 0;  ///< where the last level begins in `rows`
  std::int32_t depth = 0;      ///< number of levels - 1
};

/// Breadth first from `start`. `seen` holds the number of the last search that met a row; `search` is a new number.
void find_levels(const SymmetricGraph& graph, std::int32_t start, std::vector<std::int32_t>& seen, std::int32_t search,
                 Levels& levels) {
  levels.rows.assign(1, start);
  levels.last_begin = 0;
  levels.depth = 0;
  seen[start] = search;
  for (std::size_t begin = 0, end = 1;;) {
    for (std::size_t k = begin; k < end; ++k) {
      for (const std::int32_t j : graph.row(levels.rows[k])) {
        if (seen[j] == search) continue;
        seen[j] = search;
        levels.rows.push_back(j);
      }
    }
    if (levels.rows.size() == end) return;
    begin = levels.last_begin = end;
    end = levels.rows.size();
    ++levels.depth;
  }
}

bool lower_degree(const SymmetricGraph& graph, std::int32_t a, std::int32_t b) {
  return graph.degree(a) != graph.degree(b) ? graph.degree(a) < graph.degree(b) : a < b;
}

/// A row far out: go to the least-connected row of the last level as long as that makes the search deeper.
std::int32_t peripheral_row(const SymmetricGraph& graph, std::int32_t start, std::vector<std::int32_t>& seen,
                            std::int32_t& search, Levels& levels) {
  find_levels(graph, start, seen, ++search, levels);
  // Each round is deeper by one at least; in practice there are two or three. The bound keeps a long, thin graph of
  // adverse shape from costing depth times edges.
  constexpr int rounds = 8;
  for (int round = 0; round < rounds; ++round) {
    const std::int32_t depth = levels.depth;
    const auto last = levels.rows.begin() + static_cast<std::ptrdiff_t>(levels.last_begin);
    const std::int32_t next = *std::min_element(
        last, levels.rows.end(), [&](std::int32_t a, std::int32_t b) { return lower_degree(graph, a, b); });
    find_levels(graph, next, seen, ++search, levels);
    if (levels.depth <= depth) return next;
    start = next;
  }
  return start;
}

}  // namespace

std::vector<Lid> reverse_cuthill_mckee(const SymmetricGraph& graph) {
  const auto n = static_cast<std::size_t>(graph.rows());
  std::vector<Lid> order;
  order.reserve(n);
  std::vector<bool> placed(n, false);
  std::vector<std::int32_t> seen(n, -1), fresh;
  std::int32_t search = -1;
  Levels levels;
  const auto by_degree = [&](std::int32_t a, std::int32_t b) { return lower_degree(graph, a, b); };
  const auto place = [&](std::int32_t i) {
    placed[i] = true;
    order.push_back(i);
  };
  for (std::int32_t first = 0; first < graph.rows(); ++first) {
    if (placed[first]) continue;
    std::size_t next = order.size();
    // A lone row needs no search; meshes with many of them stay cheap.
    place(graph.degree(first) == 0 ? first : peripheral_row(graph, first, seen, search, levels));
    for (; next < order.size(); ++next) {
      fresh.clear();
      for (const std::int32_t j : graph.row(order[next])) {
        if (!placed[j]) fresh.push_back(j);
      }
      std::sort(fresh.begin(), fresh.end(), by_degree);
      for (const std::int32_t j : fresh) place(j);
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace tutti
