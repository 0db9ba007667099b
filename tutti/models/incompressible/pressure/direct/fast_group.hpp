// Fast transforms of a group of lines side by side in one small memory, by many threads: what a block of a GPU does
// between its barriers, and a test on a CPU, one thread after the other.
#pragma once

#include <algorithm>

#include "tutti/models/incompressible/pressure/direct/fast_line.hpp"

namespace tutti::incompressible {

/// Values from one part of a point to the next: odd, so that neighbouring points of a line lie in different banks.
TUTTI_HD constexpr int fast_step(int lines) {
  return lines | 1;
}
/// Of both arrays of points.
TUTTI_HD constexpr std::size_t fast_values(Lid points, int lines) {
  return 4 * static_cast<std::size_t>(points) * static_cast<std::size_t>(fast_step(lines));
}
/// As many lines as 48 KiB take, a power of two of at most 16 so that lines side by side fill sectors of memory; its
/// exponent. One line at least: 2,048 cells of 8 bytes fit.
template <class T>
TUTTI_HD constexpr int fast_lines_exponent(Lid points) {
  int exponent = 4;
  while (exponent > 0 && fast_values(points, 1 << exponent) * sizeof(T) > std::size_t{48} << 10) --exponent;
  return exponent;
}

/// Between its members all threads must meet. `me`: of `threads`.
template <class T>
struct FastGroup {
  FastLineView<T> plan;
  T* values;  ///< fast_values(plan.points, room())
  int lines, exponent;

  TUTTI_HD int room() const { return 1 << exponent; }
  TUTTI_HD T* array(int which) const {
    return values + which * (2 * plan.points * static_cast<Size>(fast_step(room())));
  }
  TUTTI_HD Points<T> points(int which, int line) const { return {array(which) + line, fast_step(room())}; }

  /// of_line(line)(item) for items [0, items) of all lines. A thread has those of one line, or of few.
  template <class OfLine>
  TUTTI_HD void each(int me, int threads, bool items_first, Lid items, const OfLine& of_line) const {
    const int team = threads >> exponent > 0 ? threads >> exponent : 1, together = threads / team;
    const int first_line = items_first ? me / team : me % together,
              first_item = items_first ? me % team : me / together;
    for (int line = first_line; line < lines; line += together) {
      const auto& use = of_line(line);
      for (Lid item = first_item; item < items; item += team) use(item);
    }
  }
  /// values_of(line)(place)
  template <class ValuesOf>
  TUTTI_HD void load(int me, int threads, bool points_first, const ValuesOf& values_of) const {
    each(me, threads, points_first, fast_pairs(plan.points), [&](int line) {
      return [&plan = plan, get = values_of(line), to = points(0, line)](Lid k) { fast_load(plan, get, to, k); };
    });
  }
  /// put_of(line)(place, value)
  template <class PutOf>
  TUTTI_HD void store(int me, int threads, bool points_first, const PutOf& put_of) const {
    each(me, threads, points_first, fast_pairs(plan.points), [&](int line) {
      return [&plan = plan, put = put_of(line), from = points(plan.radices.count % 2, line)](Lid k) {
        fast_store(plan, from, put, k);
      };
    });
  }
  /// Passes in ascending order; `before` begins with 1 and `twiddles` with 0.
  TUTTI_HD void pass(int me, int threads, int pass, Lid& before, Lid& twiddles) const {
    const int r = plan.radices[pass];
    const T* const factors = plan.twiddles + twiddles;
    switch (r) {
      case 2:
        butterflies<2>(me, threads, pass, before, factors);
        break;
      case 3:
        butterflies<3>(me, threads, pass, before, factors);
        break;
      case 4:
        butterflies<4>(me, threads, pass, before, factors);
        break;
      case 5:
        butterflies<5>(me, threads, pass, before, factors);
        break;
      case 7:
        butterflies<7>(me, threads, pass, before, factors);
        break;
      default:
        butterflies<8>(me, threads, pass, before, factors);
    }
    twiddles += 2 * (plan.points / r / before) * (r - 1);
    before *= r;
  }

 private:
  template <int r>
  TUTTI_HD void butterflies(int me, int threads, int pass, Lid before, const T* factors) const {
    const bool last = plan.points == r * before;
    each(me, threads, false, plan.points / r, [&](int line) {
      return [=, &plan = plan, from = points(pass % 2, line), to = points(1 - pass % 2, line)](Lid item) {
        const Lid p = item / before, q = item % before;
        if (last)
          fast_pass<r, true>(factors, from, to, plan.points, before, p, q);
        else
          fast_pass<r, false>(factors, from, to, plan.points, before, p, q);
      };
    });
  }
};

}  // namespace tutti::incompressible
