// The coarse levels of the multigrid method alone: a Laplacian on boxes, and the same with a jump.
#include <cmath>
#include <map>

#include "tutti/base/random.hpp"
#include "tutti/models/diffusion/implicit/coarse_levels.hpp"

namespace tutti::diffusion {
namespace {

struct Problem {
  int n;
  double jump = 1;  ///< of the coefficient, at half of x: another region
  std::vector<std::int64_t> keys = {};
  std::vector<CoarseEntry> entries = {};

  std::int64_t key(int i, int j, int k) const { return box_key(i < n / 2 ? 0 : 1, i, j, k); }
  double K(int i) const { return i < n / 2 ? 1 : jump; }
  void make() {
    for (int region = 0; region < 2; ++region)
      for (int i = region * (n / 2); i < (region == 0 ? n / 2 : n); ++i)
        for (int j = 0; j < n; ++j)
          for (int k = 0; k < n; ++k) {
            const std::int64_t own = key(i, j, k);
            keys.push_back(own);
            const auto to = [&](int a, int b, int c) {
              if (a >= 0 && a < n && b >= 0 && b < n && c >= 0 && c < n)
                entries.push_back({own, key(a, b, c), 2 / (1 / K(i) + 1 / K(a))});
            };
            to(i - 1, j, k), to(i + 1, j, k), to(i, j - 1, k), to(i, j + 1, k), to(i, j, k - 1), to(i, j, k + 1);
            entries.push_back({own, own, (j == 0 ? 2 : 0) * K(i)});  // u is given on one side
          }
  }
  /// (sigma V - L) x, entry by entry.
  std::vector<double> apply(double sigma, std::span<const double> x) const {
    std::map<std::int64_t, std::size_t> at;
    for (std::size_t i = 0; i < keys.size(); ++i) at[keys[i]] = i;
    std::vector<double> result(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) result[i] = sigma * x[i];
    for (const CoarseEntry& e : entries) {
      const std::size_t i = at[e.row], j = at[e.column];
      result[i] += e.value * (i == j ? x[i] : x[i] - x[j]);
    }
    return result;
  }
};

/// By what a cycle lessens the residual, in the mean.
double factor(const Problem& problem, double sigma) {
  const std::size_t n = problem.keys.size();
  CoarseLevels levels(problem.keys, problem.entries, std::vector<double>(n, 1.0));
  EXPECT_EQ(levels.size(), n);
  std::vector<double> b(n), x(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) b[i] = random_unit(3, i) - 0.3;
  const auto norm = [&] {
    const auto image = problem.apply(sigma, x);
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      levels.right()[i] = b[i] - image[i];
      sum += levels.right()[i] * levels.right()[i];
    }
    return std::sqrt(sum);
  };
  constexpr int cycles = 12;
  const double first = norm();
  for (int k = 0; k < cycles; ++k) {
    const auto y = levels.cycle(sigma);
    for (std::size_t i = 0; i < n; ++i) x[i] += y[i];
    norm();
  }
  return std::pow(norm() / first, 1.0 / cycles);
}

TEST(CoarseLevels, CyclesConvergeOnGridsOfAnySize) {
  for (const int n : {6, 12, 24}) {
    Problem problem{n};
    problem.make();
    EXPECT_LT(factor(problem, 0), 0.5) << n;
    EXPECT_LT(factor(problem, 1), 0.4) << n;
  }
}

TEST(CoarseLevels, AJumpBetweenRegionsDoesNotMatter) {
  for (const double jump : {1e-6, 1e6}) {
    Problem problem{12, jump};
    problem.make();
    EXPECT_LT(factor(problem, 0), 0.5) << jump;
  }
}

TEST(CoarseLevels, ARegionIsNotTakenTogetherWithAnother) {
  // Two boxes side by side, in two regions: the last level has two unknowns, swept ten times.
  CoarseLevels levels({box_key(0, 0, 0, 0), box_key(1, 0, 0, 0)},
                      {{box_key(0, 0, 0, 0), box_key(1, 0, 0, 0), 0.25},
                       {box_key(1, 0, 0, 0), box_key(0, 0, 0, 0), 0.25},
                       {box_key(0, 0, 0, 0), box_key(0, 0, 0, 0), 1},
                       {box_key(1, 0, 0, 0), box_key(1, 0, 0, 0), 1}},
                      {1, 1});
  levels.right()[0] = 1.5;
  levels.right()[1] = 0;
  const auto x = levels.cycle(0);  // ((1.25, -0.25), (-0.25, 1.25)) x = (1.5, 0)
  EXPECT_NEAR(x[0], 1.25, 1e-6);
  EXPECT_NEAR(x[1], 0.25, 1e-6);
}

}  // namespace
}  // namespace tutti::diffusion
