// One source a block of threads, for graphs of many narrow levels. Beside the portable search (one_source.hpp), which
// defines every bit: a vertex's sums are made by one thread, in the order of its arcs.
//
// A search asks of every arc in which level its other end is, and often for that vertex's paths. All that can be asked
// for is in three levels, which are in shared memory. Memory gets what the way back needs, in the order in which
// vertices were found: neighbouring threads read and write neighbouring bytes, and rows of the graph and sums of the
// result are all that is read and written at places all over.
#pragma once

#include "tutti/models/graph/betweenness/cuda/device_sum.cuh"
#include "tutti/models/graph/betweenness/one_source.hpp"

namespace tutti::graph::gpu {

constexpr int most_window_block = 1024;
constexpr Vertex long_row = -2;  ///< instead of a first column: the row is longer than those packed

/// Rows of up to `width` columns, as many places for each, the rest no_lid.
template <int width>
struct PackedRows {
  const Vertex* columns;
  RowsView all;
};

/// A WideNumber in 8 bytes. `lowest`: the least exponent, 4095 is added at most.
template <int lowest>
__device__ inline std::uint64_t pack(const WideNumber& number) {
  const auto bits = static_cast<std::uint64_t>(__double_as_longlong(number.mantissa));
  return (bits & 0xfffffffffffffu) | static_cast<std::uint64_t>(number.exponent - lowest) << 52;
}
template <int lowest>
__device__ inline WideNumber unpack(std::uint64_t packed) {
  const std::uint64_t bits = (packed & 0xfffffffffffffu) | std::uint64_t{1023} << 52;
  return {__longlong_as_double(static_cast<long long>(bits)), static_cast<int>(packed >> 52) + lowest};
}

/// Exponents of numbers of paths: 0 to this. Of (1 + delta) / sigma, delta < 2^31: -most_exponent - 1 to 31.
constexpr int most_exponent = 4050;
constexpr int lowest_back = -most_exponent - 1;

/// The vertices of a level in shared memory. Three quarters of the places are taken at most.
struct LevelTable {
  Vertex* keys;
  std::int32_t places;

  __device__ int home(Vertex v) const {
    return static_cast<int>(__umulhi(static_cast<unsigned>(v) * 0x9e3779b1u, static_cast<unsigned>(places)));
  }
  /// Its place; -1: it is not there.
  __device__ int find(Vertex v) const {
    for (int place = home(v);;) {
      const Vertex key = keys[place];
      if (key == v) return place;
      if (key == no_lid) return -1;
      if (++place == places) place = 0;
    }
  }
  /// Whether it was not there before; `place` is where it is. A full table keeps its vertices.
  __device__ bool insert(Vertex v, int& place) const {
    place = home(v);
    for (int tried = 0; tried < places; ++tried) {
      const Vertex key = atomicCAS(keys + place, no_lid, v);
      if (key == no_lid) return true;
      if (key == v) return false;
      if (++place == places) place = 0;
    }
    return false;
  }
  __device__ void clear() const {
    for (int place = static_cast<int>(threadIdx.x); place < places; place += static_cast<int>(blockDim.x))
      keys[place] = no_lid;
  }
};

/// Shared memory of so many places.
constexpr Size bytes_of_windows(Size places) {
  return places * (2 * Size{sizeof(std::uint64_t)} + 3 * Size{sizeof(Vertex)});
}

/// Vertices in the order in which they were found. `High` has the upper bits of a name and, above them, whether a level
/// begins with it: three bytes a vertex where there are fewer than 2^23, else four.
template <class High>
struct FoundVertices {
  std::uint16_t* low;
  High* high;

