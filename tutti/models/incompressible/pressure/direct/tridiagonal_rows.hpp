// The arithmetic of tridiagonal.hpp, one row of one column at a time: what CPUs and GPUs share.
#pragma once

#include <cmath>
#include <type_traits>

#include "tutti/base/types.hpp"
#include "tutti/models/incompressible/pressure/direct/tridiagonal.hpp"

namespace tutti::incompressible {

/// What elimination leaves of a row: p_k = value + ratio p_{k+1}.
template <class T>
struct EliminatedRow {
  T inverse, ratio, value;
};

/// The row's value where its inverse is known. One fma waits for the row before, and nothing else: that is what the
/// time of a column on a GPU is made of.
template <class T>
TUTTI_HD inline T eliminated_value(T below, T h, T inverse, T f, T value_before) {
  return std::fma(below * inverse, value_before, -h * inverse * f);
}

/// `lost`: e_{k-1} / (g_k + e_{k-1}), of the row before, and then of this one. The ground below cell 0 counts as one
/// more cell of value 0, with all of its conductance: there it is 1.
template <class T>
TUTTI_HD inline EliminatedRow<T> eliminate_row(T below, T above, T h, T lambda, T f, T value_before, T& lost) {
  const T leak = std::fma(below, lost, -lambda * h);
  const T inverse = 1 / (above + leak);
  lost = leak * inverse;
  return {inverse, above * inverse, eliminated_value(below, h, inverse, f, value_before)};
}

/// The same elimination for -lambda h on the right.
template <class T>
TUTTI_HD inline T eliminate_slack(T below, T h, T lambda, T inverse, T slack_before) {
  return std::fma(below, slack_before, -lambda * h) * inverse;
}

/// The last cell of a cyclic line, a ground at both ends of the others; first and last: values of these between zeros,
/// and their slacks.
template <class T>
TUTTI_HD inline T last_of_cycle(T below, T above, T h, T lambda, T f, T first, T last, T first_slack, T last_slack) {
  const T leak = std::fma(above, first_slack, std::fma(below, last_slack, -lambda * h));
  return std::fma(above, first, std::fma(below, last, -h * f)) / leak;
}

/// lambda = 0 on a singular line: what flows through a face is the sum of what the cells below it yield, and p follows
/// from the flows. One column of a whole box: in double, passes instead of memory. row(k): its value in row k, which
/// becomes that of p.
template <class T, class Row>
TUTTI_HD inline void solve_null_column(const TridiagonalView<T>& line, const Row& row) {
  const Lid n = line.size;
  // use(k, width, distance to the next cell, f) for all cells. Some are loaded before they are used: to a GPU's thread,
  // which waits for each load, that is several times as fast.
  const auto each_cell = [&](const auto& use) {
    const auto some = [&](Lid from, auto count) {
      double width[count], distance[count], f[count];
      for (int r = 0; r < count; ++r) {
        width[r] = line.exact_widths[from + r];
        distance[r] = line.distances[from + r + 1];
        f[r] = static_cast<double>(row(from + r));
      }
      for (int r = 0; r < count; ++r) use(from + r, width[r], distance[r], f[r]);
    };
    constexpr int at_once = 8;
    Lid k = 0;
    for (; k + at_once <= n; k += at_once) some(k, std::integral_constant<int, at_once>());
    for (; k < n; ++k) some(k, std::integral_constant<int, 1>());
  };
  double mean = 0, length = 0;
  each_cell([&](Lid, double width, double, double f) {
    mean = std::fma(width, f, mean);
    length += width;
  });
  mean /= length;
  // use(k, width, distance, flow through face k + 1 less that through face 0)
  const auto each_flow = [&](const auto& use) {
    double flow = 0;
    each_cell([&](Lid k, double width, double distance, double f) {
      flow = std::fma(width, f - mean, flow);
      use(k, width, distance, flow);
    });
  };
  double first_flow = 0;
  if (line.cyclic) {
    // Once around, p is what it was: the differences d (first_flow + flow) add up to 0.
    double sum = 0, way = 0;
    each_flow([&](Lid, double, double distance, double flow) {
      sum = std::fma(distance, flow, sum);
      way += distance;
    });
    first_flow = -sum / way;
  }
  const auto each_p = [&](const auto& use) {
    double p = 0;
    each_flow([&](Lid k, double width, double distance, double flow) {
      const double here = p;
      p = std::fma(distance, first_flow + flow, p);
      use(k, width, here);
    });
  };
  double p_mean = 0;
  each_p([&](Lid, double width, double p) { p_mean = std::fma(width, p, p_mean); });
  p_mean /= length;
  each_p([&](Lid k, double, double p) { row(k) = static_cast<T>(p - p_mean); });
}

}  // namespace tutti::incompressible
