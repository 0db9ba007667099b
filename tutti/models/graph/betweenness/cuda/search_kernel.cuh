// One source a block of threads, with records of all vertices in memory: for levels too wide and paths too many for
// window_kernel.cuh. Beside the portable search (one_source.hpp), which defines every bit: a vertex's sums are made by
// one thread, in the order of its arcs.
#pragma once

#include "tutti/models/graph/betweenness/cuda/device_sum.cuh"
#include "tutti/models/graph/betweenness/one_source.hpp"

namespace tutti::graph::gpu {

constexpr int search_block = 256;
constexpr int records_in_flight = 4;  ///< 3.5 times as fast as one after the other

struct alignas(16) Record {
  double mantissa;
  std::int32_t exponent;
  std::int32_t depth;
};

struct SearchArguments {
  RowsView out, in;
  bool undirected;
  Size stride;  ///< vertices
  const Vertex* sources;
  std::int32_t source_count;
  Record* records;      ///< [block][vertex]
  Vertex* queues;       ///< [block][vertex]
  Vertex* levels;       ///< [block][vertex + 2]: where each level begins in the queue
  std::int32_t* bases;  ///< [block]
  unsigned* next;       ///< source; zero at launch
  unsigned long long* reached_arcs;
  DeltaSum* sums;
};

/// 16 bytes at once and past the first-level cache, which other processors' writes do not reach.
__device__ inline Record load_record(const Record* from) {
  const int4 bits = __ldcg(reinterpret_cast<const int4*>(from));
  return {__hiloint2double(bits.y, bits.x), bits.z, bits.w};
}
__device__ inline void store_record(Record* to, const WideNumber& number, std::int32_t depth) {
  __stcg(reinterpret_cast<int4*>(to),
         make_int4(__double2loint(number.mantissa), __double2hiint(number.mantissa), number.exponent, depth));
}

/// visit(column, record) for the arcs of row v, several records on their way at a time; the sum of those of depth
/// `wanted`.
template <class Visit>
__device__ inline WideNumber sum_row(const RowsView& rows, const Record* records, Vertex v, std::int32_t wanted,
                                     const Visit& visit) {
  const Size first = rows.offsets[v], arcs = rows.offsets[v + 1] - first, pieces = pieces_of(arcs);
  WideNumber sum;
  for (Size k = 0; k < pieces; ++k) {
    WideNumber piece;
    const Size end = first + piece_begin(arcs, k + 1);
    for (Size e = first + piece_begin(arcs, k); e < end; e += records_in_flight) {
      Vertex column[records_in_flight];
      Record record[records_in_flight];
#pragma unroll
      for (int j = 0; j < records_in_flight; ++j) column[j] = e + j < end ? rows.columns[e + j] : no_lid;
#pragma unroll
      for (int j = 0; j < records_in_flight; ++j)
        if (column[j] != no_lid) record[j] = load_record(records + column[j]);
#pragma unroll
      for (int j = 0; j < records_in_flight; ++j) {
        if (column[j] == no_lid) continue;
        visit(column[j], record[j].depth);
        if (record[j].depth == wanted) piece = piece.plus({record[j].mantissa, record[j].exponent});
      }
    }
    sum = pieces == 1 ? piece : sum.plus(piece);
  }
  return sum;
}

__global__ void __launch_bounds__(search_block) search_sources(SearchArguments a) {
  __shared__ int length, source_number;
  Record* records = a.records + blockIdx.x * a.stride;
  Vertex* queue = a.queues + blockIdx.x * a.stride;
  Vertex* levels = a.levels + blockIdx.x * (a.stride + 2);
  std::int32_t base = a.bases[blockIdx.x];
  Size reached = 0;
  for (;;) {
    if (threadIdx.x == 0) source_number = static_cast<int>(atomicAdd(a.next, 1u));
    __syncthreads();
    const int mine = source_number;
    if (mine >= a.source_count) break;
    if (base > last_base) {
      for (Size v = threadIdx.x; v < a.stride; v += search_block) records[v].depth = 0;
      base = 1;
      __syncthreads();
    }
    if (threadIdx.x == 0) {
      const Vertex source = a.sources[mine];
      store_record(records + source, WideNumber::one(), base);
      queue[0] = source;
      length = 1;
      levels[0] = 0;
      levels[1] = 1;
    }
    __syncthreads();
    int begin = 0, end = 1, depth = 0;
    for (; begin < end; ++depth) {
      for (int i = begin + static_cast<int>(threadIdx.x); i < end; i += search_block) {
        const Vertex v = queue[i];
        const auto claim = [&](Vertex w, std::int32_t seen) {
          if (seen < base && atomicCAS(&records[w].depth, seen, base + depth + 1) == seen)
            queue[atomicAdd(&length, 1)] = w;
        };
        const auto nothing = [](Vertex, std::int32_t) {};
        // In an undirected graph the arcs that lead on are those that lead back.
        WideNumber paths = sum_row(a.out, records, v, a.undirected ? base + depth - 1 : -1, claim);
        if (!a.undirected && depth > 0) paths = sum_row(a.in, records, v, base + depth - 1, nothing);
        if (depth > 0) store_record(records + v, paths, base + depth);
        reached += a.out.offsets[v + 1] - a.out.offsets[v];
      }
      __syncthreads();
      begin = end;
      end = length;
      __syncthreads();
      if (threadIdx.x == 0) levels[depth + 2] = end;
    }
    __syncthreads();
    for (int d = depth - 1; d > 0; --d) {
      for (int i = levels[d] + static_cast<int>(threadIdx.x); i < levels[d + 1]; i += search_block) {
        const Vertex v = queue[i];
        const Record record = load_record(records + v);
        const WideNumber paths{record.mantissa, record.exponent};
        const WideNumber below = sum_row(a.out, records, v, base + d + 1, [](Vertex, std::int32_t) {});
        if (below.mantissa != 0) add_to(a.sums[v], paths.times(below).value());
        store_record(records + v, paths.reciprocal().plus(below), base + d);
      }
      __syncthreads();
    }
    base += depth + 1;
    __syncthreads();
  }
  if (threadIdx.x == 0) a.bases[blockIdx.x] = base;
  if (reached > 0) atomicAdd(a.reached_arcs, static_cast<unsigned long long>(reached));
}

}  // namespace tutti::graph::gpu
