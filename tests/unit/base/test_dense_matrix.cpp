#include "tutti/base/dense_matrix.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace tutti {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

TEST(DenseMatrix, EigenpairsOfARotation) {
  DenseMatrix turn(3);  // by a right angle about z, and z three times as long
  turn(0, 1) = -1;
  turn(1, 0) = 1;
  turn(2, 2) = 3;
  const auto pairs = find_eigenpairs(turn, true);
  ASSERT_TRUE(pairs);
  std::complex<double> sum = 0, product = 1;
  for (std::size_t k = 0; k < 3; ++k) {
    sum += pairs->values[k];
    product *= pairs->values[k];
    double length = 0;
    for (Size i = 0; i < 3; ++i) {
      std::complex<double> image = 0;
      for (Size j = 0; j < 3; ++j) image += turn(i, j) * pairs->vectors[k][static_cast<std::size_t>(j)];
      const std::complex<double> own = pairs->vectors[k][static_cast<std::size_t>(i)];
      EXPECT_LT(std::abs(image - pairs->values[k] * own), 1e-14);
      length += std::norm(own);
    }
    EXPECT_NEAR(length, 1, 1e-14);
  }
  EXPECT_LT(std::abs(sum - 3.0), 1e-14);
  EXPECT_LT(std::abs(product - 3.0), 1e-14);
  EXPECT_TRUE(find_eigenpairs(turn, false)->vectors.empty());
}

TEST(DenseMatrix, EigenvaluesOfASymmetricOne) {
  EXPECT_THAT(symmetric_eigenvalues(2, 1, 0, 2, 0, 5),
              ElementsAre(DoubleNear(1, 1e-7), DoubleNear(3, 1e-7), DoubleNear(5, 1e-7)));
}

TEST(DenseMatrix, PairsOfSymmetricOnes) {
  for (const bool tridiagonal : {true, false}) {
    SquareMatrix<long double> a(6);
    for (Size i = 0; i < 6; ++i)
      for (Size j = 0; j <= i; ++j)
        if (!tridiagonal || i - j < 2) a(i, j) = a(j, i) = 1 / (1 + static_cast<long double>(i + 2 * j));
    const auto pairs = find_symmetric_eigenpairs(a, true);
    ASSERT_TRUE(pairs);
    const auto& v = pairs->vectors;
    for (Size k = 0; k < 6; ++k) {
      const long double value = pairs->values[static_cast<std::size_t>(k)];
      if (k > 0) {
        EXPECT_LT(pairs->values[static_cast<std::size_t>(k - 1)], value);
      }
      for (Size i = 0; i < 6; ++i) {
        long double image = 0, product = 0;
        for (Size j = 0; j < 6; ++j) image += a(i, j) * v(j, k), product += v(j, i) * v(j, k);
        EXPECT_LT(std::abs(image - value * v(i, k)), 1e-17L);
        EXPECT_LT(std::abs(product - (i == k ? 1 : 0)), 1e-17L);
      }
    }
    const auto values = find_symmetric_eigenpairs(a, false);
    EXPECT_EQ(values->vectors.n, 0);
    for (std::size_t k = 0; k < 6; ++k) EXPECT_LT(std::abs(values->values[k] - pairs->values[k]), 1e-17L);
  }
}

TEST(DenseMatrix, TheShortestOfManySolutions) {
  DenseMatrix once(2);  // x + y, twice
  once(0, 0) = once(0, 1) = once(1, 0) = once(1, 1) = 1;
  EXPECT_THAT(solve_least_squares(once, std::vector<double>{1, 3}),
              ElementsAre(DoubleNear(1, 1e-14), DoubleNear(1, 1e-14)));
}

TEST(DenseMatrix, OneSolution) {
  DenseMatrix a(3);
  a(0, 0) = 4, a(1, 1) = -3, a(2, 2) = 2;
  a(0, 1) = a(1, 0) = 1, a(0, 2) = a(2, 0) = -1, a(1, 2) = a(2, 1) = 0.5;
  EXPECT_THAT(solve_least_squares(a, std::vector<double>{3, -3.5, 6}),  // of (1, 2, 3), by hand
              ElementsAre(DoubleNear(1, 1e-14), DoubleNear(2, 1e-14), DoubleNear(3, 1e-14)));
}

}  // namespace
}  // namespace tutti
