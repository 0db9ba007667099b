// Eigenvalues by Arnoldi's method with a filter, against those of Eigen.
#include "tutti/simulation/krylov.hpp"

#include <gtest/gtest.h>

#include "tests/unit/base/mpi_environment.hpp"
#include "tutti/base/random.hpp"

namespace tutti {
namespace {

using test::world;

/// Diagonal, with blocks of complex pairs: what an operator with known eigenvalues does to a vector cut into parts.
struct Operator {
  std::vector<std::complex<double>> pairs;  ///< rows 2 k and 2 k + 1
  std::vector<double> x;

  void apply() {
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      const double a = x[2 * k], b = x[2 * k + 1];
      x[2 * k] = pairs[k].real() * a - pairs[k].imag() * b;
      x[2 * k + 1] = pairs[k].imag() * a + pairs[k].real() * b;
    }
  }
  void noise() {
    x.resize(2 * pairs.size());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 2 * random_unit(3, i) - 1;
  }
  /// In parts that begin at these rows.
  KrylovVector vector(const std::vector<std::size_t>& begin) {
    KrylovVector v;
    for (std::size_t p = 0; p + 1 < begin.size(); ++p) v.lengths.push_back(static_cast<Size>(begin[p + 1] - begin[p]));
    v.write = [this, begin](std::size_t p, std::span<const double> from) {
      std::copy(from.begin(), from.end(), x.begin() + static_cast<std::ptrdiff_t>(begin[p]));
    };
    v.read = [this, begin](std::size_t p, std::span<double> to) {
      std::copy_n(x.begin() + static_cast<std::ptrdiff_t>(begin[p]), to.size(), to.begin());
    };
    v.apply = v.filter = [this] { apply(); };
    return v;
  }
  void filter(const FilterEllipse& ellipse, int degree) {
    EllipseFilter polynomials(ellipse);
    auto before = x, rate = x;
    apply();
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = before[i] + polynomials.first() * x[i];
    for (int k = 1; k < degree; ++k) {
      const auto w = polynomials.next();
      auto now = x;
      apply();
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = (1 - w.before) * now[i] + w.before * before[i] + w.rate * x[i];
      before = now;
    }
  }
};

/// Between -1000 and -1, some beside the real axis.
Operator damping() {
  Operator op;
  for (int k = 0; k < 500; ++k) {
    const double at = -1 - 999 * random_unit(1, static_cast<std::uint64_t>(k));
    op.pairs.emplace_back(at, k % 5 == 0 ? 0.02 * at * random_unit(2, static_cast<std::uint64_t>(k)) : 0);
  }
  return op;
}

TEST(Krylov, TheSmallestGrowthIsFound) {
  for (const std::complex<double> growing : {std::complex<double>(0.3, 0), {0.3, 8}, {2, 100}}) {
    Operator op = damping();
    op.pairs[77] = growing;
    const KrylovVector plain = op.vector({0, 1000});
    op.noise();
    const auto outer = Krylov(world(), plain, 16).cycle(false);
    const FilterEllipse ellipse = ellipse_around(outer, 1000);
    EXPECT_GT(ellipse.half_length, 450);
    KrylovVector filtered = plain;
    filtered.filter = [&] { op.filter(ellipse, 40); };
    op.noise();
    Krylov krylov(world(), filtered, 12);
    RitzPair found;
    for (int k = 0; k < 4; ++k) found = krylov.cycle().front();
    EXPECT_NEAR(found.value.real(), growing.real(), 1e-3);
    EXPECT_NEAR(std::abs(found.value.imag()), growing.imag(), 1e-3);
    EXPECT_LT(found.residual, 0.1);
    const auto& mode = krylov.mode()[0];
    const auto largest = std::max_element(mode.begin(), mode.end()) - mode.begin();
    EXPECT_TRUE(largest == 154 || largest == 155) << largest;
  }
}

TEST(Krylov, NothingGrowsWhereNothingDoes) {
  Operator op = damping();
  KrylovVector v = op.vector({0, 1000});
  v.filter = [&] { op.filter({550, 50}, 40); };
  op.noise();
  EXPECT_LT(Krylov(world(), v, 12).cycle().front().value.real(), 0);
}

TEST(Krylov, TheSameBitsForEverySplit) {
  std::vector<RitzPair> one, three;
  for (auto* result : {&one, &three}) {
    Operator op = damping();
    op.noise();
    *result = Krylov(world(),
                     op.vector(result == &one ? std::vector<std::size_t>{0, 1000}
                                              : std::vector<std::size_t>{0, 10, 600, 1000}),
                     16, {}, Wanted::largest)
                  .cycle();
  }
  ASSERT_EQ(one.size(), three.size());
  for (std::size_t k = 0; k < one.size(); ++k) EXPECT_EQ(one[k].value, three[k].value);
  EXPECT_EQ(one[0].residual, three[0].residual);
  EXPECT_NEAR(std::abs(one[0].value), 1000, 20);
}

TEST(Krylov, AnInvariantSpaceEndsTheCycle) {
  Operator op;
  op.pairs = {{-1, 0}, {0.5, 2}};
  op.noise();
  const auto pairs = Krylov(world(), op.vector({0, 4}), 12).cycle();
  EXPECT_LE(pairs.size(), 4u);
  EXPECT_NEAR(pairs[0].value.real(), 0.5, 1e-12);
  EXPECT_NEAR(std::abs(pairs[0].value.imag()), 2, 1e-12);
  op.x[2] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(Krylov(world(), op.vector({0, 4}), 12).cycle().empty());
}

}  // namespace
}  // namespace tutti
