// Digits after many additions by atomics.
#pragma once

#include "tutti/models/graph/betweenness/delta_sum.hpp"

namespace tutti::graph::gpu {

struct CarrySums {
  DeltaSum* sums;
  TUTTI_HD void operator()(Lid v) const { sums[v].carry(); }
};

}  // namespace tutti::graph::gpu
