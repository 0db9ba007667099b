#include "tutti/base/raw_vector.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace tutti {
namespace {

TEST(RawVector, KeepsWhatItIsGiven) {
  for (const std::size_t n : {std::size_t{1}, std::size_t{1000}, std::size_t{3'000'000}}) {
    RawVector<std::int64_t> a(n);
    for (std::size_t i = 0; i < n; ++i) a[i] = static_cast<std::int64_t>(i);
    a.resize(n + 5, 7);
    EXPECT_EQ(a[n - 1], static_cast<std::int64_t>(n) - 1);
    EXPECT_EQ(a[n + 4], 7);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % 64, 0U);
    const RawVector<std::int64_t> b = a;
    EXPECT_EQ(a, b);
  }
  EXPECT_TRUE(RawVector<double>().empty());
#if !defined(__SANITIZE_ADDRESS__)  // it ends the program instead
  EXPECT_THROW(RawVector<double>(std::size_t{1} << 58), std::bad_alloc);
#endif
}

}  // namespace
}  // namespace tutti
