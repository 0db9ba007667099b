// Refinement of the boundaries between parts: rows may come in any order.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>

#include "tests/unit/partition/graphs.hpp"
#include "tutti/base/random.hpp"
#include "tutti/partition/quotas.hpp"
#include "tutti/partition/voronoi/boundary_refinement.hpp"

namespace tutti::voronoi {
namespace {

enum class Order { forward, backward, by_chance };

/// One row after the other, every kernel in another order.
struct OneByOne : HostMemory {
  Order order = Order::forward;
  std::uint64_t kernels = 0;

  template <class Kernel>
  void each(Lid count, const Kernel& kernel) {
    std::vector<Lid> rows(static_cast<std::size_t>(count));
    std::iota(rows.begin(), rows.end(), 0);
    if (order == Order::backward) std::reverse(rows.begin(), rows.end());
    ++kernels;
    for (std::size_t i = rows.size(); order == Order::by_chance && i > 1; --i)
      std::swap(rows[i - 1], rows[random_bits(kernels, i) % i]);
    for (const Lid row : rows) kernel(row);
  }
};

std::vector<std::int32_t> refined(const SymmetricGraph& graph, std::vector<std::int32_t> part,
                                  std::span<const std::int32_t> quotas, Order order) {
  RefinementArrays arrays;
  arrays.rows = graph.rows();
  arrays.parts = static_cast<std::int32_t>(quotas.size());
  arrays.offsets = graph.offsets.data();
  arrays.columns = graph.columns.data();
  arrays.part = part.data();
  Carver counted, carver;
  lay_out(counted, arrays);
  const auto bytes = static_cast<std::size_t>(counted.bytes);
  const auto memory = std::make_unique<std::byte[]>(bytes);
  std::fill_n(memory.get(), bytes, std::byte{0xFF});
  carver.memory = memory.get();
  lay_out(carver, arrays);
  std::vector<std::int32_t> size(quotas.size(), 0);
  for (const std::int32_t p : part) ++size[static_cast<std::size_t>(p)];
  OneByOne where{{arrays.counts}, order};
  BoundaryRefinement(where, arrays, graph).run(quotas, 0.02, size);
  return part;
}

TEST(BoundaryRefinement, OrderOfRowsChangesNothing) {
  for (const auto& [problem, parts] : {std::pair(test::lattice(16, 12, 10), 4),
                                       {test::lattice(40, 40, 1), 2},
                                       {test::random_geometric(1500, 0.12, 6), 6},
                                       {test::star(200), 3}}) {
    const SymmetricGraph graph = symmetrise(problem.graph);
    const auto quotas = row_quotas(problem.rows(), std::vector<double>(static_cast<std::size_t>(parts), 1.0));
    const std::vector<std::int32_t> wanted(quotas.begin(), quotas.end());
    std::vector<std::int32_t> first;
    for (std::size_t p = 0; p < quotas.size(); ++p) first.insert(first.end(), quotas[p], static_cast<std::int32_t>(p));
    for (std::size_t i = 0; i + 1 < first.size(); i += 3) std::swap(first[i], first[random_bits(1, i) % first.size()]);
    const auto expected = refined(graph, first, wanted, Order::forward);
    EXPECT_NE(expected, first);
    EXPECT_EQ(refined(graph, first, wanted, Order::backward), expected);
    EXPECT_EQ(refined(graph, first, wanted, Order::by_chance), expected);
  }
}

// Rows that others have shortened already must keep what they have: on a GPU a late write would undo it.
TEST(BoundaryRefinement, FlattenWritesToItsOwnRowAlone) {
  std::vector<std::int32_t> parent{0, 0, 1, 2, 3, 4, 5, 7};
  RefinementArrays arrays;
  arrays.parent = parent.data();
  Flatten{arrays}(6);
  EXPECT_EQ(parent, (std::vector<std::int32_t>{0, 0, 1, 2, 3, 4, 0, 7}));
  Flatten{arrays}(7);
  Flatten{arrays}(3);
  EXPECT_EQ(parent, (std::vector<std::int32_t>{0, 0, 1, 0, 3, 4, 0, 7}));
}

}  // namespace
}  // namespace tutti::voronoi
