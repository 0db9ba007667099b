// One kernel for whole batches of 64 sources: teams of blocks sweep out and back, level after level, with barriers of
// their own. Beside the portable loops (portable_sources.cu), which define every bit.
//
// A warp holds 64 sources, two a lane. It takes an item of work: up to 32 whole vertices, or a piece of a hub's row. It
// flattens the arcs of the item over its lanes to find those that count, then adds whole rows of 64 doubles for these.
#pragma once

#include "tutti/models/graph/betweenness/delta_sum.hpp"
#include "tutti/models/graph/betweenness/lane_batch.hpp"

namespace tutti::graph::gpu {

constexpr unsigned all_threads = 0xffffffffu;
constexpr int block_size = 256, warps_of_block = block_size / 32;
/// Rows that a warp loads at once, and blocks of a multiprocessor: loads in flight are what the rate depends on.
constexpr int rows_in_flight = 4, blocks_at_once = 4;
constexpr int waiting_sums = rows_in_flight + 2;  ///< of a warp
constexpr double most_paths = 0x1p1000;

/// Work of one warp at a time.
struct alignas(16) Item {
  Vertex first;           ///< vertex
  std::int32_t vertices;  ///< 1 to 32 whole ones; 1 of a hub
  std::int32_t piece;     ///< number among all pieces of hubs; -1: whole vertices
  std::int32_t hub;       ///< number of the hub
  Size begin, end;        ///< arcs of the piece
};
struct Hub {
  std::int32_t first_piece, pieces;
};

struct Rows {
  const Size* offsets;
  const Vertex* columns;
  const Item* items;
  const Hub* hubs;
  std::int32_t item_count;
};

struct BatchArguments {
  Rows out, in;
  Vertex vertices;
  Size arcs;
  const Vertex* sources;
  std::int32_t source_count, batches, teams, levels;
  double sparse;        ///< part of all arcs below which a frontier is pushed
  double2* values;      ///< [team][vertex][32]
  Lanes* level;         ///< [team][level][vertex]; zero before the first launch
  Lanes* reached;       ///< [team][vertex]
  double2* piece_sums;  ///< [team][piece][32]
  Lanes* piece_lanes;   ///< [team][piece]
  unsigned* arrived;    ///< [team][hub]; zero
  std::int32_t most_pieces, most_hubs;
  unsigned* barrier;  ///< [team][32]; zero at launch
  /// [team][level][4]: vertices found, arcs that begin there, items taken on the way out, and back
  unsigned long long* counts;
  unsigned* failed;  ///< [batch]; zero at launch
  unsigned long long* reached_arcs;
  DeltaSum* sums;
};

/// What a warp shares while it works on an item.
struct WarpBoard {
  struct Hit {
    Lanes lanes;
    Vertex vertex;
    std::int32_t owner;
  };
  Hit hits[32];
  double2 sums[waiting_sums][32];  ///< of vertices whose rows are done, on the way back
  int ended[waiting_sums];         ///< which vertices
  Lanes wanted[32], found[32];
  Size start[32];        ///< first arc of vertex k, less the arcs of the item before it
  std::int32_t end[32];  ///< arcs of the item up to vertex k's end
};

/// What the blocks of a team share.
struct Team {
  double2* values;
  Lanes *level, *reached;
  double2* piece_sums;
  Lanes* piece_lanes;
  unsigned *arrived, *barrier;
  unsigned long long* counts;
  int blocks, warp, warps;  ///< warp: of this thread in the team

  __device__ void wait(unsigned& epoch) const {
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      epoch += static_cast<unsigned>(blocks);
      atomicAdd(barrier, 1u);
      unsigned seen = 0;
      do asm volatile("ld.acquire.gpu.global.u32 %0,[%1];" : "=r"(seen) : "l"(barrier) : "memory");
      while (seen < epoch);
      __threadfence();
    }
    __syncthreads();
  }
};

