// Records about vertices, brought together vertex by vertex. Inside the mesh floor only.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "tutti/base/parallel.hpp"
#include "tutti/base/raw_vector.hpp"

namespace tutti {

/// Calls use(vertex, first, last, place) for every vertex that has records, vertices and their records in order;
/// `place` counts the records of all vertices before it. make(begin, end, put) calls put(vertex, record) for the
/// records of items [begin, end), the same ones each time: it is called twice. Vertices are numbered below `vertices`.
///
/// Records go to blocks of vertices first and are sorted inside a block then: both fit the caches, whatever the order
/// of the mesh, and both can be shared by threads. `use` is called for different vertices at the same time.
template <class Index, class Record, class Make, class Use>
void group_by_vertex(Size items, Size vertices, const ParallelFor& parallel, const Make& make, const Use& use) {
  struct Entry {
    Index vertex;
    Record record;
  };
  const int shift = std::max(0, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(vertices))) - 10);
  const auto blocks = static_cast<std::size_t>((vertices >> shift) + 1);
  const auto block_of = [&](Index v) { return static_cast<std::size_t>(v >> shift); };

  // places[piece * blocks + block]: first the count, then where the next entry goes.
  const Blocks pieces(items, 8192);
  std::vector<std::size_t> places(static_cast<std::size_t>(pieces.number) * blocks);
  pieces.run(parallel, [&](Size piece, Size begin, Size end) {
    std::size_t* count = places.data() + static_cast<std::size_t>(piece) * blocks;
    make(begin, end, [&](Index v, const Record&) { ++count[block_of(v)]; });
  });
  std::vector<std::size_t> first(blocks + 1);
  for (std::size_t b = 0, at = 0; b < blocks; ++b) {
    first[b] = at;
    for (std::size_t p = 0; p < static_cast<std::size_t>(pieces.number); ++p)
      at += std::exchange(places[p * blocks + b], at);
    first[b + 1] = at;
  }
  RawVector<Entry> entries(first[blocks]);
  pieces.run(parallel, [&](Size piece, Size begin, Size end) {
    std::size_t* next = places.data() + static_cast<std::size_t>(piece) * blocks;
    make(begin, end, [&](Index v, const Record& r) { entries[next[block_of(v)]++] = {v, r}; });
  });

  for_ranges(parallel, static_cast<Size>(blocks), [&](Size from, Size to) {
    std::vector<std::size_t> ends;
    std::vector<Record> sorted;
    for (auto b = static_cast<std::size_t>(from); b < static_cast<std::size_t>(to); ++b) {
      // ends[v] starts as the begin of vertex v's records and has become their end when they are all there.
      ends.assign((std::size_t{1} << shift) + 1, 0);
      sorted.resize(first[b + 1] - first[b]);
      const std::size_t v0 = b << shift;
      for (std::size_t i = first[b]; i < first[b + 1]; ++i) ++ends[entries[i].vertex - v0 + 1];
      for (std::size_t v = 1; v < ends.size(); ++v) ends[v] += ends[v - 1];
      for (std::size_t i = first[b]; i < first[b + 1]; ++i) sorted[ends[entries[i].vertex - v0]++] = entries[i].record;
      for (std::size_t v = 0, begin = 0; v + 1 < ends.size(); begin = ends[v++])
        if (begin != ends[v])
          use(static_cast<Index>(v0 + v), sorted.data() + begin, sorted.data() + ends[v], first[b] + begin);
    }
  });
}

}  // namespace tutti
