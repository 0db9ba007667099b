// What the kernel for batches (batch_kernel.cuh) works on: the items of work, the arguments of a launch, and what
// warps, blocks and teams of blocks share.
#pragma once

#include "tutti/models/graph/betweenness/delta_sum.hpp"
#include "tutti/models/graph/betweenness/lane_batch.hpp"

namespace tutti::graph::gpu {

constexpr unsigned all_threads = 0xffffffffu;
constexpr int block_size = 256, warps_of_block = block_size / 32;
/// Rows that a warp adds while as many others are on their way, arcs that each of its lanes looks at before that, and
/// blocks of a multiprocessor: loads in flight are what the rate depends on.
constexpr int rows_at_once = 3, arcs_of_lane = 4, blocks_at_once = 4;
constexpr double most_paths = 0x1p1000;
constexpr double sparse_part = 0.03;  ///< of all arcs that a frontier has at most to be pushed

/// Work of one warp at a time.
struct alignas(16) Item {
  Vertex first;           ///< vertex
  std::int32_t vertices;  ///< 1 to 32 whole ones; 1 of a hub
  std::int32_t piece;     ///< number among all pieces of hubs; -1: whole vertices
  std::int32_t hub;       ///< number of the hub
  Size begin;             ///< first arc
  std::int32_t arcs;
  std::uint32_t last;  ///< bit k: vertex k has no arcs out
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
  Item item;
  Hit hits[32 * arcs_of_lane + rows_at_once - 1];
  Lanes wanted[32], found[32];
  Size start[32];                     ///< first arc of vertex k, less the arcs of the item before it
  std::int32_t end[32];               ///< arcs of the item up to vertex k's end
  double2 rows[2][rows_at_once][32];  ///< those that are added, and those on their way
};

/// What the blocks of a team share.
struct Team {
  double2* values;
  Lanes *level, *reached;
  double2* piece_sums;
  Lanes* piece_lanes;
  unsigned *arrived, *barrier;
  unsigned long long* counts;
  int blocks, warps;

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

/// What a block knows; in registers there is no room for it.
struct Block {
  BatchArguments arguments;
  Team team;
  WarpBoard boards[warps_of_block];
};
static __shared__ Block block;

}  // namespace tutti::graph::gpu
