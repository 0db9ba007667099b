#include "tutti/models/graph/parts/distributed_sweep.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>

#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"

namespace tutti::graph {
namespace {

template <class T>
void write_bytes(std::vector<char>& to, const std::vector<T>& values) {
  const auto* bytes = reinterpret_cast<const char*>(values.data());
  to.insert(to.end(), bytes, bytes + values.size() * sizeof(T));
}

template <class T>
std::vector<T> read_bytes(const std::vector<char>& from, std::size_t& at, std::size_t count) {
  std::vector<T> values(count);
  if (count > 0) std::memcpy(values.data(), from.data() + at, count * sizeof(T));
  at += count * sizeof(T);
  return values;
}

/// The devices that take part: CPUs only where there is nothing else.
std::vector<double> weights_of(const Comm& comm, const DeviceSet& devices) {
  std::vector<int> mine;
  for (const auto& device : devices.devices) mine.push_back(device->is_host() ? 1 : 0);
  const std::vector<int> hosts = comm.all_gather(std::span<const int>(mine));
  const bool only_hosts = std::find(hosts.begin(), hosts.end(), 0) == hosts.end();
  std::vector<double> weights;
  for (const int host : hosts) weights.push_back(only_hosts || host == 0 ? 1.0 : 0.0);
  return weights;
}

}  // namespace

Size bytes_of_copy(const Graph& graph) {
  constexpr Size lanes = 8;  // of the smallest batch
  const Size rows = 8 * (static_cast<Size>(graph.vertices) + 1) + 4 * graph.arcs();
  return (graph.directed ? 2 : 1) * rows +
         static_cast<Size>(graph.vertices) * (static_cast<Size>(sizeof(DeltaSum)) + 8 * lanes);
}

DistributedSweep::DistributedSweep(const Graph& graph, DeviceSet& devices, const Comm& comm, Size sources)
    : comm_(comm), vertices_(graph.vertices) {
  const std::vector<int> ranks =
      comm.all_gather(std::span<const int>(std::vector<int>(devices.devices.size(), comm.rank())));
  rank_of_part_ = ranks;
  const std::vector<double> weights = weights_of(comm, devices);
  std::vector<std::int32_t> owner;
  comm.together([&] {
    if (comm.is_root()) owner = choose_owners(graph, weights);
  });
  comm.broadcast(owner);
  parts_ = cut_graph(comm, graph, owner, rank_of_part_);
  // As many lanes as fit everywhere: ghosts take them, too, and of a graph without small cuts nearly all vertices are.
  width_ = static_cast<int>(std::clamp<Size>((sources + 7) / 8 * 8, 8, most_lanes));
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const Budget& budget = devices.devices[p]->budget();
    while (width_ > 1 && PartSweep::bytes(parts_[p], width_) > budget.capacity() - budget.used())
      width_ = width_ > 8 ? width_ - 8 : width_ / 2;
  }
  width_ = -static_cast<int>(comm.max(-static_cast<double>(width_)));
  Size ghosts = 0;
  comm.together([&] {
    local_.assign(parts_.size() * static_cast<std::size_t>(vertices_), no_lid);
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const IndexMap& map = parts_[p].map;
      for (std::size_t i = 0; i < map.global.size(); ++i)
        local_[p * static_cast<std::size_t>(vertices_) + static_cast<std::size_t>(map.global[i])] =
            static_cast<Vertex>(i);
      ghosts += map.ghosts();
      sweeps_.emplace_back(parts_[p], *devices.devices[p], width_);
    }
  });
  verbose("the graph is cut into {} parts, which read {} vertices of others; {} sources at a time", ranks.size(),
          format_count(comm.sum(ghosts)), width_);
}

/// Messages of all parts in one between each pair of ranks: by sending part, then by receiving part.
void DistributedSweep::exchange(std::int32_t depth) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::vector<char>> outgoing(comm_.size());
  comm_.together([&] {
    for (std::size_t p = 0; p < sweeps_.size(); ++p) {
      const std::vector<LevelMessage> messages = sweeps_[p].take(depth);
      for (std::size_t k = 0; k < messages.size(); ++k) {
        std::vector<char>& to = outgoing[parts_[p].map.links[k].rank];
        write_bytes(to, messages[k].lanes);
        write_bytes(to, messages[k].mantissas);
        write_bytes(to, messages[k].exponents);
      }
    }
  });
  for (std::size_t r = 0; r < outgoing.size(); ++r)
    if (static_cast<int>(r) != comm_.rank()) bytes_sent_ += static_cast<Size>(outgoing[r].size());
  const std::vector<std::vector<char>> incoming = comm_.all_to_all(outgoing);
  comm_.together([&] {
    std::vector<std::vector<LevelMessage>> got(parts_.size());
    for (std::size_t p = 0; p < parts_.size(); ++p) got[p].resize(parts_[p].map.links.size());
    std::vector<std::size_t> at(incoming.size(), 0);
    for (std::size_t from = 0; from < rank_of_part_.size(); ++from) {
      const auto rank = static_cast<std::size_t>(rank_of_part_[from]);
      for (std::size_t p = 0; p < parts_.size(); ++p)
        for (std::size_t k = 0; k < got[p].size(); ++k) {
          const Link& link = parts_[p].map.links[k];
          if (static_cast<std::size_t>(link.part) != from) continue;
          LevelMessage& message = got[p][k];
          message.lanes = read_bytes<Lanes>(incoming[rank], at[rank], static_cast<std::size_t>(link.ghosts.size()));
          std::size_t count = 0;
          for (const Lanes lanes : message.lanes) count += static_cast<std::size_t>(std::popcount(lanes));
          message.mantissas = read_bytes<double>(incoming[rank], at[rank], count);
          message.exponents = read_bytes<std::int32_t>(incoming[rank], at[rank], count);
        }
    }
    for (std::size_t p = 0; p < sweeps_.size(); ++p) sweeps_[p].put(depth, got[p]);
  });
  exchange_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void DistributedSweep::add(std::span<const Vertex> sources) {
  comm_.together([&] {
    for (std::size_t p = 0; p < sweeps_.size(); ++p) {
      std::vector<Vertex> here;
      for (const Vertex s : sources)
        here.push_back(local_[p * static_cast<std::size_t>(vertices_) + static_cast<std::size_t>(s)]);
      sweeps_[p].begin(here);
    }
  });
  std::int32_t depth = 0;
  for (;; ++depth) {
    bool any = false;
    comm_.together([&] {
      for (PartSweep& sweep : sweeps_) any = sweep.step_out(depth) || any;
    });
    if (comm_.sum(Size{any ? 1 : 0}) == 0) break;
    exchange(depth + 1);
  }
  for (std::int32_t d = depth; d > 0; --d) {
    comm_.together([&] {
      for (PartSweep& sweep : sweeps_) sweep.step_back(d);
    });
    if (d > 1) exchange(d);
  }
  comm_.together([&] {
    for (PartSweep& sweep : sweeps_) reached_ += sweep.count_reached();
  });
}

void DistributedSweep::collect(std::span<DeltaSum> sums, Size& reached) {
  for (PartSweep& sweep : sweeps_) sweep.collect(sums);
  reached += reached_;
  reached_ = 0;
}

}  // namespace tutti::graph
