// Products in lanes have the bits of plain sums, with the zeros left out; rows of a tile end where they must.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <set>

#include "tutti/base/random.hpp"
#include "tutti/models/compressible/elements/element_basis.hpp"
#include "tutti/models/compressible/elements/product_tables.hpp"
#include "tutti/models/compressible/kernels/lane_tile.hpp"

namespace tutti::compressible {
namespace {

double random_number(int i) {
  return 2 * random_unit(3, static_cast<std::uint64_t>(i)) - 1;
}

/// A table of which `share` of the numbers are zero, as well as all of row 2 and of row 4 from a term on.
struct Table {
  int rows, terms;
  double share;
  double operator()(int k, int row) const {
    if (row == 2 || (row == 4 && k >= 3) || random_unit(5, static_cast<std::uint64_t>(k * rows + row)) < share)
      return 0;
    return random_number(k * rows + row);
  }
};

TEST(ProductTables, HaveEachFactorOnce) {
  for (const double share : {0.0, 0.4, 0.9, 1.0})
    for (const bool added : {false, true}) {
      const Table table{19, 23, share};
      ProductTables tables;
      tables.add(
          7, 3, table, [](int k) { return k; }, false);
      const LaneProduct product = tables.add(
          table.rows, table.terms, table, [](int k) { return 2 * k + 1; }, added);
      std::set<int> rows;
      for (int i = product.begin; i < product.end; ++i) {
        const ProductBlock& block = tables.blocks[static_cast<std::size_t>(i)];
        ASSERT_GE(block.count, 1);
        ASSERT_LE(block.rows, most_rows_at_once);
        for (int r = 0; r < block.rows; ++r) {
          EXPECT_TRUE(rows.insert(block.row[r]).second);
          std::set<int> terms;
          for (int t = 0; t < block.count; ++t) {
            const int place = tables.terms[static_cast<std::size_t>(block.terms + t)], k = place / 2;
            if (t > 0) {
              EXPECT_LT(tables.terms[static_cast<std::size_t>(block.terms + t - 1)], place);
            }
            EXPECT_EQ(tables.factors[static_cast<std::size_t>(block.factors + t * block.rows + r)],
                      table(k, block.row[r]));
            terms.insert(k);
          }
          for (int k = 0; k < table.terms; ++k) EXPECT_TRUE(table(k, block.row[r]) == 0 || terms.count(k) == 1U);
        }
      }
      for (int row = 0; row < table.rows; ++row) {
        bool any = !added;
        for (int k = 0; k < table.terms; ++k) any = any || table(k, row) != 0;
        EXPECT_EQ(rows.count(row), any ? 1U : 0U) << row;
      }
    }
}

/// Of a reference tetrahedron's functions of order p those of x, of x and y and of x, y and z only do not change along
/// the other directions: exact zeros, which products leave out.
TEST(ProductTables, FunctionsDoNotChangeAlongDirectionsThatTheyLack) {
  for (int order = 1; order <= 3; ++order) {
    std::vector<Vec3> nodes{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const ElementBasis basis(ElementMap(ElementType::tetrahedron, nodes), order, false);
    int zeros = 0;
    const std::vector<Vec3> gradients = basis.gradients({0.21, 0.13, 0.37});
    for (const Vec3& g : gradients)
      for (int d = 0; d < 3; ++d) zeros += g[d] == 0 ? 1 : 0;
    EXPECT_EQ(zeros, 1 + (order + 1) + (order + 1) * (order + 2) / 2) << order;
  }
}

#if TUTTI_LANES > 1
TEST(LaneProducts, HaveTheBitsOfPlainSums) {
  constexpr int V = 5;
  for (const double share : {0.0, 0.4, 1.0})
    for (const int rows : {1, 2, 3, 7, 19}) {
      const Table table{rows, 11, share};
      ProductTables tables;
      const LaneProduct added = tables.add(
                            rows, table.terms, table, [](int k) { return k; }, true),
                        set = tables.add(
                            rows, table.terms, table, [](int k) { return k; }, false);
      const LaneProducts all{tables.blocks.data(), tables.terms.data(), tables.factors.data(), nullptr, {}};
      const int each = table.terms + 2, lanes = lane_count;
      std::vector<double> x(static_cast<std::size_t>(V * each * lanes)), y(static_cast<std::size_t>(V * rows * lanes)),
          fresh = y;
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = random_number(static_cast<int>(i) + 1000);
      for (std::size_t i = 0; i < y.size(); ++i) y[i] = random_number(static_cast<int>(i) + 5000);
      const std::vector<double> before = y;
      add_tile_product<V>(all, added, x.data(), each, y.data(), rows);
      set_tile_product<V>(all, set, x.data(), each, fresh.data(), rows);
      for (int v = 0; v < V; ++v)
        for (int row = 0; row < rows; ++row)
          for (int lane = 0; lane < lanes; ++lane) {
            const auto at = static_cast<std::size_t>((v * rows + row) * lanes + lane);
            double sum = before[at], from_zero = 0;
            for (int k = 0; k < table.terms; ++k) {
              const double value = x[static_cast<std::size_t>((v * each + k) * lanes + lane)];
              sum = std::fma(table(k, row), value, sum);
              from_zero = std::fma(table(k, row), value, from_zero);
            }
            ASSERT_EQ(y[at], sum);
            ASSERT_EQ(fresh[at], from_zero);
          }
    }
}

/// Rows may end where memory does: nothing behind them is touched.
TEST(LaneTiles, RowsMayEndWhereMemoryEnds) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const memory = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const end = reinterpret_cast<double*>(static_cast<char*>(memory) + page);
  ASSERT_EQ(mprotect(end, page, PROT_NONE), 0);
  for (int n = 1; n <= 11; ++n) {
    double* rows[lane_count];
    for (int lane = 0; lane < lane_count; ++lane) rows[lane] = end - n * (lane + 1);
    std::vector<double> tile(static_cast<std::size_t>(n * lane_count)), read(tile.size()), summed(tile.size());
    for (std::size_t i = 0; i < tile.size(); ++i) tile[i] = random_number(static_cast<int>(i));
    store_tile(tile.data(), n, rows);
    load_tile(rows, n, read.data());
    EXPECT_EQ(read, tile);
    load_tile_of([&](int lane, int at, int count) { return 2.0 * QuarterRow(rows[lane] + at, count); }, n,
                 summed.data());
    for (std::size_t i = 0; i < tile.size(); ++i) ASSERT_EQ(summed[i], 2 * tile[i]);
  }
  munmap(memory, 2 * page);
}

/// Each lane in its own order, for as many points as faces of the orders have.
template <int n>
void check_turned() {
  constexpr int V = 5, each = n + 3;
  double from[lane_count][V * n];
  std::uint8_t order[lane_count][16];
  const double* rows[lane_count];
  const std::uint8_t* orders[lane_count];
  for (int lane = 0; lane < lane_count; ++lane) {
    for (int i = 0; i < V * n; ++i) from[lane][i] = random_number(V * n * lane + i);
    for (int q = 0; q < 16; ++q) order[lane][q] = static_cast<std::uint8_t>(q < n ? (5 * q + lane) % n : q);
    rows[lane] = from[lane];
    orders[lane] = order[lane];
  }
  std::vector<double> to(static_cast<std::size_t>(V * each * lane_count));
  load_turned_tile<V, n>(rows, orders, Lanes(-3.0), to.data(), each);
  for (int v = 0; v < V; ++v)
    for (int q = 0; q < n; ++q)
      for (int lane = 0; lane < lane_count; ++lane)
        ASSERT_EQ(to[static_cast<std::size_t>((v * each + q) * lane_count + lane)],
                  -3 * from[lane][v * n + order[lane][q]]);
}

TEST(LaneTiles, EachLaneHasItsOwnOrder) {
  check_turned<4>();
  check_turned<8>();
  check_turned<12>();
}
#endif

}  // namespace
}  // namespace tutti::compressible
