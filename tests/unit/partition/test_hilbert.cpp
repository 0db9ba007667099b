#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <vector>

#include "tests/support/thread_hook.hpp"
#include "tutti/base/error.hpp"
#include "tutti/base/random.hpp"
#include "tutti/partition/hilbert.hpp"
#include "tutti/partition/spatial_order.hpp"

namespace tutti {
namespace {

TEST(Hilbert, IsABijectionOfTheWholeLattice) {
  for (const int bits : {1, 2, 3, 5}) {
    const std::uint32_t side = 1u << bits;
    std::vector<bool> met(std::size_t{side} * side * side, false);
    for (std::uint32_t z = 0; z < side; ++z) {
      for (std::uint32_t y = 0; y < side; ++y) {
        for (std::uint32_t x = 0; x < side; ++x) {
          const std::uint64_t key = hilbert_key(x, y, z, bits);
          ASSERT_LT(key, met.size());
          ASSERT_FALSE(met[key]) << "twice: " << key;
          met[key] = true;
          ASSERT_EQ(hilbert_point(key, bits), (std::array<std::uint32_t, 3>{x, y, z}));
        }
      }
    }
  }
}

int steps_between(std::array<std::uint32_t, 3> a, std::array<std::uint32_t, 3> b) {
  int steps = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    steps += std::abs(static_cast<int>(a[axis]) - static_cast<int>(b[axis]));
  }
  return steps;
}

TEST(Hilbert, NextOnTheCurveIsNextInSpace) {
  for (const int bits : {1, 2, 3, 5}) {
    for (std::uint64_t key = 0; key + 1 < (std::uint64_t{1} << (3 * bits)); ++key) {
      ASSERT_EQ(steps_between(hilbert_point(key, bits), hilbert_point(key + 1, bits)), 1) << bits << " " << key;
    }
  }
  for (std::uint64_t k = 0; k < 10000; ++k) {
    const std::uint64_t key = random_bits(1, k) >> 1;
    if (key + 1 == std::uint64_t{1} << 63) continue;
    ASSERT_EQ(steps_between(hilbert_point(key), hilbert_point(key + 1)), 1);
    const auto p = hilbert_point(key);
    ASSERT_EQ(hilbert_key(p[0], p[1], p[2]), key);
  }
}

TEST(SortByKey, EqualsAStableSort) {
  for (const std::size_t n :
       {std::size_t{0}, std::size_t{1}, std::size_t{100}, std::size_t{511}, std::size_t{20000}, std::size_t{100000}}) {
    for (const int shift : {0, 30, 55, 64}) {
      std::vector<KeyedRow> rows;
      for (std::size_t i = 0; i < n; ++i) {
        rows.push_back({shift == 64 ? 7 : random_bits(3, i) >> shift, static_cast<Gid>(i)});
      }
      std::vector<KeyedRow> expected = rows;
      std::stable_sort(expected.begin(), expected.end(),
                       [](const KeyedRow& a, const KeyedRow& b) { return a.key < b.key; });
      std::vector<KeyedRow> shared = rows;
      sort_by_key(rows);
      ASSERT_TRUE(rows == expected) << n << " rows, shift " << shift;
      sort_by_key(shared, test::five_threads);
      ASSERT_TRUE(shared == expected) << n << " rows, shift " << shift << ", five threads";
    }
  }
}

TEST(SpatialOrder, BadPointsAreNamed) {
  const double bad[] = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()};
  for (const double b : bad) {
    const std::vector<Vec3> points{{0, 0, 0}, {1, b, 2}};
    try {
      hilbert_order(points);
      FAIL();
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::input);
      EXPECT_NE(std::string(e.what()).find("point 1"), std::string::npos) << e.what();
    }
  }
  const std::vector<Vec3> far{{-1e308, 0, 0}, {1e308, 0, 0}};
  EXPECT_THROW(hilbert_order(far), Error);
}

TEST(SpatialOrder, DegenerateBoxes) {
  EXPECT_TRUE(hilbert_order({}).empty());
  // All in one place, or nearer than the smallest number: the rows keep their order.
  for (const double gap : {0.0, 5e-324}) {
    const std::vector<Vec3> points{{3, 3, 0}, {3, 3, gap}, {3, 3, 0}};
    const auto order = hilbert_order(points);
    for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(order[k].row, static_cast<Gid>(k));
  }
  // A flat and a long body: rows that follow one another stay near, whatever the thin axes are.
  for (const int thick : {1, 10}) {
    std::vector<Vec3> sheet;
    for (int i = 0; i < 1000; ++i) sheet.push_back({0, 1e-3 * (i % (1000 / thick)), 1e-3 * (i / (1000 / thick))});
    const auto order = hilbert_order(sheet);
    double travelled = 0;
    for (std::size_t k = 1; k < order.size(); ++k) {
      travelled += norm(sheet[order[k].row] - sheet[order[k - 1].row]);
    }
    EXPECT_LT(travelled, 4e-3 * 999) << thick;
  }
}

TEST(SpatialOrder, AxisOrderFollowsTheLongestAxis) {
  const std::vector<Vec3> points{{0, 9, 0}, {1, 0, 1}, {0, 5, 0}, {1, 5, 0}, {0, 5, 1}};
  const auto order = axis_order(points);
  std::vector<Gid> rows;
  for (const KeyedRow& k : order) rows.push_back(k.row);
  EXPECT_EQ(rows, (std::vector<Gid>{1, 2, 4, 3, 0}));
}

}  // namespace
}  // namespace tutti
