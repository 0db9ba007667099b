#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>

#include "tests/support/distributed_mesh.hpp"
#include "tests/support/thread_hook.hpp"
#include "tests/unit/base/mpi_environment.hpp"

namespace tutti {
namespace {

using test::box_with_data;
using test::Dice;
using test::world;

std::vector<DistributedPart> cut(const WholeMesh& whole, const std::vector<std::int32_t>& owner, int parts,
                                 int layers = 2) {
  WholeMesh copy = whole;
  return distribute_mesh(world(), std::move(copy), owner, std::vector<int>(parts, 0), layers);
}

TEST(Distribute, PartsOfOneRankAreCutOutOfTheWhole) {
  const WholeMesh whole = box_with_data({3, 2, 2});
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const int parts = 2 + static_cast<int>(seed % 5);
    const auto owner = test::random_cell_owners(seed, whole.mesh.cell_count(), parts);
    const auto mine = cut(whole, owner, parts);
    ASSERT_EQ(mine.size(), static_cast<std::size_t>(parts));
    for (int p = 0; p < parts; ++p) {
      EXPECT_EQ(mine[p].part, p);
      test::expect_good_part(whole, owner, mine[p]);
    }
  }
}

TEST(Distribute, TheHaloIsAsDeepAsAsked) {
  const WholeMesh whole = box_with_data({4, 3, 3});
  for (const int layers : {1, 2, 3})
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", layers " + std::to_string(layers));
      const auto owner = test::random_cell_owners(seed, whole.mesh.cell_count(), 3);
      for (const auto& part : cut(whole, owner, 3, layers)) test::expect_good_part(whole, owner, part, layers);
    }
}

TEST(Distribute, OnePartIsTheWholeMesh) {
  const WholeMesh whole = box_with_data({2, 2, 2});
  // A single part needs no list of owners.
  const auto mine = cut(whole, {}, 1);
  ASSERT_EQ(mine.size(), 1u);
  test::expect_good_part(whole, std::vector<std::int32_t>(whole.mesh.cell_count(), 0), mine[0]);
}

TEST(Distribute, APartMayOwnNothing) {
  const WholeMesh whole = box_with_data({1, 1, 1});
  const std::vector<std::int32_t> owner(6, 1);
  const auto mine = cut(whole, owner, 3);
  ASSERT_EQ(mine.size(), 3u);
  for (const auto& part : mine) test::expect_good_part(whole, owner, part);
  EXPECT_EQ(mine[0].mesh.cell_count(), 0) << "nothing owned, nothing read";
  EXPECT_EQ(mine[1].mesh.cell_count(), 6);
}

TEST(Distribute, ThePartsOfACellEach) {
  const WholeMesh whole = box_with_data({1, 1, 1});
  std::vector<std::int32_t> owner(6);
  std::iota(owner.begin(), owner.end(), 0);
  for (const auto& part : cut(whole, owner, 6)) test::expect_good_part(whole, owner, part);
}

TEST(ReorderCells, AnyOrderTellsOfTheSameCells) {
  const WholeMesh whole = box_with_data({3, 2, 2});
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto owner = test::random_cell_owners(seed, whole.mesh.cell_count(), 3);
    for (DistributedPart& part : cut(whole, owner, 3)) {
      Dice dice(seed);
      std::vector<Lid> own(part.mesh.owned), ghosts(part.mesh.cells.size() - static_cast<std::size_t>(part.mesh.owned));
      std::iota(own.begin(), own.end(), 0);
      std::iota(ghosts.begin(), ghosts.end(), part.mesh.owned);
      dice.shuffle(own);
      dice.shuffle(ghosts);
      std::vector<Lid> order = own;
      order.insert(order.end(), ghosts.begin(), ghosts.end());
      const std::vector<Gid> before = part.mesh.global;
      const LocalTetMesh mesh =
          reorder_cells(std::move(part.mesh), order, seed % 2 == 0 ? ParallelFor(test::five_threads) : ParallelFor());
      EXPECT_EQ(mesh.owned, static_cast<Lid>(own.size()));
      for (std::size_t i = 0; i < order.size(); ++i) ASSERT_EQ(mesh.global[i], before[order[i]]);
      test::expect_same_cells(whole, mesh);
      // Vertices come in the order in which the cells meet them.
      Lid next = 0;
      for (const auto& corners : mesh.cells)
        for (const Lid v : corners) {
          EXPECT_LE(v, next);
          next = std::max(next, v + 1);
        }
    }
  }
}

TEST(ReorderCells, AnOrderOfAnotherLengthIsABug) {
  auto mine = cut(box_with_data({1, 1, 1}), {}, 1);
  EXPECT_THROW(reorder_cells(std::move(mine[0].mesh), std::vector<Lid>{0, 1}), std::logic_error);
}

}  // namespace
}  // namespace tutti
