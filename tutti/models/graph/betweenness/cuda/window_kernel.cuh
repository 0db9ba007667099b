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
constexpr unsigned all_threads_of_warp = 0xffffffffu;
constexpr Vertex long_row = -2;           ///< instead of a first column: the row is longer than those packed
constexpr Vertex no_column = 0x7fffffff;  ///< where a packed row has ended; no vertex is called so

/// Rows of up to `width` columns, as many places for each.
template <int width>
struct PackedRows {
  const Vertex* columns;
  RowsView all;

  __device__ void load(Vertex v, Vertex (&column)[width]) const {
#pragma unroll
    for (int j = 0; j < width; j += 4) {
      const int4 four = __ldg(reinterpret_cast<const int4*>(columns + static_cast<Size>(v) * width + j));
      column[j] = four.x;
      column[j + 1] = four.y;
      column[j + 2] = four.z;
      column[j + 3] = four.w;
    }
  }
};
template <int width>
__device__ inline void clear(Vertex (&column)[width]) {
#pragma unroll
  for (int j = 0; j < width; ++j) column[j] = no_column;
}

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

/// The vertices of a level in shared memory: a hash table of buckets of four, filled in order. Three quarters of the
/// places are taken at most.
struct LevelTable {
  int4* buckets;
  int count;

  __device__ int home(Vertex v) const {
    return static_cast<int>(__umulhi(static_cast<unsigned>(v) * 0x9e3779b1u, static_cast<unsigned>(count)));
  }
  /// Where v is among the keys of a bucket, or the first place that is free; 4: neither.
  __device__ static int slot(const int4& keys, Vertex v) {
    int k = 4;
    if (keys.w == v || keys.w == no_lid) k = 3;
    if (keys.z == v || keys.z == no_lid) k = 2;
    if (keys.y == v || keys.y == no_lid) k = 1;
    if (keys.x == v || keys.x == no_lid) k = 0;
    return k;
  }
  __device__ static int match(const int4& keys, Vertex v) {
    int k = -1;
    if (keys.x == v) k = 0;
    if (keys.y == v) k = 1;
    if (keys.z == v) k = 2;
    if (keys.w == v) k = 3;
    return k;
  }
  /// Its place; -1: it is not there. The keys of its home have been read.
  __device__ int find(Vertex v, int bucket, int4 keys) const {
    for (;;) {
      const int k = match(keys, v);
      if (k >= 0) return 4 * bucket + k;
      if (keys.w == no_lid) return -1;
      if (++bucket == count) bucket = 0;
      keys = buckets[bucket];
    }
  }
  __device__ int find(Vertex v) const {
    const int bucket = home(v);
    return find(v, bucket, buckets[bucket]);
  }
  /// The same of several: their homes are read at the same time.
  template <int width>
  __device__ void find(const Vertex (&v)[width], int (&place)[width]) const {
#pragma unroll
    for (int first = 0; first < width; first += 4) {
      int4 keys[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) keys[j] = buckets[home(v[first + j])];
#pragma unroll
      for (int j = 0; j < 4; ++j) place[first + j] = find(v[first + j], home(v[first + j]), keys[j]);
    }
  }
  /// Whether it was not there before; `place` is where it is. A full table keeps its vertices.
  __device__ bool insert(Vertex v, int& place) const {
    int bucket = home(v);
    for (int tried = 0; tried < count;) {
      const int k = slot(buckets[bucket], v);
      if (k < 4) {
        place = 4 * bucket + k;
        const Vertex key = atomicCAS(reinterpret_cast<Vertex*>(buckets) + place, no_lid, v);
        if (key == no_lid) return true;
        if (key == v) return false;
        continue;  // another vertex was faster
      }
      ++tried;
      if (++bucket == count) bucket = 0;
    }
    return false;
  }
  __device__ void clear() const {
    for (int b = static_cast<int>(threadIdx.x); b < count; b += static_cast<int>(blockDim.x))
      buckets[b] = make_int4(no_lid, no_lid, no_lid, no_lid);
  }
};

/// Shared memory of so many places, a multiple of four.
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

/// Sums over the rows of the vertices of one level, of what a level beside it has.
template <int lowest>
struct LevelSum {
  LevelTable table;
  const std::uint64_t* values;

  __device__ void add(int place, WideNumber& sum) const {
    if (place >= 0) sum = sum.plus(unpack<lowest>(values[place]));
  }
  template <int width>
  __device__ WideNumber operator()(const PackedRows<width>& rows, Vertex v) const {
    Vertex column[width];
    rows.load(v, column);
    if (column[0] == long_row)
      return sum_over_row<WideNumber>(rows.all, v, [&](Vertex w, WideNumber& sum) { add(table.find(w), sum); });
    int place[width];
    table.find(column, place);
    WideNumber sum;
#pragma unroll
    for (int j = 0; j < width; ++j) add(place[j], sum);
    return sum;
  }
};

