#include "tutti/models/incompressible/pressure/grid_coarsening.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tutti::incompressible {
namespace {

BoxGrid box_of(std::array<Lid, 3> cells, std::array<double, 3> length, double stretch, bool periodic) {
  BoxGrid grid;
  for (std::size_t d = 0; d < 3; ++d) grid.lines[d] = make_grid_line(cells[d], 0, length[d], stretch, periodic);
  return grid;
}

TEST(GridCoarsening, halves_equal_cells_and_leaves_a_last_one_single) {
  double width = 1.0 / 7;
  const BoxGrid grid = box_of({7, 6, 1}, {1, 6.0 / 7, 1}, 0, false);
  const auto below = coarsen(grid, width, false);
  EXPECT_DOUBLE_EQ(width, 2.0 / 7);
  EXPECT_EQ(below->first[0], (std::vector<Lid>{0, 2, 4, 6, 7}));
  EXPECT_EQ(below->first[1], (std::vector<Lid>{0, 2, 4, 6}));
  EXPECT_EQ(below->first[2], (std::vector<Lid>{0, 1}));
  width = 1.0 / 7;
  EXPECT_EQ(coarsen(grid, width, true)->first[0], (std::vector<Lid>{0, 1, 3, 5, 7}));
}

TEST(GridCoarsening, merges_only_along_the_short_sides_of_cells) {
  double width = 0.1;
  const auto coarse = coarsen(box_of({10, 10, 10}, {1, 1.4, 1.5}, 0, false), width, false);
  EXPECT_EQ(coarse->grid.cells(), (std::array<Lid, 3>{5, 5, 10}));
}

TEST(GridCoarsening, merges_at_the_walls_first_where_the_grid_is_stretched) {
  const BoxGrid grid = box_of({16, 1, 1}, {1, 1, 1}, 2, false);
  double width = grid.smallest_width(0);
  const auto coarse = coarsen(grid, width, false);
  EXPECT_EQ(coarse->first[0].front(), 0);
  EXPECT_EQ(coarse->first[0][1], 2);
  EXPECT_GT(coarse->grid.lines[0].cells(), 8);
}

TEST(GridCoarsening, ends_with_one_cell) {
  for (const Lid cells : {2, 3, 5, 64, 97, 130}) {
    BoxGrid grid = box_of({cells, 3, 1}, {1, 1, 1}, cells == 97 ? 1.5 : 0, false);
    double width = grid.smallest_width(0);
    int levels = 0;
    while (const auto coarse = coarsen(grid, width, levels % 2 == 1)) {
      ASSERT_LT(coarse->grid.cell_count(), grid.cell_count());
      EXPECT_DOUBLE_EQ(coarse->grid.lines[0].length(), 1);
      grid = coarse->grid;
      ++levels;
    }
    EXPECT_EQ(grid.cell_count(), 1);
    EXPECT_LT(levels, 16) << cells;
  }
}

TEST(GridCoarsening, every_coarse_cell_has_one_part) {
  const BoxGrid grid = box_of({9, 8, 5}, {1, 1, 1}, 0, false);
  double width = 1.0 / 9;
  const auto coarse = coarsen(grid, width, true);
  std::vector<int> owners(coarse->grid.cell_count(), 0);
  const auto cells = coarse->grid.cells();
  for (const Lid x : {0, 3, 4, 5})
    for (const Lid y : {0, 1, 5}) {
      const Lid next_x = x == 0 ? 3 : x == 5 ? 9 : x + 1, next_y = y == 0 ? 1 : y == 1 ? 5 : 8;
      const CellBox box{{x, y, 0}, {next_x, next_y, 5}};
      const CellBox own = coarse_box(*coarse, box), reach = coarse_reach(*coarse, box);
      for (Lid k = own.lower[2]; k < own.upper[2]; ++k)
        for (Lid j = own.lower[1]; j < own.upper[1]; ++j)
          for (Lid i = own.lower[0]; i < own.upper[0]; ++i) {
            ++owners[(k * cells[1] + j) * cells[0] + i];
            EXPECT_TRUE(reach.contains(i, j, k));
          }
    }
  for (const int owner : owners) EXPECT_EQ(owner, 1);
}

TEST(GridCoarsening, equal_cells_merge_to_equal_cells) {
  const BoxGrid grid = box_of({96, 96, 96}, {6.283185307179586, 6.283185307179586, 6.283185307179586}, 0, true);
  double width = grid.smallest_width();
  const auto coarse = coarsen(grid, width, false);
  EXPECT_EQ(coarse->grid.lines[0].equal_width, 2 * grid.lines[0].equal_width);
  // The last cell of an odd number has no partner.
  const BoxGrid odd = box_of({95, 96, 96}, {1, 1, 1}, 0, false);
  width = odd.smallest_width();
  EXPECT_FALSE(coarsen(odd, width, false)->grid.uniform(0));
}

TEST(GridCoarsening, difference_covers_what_is_missing_once) {
  const CellBox all{{-1, 2, 0}, {6, 7, 3}}, box{{0, 2, 0}, {5, 6, 9}};
  Gid cells = 0;
  for (const CellBox& piece : difference(all, box)) {
    cells += piece.cells();
    EXPECT_TRUE(intersection(piece, box).empty());
    EXPECT_EQ(intersection(piece, all), piece);
  }
  EXPECT_EQ(cells, all.cells() - intersection(all, box).cells());
}

struct LineCase {
  Lid cells;
  double stretch;
  LineEnd low, high;
};

class CoarseLineWeights : public testing::TestWithParam<LineCase> {
 protected:
  void SetUp() override {
    const LineCase& c = GetParam();
    fine = box_of({c.cells, 1, 1}, {1, 1, 1}, c.stretch, c.low == LineEnd::periodic);
    double width = fine.smallest_width(0);
    merged = *coarsen(fine, width, false);
    up = interpolate_line(fine.lines[0], merged.grid.lines[0], merged.first[0], c.low, c.high);
  }
  BoxGrid fine;
  CoarseGrid merged;
  LineInterpolation up;
};

TEST_P(CoarseLineWeights, interpolation_is_exact_for_lines_and_keeps_what_holds_at_ends) {
  const LineCase& c = GetParam();
  const GridLine &from = merged.grid.lines[0], &to = fine.lines[0];
  for (std::size_t i = 0; i < up.parent.size(); ++i) {
    const double own = up.parent_weight[i], other = up.neighbour_weight[i], x = to.centre(static_cast<Lid>(i));
    const Lid neighbour = up.neighbour[i];
    if (other > 0) {
      EXPECT_NEAR(own + other, 1, 1e-14);
      EXPECT_NEAR(own * from.centre(up.parent[i]) + other * from.centre(neighbour), x, 1e-14);
      EXPECT_TRUE(from.periodic || (neighbour >= 0 && neighbour < from.cells()));
    } else if (own < 1) {  // p = 0 at the end
      const bool upper = neighbour > up.parent[i];
      EXPECT_EQ(upper ? c.high : c.low, LineEnd::dirichlet);
      const double end = upper ? 1 : 0;
      EXPECT_NEAR(own * (from.centre(up.parent[i]) - end), x - end, 1e-14);
    }
  }
}

TEST_P(CoarseLineWeights, restriction_conserves_the_sum) {
  const LineCase& c = GetParam();
  const GridLine &to = merged.grid.lines[0], &from = fine.lines[0];
  for (const bool linear : {false, true}) {
    const LineRestriction down = restrict_line(from, to, merged.first[0], up, linear);
    std::vector<double> given(from.cells(), 0.0);
    for (Lid n = 0; n < down.count; ++n)
      for (Lid k = 0; k < to.cells(); ++k) {
        const auto at = static_cast<std::size_t>(n * to.cells() + k);
        const Lid i = (down.cell[at] + from.cells()) % from.cells();
        given[i] += down.weight[at] * to.width(k);
      }
    for (Lid i = 0; i < from.cells(); ++i) {
      const auto n = static_cast<std::size_t>(i);
      const bool leaves = linear && up.parent_weight[n] + up.neighbour_weight[n] < 1 - 1e-12;
      EXPECT_TRUE(!leaves || c.low == LineEnd::dirichlet || c.high == LineEnd::dirichlet);
      if (!leaves) {
        EXPECT_NEAR(given[n], from.width(i), 1e-14) << i << (linear ? ", linear" : "");
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Lines, CoarseLineWeights,
                         testing::Values(LineCase{8, 0, LineEnd::neumann, LineEnd::neumann},
                                         LineCase{9, 0, LineEnd::neumann, LineEnd::dirichlet},
                                         LineCase{2, 0, LineEnd::dirichlet, LineEnd::dirichlet},
                                         LineCase{2, 0, LineEnd::periodic, LineEnd::periodic},
                                         LineCase{7, 0, LineEnd::periodic, LineEnd::periodic},
                                         LineCase{8, 0, LineEnd::periodic, LineEnd::periodic},
                                         LineCase{21, 2, LineEnd::dirichlet, LineEnd::neumann},
                                         LineCase{16, 1, LineEnd::neumann, LineEnd::dirichlet}));

}  // namespace
}  // namespace tutti::incompressible