__device__ inline unsigned bits_of(Lanes lanes, int lane) {
  return static_cast<unsigned>(lanes >> (2 * lane)) & 3u;
}
__device__ inline double2 load_row(const double2* values, Vertex v, int lane, unsigned bits) {
  double2 row = make_double2(0, 0);
  if (bits != 0) row = values[static_cast<Size>(v) * 32 + lane];
  if ((bits & 1) == 0) row.x = 0;
  if ((bits & 2) == 0) row.y = 0;
  return row;
}
__device__ inline void store_row(double2* values, Vertex v, int lane, unsigned bits, double2 row) {
  double2* to = values + static_cast<Size>(v) * 32 + lane;
  if (bits == 3)
    *to = row;
  else if (bits == 1)
    to->x = row.x;
  else if (bits == 2)
    to->y = row.y;
}

/// The sum of one digit over the warp, from sums of 32 bits, which the hardware makes. |digit| < 2^52.
__device__ inline std::int64_t warp_sum(std::int64_t digit) {
  const unsigned low = __reduce_add_sync(all_threads, static_cast<unsigned>(digit) & 0x3ffffffu);
  const int high = __reduce_add_sync(all_threads, static_cast<int>(digit >> 26));
  return (static_cast<std::int64_t>(high) << 26) + low;
}
__device__ inline void add_digit(std::int64_t& to, std::int64_t digit) {
  if (digit != 0) atomicAdd(reinterpret_cast<unsigned long long*>(&to), static_cast<unsigned long long>(digit));
}
/// x rounded to a multiple of a digit's unit, as nearest_multiple() does, takes x's place; returns the multiple: the
/// mantissa of x + shift, which is an integer.
__device__ inline std::int64_t take_digit(double& x, double unit) {
  const double shift = 0x1.8p52 * unit, sum = x + shift;
  x = x - (sum - shift);
  return __double_as_longlong(sum) - __double_as_longlong(shift);
}
/// The digits of split_delta().
__device__ inline void add_delta(DeltaSum& sum, double2 delta, int lane) {
  const auto digit = [&](double unit) { return warp_sum(take_digit(delta.x, unit) + take_digit(delta.y, unit)); };
  const std::int64_t high = digit(high_unit), middle = digit(middle_unit), low = digit(low_unit);
  const std::int64_t mine = lane == 0 ? high : lane == 1 ? middle : low;
  if (lane < 3) add_digit(*(&sum.high + lane), mine);
}

/// The end of vertex v on the way back, whose row holds `paths`: (1 + delta) / sigma takes sigma's place.
__device__ inline void finish_back(const Team& team, Vertex v, int lane, unsigned bits, double2 paths, double2 below) {
  // `below` is 0 in lanes that have no bit.
  const double2 back = {1.0 / ((bits & 1) != 0 ? paths.x : 1.0) + below.x,
                        1.0 / ((bits & 2) != 0 ? paths.y : 1.0) + below.y};
  store_row(team.values, v, lane, bits, back);
}

/// The vertices of an item whose sums wait on the board, two at a time: their rows are loaded together.
__device__ inline void finish_waiting(const Team& team, DeltaSum* sums, Vertex first, const WarpBoard& board, int count,
                                      int lane) {
#pragma unroll 1
  for (int i = 0; i < count; i += 2) {
    double2 paths[2];
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      if (i + j >= count) continue;
      const int k = board.ended[i + j];
      paths[j] = load_row(team.values, first + k, lane, bits_of(board.wanted[k], lane));
    }
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      if (i + j >= count) continue;
      const int k = board.ended[i + j];
      const double2 below = board.sums[i + j][lane];
      finish_back(team, first + k, lane, bits_of(board.wanted[k], lane), paths[j], below);
      add_delta(sums[first + k], {paths[j].x * below.x, paths[j].y * below.y}, lane);
    }
  }
}

