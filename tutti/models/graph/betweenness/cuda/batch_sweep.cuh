// The kernel of whole batches: see batch_kernel.cuh.
#pragma once

#include "tutti/models/graph/betweenness/cuda/batch_kernel.cuh"

namespace tutti::graph::gpu {

/// All blocks of a launch are there at once (a cooperative launch); gridDim.x is a multiple of the teams.
__global__ void __launch_bounds__(block_size, blocks_at_once)
    sweep_batches(const __grid_constant__ BatchArguments arguments) {
  const BatchArguments& a = block.arguments;
  const Team& team = block.team;
  const int blocks = static_cast<int>(gridDim.x) / arguments.teams, number = static_cast<int>(blockIdx.x) / blocks;
  if (threadIdx.x == 0) {
    block.arguments = arguments;
    block.team = team_of(arguments, number, blocks);
  }
  __syncthreads();
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Size n = a.vertices, thread = static_cast<Size>(blockIdx.x) % blocks * block_size + threadIdx.x,
             threads = static_cast<Size>(blocks) * block_size;
  unsigned epoch = 0;
  int used = a.levels;  // of an earlier launch: unknown
  for (int batch = number; batch < a.batches; batch += a.teams) {
    const int first = batch * 64, count = min(64, a.source_count - first);
    // Lanes without a source have reached everything.
    Lanes none = 0;
    for (int k = count; k < 64; ++k) none |= bit_of_source(k);
    for (Size i = thread; i < n * used; i += threads) team.level[i] = 0;
    for (Size i = thread; i < n; i += threads) team.reached[i] = none;
    for (Size i = thread; i < 4 * a.levels; i += threads) team.counts[i] = 0;
    team.wait(epoch);
    if (thread < count) {
      const Vertex s = a.sources[first + thread];
      const auto mark = [&](Lanes* lanes) {
        atomicOr(reinterpret_cast<unsigned long long*>(lanes + s), bit_of_source(static_cast<int>(thread)));
      };
      mark(team.level);
      mark(team.reached);
      reinterpret_cast<double*>(team.values)[static_cast<Size>(s) * 64 + thread] = 1;
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
        push(a.out, from, to);
        team.wait(epoch);
      }
      pull_out(from, to, dense, team.counts + 4 * depth, a.failed + batch, NoReaders{});
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
      pull_back(team.level + (d + 1) * n, team.level + d * n, &team.counts[4 * d + 3], NoReaders{});
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
