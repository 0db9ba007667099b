#include <gtest/gtest.h>
#include <fmt/core.h>
#include <chrono>
#include "tests/support/pressure_setup.hpp"
#include "tests/unit/base/mpi_environment.hpp"
#include "tutti/models/incompressible/multigrid.hpp"
namespace tutti {
namespace {
double contraction(const PressureBox& box, MultigridOptions options = {.coarsest = 64, .longest_line = 64}) {
  const Comm& comm = test::world();
  PressureSetup<double> setup(comm, box, "cpu", "pressure.solver = \"multigrid\"");
  Multigrid<double> solver(setup.problem(), options);
  double before = solver.largest_residual(), first = before;
  std::string text;
  std::vector<double> r{before};
  Gid total = 0;
  for (std::size_t l = 0; l < solver.levels(); ++l) total += solver.level(l).grid.cell_count();
  for (int c = 0; c < 9; ++c) {
    solver.cycle();
    r.push_back(solver.largest_residual());
    text += fmt::format(" {:.3f}", r.back() / r[r.size() - 2]);
  }
  std::size_t last = r.size() - 1;
  while (last > 1 && r[last] < 1e-11 * first) --last;
  const double mean = std::pow(r[last] / r[0], 1.0 / last);
  fmt::print("{}x{}x{} {} len {} {} {} str {} {} {}: mean {:.3f} worst-late {:.3f} levels {} work {:.2f} :{}\n", box.cells[0], box.cells[1],
             box.cells[2], box.ends, box.length[0], box.length[1], box.length[2], box.stretch[0], box.stretch[1],
             box.stretch[2], mean, r[last] / r[last - 1], solver.levels(), double(total) / setup.grid().cell_count(), text);
  return mean;
}
TEST(Probe, contraction) {
  for (Lid n : {32, 33, 31}) contraction({{n, n, n}});
  contraction({{48, 64, 20}});
  contraction({{48, 64, 20}, {48, 64, 20}});
  contraction({{64, 64, 64}});
  contraction({{64, 64, 1}});
  contraction({{65, 65, 1}});
  contraction({{128, 128, 1}});
  contraction({{64, 64, 4}});
  contraction({{64, 64, 4}, {64, 64, 4}});
  contraction({{128, 1, 1}});
  contraction({{128, 4, 4},  {1,1000,1000}});
  contraction({{128, 8, 8}, {1,2,2}});
  contraction({{128, 8, 8}, {1,10,10}});
  contraction({{128, 8, 8}, {2,1,1}});
  contraction({{100, 10, 10}});
  contraction({{96, 10, 10}});
  contraction({{128, 10, 10}});
  contraction({{128, 8, 8}});
  contraction({{128, 128, 8}});
  contraction({{128, 16, 1}});
  contraction({{100, 10, 10}, {10, 1, 1}});
  contraction({{32, 32, 32}, {1, 1.4, 1}});
  contraction({{32, 32, 32}, {1, 1.4, 1.4}});
  contraction({{32, 32, 32}, {1, 1, 1.4}});
  contraction({{32, 32, 32}, {1, 1.45, 1.2}});
  contraction({{32, 32, 32}, {1, 1, 1}, {1, 1, 1}});
  contraction({{32, 32, 32}, {1, 1, 1}, {2, 2, 2}});
  contraction({{33, 40, 29}, {1, 1, 1}, {2, 1, 2}});
  contraction({{64, 64, 1}, {1, 1, 1}, {2, 2, 0}});
  contraction({{64, 64, 1}, {1, 1, 1}, {3, 3, 0}});
  contraction({{32, 32, 32}, {1, 1, 1}, {0, 0, 0}, "ppp"});
  contraction({{31, 31, 31}, {1, 1, 1}, {0, 0, 0}, "ppp"});
  contraction({{33, 33, 33}, {1, 1, 1}, {0, 0, 0}, "ppw"});
  contraction({{37, 33, 3}, {1, 1, .1}, {0, 0, 0}, "ppp"});
  contraction({{31, 31, 31}, {1, 1, 1}, {0, 0, 0}, "ooo"});
  contraction({{31, 31, 31}, {1, 1, 1}, {0, 0, 0}, "uwp"});
  contraction({{130, 7, 2}, {1, 1, 1}, {0, 0, 0}, "uww"});
}
}  // namespace
}  // namespace tutti
namespace tutti {
TEST(Timing, sweeps) {
  for (Lid n : {64, 128}) {
    const Comm& comm = test::world();
    PressureSetup<double> setup(comm, {{n, n, n}}, "cpu", "pressure.solver = \"multigrid\"");
    Multigrid<double> solver(setup.problem());
    MultigridLevel<double> level(setup.problem());
    const auto time = [&](const char* name, auto&& f) {
      f();
      const int reps = n == 64 ? 20 : 4;
      timespec a, b;
      clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
      for (int r = 0; r < reps; ++r) f();
      clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
      const double s = (double(b.tv_sec - a.tv_sec) + 1e-9 * double(b.tv_nsec - a.tv_nsec)) / reps;
      fmt::print("{} {}: {:.3f} ms, {:.2f} ns a cell\n", n, name, s * 1e3, s * 1e9 / (double(n) * n * n));
    };
    using B = MultigridLevel<double>::Behind;
    const auto coarse = [&] { double w = 1.0 / n; return *coarsen(setup.grid(), w, false); }();
    MultigridLevel<double> next(setup.problem(), level.level(), coarse);
    MultigridTransfer<double> transfer(setup.problem(), level, next, coarse);
    time("half sweep", [&] { level.sweep(0, B::faces); });
    time("from zero", [&] { level.sweep_from_zero(); });
    time("restrict", [&] { transfer.restrict_residual(); });
    time("interpolate", [&] { transfer.interpolate(); });
    time("largest of stored", [&] { transfer.largest_residual(); });
    time("restrict stored", [&] { transfer.restrict_stored(); });
    time("residual", [&] { level.largest_residual(); });
    time("cycle", [&] { solver.cycle(); });
    Multigrid<double> small(setup.problem(), {.coarsest = 32*32*32});
    time("cycle with 32^3", [&] { small.cycle(); });
  }
}
}
