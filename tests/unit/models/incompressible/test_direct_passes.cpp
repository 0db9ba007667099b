// The direct solver's passes: what they find, whichever direction they eliminate. They have few rows, each of much
// work, which must go to all threads all the same.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "tests/support/pressure_setup.hpp"
#include "tests/unit/base/mpi_environment.hpp"
#include "tutti/models/incompressible/pressure/direct/direct_layout.hpp"

namespace tutti::incompressible {
namespace {

std::vector<bool> passes_for_one_thread(const PressureBox& box) {
  PressureSetup<double> setup(test::world(), box);
  const std::unique_ptr<PressureSolver<double>> solver = make_direct(setup.problem());
  std::vector<bool> result;
  for (const Step* step : solver->steps()) result.push_back(step->for_one_thread());
  result.pop_back();  // of the ends
  return result;
}

/// On all devices: whatever is cut how, and eliminated along `axis`.
void expect_solved(const PressureBox& box, int axis, const std::string& devices, const std::string& keys) {
  PressureSetup<double> setup(test::world(), box, devices, keys);
  SCOPED_TRACE(fmt::format("along {}, {}, {}", axis, devices, keys));
  ASSERT_EQ(direct_order(setup.flow())[2], axis);
  make_direct(setup.problem())->solve(0);
  const auto p = setup.pressure(), f = setup.random_rhs();
  const PoissonResidual left = poisson_residual(setup.box(), p.data(), f.data());
  EXPECT_LE(left.residual, 4e-15 * left.norm * left.p);
  std::vector<double> exact(f.size());
  DirectSolver<double>(setup.box()).solve(f.data(), exact.data());
  double largest = 0, difference = 0;
  for (std::size_t n = 0; n < p.size(); ++n) {
    largest = std::max(largest, std::abs(exact[n]));
    difference = std::max(difference, std::abs(p[n] - exact[n]));
  }
  EXPECT_LE(difference, 1e-11 * largest);
}

TEST(DirectPasses, solve_boxes_along_each_direction) {
  const std::vector<std::pair<PressureBox, int>> boxes = {
      {{.cells = {20, 12, 16}, .stretch = {0, 0, 2}}, 2},
      {{.cells = {20, 12, 16}, .stretch = {0, 2, 0}}, 1},
      {{.cells = {20, 12, 16}, .stretch = {2, 0, 0}}, 0},
      {{.cells = {21, 40, 18}, .ends = "pwu"}, 0},
      {{.cells = {37, 18, 1}, .stretch = {1, 0, 0}, .ends = "oww"}, 0},
      {{.cells = {37, 1, 18}, .stretch = {1, 0, 0}, .ends = "wwp"}, 0},
      {{.cells = {19, 1, 1}, .stretch = {1, 0, 0}}, 0},
      {{.cells = {9, 9, 8}, .stretch = {1, 1, 0}}, 1},
      {{.cells = {20, 12, 16}, .ends = "ppp"}, 2},  // modes along z, too
      {{.cells = {10, 6, 140}, .ends = "wop"}, 2},
      {{.cells = {16, 8, 22}, .ends = "ppp"}, 2}};  // none, for a factor of 11
  for (const auto& [box, axis] : boxes) {
    expect_solved(box, axis, "cpu", "");
    expect_solved(box, axis, "fake:3", "partition.cut = \"slabs\"\npressure.pieces = 2\n");
    if (box.cells[1] > 1) expect_solved(box, axis, "fake:4", "partition.cut = \"pencils\"\n");
  }
}

TEST(ColumnWaves, take_each_piece_up_through_all_parts_and_down_again) {
  for (const int parts : {2, 3, 5})
    for (const int pieces : {1, 2, 4, 9}) {
      std::vector<ColumnWaves> of(static_cast<std::size_t>(parts));
      for (int p = 0; p < parts; ++p) of[p] = {.parts = parts, .place = p, .pieces = pieces, .cuts = 7, .each = 3};
      std::vector<std::vector<int>> up(of.size()), down(of.size());  // waves, by piece
      for (std::size_t p = 0; p < of.size(); ++p) {
        up[p].assign(static_cast<std::size_t>(pieces), -1);
        down[p] = up[p];
        for (int w = 0; w < of[p].waves(); ++w) {
          if (of[p].exists(of[p].piece_up(w))) up[p][of[p].piece_up(w)] = w;
          if (of[p].exists(of[p].piece_down(w))) down[p][of[p].piece_down(w)] = w;
        }
      }
      Lid columns = 0;
      for (int n = 0; n < pieces; ++n) {
        EXPECT_EQ(of[0].columns_of(n).begin, columns) << "no column twice or never";
        columns = of[0].columns_of(n).end;
        EXPECT_LE(of[0].columns_of(n).size(), of[0].room());
        EXPECT_GE(up[0][n], 0);
        for (std::size_t p = 1; p < of.size(); ++p) EXPECT_EQ(up[p][n], up[p - 1][n] + 1);
        EXPECT_EQ(down.back()[n], up.back()[n]) << "the last part does both at once";
        for (std::size_t p = 1; p < of.size(); ++p) EXPECT_EQ(down[p - 1][n], down[p][n] + 1);
      }
      EXPECT_EQ(columns, 21);
    }
  EXPECT_FALSE(ColumnWaves{}.exists(0)) << "no planes, no work";
}

TEST(DirectThreads, share_a_box_of_64_cubed_cells) {
  for (const auto& stretch : {std::array<double, 3>{0, 0, 0}, std::array<double, 3>{2, 2, 0}}) {
    const PressureBox box{.cells = {64, 64, 64}, .stretch = stretch};
    EXPECT_EQ(passes_for_one_thread(box), std::vector<bool>(3, false)) << stretch[0];
  }
}

TEST(DirectThreads, leave_a_tiny_box_to_one) {
  EXPECT_EQ(passes_for_one_thread({.cells = {8, 8, 8}}), std::vector<bool>(3, true));
}

}  // namespace
}  // namespace tutti::incompressible
