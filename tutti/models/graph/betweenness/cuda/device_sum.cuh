// Sums of dependencies by atomics: many threads add digits, which carry after a launch.
#pragma once

#include "tutti/models/graph/betweenness/delta_sum.hpp"

namespace tutti::graph::gpu {

__device__ inline void add_to(DeltaSum& sum, double delta) {
  const DeltaParts parts = split_delta(delta);
  const auto add = [](std::int64_t& to, double part, double unit) {
    if (part != 0)
      atomicAdd(reinterpret_cast<unsigned long long*>(&to),
                static_cast<unsigned long long>(static_cast<std::int64_t>(part * (1 / unit))));
  };
  add(sum.high, parts.high, high_unit);
  add(sum.middle, parts.middle, middle_unit);
  add(sum.low, parts.low, low_unit);
}

struct CarrySums {
  DeltaSum* sums;
  TUTTI_HD void operator()(Lid v) const { sums[v].carry(); }
};

}  // namespace tutti::graph::gpu