template <int width, bool directed, class High>
__global__ void __launch_bounds__(most_window_block) search_windows(WindowArguments<width> a) {
  extern __shared__ __align__(16) std::uint64_t window[];
  __shared__ int source_number, length, overflow, first_of_level[3];
  const auto thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x), lane = thread % 32;
  const auto values = [&](int k) { return window + k * a.places; };
  int4* const keys = reinterpret_cast<int4*>(window + 2 * a.places);
  const auto table = [&](int k) { return LevelTable{keys + k * (a.places / 4), a.places / 4}; };
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

    // The way out: levels until there is none. `before`, `here` and `next` take turns with the three tables, and
    // `here` and `before` with the two halves of the values.
    int before = 2, here = 0, next = 1, half = 0, begin = 0, end = 1;
    Size reached_from_it = 0;
    bool fits = true;
    while (begin < end) {
      const LevelSum<0> before_sum{table(before), values(half ^ 1)};
      const LevelTable here_table = table(here), next_table = table(next);
      const auto see = [&](Vertex w) { atomicOr(seen + w / 32, 1u << w % 32); };
      const auto not_seen = [&](Vertex w) { return (__ldcg(seen + w / 32) >> w % 32 & 1) == 0; };
      for (int first = begin + thread - lane; first < end; first += threads) {
        const int i = first + lane;
        const Vertex v = i < end ? found.get(i) : no_lid;
        Vertex column[width];
        clear(column);
        if (v != no_lid) a.out.load(v, column);
        WideNumber sum;
        if (column[0] == long_row) {
          sum = sum_over_row<WideNumber>(a.out.all, v, [&](Vertex w, WideNumber& s) {
            ++reached_from_it;
            if constexpr (directed) {
              if (!not_seen(w)) return;
            } else {
              const int place = before_sum.table.find(w);
              before_sum.add(place, s);
              if (place >= 0 || here_table.find(w) >= 0) return;
            }
            int place;
            if (!next_table.insert(w, place)) return;
            const int position = atomicAdd(&length, 1);
            found.put(position, w, position == end);
            if constexpr (directed) see(w);
          });
          clear(column);
        }
        unsigned news = 0;  // bit j: column j leads to the next level
        if constexpr (directed) {
#pragma unroll
          for (int j = 0; j < width; ++j)
            if (column[j] != no_column) news |= (not_seen(column[j]) ? 1u : 0u) << j;
        } else {
          // The arcs that lead on are those that lead back.
          int place[width], beside[width];
          before_sum.table.find(column, place);
#pragma unroll
          for (int j = 0; j < width; ++j) before_sum.add(place[j], sum);
          here_table.find(column, beside);
#pragma unroll
          for (int j = 0; j < width; ++j)
            if (column[j] != no_column && place[j] < 0 && beside[j] < 0) news |= 1u << j;
        }
#pragma unroll
        for (int j = 0; j < width; ++j) {
          if (column[j] != no_column) ++reached_from_it;
          int place;
          if ((news >> j & 1) != 0 && !next_table.insert(column[j], place)) news &= ~(1u << j);
        }
        // The warp's new vertices stand one after the other.
        __syncwarp();
        unsigned with[width];
        int all = 0;
#pragma unroll
        for (int j = 0; j < width; ++j) {
          with[j] = __ballot_sync(all_threads_of_warp, (news >> j & 1) != 0);
          all += __popc(with[j]);
        }
        int position = 0;
        if (lane == 0 && all > 0) position = atomicAdd(&length, all);
        position = __shfl_sync(all_threads_of_warp, position, 0);
#pragma unroll
        for (int j = 0; j < width; ++j) {
          if ((news >> j & 1) != 0) {
            const int to = position + __popc(with[j] & ((1u << lane) - 1));
            found.put(to, column[j], to == end);
            if constexpr (directed) see(column[j]);
          }
          position += __popc(with[j]);
        }
        if (v == no_lid || begin == 0) continue;
        if constexpr (directed) sum = before_sum(a.in, v);
        if (sum.exponent > most_exponent) overflow = 1;
        values(half)[here_table.find(v)] = paths[i] = pack<0>(sum);
      }
      __syncthreads();
      begin = end;
      end = length;
      fits = end - begin <= a.places / 4 * 3 && overflow == 0;
      if (!fits) break;
      table(before).clear();
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

    // The way back, as far as level 1: values are (1 + delta) / sigma.
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
        const std::uint64_t packed = paths[position];
        const WideNumber sum = LevelSum<lowest_back>{table(below), values(half ^ 1)}(a.out, now);
        const WideNumber sigma = unpack<0>(packed);
        if (sum.mantissa != 0) add_to(a.sums[now], sigma.times(sum).value());
        int place;
        table(level).insert(now, place);
        values(half)[place] = pack<lowest_back>(sigma.reciprocal().plus(sum));
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
