// Planes of a field whose cells along x lie in different planes: the direct solver's own arrays have the direction of
// the elimination last, and that may be x.
#pragma once

#include <algorithm>

#include "tutti/base/types.hpp"

namespace tutti::incompressible {

/// Value i of row j of plane k is at first[i * step + j * row + k].
template <class T>
struct TurnedPlanes {
  T* first;
  Size step, row;
};

/// use(own, in the field): places of all values of planes `range` of [plane][rows][n] values, square by square, so that
/// both sides use whole lines of the cache.
template <class Use>
void for_turned(Lid n, Lid rows, Size step, Size row, Range range, const Use& use) {
  constexpr Lid square = 16;
  for (Lid j = 0; j < rows; ++j)
    for (Lid k = range.begin; k < range.end; k += square)
      for (Lid i = 0; i < n; i += square)
        for (Lid own_k = k; own_k < std::min(k + square, range.end); ++own_k)
          for (Lid own_i = i; own_i < std::min(i + square, n); ++own_i)
            use((Size{own_k} * rows + j) * n + own_i, own_i * step + j * row + own_k);
}

}  // namespace tutti::incompressible
