// Rows of fluxes that blocks of elements use again.
#include "tests/support/straight_part.hpp"
#include "tutti/models/compressible/elements/flux_rows.hpp"

namespace tutti::compressible {
namespace {

using FluxRowsOfBlocks = StraightPart;

TEST_F(FluxRowsOfBlocks, AreUsedAgainOnlyBehindTheElementsThatReadThem) {
  if (lane_count == 1) GTEST_SKIP() << "no vectors";
  make(BoxElements::tetrahedra, {12, 11, 10});
  constexpr int order = 3;
  const Operators made = make_operators(local_, map_, {order, false, false});
  const StraightTables tables = make_straight_tables(made, local_, map_, order, false, DeviceKind::host);
  StraightView view = tables.view;
  view.faces = tables.faces.data();
  const auto faces = static_cast<Lid>(made.faces.size());
  ASSERT_GT(tables.blocks.size(), 20u);
  for (const int window : {1, 4, 7}) {
    SCOPED_TRACE(window);
    const FluxRows rows = reuse_flux_rows(view, faces, tables.blocks, tables.sides, window);
    ASSERT_EQ(rows.tiles.size(), tables.faces.size());
    ASSERT_EQ(rows.sides.size(), tables.sides.size());
    std::vector<Lid> row_of(made.faces.size(), -1);
    for (std::size_t i = 0; i < rows.tiles.size(); ++i) {
      Lid& row = row_of[tables.faces[i].face];
      EXPECT_TRUE(row < 0 || row == rows.tiles[i]) << "two rows of face " << tables.faces[i].face;
      row = rows.tiles[i];
    }
    for (std::size_t i = 0; i < rows.sides.size(); ++i) {
      EXPECT_EQ(rows.sides[i] / max_turns, row_of[tables.sides[i] / max_turns]);
      EXPECT_EQ(rows.sides[i] % max_turns, tables.sides[i] % max_turns);
    }
    // Which block fills a row, and which is the last whose elements read it. Elements of a block wait for faces of this
    // block and of blocks before it, so that nothing waits for itself.
    std::vector<int> filled(made.faces.size(), -1), read(made.faces.size(), -1);
    Lid moved = 0;
    for (int b = 0; b < static_cast<int>(tables.blocks.size()); ++b) {
      const StraightBlock& block = tables.blocks[b];
      for (const int of : block.after) EXPECT_LE(of, b);
      for (Size i = Size{tile_rows} * block.tiles.begin; i < Size{tile_rows} * block.tiles.end; ++i) {
        const Lid face = tables.faces[i].face, row = rows.tiles[i];
        if (filled[row] == b) continue;
        if (filled[row] >= 0) {
          EXPECT_EQ((b - filled[row]) % window, 0);
          EXPECT_EQ(read[row], filled[row]) << "row " << row << " of face " << face << " is read by other blocks, too";
        }
        filled[row] = b;
        moved += row == face ? 0 : 1;
      }
      for (Size k = Size{view.faces_each} * block.rows.begin; k < Size{view.faces_each} * block.rows.end; ++k)
        read[rows.sides[k] / max_turns] = b;
    }
    EXPECT_GT(moved, faces / 3);
    EXPECT_EQ(rows.unused, moved);
    // A row is of one face of a block.
    for (const StraightBlock& block : tables.blocks) {
      std::map<Lid, Lid> face_of_row;
      for (Size i = Size{tile_rows} * block.tiles.begin; i < Size{tile_rows} * block.tiles.end; ++i)
        EXPECT_EQ(face_of_row.emplace(rows.tiles[i], tables.faces[i].face).first->second, tables.faces[i].face);
    }
    // Faces at separators and at the boundary keep theirs.
    for (Size i = Size{tile_rows} * view.ends[interior_inner + 1]; i < Size{tile_rows} * view.ends.back(); ++i)
      EXPECT_EQ(rows.tiles[i], tables.faces[i].face);
  }
}

}  // namespace
}  // namespace tutti::compressible