/// The vertices of an item behind which nothing lies: a bit each, four at a time.
__device__ inline void finish_last(const Team& team, Vertex first, const WarpBoard& board, unsigned vertices,
                                   int lane) {
#pragma unroll 1
  while (vertices != 0) {
    double2 paths[4];
    unsigned next = vertices;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (next == 0) continue;
      const int k = __ffs(static_cast<int>(next)) - 1;
      next &= next - 1;
      paths[j] = load_row(team.values, first + k, lane, bits_of(board.wanted[k], lane));
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (vertices == 0) continue;
      const int k = __ffs(static_cast<int>(vertices)) - 1;
      vertices &= vertices - 1;
      finish_back(team, first + k, lane, bits_of(board.wanted[k], lane), paths[j], {0, 0});
    }
  }
}

/// Counts of one thread on the way out.
struct Found {
  int vertices = 0;
  Size arcs = 0;
  bool too_many = false;
};

__device__ inline void note_found(const Team& team, const Rows& out, Lanes* to, Vertex v, Lanes lanes, Found& found) {
  to[v] = lanes;
  team.reached[v] |= lanes;
  ++found.vertices;
  found.arcs += out.offsets[v + 1] - out.offsets[v];
}

/// The vertices of the item, one a lane: lanes wanted, and where its arcs are. How many arcs they have together.
__device__ inline int lay_out(const Rows& rows, const Item& item, Lanes wanted, WarpBoard& board, int lane) {
  Size begin = 0;
  int length = 0;
  if (wanted != 0) {
    begin = item.piece >= 0 ? item.begin : rows.offsets[item.first + lane];
    length = static_cast<int>((item.piece >= 0 ? item.end : rows.offsets[item.first + lane + 1]) - begin);
  }
  int end = length;
  for (int o = 1; o < 32; o <<= 1) {
    const int before = __shfl_up_sync(all_threads, end, o);
    if (lane >= o) end += before;
  }
  board.end[lane] = end;
  board.start[lane] = begin - (end - length);
  board.wanted[lane] = wanted;
  board.found[lane] = 0;
  __syncwarp();
  return __shfl_sync(all_threads, end, 31);
}

/// Which vertex of the item arc e belongs to.
__device__ inline int owner_of(const WarpBoard& board, int e) {
  int owner = 0;
  for (int step = 16; step > 0; step >>= 1)
    if (board.end[owner + step - 1] <= e) owner += step;
  return owner;
}

/// A warp adds rows over the arcs of an item, in the order of the arcs of each vertex; finish(k, lanes, sum) at the end
/// of each vertex k that has any; make_room() before up to rows_in_flight + 1 of them.
template <class MakeRoom, class Finish>
__device__ inline void sum_item(const Team& team, const Rows& rows, const Lanes* from, int arcs, WarpBoard& board,
                                int lane, const MakeRoom& make_room, const Finish& finish) {
  int current = -1;
  Lanes lanes = 0;
  double2 sum = make_double2(0, 0);
  for (int base = 0; base < arcs; base += 32) {
    const int e = base + lane;
    const int owner = owner_of(board, e < arcs ? e : arcs - 1);
    Lanes mine = 0;
    Vertex column = 0;
    if (e < arcs) {
      column = __ldcs(&rows.columns[board.start[owner] + e]);
      mine = from[column] & board.wanted[owner];
    }
    const unsigned hit = __ballot_sync(all_threads, mine != 0);
    if (mine != 0) board.hits[__popc(hit & ((1u << lane) - 1))] = {mine, column, owner};
    __syncwarp();
    const int hits = __popc(hit);
    for (int i = 0; i < hits; i += rows_in_flight) {
      make_room();
      double2 row[rows_in_flight];
#pragma unroll
      for (int j = 0; j < rows_in_flight; ++j) {
        row[j] = make_double2(0, 0);
        if (i + j < hits)
          row[j] = load_row(team.values, board.hits[i + j].vertex, lane, bits_of(board.hits[i + j].lanes, lane));
      }
#pragma unroll
      for (int j = 0; j < rows_in_flight; ++j) {
        if (i + j >= hits) continue;
        if (board.hits[i + j].owner != current) {
          if (current >= 0) finish(current, lanes, sum);
          current = board.hits[i + j].owner;
          lanes = 0;
          sum = make_double2(0, 0);
        }
        lanes |= board.hits[i + j].lanes;
        sum.x += row[j].x;
        sum.y += row[j].y;
      }
    }
    __syncwarp();
  }
  if (current >= 0) finish(current, lanes, sum);
}

