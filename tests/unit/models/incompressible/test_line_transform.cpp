// Transforms and elimination along lines: the bits of the chains that their headers promise, however they are cut.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/unit/models/incompressible/poisson_problem.hpp"

namespace tutti::incompressible {
namespace {

using test::largest;
using test::largest_residual;
using test::mean;
using test::name;
using test::random_values;
using test::Spacing;
using test::widths;

/// One line through Q^-1 or Q, one chain of std::fma a result.
template <class T>
std::vector<T> transformed(const LineModes& modes, Transform transform, const std::vector<T>& line) {
  const LineMatrix& matrix = transform == Transform::to_modes ? modes.to_modes : modes.from_modes;
  const auto n = line.size(), even = static_cast<std::size_t>(modes.even_size()), odd = n - even;
  std::vector<T> halves = line, sums(n), result(n);
  if (modes.split && transform == Transform::to_modes)
    for (std::size_t i = 0; i < odd; ++i) {
      halves[i] = line[i] + line[n - 1 - i];
      halves[even + i] = line[i] - line[n - 1 - i];
    }
  if (modes.split && transform == Transform::to_modes && even > odd) halves[odd] = line[odd];
  const auto multiply = [&](const std::vector<double>& half, std::size_t first, std::size_t size) {
    for (std::size_t row = 0; row < size; ++row)
      for (std::size_t j = 0; j < size; ++j)
        sums[first + row] = std::fma(static_cast<T>(half[row * size + j]), halves[first + j], sums[first + row]);
  };
  multiply(matrix.even, 0, even);
  multiply(matrix.odd, even, odd);
  if (!modes.split || transform == Transform::to_modes) return sums;
  for (std::size_t i = 0; i < odd; ++i) {
    result[i] = sums[i] + sums[even + i];
    result[n - 1 - i] = sums[i] - sums[even + i];
  }
  if (even > odd) result[odd] = sums[odd];
  return result;
}

/// Ranges of [0, count) of random lengths up to `longest`.
std::vector<Range> cuts(Lid count, Lid longest, std::uint64_t seed) {
  std::vector<Range> result;
  for (Lid begin = 0; begin < count;) {
    const Lid length = 1 + static_cast<Lid>(random_unit(seed, static_cast<std::uint64_t>(begin)) * longest);
    result.push_back({begin, std::min(count, begin + length)});
    begin = result.back().end;
  }
  std::reverse(result.begin(), result.end());
  return result;
}

std::vector<Line> lines_of(Lid n) {
  using enum LineEnd;
  return {uniform_line(n, 1, neumann, neumann), uniform_line(n, 1, periodic, periodic),
          uniform_line(n, 1, neumann, dirichlet), Line{widths(n, Spacing::both_walls), dirichlet, dirichlet},
          Line{widths(n, Spacing::random), neumann, neumann}};
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

template <class T>
void expect_chains_along_x(Lid n, Lid count) {
  for (const Line& line : lines_of(n))
    for (const Transform transform : {Transform::to_modes, Transform::from_modes}) {
      const LineModes modes = line_modes(line, LineMethod::matrices);
      const LineTransform<T> made(modes, transform, LineAxis::x);
      const std::vector<T> in = random_values<T>(Size{n} * count, 4);
      std::vector<T> expected;
      for (Lid l = 0; l < count; ++l) {
        const std::vector<T> one = transformed<T>(modes, transform, {in.begin() + l * n, in.begin() + (l + 1) * n});
        expected.insert(expected.end(), one.begin(), one.end());
      }
      std::vector<T> out(in.size()), cut(in.size()), in_place = in;
      transform_x(made.view(), in.data(), out.data(), {0, count});
      ASSERT_TRUE(same_bits(out, expected)) << n << " x " << count;
      for (const Range range : cuts(count, 40, 1)) transform_x(made.view(), in.data(), cut.data(), range);
      ASSERT_TRUE(same_bits(cut, expected)) << n << " x " << count;
      // Each line once, and no other: a second time would show.
      for (const Range range : cuts(count, 40, 5)) transform_x(made.view(), in_place.data(), in_place.data(), range);
      ASSERT_TRUE(same_bits(in_place, expected)) << n << " x " << count;
    }
}

template <class T>
void expect_chains_along_y(Lid nx, Lid n, Lid nz) {
  for (const Line& line : lines_of(n))
    for (const Transform transform : {Transform::to_modes, Transform::from_modes}) {
      const LineModes modes = line_modes(line, LineMethod::matrices);
      const LineTransform<T> made(modes, transform, LineAxis::y);
      const std::vector<T> in = random_values<T>(Size{nx} * n * nz, 4);
      std::vector<T> expected(in.size());
      for (Lid z = 0; z < nz; ++z)
        for (Lid x = 0; x < nx; ++x) {
          const auto at = [&](Lid y) { return (static_cast<std::size_t>(z) * n + y) * nx + x; };
          std::vector<T> one;
          for (Lid y = 0; y < n; ++y) one.push_back(in[at(y)]);
          one = transformed<T>(modes, transform, one);
          for (Lid y = 0; y < n; ++y) expected[at(y)] = one[y];
        }
      std::vector<T> out(in.size()), cut(in.size()), in_place = in;
      transform_y(made.view(), in.data(), out.data(), nx, {0, nx * nz});
      ASSERT_TRUE(same_bits(out, expected)) << nx << " x " << n << " x " << nz;
      for (const Range range : cuts(nx * nz, 40, 2)) transform_y(made.view(), in.data(), cut.data(), nx, range);
      ASSERT_TRUE(same_bits(cut, expected)) << nx << " x " << n << " x " << nz;
      for (const Range range : cuts(nx * nz, 40, 5))
        transform_y(made.view(), in_place.data(), in_place.data(), nx, range);
      ASSERT_TRUE(same_bits(in_place, expected)) << nx << " x " << n << " x " << nz;
    }
}

TEST(LineTransform, AlongXIsOneChainAResult) {
  for (const Lid n : {1, 2, 3, 8, 15, 16, 17, 33, 64, 71})
    for (const Lid count : {1, 7, 8, 33, 80}) {
      expect_chains_along_x<double>(n, count);
      expect_chains_along_x<float>(n, count);
    }
}

TEST(LineTransform, AlongYIsOneChainAResult) {
  for (const Lid n : {1, 2, 3, 8, 15, 16, 17, 33, 64, 71})
    for (const auto& [nx, nz] : {std::pair<Lid, Lid>{1, 1}, {1, 40}, {5, 9}, {16, 2}, {32, 1}, {48, 3}, {67, 2}}) {
      expect_chains_along_y<double>(nx, n, nz);
      expect_chains_along_y<float>(nx, n, nz);
    }
}

TEST(LineTransform, ThereAndBackIsTheSame) {
  const Lid n = 37, count = 11;
  for (const Line& line : lines_of(n)) {
    const LineModes modes = line_modes(line, LineMethod::matrices);
    const std::vector<double> in = random_values<double>(n * count, 8);
    std::vector<double> out(in.size());
    transform_x(LineTransform<double>(modes, Transform::to_modes, LineAxis::x).view(), in.data(), out.data(),
                {0, count});
    transform_x(LineTransform<double>(modes, Transform::from_modes, LineAxis::x).view(), out.data(), out.data(),
                {0, count});
    for (std::size_t i = 0; i < in.size(); ++i) EXPECT_NEAR(out[i], in[i], 1e-14);
  }
}

/// One column by elimination, as tridiagonal.hpp says; a line that is not cyclic.
template <class T>
std::vector<T> eliminated(const LineOperator& line, T lambda, const std::vector<T>& f) {
  const std::size_t n = f.size();
  std::vector<T> ratio(n), p(n);
  T lost = 1, value = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const T below = static_cast<T>(line.conductance[k]), above = static_cast<T>(line.conductance[k + 1]);
    const T h = static_cast<T>(line.widths[k]);
    const T leak = std::fma(below, lost, -lambda * h), inverse = 1 / (above + leak);
    lost = leak * inverse;
    ratio[k] = above * inverse;
    p[k] = value = std::fma(below * inverse, value, -h * inverse * f[k]);
  }
  for (std::size_t k = n - 1; k-- > 0;) p[k] = std::fma(ratio[k], p[k + 1], p[k]);
  return p;
}

template <class T>
void expect_columns(const Line& line, Lid columns) {
  const LineOperator op = line_operator(line);
  const Tridiagonal<T> made(op);
  const Lid n = op.size();
  const Size stride = columns + 3;
  const std::vector<T> in = random_values<T>(n * stride, 6);
  std::vector<T> lambda;
  for (Lid c = 0; c < columns; ++c) lambda.push_back(c % 19 == 4 ? T(0) : static_cast<T>(-0.1 * (c + 1)));
  std::vector<T> out = in, cut = in;
  solve_columns(made.view(), lambda.data(), {out.data(), stride}, {0, columns});
  for (const Range range : cuts(columns, 90, 3)) solve_columns(made.view(), lambda.data(), {cut.data(), stride}, range);
  EXPECT_TRUE(same_bits(out, cut));
  // Some rows are in an array of their own.
  const auto at = [&](Lid k, Lid c) { return static_cast<std::size_t>(k * stride) + static_cast<std::size_t>(c); };
  const Range rows{n / 3, n - n / 4};
  const Size wider = stride + 5;
  std::vector<T> apart(static_cast<std::size_t>(rows.size() * wider), T(-7)), others = in;
  for (Lid k = rows.begin; k < rows.end; ++k)
    for (Lid c = 0; c < columns; ++c) {
      apart[static_cast<std::size_t>((k - rows.begin) * wider + c)] = in[at(k, c)];
      others[at(k, c)] = T(-7);
    }
  for (const Range range : cuts(columns, 90, 5))
    solve_columns(made.view(), lambda.data(), {others.data(), stride, rows, apart.data(), wider}, range);
  for (Lid k = rows.begin; k < rows.end; ++k)
    for (Lid c = 0; c < columns; ++c) {
      EXPECT_EQ(others[at(k, c)], T(-7)) << "not touched";
      others[at(k, c)] = apart[static_cast<std::size_t>((k - rows.begin) * wider + c)];
    }
  for (Lid c = 0; c < columns; ++c) {
    std::vector<T> f, p;
    for (Lid k = 0; k < n; ++k) {
      EXPECT_EQ(others[at(k, c)], out[at(k, c)]);
      f.push_back(in[at(k, c)]);
      p.push_back(out[at(k, c)]);
    }
    if (op.singular && lambda[c] == 0) continue;  // below
    if (!op.cyclic) {
      EXPECT_TRUE(same_bits(p, eliminated(op, lambda[c], f)));
    }
    for (Lid k = 0; k < n; ++k) {
      const auto i = static_cast<std::size_t>(k);
      const auto value = [&](Lid j) { return static_cast<double>(p[(j + n) % n]); };
      const double size = -2 * op.diagonal[i] * largest(p) + largest(f);
      EXPECT_NEAR(op.lower[i] * value(k - 1) + (op.diagonal[i] + static_cast<double>(lambda[c])) * value(k) +
                      op.upper[i] * value(k + 1),
                  static_cast<double>(f[i]), 8 * std::numeric_limits<T>::epsilon() * size);
    }
  }
}

TEST(Tridiagonal, SolvesEveryColumnTheSameHoweverCut) {
  using enum LineEnd;
  for (const Lid n : {1, 2, 3, 10, 37})
    for (const Lid columns : {1, 5, 64, 150})
      for (const Spacing spacing : {Spacing::uniform, Spacing::random})
        for (const auto& [low, high] : {std::pair{periodic, periodic}, {neumann, neumann}, {dirichlet, neumann}}) {
          SCOPED_TRACE(fmt::format("{}{}{}, {} columns", name(low), n, name(high), columns));
          expect_columns<double>({widths(n, spacing), low, high}, columns);
          expect_columns<float>({widths(n, spacing), low, high}, columns);
        }
}

/// Up through parts of the line, that begin at `begins`, and down again.
template <class T>
void expect_through_parts(const Line& line, const std::vector<Lid>& begins, Lid columns) {
  const LineOperator op = line_operator(line);
  const Tridiagonal<T> made(op);
  const Size stride = columns + 1;
  std::vector<T> lambda;
  for (Lid c = 0; c < columns; ++c) lambda.push_back(c % 70 == 3 ? T(0) : static_cast<T>(-0.1 * (c + 1)));
  const std::vector<T> in = random_values<T>(op.size() * stride, 6);
  std::vector<T> whole = in;
  solve_columns(made.view(), lambda.data(), {whole.data(), stride}, {0, columns});
  struct Part {
    LinePart<T> rows;
    std::vector<T> lost, values, ratios;
    ColumnRows<T> in_columns(Size row) { return {values.data() + row, row}; }
  };
  std::vector<Part> parts(begins.size());
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const Range rows{begins[p], p + 1 < parts.size() ? begins[p + 1] : op.size()};
    Part& part = parts[p];
    part.lost = lost_behind(made.view(), rows.begin, lambda);
    part.rows = {some_rows(made.view(), rows), p == 0, p + 1 == parts.size(), part.lost.data()};
    part.values.assign(static_cast<std::size_t>((rows.size() + 2) * stride), T(-7));
    std::copy_n(in.begin() + rows.begin * stride, rows.size() * stride, part.values.begin() + stride);
    part.ratios.resize(part.values.size());
  }
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const ColumnRows<T> rows = parts[p].in_columns(stride);
    if (p > 0) std::copy_n(parts[p - 1].in_columns(stride).row(parts[p - 1].rows.line.size - 1), columns, rows.row(-1));
    for (const Range range : cuts(columns, 90, 3))
      if (parts[p].rows.last)
        solve_last_columns(parts[p].rows, lambda.data(), rows, range);
      else
        eliminate_columns(parts[p].rows, lambda.data(), rows, parts[p].ratios.data(), stride, range);
  }
  for (std::size_t p = parts.size() - 1; p-- > 0;) {
    const ColumnRows<T> rows = parts[p].in_columns(stride);
    std::copy_n(parts[p + 1].in_columns(stride).row(0), columns, rows.row(parts[p].rows.line.size));
    for (const Range range : cuts(columns, 90, 5))
      substitute_columns<T>(parts[p].rows, lambda.data(), rows, parts[p].ratios.data(), stride, range);
  }
  for (std::size_t p = 0; p < parts.size(); ++p)
    for (Lid k = 0; k < parts[p].rows.line.size; ++k)
      for (Lid c = 0; c < columns; ++c) {
        const auto at = static_cast<std::size_t>((begins[p] + k) * stride + c);
        const bool left_alone = op.singular && lambda[c] == 0;
        ASSERT_EQ(parts[p].in_columns(stride).row(k)[c], (left_alone ? in : whole)[at]) << p << " " << k << " " << c;
      }
}

