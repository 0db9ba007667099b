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

TEST(DenseMatrix, TheShortestOfManySolutions) {
  DenseMatrix once(2);  // x + y, twice
  once(0, 0) = once(0, 1) = once(1, 0) = once(1, 1) = 1;
  EXPECT_THAT(solve_least_squares(once, std::vector<double>{1, 3}),
              ElementsAre(DoubleNear(1, 1e-14), DoubleNear(1, 1e-14)));
}

}  // namespace
}  // namespace tutti