/// Leaves the sum of a hub's piece; the warp that comes last adds all of them in their order and gets true.
__device__ inline bool join_pieces(const Team& team, const Rows& rows, const Item& item, int lane, Lanes& lanes,
                                   double2& sum) {
  team.piece_sums[static_cast<Size>(item.piece) * 32 + lane] = sum;
  if (lane == 0) team.piece_lanes[item.piece] = lanes;
  __threadfence();
  __syncwarp();
  const Hub hub = rows.hubs[item.hub];
  unsigned before = 0;
  if (lane == 0) before = atomicAdd(&team.arrived[item.hub], 1u);
  before = __shfl_sync(all_threads, before, 0);
  if (static_cast<int>(before) != hub.pieces - 1) return false;
  __threadfence();
  if (lane == 0) team.arrived[item.hub] = 0;
  lanes = 0;
  sum = make_double2(0, 0);
#pragma unroll 4
  for (int p = hub.first_piece; p < hub.first_piece + hub.pieces; ++p) {
    lanes |= __ldcg(&team.piece_lanes[p]);
    const double2 piece = __ldcg(&team.piece_sums[static_cast<Size>(p) * 32 + lane]);
    sum.x += piece.x;
    sum.y += piece.y;
  }
  return true;
}

/// The item of a warp after item i: where `taken` counts, whoever is ready takes the next one. Lane 0 knows.
__device__ inline int next_item(const Team& team, unsigned long long* taken, int i, int lane) {
  if (taken == nullptr) return i + team.warps;
  return lane == 0 ? team.warps + static_cast<int>(atomicAdd(taken, 1ull)) : 0;
}

/// One level outwards: path counts of vertices that the frontier `from` reaches. dense: all unreached ones are looked
/// at; else those that push() marked in `to`.
__device__ inline void pull_out(const BatchArguments& a, const Team& team, const Lanes* from, Lanes* to, bool dense,
                                unsigned long long* taken, WarpBoard& board, int lane, Found& found) {
  for (int i = team.warp, next = 0; i < a.in.item_count; i = __shfl_sync(all_threads, next, 0)) {
    next = next_item(team, taken, i, lane);
    const Item item = a.in.items[i];
    Lanes wanted = 0;
    if (lane < item.vertices) wanted = dense ? ~team.reached[item.first + lane] : to[item.first + lane];
    if (__ballot_sync(all_threads, wanted != 0) == 0) continue;
    const int arcs = lay_out(a.in, item, wanted, board, lane);
    Lanes piece_lanes = 0;
    double2 piece_sum = make_double2(0, 0);
    const auto finish = [&](int k, Lanes lanes, double2 sum) {
      if (item.piece >= 0) {
        piece_lanes = lanes;
        piece_sum = sum;
        return;
      }
      found.too_many |= sum.x > most_paths || sum.y > most_paths;
      store_row(team.values, item.first + k, lane, bits_of(lanes, lane), sum);
      if (lane == 0) board.found[k] = lanes;
    };
    sum_item(
        team, a.in, from, arcs, board, lane, [] {}, finish);
    if (item.piece >= 0) {
      if (join_pieces(team, a.in, item, lane, piece_lanes, piece_sum) && piece_lanes != 0) {
        found.too_many |= piece_sum.x > most_paths || piece_sum.y > most_paths;
        store_row(team.values, item.first, lane, bits_of(piece_lanes, lane), piece_sum);
        if (lane == 0) note_found(team, a.out, to, item.first, piece_lanes, found);
      }
    } else {
      __syncwarp();
      if (board.found[lane] != 0) note_found(team, a.out, to, item.first + lane, board.found[lane], found);
    }
    __syncwarp();
  }
}

