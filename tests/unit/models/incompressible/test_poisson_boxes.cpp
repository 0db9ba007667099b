// The direct solver on a hundred boxes: residuals, a dense reference, and bits that no cutting changes.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "tests/support/elimination.hpp"
#include "tests/support/thread_hook.hpp"
#include "tests/unit/models/incompressible/poisson_problem.hpp"
#include "tutti/device/threads.hpp"

namespace tutti::incompressible {
namespace {

using test::boxes;
using test::describe;
using test::each_cell;
using test::five_threads;
using test::has_no_dirichlet;
using test::laplacian;
using test::largest;
using test::largest_residual;
using test::mean;
using test::random_values;
using test::Spacing;
using test::widths;

template <class T>
std::vector<T> solve(const PoissonBox& box, const std::vector<T>& f) {
  std::vector<T> p(f.size());
  DirectSolver<T>(box).solve(f.data(), p.data());
  return p;
}

/// What rounding p to its last digit makes of a residual, and rounding f.
template <class T>
double rounding(const PoissonResidual& r) {
  return std::numeric_limits<T>::epsilon() * (r.norm * r.p + r.f);
}

/// As max |f - L p| is bounded by rounding(): measured, below 4 of these units on all boxes. On boxes of some 50
/// uniform cells a direction that is 1e-12 of f in double.
template <class T>
void expect_small_residuals() {
  std::uint64_t seed = 1;
  for (const PoissonBox& box : boxes()) {
    SCOPED_TRACE(describe(box));
    const std::vector<T> f = random_values<T>(box.cells(), seed++);
    const std::vector<T> p = solve(box, f);
    const PoissonResidual r = poisson_residual(box, p.data(), f.data());
    const double residual = largest_residual(box, p, f);
    EXPECT_LE(residual, 8 * rounding<T>(r));
    EXPECT_NEAR(r.residual, residual, 8 * rounding<double>(r));
    EXPECT_EQ(r.f, largest(f));
    EXPECT_EQ(r.p, largest(p));
    if (has_no_dirichlet(box)) {
      EXPECT_LE(std::abs(static_cast<double>(mean(box, p))), 4 * std::numeric_limits<T>::epsilon() * r.p);
    }
  }
}

TEST(PoissonBoxes, ResidualsAreRounding) {
  expect_small_residuals<double>();
}
TEST(PoissonBoxes, ResidualsAreRoundingInFloat) {
  expect_small_residuals<float>();
}

TEST(PoissonBoxes, ResidualsOfACubeAreTinyBesideF) {
  for (const LineEnd end : {LineEnd::periodic, LineEnd::neumann, LineEnd::dirichlet}) {
    const Line line = uniform_line(48, 1, end, end);
    const PoissonBox box{line, line, line};
    const std::vector<double> f = random_values<double>(box.cells(), 3);
    // f has a mean: with open faces p is smooth and large beside it, and so is what rounding p does.
    const bool open = end == LineEnd::dirichlet;
    EXPECT_LE(largest_residual(box, solve(box, f), f), (open ? 1e-12 : 1e-13) * largest(f));
    const std::vector<float> g(f.begin(), f.end());
    EXPECT_LE(largest_residual(box, solve(box, g), g), (open ? 5e-4 : 2e-5) * largest(g));
  }
}

TEST(PoissonBoxes, SmallOnesAgreeWithADenseSolver) {
  int compared = 0;
  for (const PoissonBox& box : boxes()) {
    if (box.cells() > 300) continue;
    SCOPED_TRACE(describe(box));
    const std::vector<double> f = random_values<double>(box.cells(), 11);
    const std::size_t n = f.size();
    const bool singular = has_no_dirichlet(box);
    test::Rows<double> a = test::zero_rows<double>(n, n);
    std::vector<double> b(n);
    for (std::size_t j = 0; j < n; ++j) {
      std::vector<double> unit(f.size());
      unit[j] = 1;
      // Less the mean of p, which is 0 then and makes the matrix regular.
      const double own_mean = singular ? static_cast<double>(mean(box, unit)) : 0;
      each_cell(box, [&](std::size_t i, Lid x, Lid y, Lid z) {
        a[i][j] = static_cast<double>(laplacian(box, unit, x, y, z)) - own_mean;
      });
      b[j] = f[j] - (singular ? static_cast<double>(mean(box, f)) : 0);
    }
    const std::vector<double> expected = test::solve_by_elimination(a, b);
    const std::vector<double> p = solve(box, f);
    const double size = largest(expected);
    for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(p[i], expected[i], 1e-10 * size) << "cell " << i;
    ++compared;
  }
  EXPECT_GE(compared, 40);
}

TEST(PoissonBoxes, BitsDoNotDependOnThreads) {
  Threads two(2);
  const auto in_sevens = [](Size count, const std::function<void(Size, Size)>& body) {
    for (Size end = count; end > 0; end -= std::min<Size>(7, end)) body(std::max<Size>(0, end - 7), end);
  };
  std::uint64_t seed = 1;
  const auto expect_same = [&]<class T>(const PoissonBox& box, T) {
    const std::vector<T> f = random_values<T>(box.cells(), seed++);
    const DirectSolver<T> solver(box);
    std::vector<T> p(f.size()), again(f.size());
    solver.solve(f.data(), p.data());
    for (const ParallelFor& parallel : {ParallelFor(five_threads), parallel_for(two), ParallelFor(in_sevens)}) {
      solver.solve(f.data(), again.data(), parallel);
      ASSERT_EQ(std::memcmp(p.data(), again.data(), p.size() * sizeof(T)), 0);
    }
    std::vector<T> in_place = f;
    solver.solve(in_place.data(), in_place.data());
    ASSERT_EQ(std::memcmp(p.data(), in_place.data(), p.size() * sizeof(T)), 0);
  };
  for (const PoissonBox& box : boxes()) {
    SCOPED_TRACE(describe(box));
    expect_same(box, double{});
    expect_same(box, float{});
  }
}

TEST(PoissonBoxes, AnIncompatibleRightHandSideLosesItsMean) {
  using enum LineEnd;
  for (const LineEnd end_z : {neumann, periodic}) {
    const PoissonBox box{{widths(13, Spacing::one_wall), neumann, neumann},
                         {widths(8, Spacing::random), periodic, periodic},
                         {widths(21, Spacing::both_walls), end_z, end_z}};
    ASSERT_TRUE(box.singular());
    std::vector<double> f = random_values<double>(box.cells(), 5);
    const std::vector<double> p = solve(box, f);
    for (double& value : f) value += 1000;
    const std::vector<double> shifted = solve(box, f);
    for (std::size_t i = 0; i < p.size(); ++i) ASSERT_NEAR(shifted[i], p[i], 1e-11 * largest(p) * 1000);
    const std::vector<double> constant = solve(box, std::vector<double>(f.size(), 1000.0));
    EXPECT_LE(largest(constant), 1e-11);
  }
  using Box = PoissonBox;
  const Line closed = uniform_line(4, 1, neumann, neumann), open = uniform_line(4, 1, neumann, dirichlet);
  EXPECT_FALSE((Box{closed, closed, open}.singular()));
  EXPECT_FALSE((Box{open, closed, closed}.singular()));
}

TEST(PoissonBoxes, EigenfunctionsAreSolvedToRounding) {
  // cos(k pi x) in a closed direction, sin(k pi y) in an open one, sin(2 k pi z) in a periodic one, cell centres.
  using enum LineEnd;
  const Lid nx = 24, ny = 31, nz = 18;
  const PoissonBox box{uniform_line(nx, 1, neumann, neumann), uniform_line(ny, 2, dirichlet, dirichlet),
                       uniform_line(nz, 1, periodic, periodic)};
  const double pi = std::acos(-1.0);
  const auto lambda = [&](double n, double h, double half_waves) {
    const double s = std::sin(pi * half_waves / (2 * n)) / h;
    return -4 * s * s;
  };
  for (const auto& waves : {std::array{0, 1, 0}, {1, 1, 1}, {23, 31, 9}, {5, 30, 3}, {0, 7, 2}}) {
    const int a = waves[0], b = waves[1], c = waves[2];
    std::vector<double> exact(box.cells()), f(exact.size());
    const double sum = lambda(nx, 1.0 / nx, a) + lambda(ny, 2.0 / ny, b) + lambda(nz, 1.0 / nz, 2 * c);
    each_cell(box, [&](std::size_t i, Lid x, Lid y, Lid z) {
      exact[i] =
          std::cos(pi * a * (x + 0.5) / nx) * std::sin(pi * b * (y + 0.5) / ny) * std::cos(2 * pi * c * z / nz + 0.3);
      f[i] = sum * exact[i];
    });
    const std::vector<double> p = solve(box, f);
    for (std::size_t i = 0; i < p.size(); ++i) ASSERT_NEAR(p[i], exact[i], 2e-13) << a << b << c;
  }
}

TEST(PoissonBoxes, TheLaplacianIsTheDefinition) {
  for (const PoissonBox& box : boxes()) {
    if (box.cells() > 2000) continue;
    SCOPED_TRACE(describe(box));
    const std::vector<double> p = random_values<double>(box.cells(), 2);
    std::vector<double> result(p.size());
    apply_laplacian(box, p.data(), result.data(), five_threads);
    each_cell(box, [&](std::size_t i, Lid x, Lid y, Lid z) {
      const auto expected = static_cast<double>(laplacian(box, p, x, y, z));
      ASSERT_NEAR(result[i], expected, 1e-14 * poisson_residual(box, p.data(), p.data()).norm);
    });
  }
}

TEST(PoissonBoxes, AResidualThatIsNoNumberIsTold) {
  const Line line = uniform_line(5, 1, LineEnd::dirichlet, LineEnd::dirichlet);
  const PoissonBox box{line, line, line};
  std::vector<double> f(125, 1.0), p = solve(box, f);
  p[17] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(poisson_residual(box, p.data(), f.data()).residual));
}

}  // namespace
}  // namespace tutti::incompressible
