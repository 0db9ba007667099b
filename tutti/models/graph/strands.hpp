// Work that shrinks along the numbers, such as that of vertices ordered by degree, in equal shares.
#pragma once

#include "tutti/base/parallel.hpp"

namespace tutti::graph {

/// body(k) for every k of [0, number), in 64 strands, each of every 64th.
template <class Body>
void for_strands(const ParallelFor& parallel, Size number, const Body& body) {
  constexpr Size strands = 64;
  for_ranges(parallel, strands, [&](Size begin, Size end) {
    for (Size strand = begin; strand < end; ++strand)
      for (Size k = strand; k < number; k += strands) body(k);
  });
}

}  // namespace tutti::graph
