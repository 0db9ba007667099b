// Multigrid over ranks has the bits that one rank finds.
#include <gtest/gtest.h>

#include "tests/support/pressure_setup.hpp"
#include "tutti/models/incompressible/pressure/multigrid.hpp"

namespace tutti::incompressible {
namespace {

struct Solved {
  std::vector<double> p, residuals;
};

Solved solved_by(const Comm& comm, const PressureBox& box, const std::string& cut) {
  PressureSetup<double> setup(
      comm, box, "cpu",
      "pressure.solver = \"multigrid\"\npressure.tolerance = 1e-3\npartition.cut = \"" + cut + "\"\n");
  Multigrid<double> solver(setup.problem(), {.coarsest = 8, .longest_line = 8});
  solver.solve(std::numeric_limits<double>::infinity());
  return {setup.pressure(), solver.residuals()};
}

TEST(Multigrid, ranks_find_the_same_bits) {
  const Comm world(MPI_COMM_WORLD), self(MPI_COMM_SELF);
  const std::vector<std::pair<PressureBox, std::string>> cases = {
      {{{13, 9, 11}, {1, 1, 1}, {1, 0, 2}, "wuo"}, "blocks"},
      {{{14, 15, 9}, {1, 1, 1}, {0, 0, 0}, "pwp"}, "pencils"},
      {{{5, 6, 31}, {1, 1, 0.3}, {0, 0, 0}, "wwp"}, "slabs"},
      {{{24, 29, 1}}, "pencils"},
  };
  for (const auto& [box, cut] : cases) {
    const Solved alone = solved_by(self, box, cut), together = solved_by(world, box, cut);
    EXPECT_TRUE(together.p == alone.p) << box.cells[0] << " x " << box.cells[1] << " x " << box.cells[2] << ", " << cut;
    EXPECT_EQ(together.residuals, alone.residuals);
  }
}

}  // namespace
}  // namespace tutti::incompressible
