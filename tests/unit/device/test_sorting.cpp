// Sorting by keys: the same order everywhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "tests/support/all_devices.hpp"
#include "tutti/base/random.hpp"
#include "tutti/device/buffer.hpp"
#include "tutti/device/sorting.hpp"
#include "tutti/device/threads.hpp"

namespace tutti {
namespace {

TEST(Sorting, EqualKeysKeepTheirOrderOnEveryDevice) {
  Threads threads(2);
  for (const Lid n : {0, 1, 2, 1000, 70000}) {
    std::vector<std::uint64_t> keys;
    std::vector<std::int32_t> values(static_cast<std::size_t>(n));
    for (Lid i = 0; i < n; ++i) keys.push_back(random_bits(1, static_cast<std::uint64_t>(i)) % 9000 << 40);
    std::iota(values.begin(), values.end(), 0);
    auto expected = values;
    std::stable_sort(expected.begin(), expected.end(), [&](std::int32_t a, std::int32_t b) {
      return keys[static_cast<std::size_t>(a)] < keys[static_cast<std::size_t>(b)];
    });
    for (const auto& device : test::all_devices(threads)) {
      const auto stream = device->make_stream("sort");
      auto k = make_buffer(*stream, std::span<const std::uint64_t>(keys), "keys");
      auto v = make_buffer(*stream, std::span<const std::int32_t>(values), "values");
      Buffer<std::uint64_t> k2(*device, n, "keys");
      Buffer<std::int32_t> v2(*device, n, "values");
      Buffer<std::byte> scratch(*device, sort_scratch_bytes(*stream, n, 54), "scratch");
      const auto sorted = sort_by_key(*stream, {k.data(), v.data()}, {k2.data(), v2.data()}, n, 54, scratch.data());
      std::vector<std::int32_t> found(values.size());
      download(*stream, std::span(found), static_cast<const std::int32_t*>(sorted.values));
      EXPECT_EQ(found, expected) << device->description();

      upload(*stream, k, std::span<const std::uint64_t>(keys));
      const auto alone = sort_by_key(*stream, {k.data(), nullptr}, {k2.data(), nullptr}, n, 54, scratch.data());
      std::vector<std::uint64_t> found_keys(keys.size()), ascending = keys;
      std::ranges::sort(ascending);
      download(*stream, std::span(found_keys), static_cast<const std::uint64_t*>(alone.keys));
      EXPECT_EQ(found_keys, ascending) << device->description();
    }
  }
}

}  // namespace
}  // namespace tutti
