#include "tutti/models/graph/parts/shared_graph.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "tutti/models/graph/parts/distributed_sweep.hpp"
#include "tutti/models/graph/strands.hpp"
#include "tutti/models/graph/subgraphs.hpp"

namespace tutti::graph {
namespace {

struct WeightedArc {
  Arc arc;
  double weight;
};

/// Which rank gets an arc.
enum class ByEnd : std::uint8_t { tail, head, both };

/// Sends arcs to the ranks that own their tails, or their heads; `both`: also backwards. In portions, so that messages
/// are small beside lists.
ArcList send_arcs(const Comm& comm, const ArcList& piece, const VertexOwners& owners, ByEnd end,
                  const ParallelFor& parallel) {
  constexpr Size portion = Size{1} << 22;
  ArcList mine;
  mine.vertices = piece.vertices;
  if (comm.size() == 1 && end != ByEnd::both) {
    mine.arcs = piece.arcs;
    mine.weights = piece.weights;
    return mine;
  }
  const auto ranks = static_cast<std::size_t>(comm.size());
  const bool weighted = comm.sum(static_cast<Size>(piece.weights.size())) > 0;
  const Size mine_takes = (piece.size() + portion - 1) / portion;
  const auto rounds = static_cast<Size>(comm.max(static_cast<double>(mine_takes)));
  for (Size round = 0; round < rounds; ++round) {
    std::vector<std::vector<WeightedArc>> outgoing(ranks);
    comm.together([&] {
      const Size first = std::min(piece.size(), round * portion);
      const Blocks blocks(std::min(piece.size() - first, portion), 1 << 15);
      /// put(rank, arc) for what arcs [begin, end) of the portion make.
      const auto arcs_of = [&](Size begin, Size last, const auto& put) {
        for (Size i = first + begin; i < first + last; ++i) {
          const auto at = static_cast<std::size_t>(i);
          const Arc arc = piece.arcs[at];
          const double weight = piece.weights.empty() ? 0 : piece.weights[at];
          put(owners.rank(end == ByEnd::head ? arc.to : arc.from), WeightedArc{arc, weight});
          if (end == ByEnd::both && arc.from != arc.to)
            put(owners.rank(arc.to), WeightedArc{{arc.to, arc.from}, weight});
        }
      };
      // place[block][rank]: first how many, then where the next one goes.
      std::vector<std::vector<Size>> place(static_cast<std::size_t>(blocks.number), std::vector<Size>(ranks, 0));
      blocks.run(parallel, [&](Size b, Size begin, Size last) {
        auto& here = place[static_cast<std::size_t>(b)];
        arcs_of(begin, last, [&](int rank, const WeightedArc&) { ++here[static_cast<std::size_t>(rank)]; });
      });
      for (std::size_t r = 0; r < ranks; ++r) {
        Size total = 0;
        for (auto& here : place) total += std::exchange(here[r], total);
        outgoing[r].resize(static_cast<std::size_t>(total));
      }
      blocks.run(parallel, [&](Size b, Size begin, Size last) {
        auto& here = place[static_cast<std::size_t>(b)];
        arcs_of(begin, last, [&](int rank, const WeightedArc& arc) {
          const auto r = static_cast<std::size_t>(rank);
          outgoing[r][static_cast<std::size_t>(here[r]++)] = arc;
        });
      });
    });
    const std::vector<std::vector<WeightedArc>> incoming = comm.all_to_all(outgoing);
    comm.together([&] {
      for (const std::vector<WeightedArc>& from : incoming) {
        const std::size_t before = mine.arcs.size();
        mine.arcs.resize(before + from.size());
        if (weighted) mine.weights.resize(before + from.size());
        for_ranges(parallel, std::ssize(from), [&](Size begin, Size last) {
          for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(last); ++i) {
            mine.arcs[before + i] = from[i].arc;
            if (weighted) mine.weights[before + i] = from[i].weight;
          }
        });
      }
    });
  }
  return mine;
}

/// A vertex in the subgraph around arc `around`.
struct Member {
  std::int32_t around;
  Vertex vertex;
  std::uint64_t key() const { return static_cast<std::uint64_t>(around) << 32 | static_cast<std::uint32_t>(vertex); }
};

}  // namespace

