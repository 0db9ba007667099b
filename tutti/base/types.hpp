// Index types and the host/device mark every floor uses.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__CUDACC__)
#define TUTTI_HD __host__ __device__
#else
#define TUTTI_HD
#endif

namespace tutti {

/// Global number of a cell, vertex, node or graph vertex: the same on every rank.
using Gid = std::int64_t;
/// Local number inside one part. A part holds fewer than 2^31 rows.
using Lid = std::int32_t;
/// A count or an offset that may exceed 2^31 (bytes, stored entries).
using Size = std::int64_t;

inline constexpr Lid no_lid = -1;

/// Half-open range [begin, end) of local indices.
struct Range {
  Lid begin = 0;
  Lid end = 0;
  TUTTI_HD Lid size() const { return end - begin; }
  TUTTI_HD bool empty() const { return end <= begin; }
  friend bool operator==(const Range&, const Range&) = default;
};

}  // namespace tutti
