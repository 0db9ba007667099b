// Boxes for the Poisson solver, and the operator written out from its definition, with nothing of the solver's.
#pragma once

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "tutti/base/random.hpp"
#include "tutti/models/incompressible/pressure/direct_solver.hpp"

namespace tutti::test {

enum class Spacing { uniform, both_walls, one_wall, random };

inline std::vector<double> widths(Lid n, Spacing spacing) {
  std::vector<double> h;
  for (Lid i = 0; i < n; ++i) {
    const double s = (i + 0.5) / n;
    h.push_back(spacing == Spacing::uniform      ? 1.0
                : spacing == Spacing::both_walls ? 1 + 4 * s * (1 - s)
                : spacing == Spacing::one_wall   ? std::pow(1.03, i)
                                                 : 0.5 + random_unit(7, static_cast<std::uint64_t>(i)));
  }
  // The same from both ends, but for the last digits.
  double length = 0;
  for (const double value : h) length += value;
  for (double& value : h) value /= length;
  return h;
}

inline std::string name(LineEnd end) {
  return end == LineEnd::periodic ? "P" : end == LineEnd::neumann ? "N" : "D";
}
inline std::string describe(const PoissonBox& box) {
  std::string text;
  for (const Line* line : {&box.x, &box.y, &box.z})
    text += fmt::format(" {}{}{} h {:.3g}..{:.3g}", name(line->low), line->size(), name(line->high),
                        line->widths.front(), line->widths.back());
  return text;
}

/// Every mix of ends in three directions, on thin, long, odd, prime and other shapes, stretched in turns: 125 boxes.
inline std::vector<PoissonBox> boxes() {
  using enum LineEnd;
  constexpr std::array<std::array<LineEnd, 2>, 5> ends{
      {{periodic, periodic}, {neumann, neumann}, {dirichlet, dirichlet}, {neumann, dirichlet}, {dirichlet, neumann}}};
  constexpr std::array<std::array<Lid, 3>, 18> shapes{{{1, 1, 1},
                                                       {2, 2, 2},
                                                       {3, 3, 3},
                                                       {1, 16, 16},
                                                       {16, 1, 16},
                                                       {16, 16, 1},
                                                       {7, 11, 13},
                                                       {2, 31, 5},
                                                       {97, 2, 3},
                                                       {3, 101, 2},
                                                       {2, 1, 211},
                                                       {32, 24, 40},
                                                       {17, 33, 9},
                                                       {48, 47, 46},
                                                       {1, 1, 37},
                                                       {64, 8, 8},
                                                       {5, 4, 1},
                                                       {8, 64, 67}}};
  constexpr std::array<Spacing, 4> spacings{Spacing::uniform, Spacing::both_walls, Spacing::one_wall, Spacing::random};
  std::vector<PoissonBox> result;
  std::size_t count = 0;
  for (const auto& ex : ends)
    for (const auto& ey : ends)
      for (const auto& ez : ends) {
        const auto& shape = shapes[count % shapes.size()];
        const auto line = [&](std::size_t axis, const std::array<LineEnd, 2>& e) {
          // Half of the lines are uniform; the others take turns.
          const std::size_t turn = (count + 3 * axis) % 7;
          return Line{widths(shape[axis], spacings[turn < 3 ? turn + 1 : 0]), e[0], e[1]};
        };
        result.push_back({line(0, ex), line(1, ey), line(2, ez)});
        ++count;
      }
  return result;
}

/// (L p) in one cell as the definition says it, in long double.
template <class T>
long double laplacian(const PoissonBox& box, const std::vector<T>& p, Lid x, Lid y, Lid z) {
  const std::array<const Line*, 3> lines{&box.x, &box.y, &box.z};
  const std::array<Lid, 3> cell{x, y, z};
  const auto value = [&](std::array<Lid, 3> c) {
    return static_cast<long double>(
        p[(static_cast<std::size_t>(c[2]) * lines[1]->widths.size() + static_cast<std::size_t>(c[1])) *
              lines[0]->widths.size() +
          static_cast<std::size_t>(c[0])]);
  };
  long double sum = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const Line& line = *lines[axis];
    const Lid n = line.size(), i = cell[axis];
    const auto h = [&](Lid j) { return static_cast<long double>(line.widths[j]); };
    const auto slope_to = [&](Lid step, LineEnd end) {  // (p_neighbour - p) / distance
      Lid j = i + step;
      if (j < 0 || j >= n) {
        if (end == LineEnd::neumann) return 0.0L;
        if (end == LineEnd::dirichlet) return -value(cell) / (h(i) / 2);
        j = (j + n) % n;
      }
      std::array<Lid, 3> neighbour = cell;
      neighbour[axis] = j;
      return (value(neighbour) - value(cell)) / ((h(i) + h(j)) / 2);
    };
    sum += (slope_to(1, line.high) + slope_to(-1, line.low)) / h(i);
  }
  return sum;
}

template <class Use>
void each_cell(const PoissonBox& box, const Use& use) {
  std::size_t index = 0;
  for (Lid z = 0; z < box.z.size(); ++z)
    for (Lid y = 0; y < box.y.size(); ++y)
      for (Lid x = 0; x < box.x.size(); ++x) use(index++, x, y, z);
}

/// sum of value * volume / sum of volume
template <class T>
long double mean(const PoissonBox& box, const std::vector<T>& values) {
  long double sum = 0, volume = 0;
  each_cell(box, [&](std::size_t i, Lid x, Lid y, Lid z) {
    const auto at = [](const Line& line, Lid j) { return static_cast<long double>(line.widths[j]); };
    const long double v = at(box.x, x) * at(box.y, y) * at(box.z, z);
    sum += v * static_cast<long double>(values[i]);
    volume += v;
  });
  return sum / volume;
}

inline bool has_no_dirichlet(const PoissonBox& box) {
  for (const Line* line : {&box.x, &box.y, &box.z})
    if (line->low == LineEnd::dirichlet || line->high == LineEnd::dirichlet) return false;
  return true;
}

template <class T>
double largest(const std::vector<T>& values) {
  double most = 0;
  for (const T value : values) {
    if (!(std::abs(static_cast<double>(value)) <= most)) most = std::abs(static_cast<double>(value));
  }
  return most;
}

/// max |f - L p|, f without its mean where no face is Dirichlet.
template <class T>
double largest_residual(const PoissonBox& box, const std::vector<T>& p, const std::vector<T>& f) {
  const long double f_mean = has_no_dirichlet(box) ? mean(box, f) : 0.0L;
  std::vector<double> residual(f.size());
  each_cell(box, [&](std::size_t i, Lid x, Lid y, Lid z) {
    residual[i] = static_cast<double>(static_cast<long double>(f[i]) - f_mean - laplacian(box, p, x, y, z));
  });
  return largest(residual);
}

template <class T>
std::vector<T> random_values(Size count, std::uint64_t seed) {
  std::vector<T> values;
  for (Size i = 0; i < count; ++i)
    values.push_back(static_cast<T>(random_unit(seed, static_cast<std::uint64_t>(i)) - 0.25));
  return values;
}

}  // namespace tutti::test