VertexOwners deal_out(const Comm& comm, const DeviceSet& devices) {
  VertexOwners owners;
  owners.rank_of_part = ranks_of_parts(comm, devices);
  const std::vector<double> weights = weights_of_parts(comm, devices);
  for (std::size_t p = 0; p < weights.size(); ++p)
    if (weights[p] > 0) owners.parts.push_back(static_cast<std::int32_t>(p));
  return owners;
}

VertexOwners share_blocks(const Comm& comm, const DeviceSet& devices, const ArcList& piece) {
  VertexOwners owners = deal_out(comm, devices);
  std::vector<Size> load;
  comm.together([&] {
    load.assign(static_cast<std::size_t>(piece.vertices), comm.is_root() ? 1 : 0);
    for (const Arc arc : piece.arcs) {
      ++load[static_cast<std::size_t>(arc.from)];
      ++load[static_cast<std::size_t>(arc.to)];
    }
  });
  comm.sum(load);
  const Size all = std::accumulate(load.begin(), load.end(), Size{0}), blocks = std::ssize(owners.parts);
  Size before = 0;
  for (Vertex v = 0; v < piece.vertices; ++v) {
    while (std::ssize(owners.ends) < blocks - 1 && before >= all / blocks * (std::ssize(owners.ends) + 1))
      owners.ends.push_back(v);
    before += load[static_cast<std::size_t>(v)];
  }
  owners.ends.resize(static_cast<std::size_t>(blocks), piece.vertices);
  return owners;
}

ArcShare share_arcs(const Comm& comm, const ArcList& piece, const VertexOwners& owners, bool directed,
                    const ParallelFor& parallel) {
  if (directed)
    return {send_arcs(comm, piece, owners, ByEnd::tail, parallel),
            send_arcs(comm, piece, owners, ByEnd::head, parallel)};
  ArcShare share{send_arcs(comm, piece, owners, piece.both_ways ? ByEnd::tail : ByEnd::both, parallel), {}};
  share.outgoing.both_ways = true;
  return share;
}

CutGraph order_and_cut(const Comm& comm, Graph share, const VertexOwners& owners, const ParallelFor& parallel,
                       std::vector<Vertex>& sources) {
  std::vector<Size> degrees;
  comm.together([&] { degrees = degrees_of(share); });
  comm.sum(degrees);
  OrderedGraph ordered;
  std::vector<std::int32_t> owner;
  comm.together([&] {
    owner.resize(static_cast<std::size_t>(share.vertices));
    ordered = order_by_degree(share, degrees, parallel);
    share = {};
    for (std::size_t v = 0; v < owner.size(); ++v)
      owner[static_cast<std::size_t>(ordered.new_name[v])] = owners.part(static_cast<Vertex>(v));
    for (Vertex& s : sources) s = ordered.new_name[static_cast<std::size_t>(s)];
  });
  if (sources.size() > 64)
    group_sources(distances_to_hubs(comm, ordered.graph, std::min(most_hubs, owner.size()), parallel), sources);
  CutGraph cut;
  cut.parts = cut_graph(comm, ordered.graph, owner, owners.rank_of_part, parallel);
  cut.new_name = std::move(ordered.new_name);
  return cut;
}

std::vector<Arc> heaviest_arcs(const Comm& comm, const Graph& share, const ParallelFor& parallel) {
  std::vector<Arc> mine;
  double weight = std::numeric_limits<double>::lowest();
  comm.together([&] {
    mine = heaviest_arcs(share, parallel);
    for (const double w : share.weights) weight = std::max(weight, w);
  });
  if (comm.max(weight) > weight) mine.clear();
  std::vector<Arc> all = comm.all_gather(std::span<const Arc>(mine));
  std::sort(all.begin(), all.end(),
            [](const Arc& a, const Arc& b) { return a.from != b.from ? a.from < b.from : a.to < b.to; });
  return all;
}