/// One level back: dependencies of the vertices of `level` from those of `below`.
__device__ inline void pull_back(const BatchArguments& a, const Team& team, const Lanes* below, const Lanes* level,
                                 unsigned long long* taken, WarpBoard& board, int lane) {
  for (int i = team.warp, next = 0; i < a.out.item_count; i = __shfl_sync(all_threads, next, 0)) {
    next = next_item(team, taken, i, lane);
    const Item item = a.out.items[i];
    Lanes wanted = 0;
    if (lane < item.vertices) wanted = level[item.first + lane];
    unsigned rest = __ballot_sync(all_threads, wanted != 0);
    if (rest == 0) continue;
    const int arcs = lay_out(a.out, item, wanted, board, lane);
    Lanes piece_lanes = 0;
    double2 piece_sum = make_double2(0, 0);
    int waiting = 0;
    const auto finish_those = [&] {
      __syncwarp();
      finish_waiting(team, a.sums, item.first, board, waiting, lane);
      __syncwarp();
      waiting = 0;
    };
    const auto make_room = [&] {
      if (waiting + rows_in_flight + 1 > waiting_sums) finish_those();
    };
    const auto finish = [&](int k, Lanes lanes, double2 sum) {
      if (item.piece >= 0) {
        piece_lanes = lanes;
        piece_sum = sum;
        return;
      }
      board.sums[waiting][lane] = sum;
      if (lane == 0) board.ended[waiting] = k;
      ++waiting;
      rest &= ~(1u << k);
    };
    sum_item(team, a.out, below, arcs, board, lane, make_room, finish);
    if (item.piece >= 0) {
      if (join_pieces(team, a.out, item, lane, piece_lanes, piece_sum)) {
        rest = piece_lanes != 0 ? 0 : 1;
        waiting = 1 - static_cast<int>(rest);
        board.sums[0][lane] = piece_sum;
        if (lane == 0) board.ended[0] = 0;
      } else {
        rest = 0;
      }
    }
    if (waiting > 0) finish_those();
    finish_last(team, item.first, board, rest, lane);
    __syncwarp();
  }
}

/// Marks in `to` what a frontier of few arcs reaches.
__device__ inline void push(const BatchArguments& a, const Team& team, const Lanes* from, Lanes* to, WarpBoard& board,
                            int lane) {
  for (int i = team.warp; i < a.out.item_count; i += team.warps) {
    const Item item = a.out.items[i];
    const Lanes mine = lane < item.vertices ? from[item.first + lane] : 0;
    if (__ballot_sync(all_threads, mine != 0) == 0) continue;
    const int arcs = lay_out(a.out, item, mine, board, lane);
    for (int e = lane; e < arcs; e += 32) {
      const int owner = owner_of(board, e);
      const Vertex w = a.out.columns[board.start[owner] + e];
      const Lanes lanes = board.wanted[owner] & ~team.reached[w];
      if ((lanes & ~to[w]) != 0)
        atomicOr(reinterpret_cast<unsigned long long*>(&to[w]), static_cast<unsigned long long>(lanes));
    }
    __syncwarp();
  }
}

__device__ inline Team team_of(const BatchArguments& a, int number, int blocks) {
  const Size n = a.vertices, t = number;
  return {a.values + t * n * 32,
          a.level + t * n * a.levels,
          a.reached + t * n,
          a.piece_sums + t * a.most_pieces * 32,
          a.piece_lanes + t * a.most_pieces,
          a.arrived + t * a.most_hubs,
          a.barrier + t * 32,
          a.counts + t * a.levels * 4,
          blocks,
          static_cast<int>(blockIdx.x) % blocks * warps_of_block + static_cast<int>(threadIdx.x) / 32,
          blocks * warps_of_block};
}