TEST(Tridiagonal, PassesThroughPartsWithTheSameBits) {
  using enum LineEnd;
  for (const std::vector<Lid>& begins : {std::vector<Lid>{0, 18}, {0, 1, 36}, {0, 5, 6, 30}})
    for (const Spacing spacing : {Spacing::uniform, Spacing::random})
      for (const auto& [low, high] : {std::pair{neumann, neumann}, {dirichlet, neumann}, {neumann, dirichlet}}) {
        SCOPED_TRACE(fmt::format("{}{}, {} parts", name(low), name(high), begins.size()));
        expect_through_parts<double>({widths(37, spacing), low, high}, begins, 150);
        expect_through_parts<float>({widths(37, spacing), low, high}, begins, 5);
      }
}

TEST(Tridiagonal, ATinyLambdaKeepsItsDigits) {
  // The sum of all rows times their widths: lambda sum h p = sum h f. The smooth part of p hangs on lambda alone, even
  // where lambda is lost beside the diagonal.
  using enum LineEnd;
  for (const LineEnd end : {periodic, neumann})
    for (const double lambda : {-1e-3, -1e-12, -1e-18}) {
      const Lid n = 200;
      const Line line{widths(n, Spacing::random), end, end};
      const Tridiagonal<double> made(line_operator(line));
      std::vector<double> p(n, 1.0);
      solve_columns(made.view(), &lambda, {p.data(), 1}, {0, 1});
      for (const double value : p) EXPECT_NEAR(value * lambda, 1, 1e-12) << name(end) << lambda;
    }
}

TEST(Tridiagonal, TheNullColumnHasMeanZero) {
  using enum LineEnd;
  for (const Lid n : {1, 2, 3, 50})
    for (const LineEnd end : {periodic, neumann}) {
      const Line line{widths(n, Spacing::random), end, end};
      const Tridiagonal<double> made(line_operator(line));
      const std::vector<double> f = random_values<double>(n, 9);
      std::vector<double> p = f;
      const double lambda = 0;
      solve_columns(made.view(), &lambda, {p.data(), 1}, {0, 1});
      const Line one{{1.0}, neumann, neumann};
      const PoissonBox box{one, one, line};
      EXPECT_LE(largest_residual(box, p, f), 1e-13 * n * n);
      EXPECT_NEAR(static_cast<double>(mean(box, p)), 0, 1e-15);
    }
}

}  // namespace
}  // namespace tutti::incompressible
