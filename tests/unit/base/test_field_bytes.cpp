// The bytes of an aggregate's members: padding is none of them, all else is.
#include "tutti/base/field_bytes.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>

namespace tutti {
namespace {

enum class Kind : std::uint8_t { one, two };
struct Line {
  const double* values;
  int first;  // and four bytes of padding
};
struct Cells {
  std::array<int, 3> lower{}, upper{};
};
struct Kernel {
  Kind kind = Kind::one;
  double factor = 1;
  Line lines[2] = {};
  Cells cells;
  bool flags[2][3] = {};
  float last = 0;
};
static_assert(member_count<Line> == 2 && member_count<Cells> == 2 && member_count<Kernel> == 6);
struct OfOneArray {
  int values[7];
};
static_assert(member_count<OfOneArray> == 1);
struct Nothing {};
static_assert(member_count<Nothing> == 0);

template <class F>
std::vector<char> bytes_of(const F& f) {
  std::vector<char> bytes;
  append_field_bytes(bytes, f);
  return bytes;
}

/// A kernel whose padding is `padding`, with the same members.
std::vector<char> bytes_with_padding(int padding) {
  alignas(Kernel) std::array<char, sizeof(Kernel)> memory;
  memory.fill(static_cast<char>(padding));
  Kernel kernel;
  std::memcpy(&kernel, memory.data(), sizeof(Kernel));
  kernel.kind = Kind::two;
  kernel.factor = 2;
  for (Line& line : kernel.lines) {
    line.values = nullptr;
    line.first = 3;
  }
  kernel.cells = {{1, 2, 3}, {4, 5, 6}};
  for (auto& row : kernel.flags)
    for (bool& flag : row) flag = true;
  kernel.last = 0.5F;
  return bytes_of(kernel);
}

TEST(FieldBytes, PaddingIsNoneOfThem) {
  EXPECT_EQ(bytes_with_padding(0), bytes_with_padding(0x5a));
  EXPECT_EQ(bytes_with_padding(0).size(), 1 + 8 + 2 * (8 + 4) + 24 + 6 + 4);
}

TEST(FieldBytes, EveryMemberCounts) {
  double value = 0;
  const auto plain = bytes_of(Kernel{});
  const auto differs = [&](const auto& change) {
    Kernel kernel;
    change(kernel);
    const auto bytes = bytes_of(kernel);
    return bytes.size() == plain.size() && bytes != plain;
  };
  EXPECT_TRUE(differs([](Kernel& k) { k.kind = Kind::two; }));
  EXPECT_TRUE(differs([](Kernel& k) { k.factor = -1; }));
  EXPECT_TRUE(differs([&](Kernel& k) { k.lines[1].values = &value; }));
  EXPECT_TRUE(differs([](Kernel& k) { k.lines[0].first = 1; }));
  EXPECT_TRUE(differs([](Kernel& k) { k.cells.upper[2] = 1; }));
  EXPECT_TRUE(differs([](Kernel& k) { k.flags[1][0] = true; }));
  EXPECT_TRUE(differs([](Kernel& k) { k.last = 1; }));
  EXPECT_EQ(bytes_of(Kernel{}), plain);
  EXPECT_EQ(bytes_of(OfOneArray{{1, 2, 3, 4, 5, 6, 7}}).size(), 7 * sizeof(int));
}

}  // namespace
}  // namespace tutti
