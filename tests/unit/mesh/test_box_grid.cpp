#include "tutti/mesh/box_grid.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tutti {
namespace {

TEST(GridLine, EqualCells) {
  const GridLine line = make_grid_line(8, -1, 3, 0, false);
  ASSERT_EQ(line.cells(), 8);
  EXPECT_EQ(line.length(), 4);
  for (Lid i = 0; i < 8; ++i) {
    EXPECT_DOUBLE_EQ(line.width(i), 0.5);
    EXPECT_DOUBLE_EQ(line.centre(i), -0.75 + 0.5 * i);
  }
}

TEST(GridLine, EqualCellsAreEqualToTheLastBit) {
  for (const Lid cells : {3, 100, 256, 384, 1000})
    for (const double length : {1.0, 0.3, 6.283185307179586})
      for (const double lower : {0.0, -3.141592653589793, 1e5}) {
        const GridLine line = make_grid_line(cells, lower, lower + length, 0, true);
        EXPECT_NEAR(line.width(0), length / cells, 1e-9);
        for (Lid i = -1; i <= cells; ++i) EXPECT_EQ(line.width(i), line.width(0));
        for (Lid i = -1; i < cells; ++i) EXPECT_EQ(line.distance(i), line.width(0));
        BoxGrid grid;
        grid.lines.fill(line);
        EXPECT_TRUE(grid.uniform(0));
      }
}

TEST(GridLine, TheEndsAreExact) {
  for (const Lid cells : {1, 3, 7, 64, 1000})
    for (const double stretch : {0.0, 0.3, 2.0, 10.0}) {
      const GridLine line = make_grid_line(cells, 0.1, 0.7, stretch, false);
      EXPECT_EQ(line.faces.front(), 0.1);
      EXPECT_EQ(line.faces.back(), 0.7);
      for (Lid i = 0; i < cells; ++i) EXPECT_GT(line.width(i), 0) << "cell " << i << " of " << cells;
    }
}

TEST(GridLine, StretchedAsTheFormulaSays) {
  const GridLine line = make_grid_line(10, 2, 6, 1.7, false);
  for (Lid i = 0; i <= 10; ++i)
    EXPECT_NEAR(line.faces[i], 4 + 2 * std::tanh(1.7 * (0.2 * i - 1)) / std::tanh(1.7), 1e-14);
  // Denser towards both ends, and the same from both.
  for (Lid i = 0; i < 5; ++i) {
    EXPECT_NEAR(line.width(i), line.width(9 - i), 1e-14);
    EXPECT_TRUE(i == 0 || line.width(i) > 1.01 * line.width(i - 1)) << i;
  }
}

TEST(GridLine, BeyondAWallIsTheMirrorImage) {
  const GridLine line = make_grid_line(6, 0, 1, 1.5, false);
  EXPECT_EQ(line.width(-1), line.width(0));
  EXPECT_EQ(line.width(6), line.width(5));
  EXPECT_NEAR(line.centre(-1), -line.centre(0), 1e-15);
  EXPECT_NEAR(line.centre(6), 2 - line.centre(5), 1e-15);
  EXPECT_NEAR(line.distance(-1), line.width(0), 1e-15) << "the wall is half way";
}

TEST(GridLine, TheCellAtAPoint) {
  for (const double stretch : {0.0, 1.7}) {
    const GridLine line = make_grid_line(7, -2, 3, stretch, false);
    for (Lid i = 0; i < 7; ++i) {
      EXPECT_EQ(line.cell_at(line.centre(i)), i);
      EXPECT_EQ(line.cell_at(line.faces[i]), i) << "a plane belongs to the upper cell";
    }
    EXPECT_EQ(line.cell_at(3), 6) << "there is no upper one";
    EXPECT_EQ(line.cell_at(-2.5), 0);
    EXPECT_EQ(line.cell_at(4), 6);
  }
}

TEST(GridLine, BeyondAPeriodIsTheCellAtTheOtherEnd) {
  GridLine line;
  line.faces = {0, 1, 3, 7};
  line.periodic = true;
  EXPECT_EQ(line.width(-1), 4);
  EXPECT_EQ(line.width(3), 1);
  EXPECT_EQ(line.centre(-1), -2);
  EXPECT_EQ(line.centre(3), 7.5);
  EXPECT_EQ(line.distance(-1), 2.5);
  EXPECT_EQ(line.distance(2), 2.5);
}

TEST(GridLine, DistancesAreThoseOfCentres) {
  for (const bool periodic : {false, true}) {
    GridLine line;
    line.faces = {0, 0.5, 2, 2.25, 6};
    line.periodic = periodic;
    for (Lid i = -1; i < line.cells(); ++i)
      EXPECT_DOUBLE_EQ(line.distance(i), line.centre(i + 1) - line.centre(i)) << i;
  }
}

TEST(GridLine, OneCell) {
  for (const bool periodic : {false, true}) {
    const GridLine line = make_grid_line(1, 0, 3, 0, periodic);
    EXPECT_EQ(line.width(-1), 3);
    EXPECT_EQ(line.width(1), 3);
    EXPECT_EQ(line.centre(1), 4.5);
    EXPECT_EQ(line.distance(0), 3);
  }
}

BoxGrid some_grid() {
  return {{make_grid_line(4, 0, 1, 0, true), make_grid_line(3, 0, 6, 2, false), make_grid_line(1, -1, 1, 0, false)}};
}

TEST(BoxGrid, Cells) {
  const BoxGrid grid = some_grid();
  EXPECT_EQ(grid.cells(), (std::array<Lid, 3>{4, 3, 1}));
  EXPECT_EQ(grid.cell_count(), 12);
  EXPECT_EQ(grid.periodic(), (std::array<bool, 3>{true, false, false}));
  double volume = 0;
  for (Lid j = 0; j < 3; ++j)
    for (Lid i = 0; i < 4; ++i) volume += grid.volume(i, j, 0);
  EXPECT_NEAR(volume, 12, 1e-13);
  const Vec3 centre = grid.centre(1, 1, 0);
  EXPECT_DOUBLE_EQ(centre.x, 0.375);
  EXPECT_DOUBLE_EQ(centre.y, 3);
  EXPECT_DOUBLE_EQ(centre.z, 0);
}

TEST(BoxGrid, CellsBeyond32Bits) {
  BoxGrid grid;
  for (GridLine& line : grid.lines) line = make_grid_line(2048, 0, 1, 0, false);
  EXPECT_EQ(grid.cell_count(), Gid{1} << 33);
}

TEST(BoxGrid, UniformAndSmallestWidth) {
  const BoxGrid grid = some_grid();
  EXPECT_TRUE(grid.uniform(0));
  EXPECT_FALSE(grid.uniform(1));
  EXPECT_TRUE(grid.uniform(2));
  EXPECT_DOUBLE_EQ(grid.smallest_width(0), 0.25);
  EXPECT_EQ(grid.smallest_width(1), std::min(grid.lines[1].width(0), grid.lines[1].width(2)));
  EXPECT_LT(grid.smallest_width(1), grid.lines[1].width(1));
  EXPECT_EQ(grid.smallest_width(), std::min({grid.smallest_width(0), grid.smallest_width(1), grid.smallest_width(2)}));
  BoxGrid slice = grid;
  slice.lines[2] = make_grid_line(1, 0, 1e-3, 0, true);
  EXPECT_EQ(slice.smallest_width(), std::min(grid.smallest_width(0), grid.smallest_width(1)))
      << "nothing changes along one cell";
  for (GridLine& line : slice.lines) line = make_grid_line(1, 0, 2, 0, true);
  EXPECT_EQ(slice.smallest_width(), 2);
  // Rounding of many cells does not count, a slight stretch does.
  BoxGrid fine = grid;
  fine.lines[0] = make_grid_line(30000, 0.1, 0.3, 0, false);
  EXPECT_TRUE(fine.uniform(0));
  fine.lines[0] = make_grid_line(4, 0, 1, 0.05, false);
  EXPECT_FALSE(fine.uniform(0));
}

TEST(BoxGrid, TheChecksumTellsGridsApart) {
  const BoxGrid grid = some_grid();
  EXPECT_EQ(grid.checksum(), some_grid().checksum());
  BoxGrid other = grid;
  other.lines[0].periodic = false;
  EXPECT_NE(other.checksum(), grid.checksum());
  other = grid;
  other.lines[1].faces[1] = std::nextafter(other.lines[1].faces[1], 9);
  EXPECT_NE(other.checksum(), grid.checksum());
  other = grid;
  std::swap(other.lines[0], other.lines[1]);
  EXPECT_NE(other.checksum(), grid.checksum());
}

}  // namespace
}  // namespace tutti