SubgraphCounts count_subgraphs(const Comm& comm, const Graph& share, const VertexOwners& owners,
                               const std::vector<Arc>& around, int levels) {
  SubgraphCounts counts;
  std::unordered_set<std::uint64_t> seen;
  std::vector<Member> level;
  for (std::size_t k = 0; k < around.size(); ++k)
    if (owners.rank(around[k].to) == comm.rank()) {
      level.push_back({static_cast<std::int32_t>(k), around[k].to});
      seen.insert(level.back().key());
    }
  for (int l = 0; l < levels; ++l) {
    std::vector<std::vector<Member>> outgoing(static_cast<std::size_t>(comm.size()));
    comm.together([&] {
      for (const Member& m : level)
        for (const Vertex w : share.out.row(m.vertex)) {
          ++counts.arcs;
          outgoing[static_cast<std::size_t>(owners.rank(w))].push_back({m.around, w});
        }
    });
    const std::vector<std::vector<Member>> incoming = comm.all_to_all(outgoing);
    comm.together([&] {
      level.clear();
      for (const std::vector<Member>& from : incoming)
        for (const Member& m : from)
          if (seen.insert(m.key()).second) level.push_back(m);
    });
  }
  for (std::size_t k = 0; k < around.size(); ++k)
    if (owners.rank(around[k].from) == comm.rank())
      seen.insert(Member{static_cast<std::int32_t>(k), around[k].from}.key());
  counts.vertices = comm.sum(static_cast<Size>(seen.size()));
  counts.arcs = comm.sum(counts.arcs);
  return counts;
}

std::vector<Vertex> all_of(const Comm& comm, const std::vector<Vertex>& mine) {
  std::vector<Vertex> all = comm.all_gather(std::span<const Vertex>(mine));
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<std::vector<std::uint8_t>> distances_to_hubs(const Comm& comm, const Graph& share, std::size_t hubs,
                                                         const ParallelFor& parallel) {
  using Hubs = std::uint32_t;  // a bit each
  struct Reached {
    Vertex vertex;
    Hubs hubs;
  };
  constexpr int far = 255;
  const Hubs all = hubs < 32 ? (Hubs{1} << hubs) - 1 : ~Hubs{0};
  const auto n = static_cast<std::size_t>(share.vertices);
  std::vector<std::vector<std::uint8_t>> distance(hubs);
  std::vector<Hubs> frontier, reached;
  std::vector<Reached> level;
  comm.together([&] {
    for (auto& d : distance) d.assign(n, far);
    frontier.assign(n, 0);
    reached.assign(n, 0);
    for (std::size_t h = 0; h < hubs; ++h) level.push_back({static_cast<Vertex>(h), Hubs{1} << h});
  });
  for (int depth = 0; depth < far && !level.empty(); ++depth) {
    std::vector<Reached> mine;
    comm.together([&] {
      for (const Reached& r : level) {
        frontier[static_cast<std::size_t>(r.vertex)] = r.hubs;
        reached[static_cast<std::size_t>(r.vertex)] |= r.hubs;
        for (std::size_t h = 0; h < hubs; ++h)
          if ((r.hubs >> h & 1) != 0)
            distance[h][static_cast<std::size_t>(r.vertex)] = static_cast<std::uint8_t>(depth);
      }
      const Blocks blocks(share.vertices, 4096);
      std::vector<std::vector<Reached>> of_block(static_cast<std::size_t>(blocks.number));
      for_strands(parallel, blocks.number, [&](Size b) {
        for (auto v = static_cast<Vertex>(blocks.begin(b)); v < static_cast<Vertex>(blocks.begin(b + 1)); ++v) {
          const Hubs missing = all & ~reached[static_cast<std::size_t>(v)];
          Hubs found = 0;
          if (missing != 0)
            for (const Vertex w : share.out.row(v)) found |= frontier[static_cast<std::size_t>(w)];
          if ((found & missing) != 0) of_block[static_cast<std::size_t>(b)].push_back({v, found & missing});
        }
      });
      for (const auto& some : of_block) mine.insert(mine.end(), some.begin(), some.end());
      for (const Reached& r : level) frontier[static_cast<std::size_t>(r.vertex)] = 0;
    });
    level = comm.all_gather(std::span<const Reached>(mine));
  }
  return distance;
}

}  // namespace tutti::graph
