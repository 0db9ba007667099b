#include "tutti/partition/symmetric_graph.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "tutti/base/error.hpp"

namespace tutti {
namespace {

constexpr Size index_max = std::numeric_limits<std::int32_t>::max();

/// Who reads row j: the transposed graph without loops. Its rows come out ascending.
template <class Index>
Csr<std::int32_t> readers(const Csr<Index>& graph) {
  const auto n = static_cast<std::size_t>(graph.rows());
  Csr<std::int32_t> result;
  result.offsets.assign(n + 2, 0);
  const auto kept = [&](std::size_t i, Index j) {
    return static_cast<std::size_t>(j) < n && static_cast<std::size_t>(j) != i;
  };
  for (std::size_t i = 0; i < n; ++i) {
    for (const Index j : graph.row(static_cast<Index>(i))) {
      require(j >= 0, "row {} of a graph reads column {}", i, j);
      if (kept(i, j)) ++result.offsets[j + 2];
    }
  }
  for (std::size_t i = 2; i < n + 2; ++i) result.offsets[i] += result.offsets[i - 1];
  result.columns.resize(result.offsets[n + 1]);
  for (std::size_t i = 0; i < n; ++i) {
    for (const Index j : graph.row(static_cast<Index>(i))) {
      if (!kept(i, j)) continue;
      const auto at = static_cast<std::size_t>(result.offsets[j + 1]++);
      result.columns[at] = static_cast<std::int32_t>(i);
    }
  }
  result.offsets.pop_back();
  return result;
}

template <class Index>
SymmetricGraph symmetrise_any(const Csr<Index>& graph) {
  check_graph_size(graph.rows(), 0);
  const Csr<std::int32_t> transposed = readers(graph);
  const auto n = static_cast<std::size_t>(graph.rows());
  SymmetricGraph result;
  result.offsets.reserve(n + 1);
  result.columns.reserve(
      static_cast<std::size_t>(std::min(transposed.entries() + transposed.entries() / 8, index_max)));
  std::vector<std::int32_t> reads;
  for (std::size_t i = 0; i < n; ++i) {
    reads.clear();
    for (const Index j : graph.row(static_cast<Index>(i))) {
      if (static_cast<std::size_t>(j) < n && static_cast<std::size_t>(j) != i) {
        reads.push_back(static_cast<std::int32_t>(j));
      }
    }
    if (!std::is_sorted(reads.begin(), reads.end())) std::sort(reads.begin(), reads.end());
    const auto from = transposed.row(static_cast<std::int32_t>(i));
    // Union of two ascending lists; either may hold doubles.
    const std::size_t begin = result.columns.size();
    const auto push = [&](std::int32_t j) {
      if (result.columns.size() == begin || result.columns.back() != j) result.columns.push_back(j);
    };
    std::size_t a = 0, b = 0;
    while (a < reads.size() && b < from.size()) push(reads[a] <= from[b] ? reads[a++] : from[b++]);
    while (a < reads.size()) push(reads[a++]);
    while (b < from.size()) push(from[b++]);
    if (static_cast<Size>(result.columns.size()) > index_max) {
      check_graph_size(graph.rows(), static_cast<Size>(result.columns.size()));
    }
    result.offsets.push_back(static_cast<std::int32_t>(result.columns.size()));
  }
  return result;
}

}  // namespace

void check_graph_size(Gid rows, Size entries) {
  if (rows < index_max && entries <= index_max) return;
  fail(ErrorKind::resource,
       "the graph has {} rows and at least {} neighbours; METIS, Scotch and RCM are limited to 32-bit numbers "
       "({}): use \"hilbert\" or \"slabs\"",
       rows, entries, index_max);
}

SymmetricGraph symmetrise(const Csr<Gid>& graph) {
  return symmetrise_any(graph);
}

SymmetricGraph symmetrise(const Csr<Lid>& graph) {
  return symmetrise_any(graph);
}

SymmetricGraph induced_graph(const SymmetricGraph& graph, std::span<const std::int32_t> chosen,
                             std::vector<std::int32_t>& scratch) {
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    scratch[chosen[k]] = static_cast<std::int32_t>(k);
  }
  SymmetricGraph result;
  result.offsets.reserve(chosen.size() + 1);
  for (const std::int32_t i : chosen) {
    const std::size_t begin = result.columns.size();
    for (const std::int32_t j : graph.row(i)) {
      const std::int32_t k = scratch[j];
      if (k >= 0) result.columns.push_back(k);
    }
    const auto first = result.columns.begin() + static_cast<std::ptrdiff_t>(begin);
    if (!std::is_sorted(first, result.columns.end())) std::sort(first, result.columns.end());
    result.offsets.push_back(static_cast<std::int32_t>(result.columns.size()));
  }
  for (const std::int32_t i : chosen) scratch[i] = -1;
  return result;
}

}  // namespace tutti
