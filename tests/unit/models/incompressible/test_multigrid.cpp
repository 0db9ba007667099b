// Multigrid against the direct solver and the operator itself, its contraction, and its bits.
#include "tutti/models/incompressible/pressure/multigrid.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/pressure_setup.hpp"
#include "tests/unit/base/mpi_environment.hpp"

namespace tutti::incompressible {
namespace {

// Many levels, also of small boxes: what is tested are not direct solves.
constexpr MultigridOptions many_levels{.coarsest = 8, .longest_line = 8};
const std::string by_multigrid = "pressure.solver = \"multigrid\"\n";

std::string name_of(const PressureBox& box) {
  return fmt::format("{} x {} x {} cells, {} x {} x {}, stretched {} {} {}, {}", box.cells[0], box.cells[1],
                     box.cells[2], box.length[0], box.length[1], box.length[2], box.stretch[0], box.stretch[1],
                     box.stretch[2], box.ends);
}

/// Factor of the residual a cycle, mean of all until rounding is seen.
double contraction(const PressureBox& box) {
  PressureSetup<double> setup(test::world(), box, "cpu", by_multigrid);
  Multigrid<double> solver(setup.problem(), many_levels);
  const double first = solver.largest_residual();
  double left = first;
  int cycles = 0;
  for (; cycles < 10 && left > 1e-9 * first; ++cycles) {
    solver.cycle();
    left = solver.largest_residual();
  }
  return std::pow(left / first, 1.0 / cycles);
}

// Measured, as all bounds here: 0.02 a cycle for cubes (0.05 with omega 1.15, as elsewhere), 0.03 to 0.08 for others.
TEST(Multigrid, a_cycle_leaves_a_tenth_at_most) {
  const std::vector<PressureBox> boxes = {
      {{32, 32, 32}},
      {{33, 33, 33}},
      {{31, 31, 31}},
      {{48, 64, 20}},
      {{48, 64, 20}, {48, 64, 20}},
      {{64, 64, 1}},
      {{65, 65, 1}},
      {{64, 64, 4}},
      {{64, 64, 4}, {64, 64, 4}},
      {{100, 10, 10}},
      {{100, 10, 10}, {10, 1, 1}},
      {{97, 1, 1}},
      {{64, 4, 4}, {1, 10, 10}},
      {{32, 32, 32}, {1, 1.4, 1}},
      {{32, 32, 32}, {1, 1.45, 1.2}},
      {{32, 32, 32}, {1, 1, 1}, {2, 2, 2}},
      {{33, 40, 29}, {1, 1, 1}, {2, 1, 2}},
      {{64, 64, 1}, {1, 1, 1}, {3, 3, 0}},
      {{32, 32, 32}, {1, 1, 1}, {0, 0, 0}, "ppp"},
      {{31, 31, 31}, {1, 1, 1}, {0, 0, 0}, "ppw"},
      {{37, 33, 3}, {1, 1, 0.1}, {0, 0, 0}, "ppp"},
      {{31, 31, 31}, {1, 1, 1}, {0, 0, 0}, "ooo"},
      {{31, 31, 31}, {1, 1, 1}, {0, 0, 0}, "uwp"},
  };
  for (const PressureBox& box : boxes) {
    const double factor = contraction(box);
    EXPECT_LT(factor, 0.1) << name_of(box);
  }
}

TEST(Multigrid, contraction_does_not_depend_on_the_number_of_cells) {
  for (const Lid n : {16, 17, 23, 24, 40, 47}) EXPECT_LT(contraction({{n, n, n}}), 0.04) << n;
  for (const Lid n : {67, 89, 101, 127, 128, 129}) EXPECT_LT(contraction({{n, n, 1}}), 0.06) << n;
}

/// What is left is found by the operator's slow reference, and p differs from the direct solver's by a constant.
void expect_solved(const PressureBox& box) {
  PressureSetup<double> setup(test::world(), box, "cpu", by_multigrid + "pressure.tolerance = 1e-10\n");
  Multigrid<double> solver(setup.problem(), many_levels);
  solver.solve(std::numeric_limits<double>::infinity());
  EXPECT_LE(solver.residuals().size(), 16U) << name_of(box);
  const auto p = setup.pressure(), f = setup.random_rhs();
  std::vector<double> exact(f.size());
  DirectSolver<double>(setup.box()).solve(f.data(), exact.data());
  const PoissonResidual left = poisson_residual(setup.box(), p.data(), f.data());
  EXPECT_LE(left.residual, 1e-10 * left.f + 1e-15 * left.norm * left.p) << name_of(box);
  double mean = 0, largest = 0, difference = 0;
  for (std::size_t n = 0; n < p.size(); ++n) mean += (p[n] - exact[n]) / static_cast<double>(p.size());
  if (!setup.box().singular()) {
    EXPECT_LE(std::abs(mean), 1e-8 * left.p) << name_of(box);
  }
  for (std::size_t n = 0; n < p.size(); ++n) {
    largest = std::max(largest, std::abs(exact[n]));
    difference = std::max(difference, std::abs(p[n] - exact[n] - mean));
  }
  EXPECT_LE(difference, 1e-8 * largest) << name_of(box);
}

// CaNS has such a suite for its solver.
TEST(Multigrid, solves_boxes_of_all_shapes_with_all_ends) {
  const std::vector<std::array<Lid, 3>> shapes = {
      {2, 2, 2},   {3, 3, 3},  {1, 1, 2},   {5, 1, 1},    {1, 7, 1},   {1, 1, 61}, {2, 3, 5},
      {7, 11, 13}, {8, 8, 8},  {16, 4, 2},  {17, 5, 3},   {31, 29, 1}, {1, 23, 8}, {37, 1, 6},
      {64, 2, 2},  {9, 9, 30}, {12, 6, 24}, {19, 19, 19}, {130, 2, 3}, {4, 71, 4},
  };
  const std::vector<std::string> ends = {"www", "ppp", "ooo", "uwp", "pwu", "wop"};
  int boxes = 0;
  for (std::size_t s = 0; s < shapes.size(); ++s)
    for (std::size_t e = s % 2; e < ends.size(); e += 2) {
      expect_solved({shapes[s], {1, 1, 1}, {0, 0, 0}, ends[e]});
      ++boxes;
    }
  for (const auto& cells : {std::array<Lid, 3>{8, 12, 9}, {24, 6, 5}, {13, 13, 1}, {3, 40, 16}})
    for (const std::array<double, 3>& length : {std::array<double, 3>{1, 1, 3}, {0.2, 1, 7}})
      for (const std::string what : {"www", "wuo"}) {
        expect_solved({cells, length, {1.5, 0, 0.8}, what});
        ++boxes;
      }
  EXPECT_GE(boxes, 60);
}

std::vector<double> after_a_cycle(const PressureBox& box, const std::string& devices, const std::string& more) {
  PressureSetup<double> setup(test::world(), box, devices, by_multigrid + more);
  Multigrid<double> solver(setup.problem(), many_levels);
  solver.cycle();
  return setup.pressure();
}

// Parts without cells of coarse grids, coarse cells with fine ones in two parts, two layers that travel.
TEST(Multigrid, bits_do_not_depend_on_devices_cuts_and_overlap) {
  const std::vector<PressureBox> boxes = {{{13, 9, 11}, {1, 1, 1}, {1, 0, 2}, "wuo"},
                                          {{9, 7, 9}, {1, 1, 1}, {0, 0, 0}, "pwp"},
                                          {{5, 6, 17}, {1, 1, 0.3}, {0, 0, 0}, "wwp"}};
  const auto expect_same = [](const PressureBox& box, const std::string& devices, const std::string& more) {
    EXPECT_TRUE(after_a_cycle(box, devices, more) == after_a_cycle(box, "cpu", ""))
        << name_of(box) << " on " << devices << " with " << more;
  };
  expect_same(boxes[0], "fake:2", "partition.cut = \"blocks\"\n");
  expect_same(boxes[0], "fake:4", "partition.cut = \"pencils\"\ndevices.overlap = \"none\"\n");
  expect_same(boxes[1], "fake:3,cpu", "partition.cut = \"blocks\"\n");
  expect_same(boxes[1], "fake:1,cpu", "devices.overlap = \"messages\"\n");
  expect_same(boxes[2], "fake:3,cpu", "partition.cut = \"slabs\"\n");
}

TEST(Multigrid, begins_with_the_pressure_it_finds) {
  PressureSetup<double> setup(test::world(), {{24, 24, 24}}, "cpu", by_multigrid);
  Multigrid<double> solver(setup.problem(), many_levels);
  solver.solve(std::numeric_limits<double>::infinity());
  EXPECT_GT(solver.residuals().size(), 3U);
  solver.solve(std::numeric_limits<double>::infinity());
  EXPECT_EQ(solver.residuals().size(), 1U);
}

TEST(Multigrid, float_reaches_its_rounding) {
  PressureSetup<float> setup(test::world(), {{40, 40, 40}}, "cpu",
                             by_multigrid + "numerics.precision = \"float\"\npressure.tolerance = 1e-12\n");
  Multigrid<float> solver(setup.problem());
  solver.solve(std::numeric_limits<double>::infinity());
  EXPECT_LT(solver.residuals().size(), 12U);
  EXPECT_LT(solver.residuals().back(), 1e-4);
}

TEST(Multigrid, tells_when_it_does_not_converge) {
  PressureSetup<double> setup(test::world(), {{12, 12, 12}}, "cpu", by_multigrid + "pressure.sweeps = 8\n");
  auto rhs = setup.random_rhs();
  for (double& f : rhs) f += 1;  // flows in and not out: there is no solution
  setup.set_rhs(rhs);
  Multigrid<double> solver(setup.problem(), many_levels);
  try {
    solver.solve(1);
    FAIL() << "solved what has no solution";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::numerical);
    EXPECT_THAT(error.what(), testing::HasSubstr("after 8 multigrid cycles a divergence of"));
  }
}

TEST(Multigrid, tells_its_grids) {
  PressureSetup<double> setup(test::world(), {{50, 40, 1}, {50, 40, 1}}, "cpu", by_multigrid);
  EXPECT_EQ(Multigrid<double>(setup.problem(), {.coarsest = 200}).describe(),
            "multigrid, V(2,2) cycles of 50 x 40 x 1, 25 x 20 x 1, 13 x 10 x 1 (directly)");
}

#if !defined(__SANITIZE_THREAD__)  // there are no lines there
TEST(RedBlackSweep, a_line_has_the_bits_of_its_cells) {
  PressureSetup<double> setup(test::world(), {{300, 3, 4}, {1, 1, 1}, {1, 0, 0}, "wop"}, "cpu", by_multigrid);
  MultigridLevel<double> level(setup.problem());
  const BoxArray& array = level.level().arrays[0];
  std::vector<double> p(array.values()), rhs(p.size());
  for (std::size_t n = 0; n < p.size(); ++n) {
    p[n] = random_unit(1, n);
    rhs[n] = random_unit(2, n);
  }
  for (const Lid colour : {0, 1}) {
    auto by_cells = p, by_lines = p;
    const RedBlackSweep<double, StencilView> cells{level.stencil(0), by_cells.data(), rhs.data(), 1.2, colour},
        lines{level.stencil(0), by_lines.data(), rhs.data(), 1.2, colour};
    for (Lid k = 0; k < 4; ++k)
      for (Lid j = 0; j < 3; ++j) {
        for (Lid i = 5; i < 300; ++i) cells(i, j, k);
        lines.line(5, 120, j, k);
        lines.line(120, 300, j, k);
      }
    EXPECT_EQ(by_cells, by_lines);
    EXPECT_NE(by_cells, p);
  }
}
#endif

}  // namespace
}  // namespace tutti::incompressible
