// How set-up code shares its loops: a hook that floors without a team of threads can take.
#pragma once

#include <functional>

#include "tutti/base/types.hpp"

namespace tutti {

/// Runs body(begin, end) on ranges that cover [0, count), in any order and at the same time. Empty: one range, on this
/// thread. `parallel_for(threads)` makes one of a team.
using ParallelFor = std::function<void(Size count, const std::function<void(Size begin, Size end)>& body)>;

/// Runs body on [0, count), with the hook or without.
inline void for_ranges(const ParallelFor& parallel, Size count, const std::function<void(Size, Size)>& body) {
  if (count <= 0) return;
  if (parallel)
    parallel(count, body);
  else
    body(0, count);
}

/// [0, count) cut into blocks that depend on nothing else: what is found block by block, and then put together in their
/// order, is the same for any number of threads.
struct Blocks {
  Size count = 0;
  Size number = 1;
  /// Of `least` entries or more, but no more than 256.
  Blocks(Size entries, Size least) : count(entries), number(entries / least < 256 ? entries / least + 1 : 256) {}
  Size begin(Size block) const { return count * block / number; }

  /// body(block, begin, end) for every block.
  void run(const ParallelFor& parallel, const std::function<void(Size, Size, Size)>& body) const {
    for_ranges(parallel, number, [&](Size first, Size last) {
      for (Size b = first; b < last; ++b) body(b, begin(b), begin(b + 1));
    });
  }
};

}  // namespace tutti