/// All blocks of a launch are there at once (a cooperative launch); gridDim.x is a multiple of the teams.
__global__ void __launch_bounds__(block_size, blocks_at_once) sweep_batches(BatchArguments a) {
  __shared__ WarpBoard boards[warps_of_block];
  const int blocks = static_cast<int>(gridDim.x) / a.teams, number = static_cast<int>(blockIdx.x) / blocks;
  const Team team = team_of(a, number, blocks);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  WarpBoard& board = boards[threadIdx.x / 32];
  const Size n = a.vertices, thread = static_cast<Size>(team.warp) * 32 + lane,
             threads = static_cast<Size>(team.warps) * 32;
  unsigned epoch = 0;
  int used = a.levels;  // of an earlier launch: unknown
  for (int batch = number; batch < a.batches; batch += a.teams) {
    const int first = batch * 64, count = min(64, a.source_count - first);
    // Lanes without a source have reached everything.
    const Lanes none = count == 64 ? 0 : ~Lanes{0} << count;
    for (Size i = thread; i < n * used; i += threads) team.level[i] = 0;
    for (Size i = thread; i < n; i += threads) team.reached[i] = none;
    for (Size i = thread; i < 4 * a.levels; i += threads) team.counts[i] = 0;
    team.wait(epoch);
    if (thread == 0)
      for (int k = 0; k < count; ++k) {
        const Vertex s = a.sources[first + k];
        team.level[s] |= Lanes{1} << k;
        team.reached[s] |= Lanes{1} << k;
        reinterpret_cast<double*>(team.values)[static_cast<Size>(s) * 64 + k] = 1;
      }
    team.wait(epoch);

    int depth = 0;
    bool dense = false, failed = false;
    for (;; ++depth) {
      if (depth + 2 > a.levels) {
        failed = true;
        break;
      }
      const Lanes* from = team.level + depth * n;
      Lanes* to = team.level + (depth + 1) * n;
      if (!dense) {
        push(a, team, from, to, board, lane);
        team.wait(epoch);
      }
      Found found;
      pull_out(a, team, from, to, dense, dense ? &team.counts[4 * depth + 2] : nullptr, board, lane, found);
      const int vertices = __reduce_add_sync(all_threads, found.vertices);
      const Size arcs = warp_sum(found.arcs);
      if (lane == 0 && vertices > 0) {
        atomicAdd(&team.counts[4 * depth], static_cast<unsigned long long>(vertices));
        atomicAdd(&team.counts[4 * depth + 1], static_cast<unsigned long long>(arcs));
      }
      if (found.too_many) atomicOr(&a.failed[batch], 1u);
      team.wait(epoch);
      failed = __ldcg(&a.failed[batch]) != 0;
      if (failed || __ldcg(&team.counts[4 * depth]) == 0) break;
      dense = static_cast<double>(__ldcg(&team.counts[4 * depth + 1])) >= a.sparse * static_cast<double>(a.arcs);
    }
    used = min(depth + 2, a.levels);
    if (failed) {
      if (thread == 0) a.failed[batch] = 1;
      team.wait(epoch);
      continue;
    }
    for (int d = depth; d > 0; --d) {
      pull_back(a, team, team.level + (d + 1) * n, team.level + d * n, &team.counts[4 * d + 3], board, lane);
      team.wait(epoch);
    }
    Size reached = 0;
    for (Size v = thread; v < n; v += threads)
      reached += __popcll(team.reached[v] & ~none) * (a.out.offsets[v + 1] - a.out.offsets[v]);
    reached = warp_sum(reached);
    if (lane == 0 && reached > 0) atomicAdd(a.reached_arcs, static_cast<unsigned long long>(reached));
    team.wait(epoch);
  }
}

}  // namespace tutti::graph::gpu
