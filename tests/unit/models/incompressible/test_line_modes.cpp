// Lines: coefficients, eigenvalues and the two matrices against their definitions.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/elimination.hpp"
#include "tests/unit/models/incompressible/poisson_problem.hpp"
#include "tutti/base/error.hpp"
#include "tutti/models/incompressible/pressure/direct/line_modes.hpp"

namespace tutti::incompressible {
namespace {

using test::laplacian;
using test::name;
using test::Spacing;
using test::widths;
using Matrix = test::Rows<double>;

std::vector<Line> lines(const std::vector<Lid>& sizes) {
  using enum LineEnd;
  std::vector<Line> result;
  for (const Lid n : sizes)
    for (const Spacing spacing : {Spacing::uniform, Spacing::both_walls, Spacing::one_wall, Spacing::random})
      for (const auto& [low, high] : {std::pair{periodic, periodic},
                                      {neumann, neumann},
                                      {dirichlet, dirichlet},
                                      {neumann, dirichlet},
                                      {dirichlet, neumann}})
        result.push_back({widths(n, spacing), low, high});
  return result;
}

std::string describe(const Line& line) {
  return fmt::format("{}{}{} h {}..{}", name(line.low), line.size(), name(line.high), line.widths.front(),
                     line.widths.back());
}

Matrix dense(const LineOperator& op) {
  const auto n = static_cast<std::size_t>(op.size());
  Matrix a = test::zero_rows<double>(n, n);
  for (std::size_t i = 0; i < n; ++i) {
    a[i][i] += op.diagonal[i];
    a[i][(i + n - 1) % n] += op.lower[i];
    a[i][(i + 1) % n] += op.upper[i];
  }
  return a;
}

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c = test::zero_rows<double>(a.size(), b[0].size());
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t k = 0; k < b.size(); ++k)
      for (std::size_t j = 0; j < b[k].size(); ++j) c[i][j] += a[i][k] * b[k][j];
  return c;
}

double largest(const Matrix& a) {
  double most = 0;
  for (const auto& row : a) most = std::max(most, test::largest(row));
  return most;
}

/// Q^-1 (rows are modes) or Q, put together from the halves.
Matrix whole(const LineModes& modes, bool to_modes) {
  const LineMatrix& halves = to_modes ? modes.to_modes : modes.from_modes;
  const Lid n = modes.size, even = modes.even_size(), odd = modes.odd_size();
  Matrix q = test::zero_rows<double>(static_cast<std::size_t>(n), static_cast<std::size_t>(n));
  const auto at = [&](Lid mode, Lid cell) -> double& {
    return to_modes ? q[static_cast<std::size_t>(mode)][static_cast<std::size_t>(cell)]
                    : q[static_cast<std::size_t>(cell)][static_cast<std::size_t>(mode)];
  };
  for (Lid mode = 0; mode < n; ++mode) {
    const bool is_even = mode < even;
    const std::vector<double>& half = is_even ? halves.even : halves.odd;
    const Lid size = is_even ? even : odd, k = is_even ? mode : mode - even;
    for (Lid i = 0; i < size; ++i) {
      const double value = half[to_modes ? k * size + i : i * size + k];
      at(mode, i) = value;
      if (modes.split) at(mode, n - 1 - i) = is_even ? value : -value;
    }
  }
  return q;
}

TEST(LineOperator, IsTheSecondDifference) {
  for (const Line& line : lines({1, 2, 3, 8, 13})) {
    SCOPED_TRACE(describe(line));
    const Line one{{1.0}, LineEnd::neumann, LineEnd::neumann};
    const PoissonBox box{line, one, one};
    const Matrix a = dense(line_operator(line));
    for (Lid j = 0; j < line.size(); ++j) {
      std::vector<double> unit(line.widths.size());
      unit[j] = 1;
      for (Lid i = 0; i < line.size(); ++i)
        EXPECT_NEAR(a[i][j], static_cast<double>(laplacian(box, unit, i, 0, 0)), 1e-14 * largest(a));
    }
  }
}

