#include "tutti/simulation/error_norms.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/base/mpi_environment.hpp"

namespace tutti {
namespace {

Comm alone() {
  test::world();
  return Comm(MPI_COMM_SELF);
}

TEST(ErrorNorms, AreThoseOfTheIntegral) {
  ErrorNorms norms;
  norms.add(2, 1.5, 1);
  norms.add(0.5, -1, 1);
  const FieldError error = norms.over_ranks(alone(), "u");
  EXPECT_EQ(error.name, "u");
  EXPECT_DOUBLE_EQ(error.l2, std::sqrt((2 * 0.25 + 0.5 * 4) / 2.5));
  EXPECT_DOUBLE_EQ(error.linf, 2);
  EXPECT_DOUBLE_EQ(error.relative_l2, 1);
  EXPECT_DOUBLE_EQ(error.relative_linf, 2);
  const ErrorSummary integral = norms.integral_over_ranks(alone());
  EXPECT_DOUBLE_EQ(integral.l2, std::sqrt(2.5));
  EXPECT_DOUBLE_EQ(integral.linf, 2);
}

/// Values that rounding would tell apart in another order.
TEST(ErrorNorms, HaveTheSameBitsInPieces) {
  ErrorNorms all, pieces[3], merged;
  for (int i = 0; i < 300; ++i) {
    const double weight = std::pow(10.0, i % 9 - 4), value = std::sin(i) * std::pow(2.0, i % 40 - 20),
                 exact = std::cos(3 * i);
    all.add(weight, value, exact);
    pieces[i * 7 % 3].add(weight, value, exact);
  }
  for (const int k : {2, 0, 1}) merged.merge(pieces[k]);
  const FieldError should = all.over_ranks(alone(), "u"), is = merged.over_ranks(alone(), "u");
  EXPECT_EQ(is.l2, should.l2);
  EXPECT_EQ(is.linf, should.linf);
  EXPECT_EQ(is.relative_l2, should.relative_l2);
  EXPECT_EQ(is.relative_linf, should.relative_linf);
  EXPECT_EQ(merged.integral_over_ranks(alone()).l2, all.integral_over_ranks(alone()).l2);
}

}  // namespace
}  // namespace tutti
