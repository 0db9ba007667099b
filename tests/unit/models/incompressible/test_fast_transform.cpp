// Fast transforms against the matrices they stand for and against sums written out, and the bits of lanes against those
// of one line after the other and of a GPU's block.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/unit/models/incompressible/poisson_problem.hpp"
#include "tutti/mesh/box_grid.hpp"
#include "tutti/models/incompressible/pressure/direct/fast_group.hpp"
#include "tutti/models/incompressible/pressure/direct/line_transform.hpp"

namespace tutti::incompressible {
namespace {

using test::name;
using test::random_values;
using enum LineEnd;

std::vector<Line> lines_of(Lid n) {
  std::vector<Line> lines;
  for (const auto& [low, high] : {std::pair{periodic, periodic},
                                  {neumann, neumann},
                                  {dirichlet, dirichlet},
                                  {neumann, dirichlet},
                                  {dirichlet, neumann}})
    lines.push_back(uniform_line(n, 3, low, high));
  return lines;
}
std::string describe(const Line& line) {
  return fmt::format("{}{}{}", name(line.low), line.size(), name(line.high));
}

/// All radices, first, last and alone.
constexpr Lid sizes[] = {2,  4,  6,  8,  10, 12, 14, 16,  18,  20,  24,  28, 30,
                         32, 42, 48, 50, 64, 70, 98, 120, 128, 192, 210, 256};

/// Relative to the root of the sum of squares, in units of the rounding of T.
template <class T>
double distance(const std::vector<T>& a, const std::vector<T>& b) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference = std::max(difference, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
    size += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  return difference / std::sqrt(size) / std::numeric_limits<T>::epsilon();
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

TEST(FastTransform, ExistsForEqualCellsOfSmallFactors) {
  for (const Lid n : {2, 16, 20, 42, 2048}) EXPECT_TRUE(has_fast_transform(lines_of(n)[0])) << n;
  for (const Lid n : {1, 9, 22, 26, 2 * 121, 4096}) EXPECT_FALSE(has_fast_transform(lines_of(n)[0])) << n;
  EXPECT_FALSE(has_fast_transform({test::widths(16, test::Spacing::both_walls), neumann, neumann}));
  // Planes of most grids are no round numbers.
  for (const Lid n : {100, 256, 384}) {
    const GridLine grid = make_grid_line(n, -1, 5.283185307179586, 0, true);
    Line line{{}, LineEnd::periodic, LineEnd::periodic};
    for (Lid i = 0; i < n; ++i) line.widths.push_back(grid.width(i));
    EXPECT_TRUE(has_fast_transform(line)) << n;
  }
  EXPECT_EQ(line_modes(lines_of(16)[0]).fast.size, 16);
  EXPECT_EQ(line_modes(lines_of(22)[0]).fast.size, 0);
}

template <class T>
void expect_the_matrices_results() {
  for (const Lid n : sizes)
    for (const Line& line : lines_of(n)) {
      SCOPED_TRACE(describe(line));
      const LineModes fast = line_modes(line), slow = line_modes(line, LineMethod::matrices);
      ASSERT_EQ(fast.fast.size, n);
      EXPECT_EQ(fast.eigenvalues, slow.eigenvalues);
      const std::vector<T> in = random_values<T>(n, 3);
      for (const Transform transform : {Transform::to_modes, Transform::from_modes}) {
        std::vector<T> a(in.size()), b(in.size());
        transform_x(LineTransform<T>(fast, transform, LineAxis::x).view(), in.data(), a.data(), {0, 1});
        transform_x(LineTransform<T>(slow, transform, LineAxis::x).view(), in.data(), b.data(), {0, 1});
        EXPECT_LE(distance(a, b), 4);
      }
    }
}

TEST(FastTransform, EqualCellsAreTheSameFromBothEnds) {
  // Two widths are equal to the first to within rounding, but not to each other.
  Line line = uniform_line(18, 1, neumann, neumann);
  const double unit = line.widths[0] * std::numeric_limits<double>::epsilon();
  line.widths[1] += 6 * unit;
  line.widths[16] -= 6 * unit;
  const LineModes fast = line_modes(line), slow = line_modes(line, LineMethod::matrices);
  ASSERT_EQ(fast.fast.size, 18);
  EXPECT_TRUE(fast.split);
  EXPECT_EQ(fast.eigenvalues, slow.eigenvalues);
  EXPECT_GT(fast.eigenvalues[1], fast.eigenvalues[8]);  // even modes first: the odd ones begin with 9
  EXPECT_GT(fast.eigenvalues[9], fast.eigenvalues[8]);
}

TEST(FastTransform, IsThatOfTheMatrices) {
  expect_the_matrices_results<double>();
}
TEST(FastTransform, IsThatOfTheMatricesInFloat) {
  expect_the_matrices_results<float>();
}

TEST(FastTransform, IsTheSumOfCosinesAndSines) {
  // Modes 1 and 2 of each kind from their definitions; where they lie: even ones first.
  const Lid n = 42;
  const std::vector<double> in = random_values<double>(n, 5);
  const double pi = std::acos(-1.0), scale = std::sqrt(2.0 / n);
  const auto sum = [&](bool cosine, double half_waves) {
    double total = 0;
    for (Lid i = 0; i < n; ++i) {
      const double angle = pi * half_waves * (i + 0.5) / n;
      total += in[i] * scale * (cosine ? std::cos(angle) : std::sin(angle));
    }
    return total;
  };
  const auto modes = [&](const Line& line) {
    std::vector<double> out(in.size());
    transform_x(LineTransform<double>(line_modes(line), Transform::to_modes, LineAxis::x).view(), in.data(), out.data(),
                {0, 1});
    return out;
  };
  const std::vector<Line> lines = lines_of(n);
  const auto ring = modes(lines[0]), closed = modes(lines[1]), open = modes(lines[2]), mixed = modes(lines[3]),
             turned = modes(lines[4]);
  EXPECT_NEAR(ring[1], sum(true, 2), 1e-14);
  EXPECT_NEAR(ring[n / 2], sum(false, 2), 1e-14);
  EXPECT_NEAR(ring[n - 1], sum(false, n) / std::sqrt(2.0), 1e-14);
  EXPECT_NEAR(closed[0], sum(true, 0) / std::sqrt(2.0), 1e-14);
  EXPECT_NEAR(closed[n / 2], sum(true, 1), 1e-14);
  EXPECT_NEAR(closed[1], sum(true, 2), 1e-14);
  EXPECT_NEAR(open[0], sum(false, 1), 1e-14);
  EXPECT_NEAR(open[n / 2], sum(false, 2), 1e-14);
  EXPECT_NEAR(open[n - 1], sum(false, n) / std::sqrt(2.0), 1e-14);
  EXPECT_NEAR(mixed[1], sum(true, 1.5), 1e-14);
  EXPECT_NEAR(turned[1], sum(false, 1.5), 1e-14);
}

TEST(FastTransform, ThereAndBackIsTheSame) {
  for (const Lid n : {384, 1024, 2048})
    for (const Line& line : lines_of(n)) {
      const LineModes modes = line_modes(line);
      const std::vector<double> in = random_values<double>(n * 3, 8);
      std::vector<double> out(in.size());
      transform_x(LineTransform<double>(modes, Transform::to_modes, LineAxis::x).view(), in.data(), out.data(), {0, 3});
      transform_x(LineTransform<double>(modes, Transform::from_modes, LineAxis::x).view(), out.data(), out.data(),
                  {0, 3});
      for (std::size_t i = 0; i < in.size(); ++i) ASSERT_NEAR(out[i], in[i], 4e-15) << describe(line);
    }
}

/// One line, one number at a time.
template <class T>
std::vector<T> one_by_one(const FastLineView<T>& plan, const T* in) {
  std::vector<T> out(2 * static_cast<std::size_t>(plan.points)), values(fast_values(plan.points, 1));
  const FastGroup<T> group{plan, values.data(), 1, 0};
  group.load(0, 1, true, [&](int) { return [&](Lid place) { return in[place]; }; });
  Lid before = 1, twiddles = 0;
  for (int pass = 0; pass < plan.radices.count; ++pass) group.pass(0, 1, pass, before, twiddles);
  group.store(0, 1, true,
              [&](int) { return [&](Lid place, T value) { out[static_cast<std::size_t>(place)] = value; }; });
  return out;
}

template <class T>
void expect_bits(Lid n, Lid nx, Lid nz) {
  for (const Line& line : lines_of(n))
    for (const Transform transform : {Transform::to_modes, Transform::from_modes}) {
      SCOPED_TRACE(fmt::format("{} {} {}", describe(line), nx, nz));
      const LineModes modes = line_modes(line);
      const LineTransform<T> along_x(modes, transform, LineAxis::x), along_y(modes, transform, LineAxis::y);
      const std::vector<T> in = random_values<T>(Size{nx} * n * nz, 4);
      const Lid count = nx * nz;
      std::vector<T> expected, out(in.size()), cut = in, block(in.size());
      for (Lid l = 0; l < count; ++l) {
        const auto one = one_by_one(along_x.view().fast, in.data() + Size{l} * n);
        expected.insert(expected.end(), one.begin(), one.end());
      }
      transform_x(along_x.view(), in.data(), out.data(), {0, count});
      ASSERT_TRUE(same_bits(out, expected));
      for (const Range range : {Range{count / 3, count}, Range{0, count / 3}})
        transform_x(along_x.view(), cut.data(), cut.data(), range);
      ASSERT_TRUE(same_bits(cut, expected));

      // As a block of 32 threads does it, four lines at a time.
      const FastLineView<T> plan = along_x.view().fast;
      std::vector<T> memory(fast_values(n / 2, 4));
      for (Lid first = 0; first < count; first += 4) {
        const FastGroup<T> group{plan, memory.data(), std::min<int>(4, count - first), 2};
        const auto each_thread = [&](const auto& work) {
          for (int me = 31; me >= 0; --me) work(me);
        };
        each_thread([&](int me) {
          group.load(me, 32, true,
                     [&](int l) { return [&in, line = Size{first + l} * n](Lid place) { return in[line + place]; }; });
        });
        Lid before = 1, twiddles = 0;
        for (int pass = 0; pass < plan.radices.count; ++pass) {
          Lid b = before, t = twiddles;
          each_thread([&](int me) {
            b = before, t = twiddles;
            group.pass(me, 32, pass, b, t);
          });
          before = b, twiddles = t;
        }
        each_thread([&](int me) {
          group.store(me, 32, false, [&](int l) {
            return [&block, line = Size{first + l} * n](Lid place, T value) { block[line + place] = value; };
          });
        });
      }
      ASSERT_TRUE(same_bits(block, expected));

      std::vector<T> columns(in.size());
      for (Lid z = 0; z < nz; ++z)
        for (Lid x = 0; x < nx; ++x) {
          const auto at = [&](Lid y) { return (static_cast<std::size_t>(z) * n + y) * nx + x; };
          std::vector<T> one;
          for (Lid y = 0; y < n; ++y) one.push_back(in[at(y)]);
          one = one_by_one(plan, one.data());
          for (Lid y = 0; y < n; ++y) columns[at(y)] = one[static_cast<std::size_t>(y)];
        }
      transform_y(along_y.view(), in.data(), out.data(), nx, {0, count});
      ASSERT_TRUE(same_bits(out, columns));
      cut = in;
      for (const Range range : {Range{count / 3, count}, Range{0, count / 3}})
        transform_y(along_y.view(), cut.data(), cut.data(), nx, range);
      ASSERT_TRUE(same_bits(cut, columns));
    }
}

TEST(FastTransform, BitsAreThoseOfOneLineAfterTheOther) {
  for (const Lid n : {2, 6, 16, 20, 70, 96})
    for (const auto& [nx, nz] : {std::pair<Lid, Lid>{1, 1}, {5, 3}, {16, 2}, {35, 1}}) {
      expect_bits<double>(n, nx, nz);
      expect_bits<float>(n, nx, nz);
    }
}

}  // namespace
}  // namespace tutti::incompressible
