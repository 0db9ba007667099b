// The levels of whole batches of 64 sources. In copies of the graph one kernel does them all (batch_sweep.cuh): teams
// of blocks sweep out and back, level after level, with barriers of their own. In parts a kernel does one (parts/cuda).
// Beside the portable loops (portable_sources.cu, level_kernels.cu), which define every bit.
//
// A warp holds 64 sources, two a lane. It takes an item of work: up to 32 whole vertices, or a piece of a hub's row. It
// flattens the arcs of the item over its lanes to find those that count, then adds whole rows of 64 doubles for these,
// which are copied to shared memory ahead.
#pragma once

#include "tutti/models/graph/betweenness/cuda/batch_state.cuh"

namespace tutti::graph::gpu {

/// Each lane of a warp has two of a batch's sources, which are neighbours in the list; their bits are 32 apart.
__device__ inline Lanes bit_of_source(int k) {
  return Lanes{1} << (k / 2 + k % 2 * 32);
}
/// Which of a lane's two sources are among `lanes`.
struct Mine {
  bool x, y;
  __device__ Mine(Lanes lanes, int lane)
      : x((static_cast<unsigned>(lanes) & 1u << lane) != 0),
        y((static_cast<unsigned>(lanes >> 32) & 1u << lane) != 0) {}
};
// Pointers from shared memory may lead anywhere, as far as the compiler knows: __ldca and __stwb say that it is global.

/// What is not among `lanes` may be anything.
__device__ inline double2 load_row(const double2* values, Vertex v, int lane, Lanes lanes) {
  double2 row = make_double2(0, 0);
  const Mine mine(lanes, lane);
  if (mine.x || mine.y) row = __ldca(values + static_cast<Size>(v) * 32 + lane);
  return row;
}
__device__ inline void store_row(double2* values, Vertex v, int lane, Lanes lanes, double2 row) {
  double2* to = values + static_cast<Size>(v) * 32 + lane;
  const Mine mine(lanes, lane);
  if (mine.x && mine.y)
    __stwb(to, row);
  else if (mine.x)
    __stwb(&to->x, row.x);
  else if (mine.y)
    __stwb(&to->y, row.y);
}

/// Begins to copy a lane's part of a row to the board. Copies come in groups, one after the other.
__device__ inline void begin_copy(double2* board, const double2* row) {
  asm volatile(
      "cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(board))),
      "l"(row)
      : "memory");
}
__device__ inline void end_group_of_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
/// Until all groups but the last one are there.
__device__ inline void wait_for_copies() {
  asm volatile("cp.async.wait_group 1;" ::: "memory");
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

/// 1 / paths of what is among `lanes`; of anything else the division might take its slow way, for zero or infinity.
__device__ inline double2 reciprocal(Lanes lanes, int lane, double2 paths) {
  const Mine mine(lanes, lane);
  double x = mine.x ? paths.x : 1.0, y = mine.y ? paths.y : 1.0;
  asm("" : "+d"(x), "+d"(y));  // else the compiler divides before it chooses
  return {1.0 / x, 1.0 / y};
}

/// Who else is told of the vertices of an item: nobody, where the device has a copy of the graph. In parts it is other
/// devices (gpu_level_kernels.cu).
struct NoReaders {
  __device__ void ask(Vertex) {}
  __device__ void tell_row(const Item&, int, int, Lanes, double2) const {}
  __device__ void tell_lanes(Vertex, Lanes) const {}
};

/// The end of vertex k of the item on the way back, whose row holds `paths`: (1 + delta) / sigma takes sigma's place.
template <class Readers>
__device__ inline void finish_back(double2* values, DeltaSum* sums, const Item& item, int k, int lane, Lanes lanes,
                                   double2 paths, double2 below, const Readers& readers) {
  const Vertex v = item.first + k;
  const Mine mine(lanes, lane);
  const double2 one = reciprocal(lanes, lane, paths), row = {one.x + below.x, one.y + below.y};
  store_row(values, v, lane, lanes, row);
  readers.tell_row(item, k, lane, lanes, row);
  add_delta(sums[v], {mine.x ? paths.x * below.x : 0, mine.y ? paths.y * below.y : 0}, lane);
}

/// The vertices of an item behind which nothing lies: a bit each, four at a time.
template <class Readers>
__device__ inline void finish_last(double2* values, const WarpBoard& board, unsigned vertices, int lane,
                                   const Readers& readers) {
  const Vertex first = board.item.first;
#pragma unroll 1
  while (vertices != 0) {
    double2 paths[4];
    unsigned next = vertices;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (next == 0) continue;
      const int k = __ffs(static_cast<int>(next)) - 1;
      next &= next - 1;
      paths[j] = load_row(values, first + k, lane, board.wanted[k]);
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (vertices == 0) continue;
      const int k = __ffs(static_cast<int>(vertices)) - 1;
      vertices &= vertices - 1;
      const double2 row = reciprocal(board.wanted[k], lane, paths[j]);
      store_row(values, first + k, lane, board.wanted[k], row);
      readers.tell_row(board.item, k, lane, board.wanted[k], row);
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

/// The vertices of the board's item, one a lane: lanes wanted, and where its arcs are. wanted(v, k): of vertex k, whose
/// number is v. Returns which vertices want any, a bit each; `arcs`: how many arcs those have together.
template <class Wanted>
__device__ inline unsigned lay_out(const Rows& rows, const Wanted& wanted, WarpBoard& board, int lane, int& arcs) {
  const Item& item = board.item;
  Lanes lanes = 0;
  Size begin = 0;
  int length = 0;
  if (lane < item.vertices) {
    // Where its arcs are is read whether or not it wants any: both are on their way at once.
    const Vertex v = item.first + lane;
    lanes = wanted(v, lane);
    begin = __ldg(rows.offsets + v);
    length = static_cast<int>(__ldg(rows.offsets + v + 1) - begin);
    if (item.piece >= 0) {
      begin = item.begin;
      length = item.arcs;
    }
  }
  const unsigned some = __ballot_sync(all_threads, lanes != 0);
  if (some == 0) return 0;
  if (lanes == 0) length = 0;
  int end = length;
#pragma unroll
  for (int o = 1; o < 32; o <<= 1) {
    const int before = __shfl_up_sync(all_threads, end, o);
    if (lane >= o) end += before;
  }
  board.end[lane] = end;
  board.start[lane] = begin - (end - length);
  board.wanted[lane] = lanes;
  board.found[lane] = 0;
  __syncwarp();
  arcs = __shfl_sync(all_threads, end, 31);
  return some;
}

/// Which vertex of the item arc e belongs to.
__device__ inline int owner_of(const WarpBoard& board, int e) {
  int owner = 0;
  for (int step = 16; step > 0; step >>= 1)
    if (board.end[owner + step - 1] <= e) owner += step;
  return owner;
}

/// Notes on the board which of the arcs [base, base + 32 arcs_of_lane) of its item count; how many.
__device__ inline int note_hits(const Rows& rows, const Lanes* from, int base, int arcs, WarpBoard& board, int lane) {
  Vertex column[arcs_of_lane];
  int owner[arcs_of_lane];
  Lanes mine[arcs_of_lane];
#pragma unroll
  for (int c = 0; c < arcs_of_lane; ++c) {
    const int e = base + 32 * c + lane;
    owner[c] = owner_of(board, e < arcs ? e : arcs - 1);
    column[c] = 0;
    if (e < arcs) column[c] = __ldcs(&rows.columns[board.start[owner[c]] + e]);
  }
#pragma unroll
  for (int c = 0; c < arcs_of_lane; ++c) {
    mine[c] = 0;
    if (base + 32 * c + lane < arcs) mine[c] = __ldca(from + column[c]) & board.wanted[owner[c]];
  }
  int hits = 0;
#pragma unroll
  for (int c = 0; c < arcs_of_lane; ++c) {
    const unsigned hit = __ballot_sync(all_threads, mine[c] != 0);
    if (mine[c] != 0) board.hits[hits + __popc(hit & ((1u << lane) - 1))] = {mine[c], column[c], owner[c]};
    hits += __popc(hit);
  }
  __syncwarp();
  // The last rows_at_once are filled up with what adds nothing.
  if (hits > 0 && lane < rows_at_once - 1) board.hits[hits + lane] = {0, 0, board.hits[hits - 1].owner};
  __syncwarp();
  return hits;
}

/// A warp adds rows over the arcs of an item, in the order of the arcs of each vertex; finish(k, lanes, sum) at the end
/// of each vertex k that has any.
template <class Finish>
__device__ inline void sum_item(const double2* values, const Rows& rows, const Lanes* from, int arcs, WarpBoard& board,
                                int lane, const Finish& finish) {
  int current = -1;
  Lanes lanes = 0;
  double2 sum = make_double2(0, 0);
  const auto copy = [&](int i, int half) {
#pragma unroll
    for (int j = 0; j < rows_at_once; ++j) {
      const WarpBoard::Hit hit = board.hits[i + j];
      const Mine mine(hit.lanes, lane);
      if (mine.x || mine.y) begin_copy(&board.rows[half][j][lane], values + static_cast<Size>(hit.vertex) * 32 + lane);
    }
  };
#pragma unroll 1
  for (int base = 0; base < arcs; base += 32 * arcs_of_lane) {
    const int hits = note_hits(rows, from, base, arcs, board, lane);
    int half = 0;
    if (hits > 0) copy(0, 0);
    end_group_of_copies();
#pragma unroll 1
    for (int i = 0; i < hits; i += rows_at_once, half ^= 1) {
      if (i + rows_at_once < hits) copy(i + rows_at_once, half ^ 1);
      end_group_of_copies();
      wait_for_copies();
#pragma unroll
      for (int j = 0; j < rows_at_once; ++j) {
        const WarpBoard::Hit hit = board.hits[i + j];
        if (hit.owner != current) {
          if (current >= 0) finish(current, lanes, sum);
          current = hit.owner;
          lanes = 0;
          sum = make_double2(0, 0);
        }
        lanes |= hit.lanes;
        const Mine mine(hit.lanes, lane);
        const double2 row = board.rows[half][j][lane];
        if (mine.x) sum.x += row.x;
        if (mine.y) sum.y += row.y;
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

/// body() for each item of the warp, which is on the board then. Where `taken` counts, whoever is ready takes the next
/// one; which one that is, and what is in it, is asked for an item ahead. Lane 0 knows which, and each lane a word.
template <class Body>
__device__ inline void for_items(const Team& team, const Rows& rows, unsigned long long* taken, WarpBoard& board,
                                 int lane, const Body& body) {
  constexpr int words = sizeof(Item) / sizeof(int);
  const int warps = team.warps, count = rows.item_count;
  const auto load = [&](int i) {
    return i < count && lane < words ? __ldg(reinterpret_cast<const int*>(rows.items + i) + lane) : 0;
  };
  const auto take = [&](int i) {
    if (taken == nullptr) return i + warps;
    return lane == 0 ? warps + static_cast<int>(atomicAdd(taken, 1ull)) : 0;
  };
  int i = static_cast<int>(blockIdx.x) % team.blocks * warps_of_block + static_cast<int>(threadIdx.x) / 32;
  int word = load(i), next = take(i);
  while (i < count) {
    if (lane < words) reinterpret_cast<int*>(&board.item)[lane] = word;
    i = __shfl_sync(all_threads, next, 0);
    word = load(i);
    next = take(i);
    __syncwarp();
    body();
    __syncwarp();
  }
}

/// One level outwards: path counts of vertices that the frontier `from` reaches. dense: all unreached ones are looked
/// at; else those that push() marked in `to`.
template <class Readers>
__device__ inline void pull_out(const Lanes* from, Lanes* to, bool dense, unsigned long long* counts, unsigned* failed,
                                Readers readers) {
  const BatchArguments& a = block.arguments;
  const Team& team = block.team;
  WarpBoard& board = block.boards[threadIdx.x / 32];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  Found found;
  unsigned long long* taken = dense ? counts + 2 : nullptr;
  for_items(team, a.in, taken, board, lane, [&] {
    int arcs = 0;
    const auto wanted = [&](Vertex v, int) {
      readers.ask(v);
      return dense ? ~__ldca(team.reached + v) : __ldca(to + v);
    };
    if (lay_out(a.in, wanted, board, lane, arcs) == 0) return;
    const Item& item = board.item;
    Lanes piece_lanes = 0;
    double2 piece_sum = make_double2(0, 0);
    const auto finish = [&](int k, Lanes lanes, double2 sum) {
      if (item.piece >= 0) {
        piece_lanes = lanes;
        piece_sum = sum;
        return;
      }
      found.too_many |= sum.x > most_paths || sum.y > most_paths;
      // Where nothing follows, the value of the way back is known.
      if ((item.last >> k & 1) != 0) sum = reciprocal(lanes, lane, sum);
      store_row(team.values, item.first + k, lane, lanes, sum);
      readers.tell_row(item, k, lane, lanes, sum);
      if (lane == 0) board.found[k] = lanes;
    };
    sum_item(team.values, a.in, from, arcs, board, lane, finish);
    if (item.piece >= 0) {
      if (join_pieces(team, a.in, item, lane, piece_lanes, piece_sum) && piece_lanes != 0) {
        found.too_many |= piece_sum.x > most_paths || piece_sum.y > most_paths;
        if (item.last != 0) piece_sum = reciprocal(piece_lanes, lane, piece_sum);
        store_row(team.values, item.first, lane, piece_lanes, piece_sum);
        readers.tell_row(item, 0, lane, piece_lanes, piece_sum);
        if (lane == 0) {
          note_found(team, a.out, to, item.first, piece_lanes, found);
          readers.tell_lanes(item.first, piece_lanes);
        }
      }
    } else {
      __syncwarp();
      if (board.found[lane] != 0) {
        note_found(team, a.out, to, item.first + lane, board.found[lane], found);
        readers.tell_lanes(item.first + lane, board.found[lane]);
      }
    }
  });
  const int vertices = __reduce_add_sync(all_threads, found.vertices);
  const Size arcs = warp_sum(found.arcs);
  if (lane == 0 && vertices > 0) {
    atomicAdd(counts, static_cast<unsigned long long>(vertices));
    atomicAdd(counts + 1, static_cast<unsigned long long>(arcs));
  }
  if (found.too_many) atomicOr(failed, 1u);
}

/// One level back: dependencies of the vertices of `level` from those of `below`.
template <class Readers>
__device__ inline void pull_back(const Lanes* below, const Lanes* level, unsigned long long* taken, Readers readers) {
  const BatchArguments& a = block.arguments;
  const Team& team = block.team;
  WarpBoard& board = block.boards[threadIdx.x / 32];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for_items(team, a.out, taken, board, lane, [&] {
    const Item& item = board.item;
    int arcs = 0;
    // pull_out() has finished vertices without arcs out.
    const auto wanted = [&](Vertex v, int k) {
      readers.ask(v);
      return (item.last >> k & 1) != 0 ? 0 : __ldca(level + v);
    };
    unsigned rest = lay_out(a.out, wanted, board, lane, arcs);
    if (rest == 0) return;
    double2* values = team.values;
    // A vertex whose sum is known is finished when the next one's is: by then its paths have come.
    int ended = -1;
    double2 ended_sum = make_double2(0, 0), ended_paths = make_double2(0, 0);
    const auto finish_ended = [&] {
      if (ended >= 0)
        finish_back(values, a.sums, item, ended, lane, board.wanted[ended], ended_paths, ended_sum, readers);
    };
    const auto finish = [&](int k, Lanes, double2 sum) {
      if (item.piece < 0) {
        finish_ended();
        ended_paths = load_row(values, item.first + k, lane, board.wanted[k]);
        rest &= ~(1u << k);
      }
      ended = k;
      ended_sum = sum;
    };
    sum_item(values, a.out, below, arcs, board, lane, finish);
    if (item.piece >= 0) {
      Lanes lanes = ended >= 0 ? 1 : 0;  // some, or none
      ended = -1;
      if (join_pieces(team, a.out, item, lane, lanes, ended_sum)) {
        if (lanes != 0) {
          ended = 0;
          rest = 0;
          ended_paths = load_row(values, item.first, lane, board.wanted[0]);
        }
      } else {
        rest = 0;
      }
    }
    finish_ended();
    finish_last(values, board, rest, lane, readers);
  });
}

/// Marks in `to` what a frontier of few arcs reaches by `rows`.
__device__ inline void push(const Rows& rows, const Lanes* from, Lanes* to) {
  const Team& team = block.team;
  WarpBoard& board = block.boards[threadIdx.x / 32];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for_items(team, rows, nullptr, board, lane, [&] {
    int arcs = 0;
    if (lay_out(
            rows, [&](Vertex v, int) { return __ldca(from + v); }, board, lane, arcs) == 0)
      return;
    for (int e = lane; e < arcs; e += 32) {
      const int owner = owner_of(board, e);
      const Vertex w = __ldg(rows.columns + board.start[owner] + e);
      const Lanes lanes = board.wanted[owner] & ~__ldca(team.reached + w);
      if ((lanes & ~__ldca(to + w)) != 0)
        atomicOr(reinterpret_cast<unsigned long long*>(&to[w]), static_cast<unsigned long long>(lanes));
    }
  });
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
          blocks * warps_of_block};
}

}  // namespace tutti::graph::gpu
