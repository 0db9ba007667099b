#include "tutti/models/graph/parts/graph_part.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

#include "tutti/models/graph/strands.hpp"
#include "tutti/partition/partition.hpp"

namespace tutti::graph {
namespace {

std::size_t at(Gid v) {
  return static_cast<std::size_t>(v);
}

std::vector<std::int32_t> deal_vertices(Vertex vertices, std::span<const double> weights) {
  // Each vertex to the part that lacks most of its share so far.
  std::vector<std::int32_t> owner(at(vertices));
  std::vector<double> given(weights.size(), 0);
  for (std::int32_t& part : owner) {
    std::size_t best = weights.size();
    for (std::size_t p = 0; p < weights.size(); ++p)
      if (weights[p] > 0 && (best == weights.size() || (given[p] + 1) / weights[p] < (given[best] + 1) / weights[best]))
        best = p;
    given[best] += 1;
    part = static_cast<std::int32_t>(best);
  }
  return owner;
}

PartRows rows_of(const Graph& graph, std::span<const std::int32_t> owner, std::int32_t part,
                 const ParallelFor& parallel) {
  PartRows rows;
  rows.part = part;
  for (Vertex v = 0; v < graph.vertices; ++v)
    if (owner[at(v)] == part) rows.owned.push_back(v);
  std::vector<char> read(at(graph.vertices), 0);
  for_strands(parallel, std::ssize(rows.owned), [&](Size i) {
    for (const Csr<Vertex>* arcs : {&graph.out, &graph.incoming()})
      for (const Vertex w : arcs->row(static_cast<Vertex>(rows.owned[at(i)])))
        if (owner[at(w)] != part) std::atomic_ref(read[at(w)]).store(1, std::memory_order_relaxed);
  });
  for (Vertex w = 0; w < graph.vertices; ++w)
    if (read[at(w)] != 0) {
      rows.ghosts.push_back(w);
      rows.ghost_owners.push_back(owner[at(w)]);
    }
  return rows;
}

Csr<Vertex> local_rows(const Csr<Vertex>& rows, const IndexMap& map, const std::vector<Lid>& local,
                       const ParallelFor& parallel) {
  Csr<Vertex> result;
  const auto global_row = [&](Size row) { return rows.row(static_cast<Vertex>(map.global[at(row)])); };
  result.offsets.resize(at(map.owned) + 1);
  for (Lid row = 0; row < map.owned; ++row)
    result.offsets[at(row) + 1] = result.offsets[at(row)] + static_cast<Size>(global_row(row).size());
  result.columns.resize(at(result.offsets.back()));
  for_strands(parallel, map.owned, [&](Size row) {
    auto to = result.columns.begin() + result.offsets[at(row)];
    for (const Vertex w : global_row(row)) *to++ = local[at(w)];
  });
  return result;
}

/// What each part tells the owners of its ghosts, by its links.
std::vector<std::uint8_t> reads_of(const GraphPart& part) {
  std::vector<std::uint8_t> reads(at(part.map.ghosts()), 0);
  for (std::size_t g = 0; g < reads.size(); ++g)
    if (!part.from_ghosts.row(static_cast<Vertex>(g)).empty()) reads[g] = 1;
  for (const Vertex w : part.out.columns)
    if (w >= part.map.owned) reads[at(w - part.map.owned)] |= 2;
  return reads;
}

void tell_readers(const Comm& comm, std::span<const int> rank_of_part, std::vector<GraphPart>& parts) {
  std::vector<std::vector<std::uint8_t>> outgoing(at(comm.size()));
  for (const GraphPart& part : parts) {
    const std::vector<std::uint8_t> reads = reads_of(part);
    for (const Link& link : part.map.links) {
      const auto first = reads.begin() + (link.ghosts.begin - part.map.owned);
      outgoing[at(link.rank)].insert(outgoing[at(link.rank)].end(), first,
                                     first + (link.ghosts.end - link.ghosts.begin));
    }
  }
  const std::vector<std::vector<std::uint8_t>> incoming = comm.all_to_all(outgoing);
  std::vector<std::size_t> next(incoming.size(), 0);
  for (GraphPart& part : parts) part.readers.resize(part.map.links.size());
  for (std::size_t from = 0; from < rank_of_part.size(); ++from)
    for (GraphPart& part : parts)
      for (std::size_t k = 0; k < part.map.links.size(); ++k) {
        const Link& link = part.map.links[k];
        if (at(link.part) != from) continue;
        const auto first = incoming[at(link.rank)].begin() + static_cast<std::ptrdiff_t>(next[at(link.rank)]);
        part.readers[k].assign(first, first + static_cast<std::ptrdiff_t>(link.send_rows.size()));
        next[at(link.rank)] += link.send_rows.size();
      }
}

}  // namespace

Csr<Vertex> rows_from_ghosts(const Csr<Vertex>& incoming, const IndexMap& map) {
  Csr<Vertex> rows;
  rows.offsets.assign(at(map.ghosts()) + 1, 0);
  for (const Vertex u : incoming.columns)
    if (u >= map.owned) ++rows.offsets[at(u - map.owned) + 1];
  for (std::size_t g = 1; g < rows.offsets.size(); ++g) rows.offsets[g] += rows.offsets[g - 1];
  rows.columns.resize(at(rows.offsets.back()));
  std::vector<Size> next(rows.offsets.begin(), rows.offsets.end() - 1);
  for (Vertex v = 0; v < map.owned; ++v)
    for (const Vertex u : incoming.row(v))
      if (u >= map.owned) rows.columns[at(next[at(u - map.owned)]++)] = v;
  return rows;
}

std::vector<std::int32_t> choose_owners(const Graph& graph, std::span<const double> weights) {
  if (weights.size() == 1) return std::vector<std::int32_t>(at(graph.vertices), 0);
  if (2 * graph.arcs() > std::numeric_limits<std::int32_t>::max()) return deal_vertices(graph.vertices, weights);
  Adjacency adjacency;
  adjacency.offsets = graph.out.offsets;
  adjacency.columns.assign(graph.out.columns.begin(), graph.out.columns.end());
  PartitionInput input;
  input.graph = &adjacency;
  input.rows = graph.vertices;
  return partition_rows(input, weights, Partitioner::metis);
}

std::vector<GraphPart> cut_graph(const Comm& comm, const Graph& graph, std::span<const std::int32_t> owner,
                                 std::span<const int> rank_of_part, const ParallelFor& parallel) {
  std::vector<PartRows> rows;
  comm.together([&] {
    for (std::size_t p = 0; p < rank_of_part.size(); ++p)
      if (rank_of_part[p] == comm.rank()) rows.push_back(rows_of(graph, owner, static_cast<std::int32_t>(p), parallel));
  });
  std::vector<IndexMap> maps = number_parts(comm, rows, rank_of_part, parallel);
  std::vector<GraphPart> parts;
  comm.together([&] {
    std::vector<Lid> local(at(graph.vertices), no_lid);
    for (IndexMap& map : maps) {
      for (std::size_t i = 0; i < map.global.size(); ++i) local[at(map.global[i])] = static_cast<Lid>(i);
      GraphPart part;
      part.out = local_rows(graph.out, map, local, parallel);
      if (graph.directed) part.in = local_rows(graph.in, map, local, parallel);
      part.from_ghosts = rows_from_ghosts(part.incoming(), map);
      part.map = std::move(map);
      parts.push_back(std::move(part));
    }
  });
  tell_readers(comm, rank_of_part, parts);
  return parts;
}

}  // namespace tutti::graph