  static constexpr unsigned begins = 1u << (8 * sizeof(High) - 1);
  __device__ void put(int i, Vertex v, bool begins_level) const {
    low[i] = static_cast<std::uint16_t>(v);
    high[i] = static_cast<High>(static_cast<unsigned>(v) >> 16 | (begins_level ? begins : 0u));
  }
  __device__ Vertex get(int i, bool& begins_level) const {
    const unsigned upper = high[i];
    begins_level = (upper & begins) != 0;
    return static_cast<Vertex>((upper & ~begins) << 16 | low[i]);
  }
  __device__ Vertex get(int i) const {
    bool ignored;
    return get(i, ignored);
  }
};

template <int width>
struct WindowArguments {
  PackedRows<width> out, in;  ///< in: of a directed graph
  Size vertices;
  const Vertex* sources;
  std::int32_t source_count;
  std::int32_t places;       ///< of each of the three tables
  std::uint64_t* paths;      ///< [block][vertex found]
  std::uint16_t* found_low;  ///< [block][vertex found]
  void* found_high;          ///< [block][vertex found]
  unsigned* seen;            ///< [block][vertex / 32]: one bit a vertex, of a directed graph
  unsigned* next;            ///< source; zero at launch
  unsigned* left_count;      ///< zero at launch
  Vertex* left;              ///< sources with too wide levels or too many paths, which add nothing
  unsigned long long* reached_arcs;
  DeltaSum* sums;
};

/// The sum over row v, piece by piece: add(column, sum) adds what a column gives.
template <int width, class Add>
__device__ inline WideNumber sum_over_row(const PackedRows<width>& rows, Vertex v, const Add& add) {
  Vertex column[width];
#pragma unroll
  for (int j = 0; j < width; j += 4) {
    const int4 four = __ldg(reinterpret_cast<const int4*>(rows.columns + static_cast<Size>(v) * width + j));
    column[j] = four.x;
    column[j + 1] = four.y;
    column[j + 2] = four.z;
    column[j + 3] = four.w;
  }
  if (column[0] == long_row) return graph::sum_over_row<WideNumber>(rows.all, v, add);
  WideNumber sum;
#pragma unroll
  for (int j = 0; j < width; ++j)
    if (column[j] != no_lid) add(column[j], sum);
  return sum;
}

template <int width, bool directed, class High>
__global__ void __launch_bounds__(most_window_block) search_windows(WindowArguments<width> a) {
  extern __shared__ std::uint64_t window[];
  __shared__ int source_number, length, overflow, first_of_level[3];
  const auto thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const auto values = [&](int k) { return window + k * a.places; };
  Vertex* const keys = reinterpret_cast<Vertex*>(window + 2 * a.places);
  const auto table = [&](int k) { return LevelTable{keys + k * a.places, a.places}; };
  std::uint64_t* const paths = a.paths + blockIdx.x * a.vertices;
  const FoundVertices<High> found{a.found_low + blockIdx.x * a.vertices,
                                  static_cast<High*>(a.found_high) + blockIdx.x * a.vertices};
  const Size words = (a.vertices + 31) / 32;
  unsigned* const seen = directed ? a.seen + blockIdx.x * words : nullptr;
  Size reached = 0;

  for (;;) {
    if (thread == 0) source_number = static_cast<int>(atomicAdd(a.next, 1u));
    for (int k = 0; k < 3; ++k) table(k).clear();
    if constexpr (directed)
      for (Size w = thread; w < words; w += threads) seen[w] = 0;
    __syncthreads();
    const int mine = source_number;
    if (mine >= a.source_count) break;
    if (thread == 0) {
      const Vertex source = a.sources[mine];
      int place;
      table(0).insert(source, place);
      values(0)[place] = paths[0] = pack<0>(WideNumber::one());
      found.put(0, source, true);
      if constexpr (directed) seen[source / 32] = 1u << source % 32;
      length = 1;
      overflow = 0;
    }
    __syncthreads();

    int before = 2, here = 0, next = 1, half = 0, begin = 0, end = 1;
    Size reached_from_it = 0;
    bool fits = true;
    while (begin < end) {
      const LevelTable before_table = table(before), here_table = table(here), next_table = table(next);
      const std::uint64_t* const before_values = values(half ^ 1);
      std::uint64_t* const here_values = values(half);
      const auto lead_to = [&](Vertex w) {
        int place;
        if (!next_table.insert(w, place)) return;
        // One addition for all threads of the warp that are here.
        const unsigned together = __activemask();
        const int lane = thread % 32, leader = __ffs(together) - 1;
        int position = 0;
        if (lane == leader) position = atomicAdd(&length, __popc(together));
        position = __shfl_sync(together, position, leader) + __popc(together & ((1u << lane) - 1));
        found.put(position, w, position == end);
        if constexpr (directed) atomicOr(seen + w / 32, 1u << w % 32);
      };
      for (int i = begin + thread; i < end; i += threads) {
        const Vertex v = found.get(i);
        int arcs = 0;
        WideNumber sum = sum_over_row(a.out, v, [&](Vertex w, WideNumber& s) {
          ++arcs;
          if constexpr (directed) {
            if ((__ldcg(seen + w / 32) >> w % 32 & 1) == 0) lead_to(w);
          } else {
            // The arcs that lead on are those that lead back.
            const int place = before_table.find(w);
            if (place >= 0)
              s = s.plus(unpack<0>(before_values[place]));
            else if (here_table.find(w) < 0)
              lead_to(w);
          }
        });
        reached_from_it += arcs;
        if (begin == 0) continue;
        if constexpr (directed)
          sum = sum_over_row(a.in, v, [&](Vertex u, WideNumber& s) {
            const int place = before_table.find(u);
            if (place >= 0) s = s.plus(unpack<0>(before_values[place]));
          });
        if (sum.exponent > most_exponent) overflow = 1;
        here_values[here_table.find(v)] = paths[i] = pack<0>(sum);
      }
      __syncthreads();
      begin = end;
      end = length;
      fits = end - begin <= a.places / 4 * 3 && overflow == 0;
      if (!fits) break;
      before_table.clear();
      const int cleared = before;
      before = here;
      here = next;
      next = cleared;
      half ^= 1;
      __syncthreads();
    }
    if (!fits) {
      if (thread == 0) a.left[atomicAdd(a.left_count, 1u)] = a.sources[mine];
      __syncthreads();
      continue;
    }
    reached += reached_from_it;

    for (int k = 0; k < 3; ++k) table(k).clear();
    if (thread == 0) first_of_level[0] = first_of_level[1] = first_of_level[2] = threads;
    __syncthreads();
    int below = 0, level = 1, spare = 2, turn = 0;
    bool begins = false;
    Vertex v = no_lid;
    int i = end - 1 - thread;
    if (i > 0) v = found.get(i, begins);
    while (end > 1) {
      // A level's end is known; where does it begin, if not before all that this turn looks at?
      if (i > 0 && begins) atomicMin(first_of_level + turn, thread);
      __syncthreads();
      const int last = first_of_level[turn];
      // Three of them: the one after the next turn's is read by nobody any more.
      if (thread == 0) first_of_level[(turn + 2) % 3] = threads;
      turn = (turn + 1) % 3;
      const bool active = i > 0 && thread <= last;
      const Vertex now = v;
      const int position = i;
      end -= min(last + 1, threads);
      i = end - 1 - thread;
      if (i > 0) v = found.get(i, begins);  // of the next turn
      if (active) {
        const LevelTable below_table = table(below);
        const std::uint64_t* const below_values = values(half ^ 1);
        const std::uint64_t packed = paths[position];
        const WideNumber sum = sum_over_row(a.out, now, [&](Vertex w, WideNumber& s) {
          const int place = below_table.find(w);
          if (place >= 0) s = s.plus(unpack<lowest_back>(below_values[place]));
        });
        const WideNumber mine = unpack<0>(packed);
        if (sum.mantissa != 0) add_to(a.sums[now], mine.times(sum).value());
        int place;
        table(level).insert(now, place);
        values(half)[place] = pack<lowest_back>(mine.reciprocal().plus(sum));
      }
      if (last == threads) continue;
      __syncthreads();
      table(below).clear();
      const int cleared = below;
      below = level;
      level = spare;
      spare = cleared;
      half ^= 1;
    }
    __syncthreads();
  }
  if (reached > 0) atomicAdd(a.reached_arcs, static_cast<unsigned long long>(reached));
}

}  // namespace tutti::graph::gpu