TEST(LineModes, DiagonaliseTheOperator) {
  for (const Line& line : lines({1, 2, 3, 4, 5, 16, 31, 64})) {
    SCOPED_TRACE(describe(line));
    const LineModes modes = line_modes(line, LineMethod::matrices);
    const Matrix to = whole(modes, true), from = whole(modes, false), a = dense(line_operator(line));
    Matrix unit = product(to, from), residual = product(a, from);
    for (std::size_t i = 0; i < unit.size(); ++i) {
      unit[i][i] -= 1;
      for (std::size_t k = 0; k < unit.size(); ++k) residual[i][k] -= from[i][k] * modes.eigenvalues[k];
    }
    EXPECT_LE(largest(unit), 1e-14);
    EXPECT_LE(largest(residual), 4e-15 * std::max(1.0, largest(a)) * largest(from));
    for (const double value : modes.eigenvalues) EXPECT_LE(value, 0);
    const bool singular = line.low != LineEnd::dirichlet && line.high != LineEnd::dirichlet;
    EXPECT_EQ(modes.eigenvalues[0] == 0, singular);
    for (std::size_t k = 1; k < modes.eigenvalues.size(); ++k) EXPECT_LT(modes.eigenvalues[k], 0);
  }
}

TEST(LineModes, SymmetricLinesAreSplit) {
  using enum LineEnd;
  for (const Line& line : lines({2, 3, 16, 17})) {
    SCOPED_TRACE(describe(line));
    const bool symmetric_ends = line.low == line.high;
    const bool symmetric_widths =
        line.widths == widths(line.size(), Spacing::uniform) || line.widths == widths(line.size(), Spacing::both_walls);
    EXPECT_EQ(line_modes(line).split, symmetric_ends && symmetric_widths);
  }
}

TEST(LineModes, OfEqualWidthsAreTheOnesOfAnyWidths) {
  // The closed forms beside the eigenvalue solver: a last width that differs a little is no longer uniform.
  using enum LineEnd;
  for (const Lid n : {2, 3, 9, 20})
    for (const auto& [low, high] : {std::pair{periodic, periodic},
                                    {neumann, neumann},
                                    {dirichlet, dirichlet},
                                    {neumann, dirichlet},
                                    {dirichlet, neumann}}) {
      Line line = uniform_line(n, 1, low, high);
      std::vector<double> exact = line_modes(line).eigenvalues;
      line.widths.back() *= 1 + 1e-13;
      ASSERT_FALSE(is_uniform(line));
      std::vector<double> computed = line_modes(line).eigenvalues;
      std::sort(exact.begin(), exact.end());
      std::sort(computed.begin(), computed.end());
      for (std::size_t k = 0; k < exact.size(); ++k) EXPECT_NEAR(computed[k], exact[k], 1e-12 * 4 * n * n) << n;
    }
}

TEST(LineModes, TakeWidthsThatDifferInTheLastDigitAsEqual) {
  std::vector<double> h;
  for (int i = 0; i < 8; ++i) h.push_back(0.1 * (1 + (i % 3) * std::numeric_limits<double>::epsilon()));
  EXPECT_TRUE(is_uniform({h, LineEnd::neumann, LineEnd::neumann}));
  h[2] *= 1 + 1e-12;
  EXPECT_FALSE(is_uniform({h, LineEnd::neumann, LineEnd::neumann}));
  EXPECT_FALSE(is_symmetric({h, LineEnd::neumann, LineEnd::neumann}));
  h[5] = h[2];
  EXPECT_TRUE(is_symmetric({h, LineEnd::neumann, LineEnd::neumann}));
  EXPECT_FALSE(is_symmetric({h, LineEnd::neumann, LineEnd::dirichlet}));
}

TEST(LineModes, RefuseWhatIsNoLine) {
  const auto kind_of = [](const Line& line) {
    try {
      line_modes(line);
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::usage;
  };
  EXPECT_EQ(kind_of({{}, LineEnd::neumann, LineEnd::neumann}), ErrorKind::input);
  EXPECT_EQ(kind_of({{1, 0}, LineEnd::neumann, LineEnd::neumann}), ErrorKind::input);
  EXPECT_EQ(kind_of({{1, -1}, LineEnd::neumann, LineEnd::neumann}), ErrorKind::input);
  EXPECT_EQ(kind_of({{1, std::nan("")}, LineEnd::neumann, LineEnd::neumann}), ErrorKind::input);
  EXPECT_EQ(kind_of({{1, 1}, LineEnd::periodic, LineEnd::neumann}), ErrorKind::input);
}

}  // namespace
}  // namespace tutti::incompressible
