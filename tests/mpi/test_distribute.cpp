// A mesh that only the first rank has, cut and sent to all.
#include <gtest/gtest.h>

#include "tests/support/distributed_mesh.hpp"

namespace tutti {
namespace {

using test::box_with_data;
using test::Dice;

const Comm& world() {
  static const Comm comm;
  return comm;
}

void distribute_and_look(const WholeMesh& whole, const std::vector<std::int32_t>& owner,
                         const std::vector<int>& rank_of_part) {
  // Only the reader's mesh and owners may matter.
  WholeMesh given;
  std::vector<std::int32_t> given_owner;
  if (world().is_root()) {
    given = whole;
    given_owner = owner;
  }
  const auto mine = distribute_mesh(world(), std::move(given), given_owner, rank_of_part);
  std::vector<std::int32_t> expected;
  for (std::size_t p = 0; p < rank_of_part.size(); ++p)
    if (rank_of_part[p] == world().rank()) expected.push_back(static_cast<std::int32_t>(p));
  std::vector<std::int32_t> found;
  for (const DistributedPart& part : mine) {
    found.push_back(part.part);
    test::expect_good_part(whole, owner, part);
  }
  EXPECT_EQ(found, expected);
  EXPECT_TRUE(given.mesh.cells.empty() && given.neighbours.empty()) << "the reader keeps the whole mesh";
}

TEST(Distribute, RandomOwnersOnRandomRanks) {
  const WholeMesh whole = box_with_data({3, 3, 2});
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Dice dice(seed);
    std::vector<int> rank_of_part;
    for (auto k = dice.roll(1, 3 * world().size()); k > 0; --k)
      rank_of_part.push_back(static_cast<int>(dice.roll(0, world().size() - 1)));
    const auto owner =
        test::random_cell_owners(seed, whole.mesh.cell_count(), static_cast<std::int32_t>(rank_of_part.size()));
    distribute_and_look(whole, owner, rank_of_part);
  }
}

TEST(Distribute, MorePartsThanCells) {
  const WholeMesh whole = box_with_data({1, 1, 1});
  std::vector<int> rank_of_part;
  for (int p = 0; p < 11; ++p) rank_of_part.push_back(p % world().size());
  distribute_and_look(whole, {9, 0, 4, 4, 10, 2}, rank_of_part);
}

TEST(Distribute, OnePartOnAnyRank) {
  const WholeMesh whole = box_with_data({2, 1, 1});
  for (int r = 0; r < world().size(); ++r)
    distribute_and_look(whole, std::vector<std::int32_t>(whole.mesh.cell_count(), 0), {r});
}

TEST(Distribute, LongPartsTravelInPieces) {
  const Size before = set_message_chunk(1000);
  const WholeMesh whole = box_with_data({4, 3, 3});
  std::vector<int> rank_of_part;
  for (int r = 0; r < world().size(); ++r) rank_of_part.push_back(r);
  distribute_and_look(whole, test::random_cell_owners(5, whole.mesh.cell_count(), world().size()), rank_of_part);
  set_message_chunk(before);
}

}  // namespace
}  // namespace tutti
