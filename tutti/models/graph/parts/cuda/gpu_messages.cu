// What parts tell each other, on GPUs: a warp reads 32 rows or entries, a lane each, and then moves the numbers of
// those that have some, a pair a lane and four rows at once: loads in flight are what the rate depends on.
#include <algorithm>

#include "tutti/device/cuda/check.hpp"
#include "tutti/models/graph/parts/message_kernels.hpp"

namespace tutti::graph::gpu {
namespace {

constexpr unsigned all_threads = 0xffffffffu;
constexpr int block_size = 256, rows_at_once = 4;

/// body(first of 32, lane) for all [0, count), shared out to warps.
template <class Body>
__device__ inline void for_chunks(Size count, const Body& body) {
  const Size warp = (static_cast<Size>(blockIdx.x) * block_size + threadIdx.x) / 32,
             warps = static_cast<Size>(gridDim.x) * block_size / 32;
  for (Size first = warp * 32; first < count; first += warps * 32) body(first, static_cast<int>(threadIdx.x) % 32);
}

__device__ inline bool has_first(Lanes lanes, int lane) {
  return (static_cast<unsigned>(lanes) >> lane & 1) != 0;
}
__device__ inline bool has_second(Lanes lanes, int lane) {
  return (static_cast<unsigned>(lanes >> 32) >> lane & 1) != 0;
}
__device__ inline void store_pair(LanePair* to, Lanes lanes, int lane, double2 pair) {
  const bool first = has_first(lanes, lane), second = has_second(lanes, lane);
  if (first && second)
    *reinterpret_cast<double2*>(to) = pair;
  else if (first)
    to->first = pair.x;
  else if (second)
    to->second = pair.y;
}
/// How many of a vertex's numbers come before the first, and the second of a lane.
__device__ inline int before_first(Lanes lanes, int lane) {
  return __popc(static_cast<unsigned>(lanes) & ((1u << lane) - 1));
}
__device__ inline int before_second(Lanes lanes, int lane) {
  return __popc(static_cast<unsigned>(lanes)) + __popc(static_cast<unsigned>(lanes >> 32) & ((1u << lane) - 1));
}

/// load(k), then use(k, what was loaded), for the bits k of `some`, several at once.
template <class Load, class Use>
__device__ inline void for_some(unsigned some, const Load& load, const Use& use) {
  while (some != 0) {
    decltype(load(0)) loaded[rows_at_once];
    unsigned next = some;
#pragma unroll
    for (int j = 0; j < rows_at_once; ++j) {
      if (next == 0) continue;
      loaded[j] = load(__ffs(static_cast<int>(next)) - 1);
      next &= next - 1;
    }
#pragma unroll
    for (int j = 0; j < rows_at_once; ++j) {
      if (some == 0) continue;
      use(__ffs(static_cast<int>(some)) - 1, loaded[j]);
      some &= some - 1;
    }
  }
}

__device__ inline double2 load_pair(const LanePair* from, Lanes lanes, int lane) {
  if (has_first(lanes, lane) || has_second(lanes, lane)) return *reinterpret_cast<const double2*>(from);
  return make_double2(0, 0);
}

__device__ inline void add(std::int64_t* to, unsigned value, int lane) {
  const unsigned sum = __reduce_add_sync(all_threads, value);
  if (lane == 0 && sum > 0) atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(sum));
}

__global__ void __launch_bounds__(block_size) count(SentRows sent, std::int64_t* sums) {
  unsigned entries = 0, numbers = 0;
  for_chunks(sent.count, [&](Size first, int lane) {
    const Size i = first + lane;
    const Lanes lanes = i < sent.count ? sent.lanes(static_cast<Lid>(i)) : 0;
    entries += lanes != 0 ? 1 : 0;
    numbers += static_cast<unsigned>(__popcll(lanes));
  });
  add(sums, entries, static_cast<int>(threadIdx.x) % 32);
  add(sums + 1, numbers, static_cast<int>(threadIdx.x) % 32);
}

__global__ void __launch_bounds__(block_size) list(SentRows sent, std::int64_t* sums, LevelEntry* entries) {
  for_chunks(sent.count, [&](Size chunk, int lane) {
    const Size i = chunk + lane;
    const Lanes lanes = i < sent.count ? sent.lanes(static_cast<Lid>(i)) : 0;
    const unsigned some = __ballot_sync(all_threads, lanes != 0);
    if (some == 0) return;
    const int mine = __popcll(lanes);
    int end = mine;
#pragma unroll
    for (int o = 1; o < 32; o <<= 1) {
      const int before = __shfl_up_sync(all_threads, end, o);
      if (lane >= o) end += before;
    }
    unsigned long long place = 0, first = 0;
    if (lane == 31) {
      place = atomicAdd(reinterpret_cast<unsigned long long*>(sums), static_cast<unsigned long long>(__popc(some)));
      first = atomicAdd(reinterpret_cast<unsigned long long*>(sums + 1), static_cast<unsigned long long>(end));
    }
    place = __shfl_sync(all_threads, place, 31);
    first = __shfl_sync(all_threads, first, 31);
    if (lanes != 0)
      entries[place + __popc(some & ((1u << lane) - 1))] = {lanes, static_cast<Lid>(i),
                                                            static_cast<std::uint32_t>(first + end - mine)};
  });
}

/// What a lane knows of its entry, and all of each.
struct MyEntry {
  Lanes lanes = 0;
  Lid place = 0;
  std::uint32_t first = 0;
  __device__ MyEntry(const LevelEntry* entries, Size i, Size count) {
    if (i >= count) return;
    const int4 words = *reinterpret_cast<const int4*>(entries + i);
    lanes = static_cast<Lanes>(static_cast<unsigned>(words.y)) << 32 | static_cast<unsigned>(words.x);
    place = words.z;
    first = static_cast<std::uint32_t>(words.w);
  }
  __device__ Lanes lanes_of(int k) const { return __shfl_sync(all_threads, lanes, k); }
  __device__ Lid place_of(int k) const { return __shfl_sync(all_threads, place, k); }
  __device__ std::uint32_t first_of(int k) const { return __shfl_sync(all_threads, first, k); }
};

__global__ void __launch_bounds__(block_size)
    gather(const LevelEntry* entries, Size count, const Lid* rows, const LanePair* from, double* numbers) {
  for_chunks(count, [&](Size chunk, int lane) {
    const MyEntry mine(entries, chunk + lane, count);
    const Lid row = mine.lanes != 0 ? rows[mine.place] : 0;
    for_some(
        __ballot_sync(all_threads, mine.lanes != 0),
        [&](int k) {
          const Lid r = __shfl_sync(all_threads, row, k);
          return load_pair(from + static_cast<Size>(r) * 32 + lane, mine.lanes_of(k), lane);
        },
        [&](int k, double2 pair) {
          const Lanes lanes = mine.lanes_of(k);
          double* to = numbers + mine.first_of(k);
          if (has_first(lanes, lane)) to[before_first(lanes, lane)] = pair.x;
          if (has_second(lanes, lane)) to[before_second(lanes, lane)] = pair.y;
        });
  });
}

__global__ void __launch_bounds__(block_size)
    put(const LevelEntry* entries, Size count, const double* from, Lanes* masks, LanePair* numbers) {
  for_chunks(count, [&](Size chunk, int lane) {
    const MyEntry mine(entries, chunk + lane, count);
    if (mine.lanes != 0) masks[mine.place] = mine.lanes;
    for_some(
        __ballot_sync(all_threads, mine.lanes != 0),
        [&](int k) {
          const Lanes lanes = mine.lanes_of(k);
          const double* its = from + mine.first_of(k);
          double2 pair = make_double2(0, 0);
          if (has_first(lanes, lane)) pair.x = its[before_first(lanes, lane)];
          if (has_second(lanes, lane)) pair.y = its[before_second(lanes, lane)];
          return pair;
        },
        [&](int k, double2 pair) {
          store_pair(numbers + static_cast<Size>(mine.place_of(k)) * 32 + lane, mine.lanes_of(k), lane, pair);
        });
  });
}

/// As many blocks as run at once on any GPU there is; fewer for fewer rows.
template <class... Parameters, class... Arguments>
void launch(Stream& stream, Size rows, void (*kernel)(Parameters...), Arguments... arguments) {
  if (rows == 0) return;
  constexpr Size most_blocks = 8 * 160;
  const cuda::CurrentDevice current(stream.device().index());
  kernel<<<static_cast<unsigned>(std::min(most_blocks, (rows + block_size - 1) / block_size)), block_size, 0,
           static_cast<cudaStream_t>(stream.native())>>>(arguments...);
  TUTTI_CUDA_CHECK(cudaGetLastError());
  stream.device().counts().launches += 1;
}

}  // namespace

void count_level(Stream& stream, const SentRows& sent, std::int64_t* sums) {
  launch(stream, sent.count, count, sent, sums);
}
void list_level(Stream& stream, const SentRows& sent, std::int64_t* sums, LevelEntry* entries) {
  launch(stream, sent.count, list, sent, sums, entries);
}
void gather_numbers(Stream& stream, const LevelEntry* entries, Size count, const Lid* rows, const LanePair* from,
                    double* numbers) {
  launch(stream, count, gather, entries, count, rows, from, numbers);
}
void put_entries(Stream& stream, const LevelEntry* entries, Size count, const double* from, Lanes* masks,
                 LanePair* numbers) {
  launch(stream, count, put, entries, count, from, masks, numbers);
}

}  // namespace tutti::graph::gpu
