#include "tutti/base/denormals.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tutti {
namespace {

/// x / 2, computed when it is called.
template <class T>
T half(T x) {
  volatile T value = x;
  value = value * T(0.5);
  return value;
}

template <class T>
constexpr T smallest_normal = std::numeric_limits<T>::min();

#if defined(__x86_64__)
TEST(Denormals, FloatsAreZeroWhileItLives) {
  EXPECT_GT(half(smallest_normal<float>), 0);
  {
    const FlushDenormals<float> flush;
    EXPECT_EQ(half(smallest_normal<float>), 0) << "results";
    EXPECT_TRUE(std::signbit(half(-smallest_normal<float>))) << "with their sign";
    volatile float denormal = std::numeric_limits<float>::denorm_min();
    EXPECT_EQ(denormal * 1e30F, 0) << "and what is read";
    EXPECT_EQ(half(4 * smallest_normal<float>), 2 * smallest_normal<float>);
  }
  EXPECT_GT(half(smallest_normal<float>), 0);
}
#endif

TEST(Denormals, DoublesAreLeftAlone) {
  const FlushDenormals<double> flush;
  EXPECT_GT(half(smallest_normal<double>), 0);
}

}  // namespace
}  // namespace tutti
