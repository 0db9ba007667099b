// The direct solver's passes have few rows, each of much work: they must go to all threads all the same.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/support/pressure_setup.hpp"
#include "tests/unit/base/mpi_environment.hpp"

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
