// Fast transforms of a group of lines side by side in one small memory, by many threads: what a block of a GPU does
// between its barriers, and a test on a CPU, one thread after the other.
#pragma once

#include <algorithm>

#include "tutti/models/incompressible/pressure/direct/fast_line.hpp"

namespace tutti::incompressible {

/// Values from one part of a point to the next: odd, so that neighbouring points of a line lie in different banks.
TUTTI_HD inline int fast_step(int lines) {
  return lines | 1;
}
/// Of both arrays of points.
inline std::size_t fast_values(Lid points, int lines) {
  return 4 * static_cast<std::size_t>(points) * static_cast<std::size_t>(fast_step(lines));
}
/// As many lines as 48 KiB take, a power of two of at most 16 so that lines side by side fill sectors of memory; its
/// exponent. One line at least: 2,048 cells of 8 bytes fit.
template <class T>
int fast_lines_exponent(Lid points) {
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

  /// use(line, item) for items [0, items) of all lines.
  template <class Use>
  TUTTI_HD void each(int me, int threads, bool items_first, Lid items, const Use& use) const {
    if (items_first)
      for (Lid i = me; i < items * lines; i += threads) use(static_cast<int>(i / items), i % items);
    else
      for (Lid i = me; i < items << exponent; i += threads)
        if (const int line = static_cast<int>(i) & (room() - 1); line < lines) use(line, i >> exponent);
  }
  /// get(line, place)
  template <class Get>
  TUTTI_HD void load(int me, int threads, bool points_first, const Get& get) const {
    each(me, threads, points_first, fast_pairs(plan.points), [&](int line, Lid k) {
      fast_load(
          plan, [&](Lid place) { return get(line, place); }, points(0, line), k);
    });
  }
  /// put(line, place, value)
  template <class Put>
  TUTTI_HD void store(int me, int threads, bool points_first, const Put& put) const {
    each(me, threads, points_first, fast_pairs(plan.points), [&](int line, Lid k) {
      fast_store(
          plan, points(plan.passes % 2, line), [&](Lid place, T value) { put(line, place, value); }, k);
    });
  }
  /// Passes in ascending order; `before` begins with 1 and `twiddles` with 0.
  TUTTI_HD void pass(int me, int threads, int pass, Lid& before, Lid& twiddles) const {
    const int r = plan.radix(pass);
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
    each(me, threads, false, plan.points / r, [&](int line, Lid item) {
      const Points<T> from = points(pass % 2, line), to = points(1 - pass % 2, line);
      const Lid p = item / before, q = item % before;
      if (last)
        fast_pass<r, true>(factors, from, to, plan.points, before, p, q);
      else
        fast_pass<r, false>(factors, from, to, plan.points, before, p, q);
    });
  }
};

}  // namespace tutti::incompressible
