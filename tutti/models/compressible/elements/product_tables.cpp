#include "tutti/models/compressible/elements/product_tables.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace tutti::compressible {
namespace {

using Terms = std::vector<int>;

/// About how many cycles a block takes: a multiply-add of each variable's vector a row and term, the values of the
/// term, and the sums' way from memory and back.
int cost_of(int rows, int terms) {
  const int a_term = 5 * rows + 2 + (rows == 1 ? 2 : 0);
  return terms * a_term + 10 * rows + 12;
}

Terms united(const Terms& a, const Terms& b) {
  Terms both;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

}  // namespace

LaneProduct ProductTables::add(int rows, int count, const std::function<double(int, int)>& factor,
                               const std::function<int(int)>& place, bool added) {
  std::vector<Terms> of(static_cast<std::size_t>(rows));
  std::vector<int> order;
  for (int row = 0; row < rows; ++row) {
    Terms& mine = of[static_cast<std::size_t>(row)];
    for (int k = 0; k < count; ++k)
      if (factor(k, row) != 0) mine.push_back(k);
    if (mine.empty() && added) continue;
    if (mine.empty()) mine.push_back(0);
    order.push_back(row);
  }
  const auto terms_of = [&](std::size_t i) -> const Terms& { return of[static_cast<std::size_t>(order[i])]; };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    const Terms &x = of[static_cast<std::size_t>(a)], &y = of[static_cast<std::size_t>(b)];
    return x.size() != y.size() ? x.size() < y.size() : x < y;
  });
  // best[i]: the cost of the first i rows; from[i]: where the last of their blocks begins.
  std::vector<int> best(order.size() + 1, std::numeric_limits<int>::max());
  std::vector<std::size_t> from(order.size() + 1, 0);
  best[0] = 0;
  for (std::size_t begin = 0; begin < order.size(); ++begin) {
    Terms all;
    for (std::size_t i = begin; i < std::min(order.size(), begin + most_rows_at_once); ++i) {
      all = united(all, terms_of(i));
      const int cost = best[begin] + cost_of(static_cast<int>(i + 1 - begin), static_cast<int>(all.size()));
      if (cost >= best[i + 1]) continue;
      best[i + 1] = cost;
      from[i + 1] = begin;
    }
  }
  std::vector<std::pair<std::size_t, std::size_t>> ranges;
  for (std::size_t end = order.size(); end > 0; end = from[end]) ranges.emplace_back(from[end], end);
  LaneProduct product;
  product.begin = static_cast<std::int32_t>(blocks.size());
  for (auto range = ranges.rbegin(); range != ranges.rend(); ++range) {
    ProductBlock block;
    block.terms = static_cast<std::int32_t>(terms.size());
    block.factors = static_cast<std::int32_t>(factors.size());
    Terms all;
    for (std::size_t i = range->first; i < range->second; ++i) {
      block.row[block.rows++] = static_cast<std::uint8_t>(order[i]);
      all = united(all, terms_of(i));
    }
    block.count = static_cast<std::uint16_t>(all.size());
    for (const int k : all) {
      terms.push_back(static_cast<std::uint16_t>(place(k)));
      for (int r = 0; r < block.rows; ++r) factors.push_back(factor(k, block.row[r]));
    }
    blocks.push_back(block);
  }
  product.end = static_cast<std::int32_t>(blocks.size());
  return product;
}

}  // namespace tutti::compressible
