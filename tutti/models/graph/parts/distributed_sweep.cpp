#include "tutti/models/graph/parts/distributed_sweep.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"

namespace tutti::graph {
namespace {

/// Arrays begin at multiples of 8 bytes.
template <class T>
void write_bytes(std::vector<char>& to, const std::vector<T>& values) {
  const auto* bytes = reinterpret_cast<const char*>(values.data());
  to.insert(to.end(), bytes, bytes + values.size() * sizeof(T));
  to.resize((to.size() + 7) / 8 * 8);
}
template <class T>
std::span<const T> read_bytes(const char*& from, Size count) {
  const std::span<const T> values(reinterpret_cast<const T*>(from), static_cast<std::size_t>(count));
  from += (values.size_bytes() + 7) / 8 * 8;
  return values;
}

void write_message(std::vector<char>& to, const LevelMessage& message) {
  write_bytes(to,
              std::vector<Size>{static_cast<Size>(message.places.size()), static_cast<Size>(message.mantissas.size()),
                                static_cast<Size>(message.exponents.size())});
  write_bytes(to, message.places);
  write_bytes(to, message.lanes);
  write_bytes(to, message.mantissas);
  write_bytes(to, message.exponents);
}
LevelView read_message(const char*& from) {
  const std::span<const Size> counts = read_bytes<Size>(from, 3);
  LevelView view;
  view.places = read_bytes<Lid>(from, counts[0]);
  view.lanes = read_bytes<Lanes>(from, counts[0]);
  view.mantissas = read_bytes<double>(from, counts[1]);
  view.exponents = read_bytes<std::int32_t>(from, counts[2]);
  return view;
}

/// All parts of all ranks are CPUs.
bool only_hosts(const Comm& comm, const DeviceSet& devices) {
  Size others = 0;
  for (const auto& device : devices.devices) others += device->is_host() ? 0 : 1;
  return comm.sum(others) == 0;
}

std::vector<GraphPart> cut(const Comm& comm, const Graph& graph, const DeviceSet& devices) {
  const std::vector<double> weights = weights_of_parts(comm, devices);
  std::vector<std::int32_t> owner;
  comm.together([&] {
    if (comm.is_root()) owner = choose_owners(graph, weights);
  });
  comm.broadcast(owner);
  return cut_graph(comm, graph, owner, ranks_of_parts(comm, devices), parallel_for(*devices.threads));
}

}  // namespace

std::vector<double> weights_of_parts(const Comm& comm, const DeviceSet& devices) {
  std::vector<double> mine;
  const bool hosts = only_hosts(comm, devices);
  for (const auto& device : devices.devices) mine.push_back(hosts || !device->is_host() ? 1.0 : 0.0);
  return comm.all_gather(std::span<const double>(mine));
}

std::vector<int> ranks_of_parts(const Comm& comm, const DeviceSet& devices) {
  return comm.all_gather(std::span<const int>(std::vector<int>(devices.devices.size(), comm.rank())));
}

Size bytes_of_copy(Size vertices, Size arcs, bool directed) {
  constexpr Size lanes = 8;  // of the smallest batch
  return (directed ? 2 : 1) * (8 * (vertices + 1) + 4 * arcs) +
         vertices * (static_cast<Size>(sizeof(DeltaSum)) + 8 * lanes);
}

Size bytes_of_copy(const Graph& graph) {
  return bytes_of_copy(graph.vertices, graph.arcs(), graph.directed);
}

bool needs_parts(Size bytes, const DeviceSet& devices, const Comm& comm) {
  Size full = 0;
  for (const auto& device : devices.devices)
    if (!device->is_host() && device->budget().capacity() - device->budget().used() < bytes) ++full;
  return comm.sum(full) > 0;
}

DistributedSweep::DistributedSweep(const Graph& graph, DeviceSet& devices, const Comm& comm, Size sources)
    : DistributedSweep(cut(comm, graph, devices), graph.vertices, devices, comm, sources) {}

DistributedSweep::DistributedSweep(std::vector<GraphPart> parts, Vertex vertices, DeviceSet& devices, const Comm& comm,
                                   Size sources)
    : comm_(comm),
      devices_(devices),
      rank_of_part_(ranks_of_parts(comm, devices)),
      parts_(std::move(parts)),
      vertices_(vertices),
      on_threads_(only_hosts(comm, devices)) {
  Size ghosts = 0;
  comm.together([&] {
    local_.assign(parts_.size() * static_cast<std::size_t>(vertices_), no_lid);
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const IndexMap& map = parts_[p].map;
      for (std::size_t i = 0; i < map.global.size(); ++i)
        local_[p * static_cast<std::size_t>(vertices_) + static_cast<std::size_t>(map.global[i])] =
            static_cast<Vertex>(i);
      ghosts += map.ghosts();
    }
  });
  make_sweeps(sources);
  verbose("the graph is partitioned into {} parts, which read {} vertices of others; {} times {} sources at a time",
          rank_of_part_.size(), format_count(comm.sum(ghosts)), device_parts_ ? device_parts_->batches() : batches_,
          device_parts_ ? most_lanes : width_);
}

/// As many lanes as fit everywhere: ghosts take them, too, and of a graph without small cuts nearly all vertices are.
void DistributedSweep::make_sweeps(Size sources) {
  sweeps_.clear();
  if (!on_threads_ && !wide_ && DeviceParts::fit(parts_, devices_, comm_)) {
    device_parts_ = std::make_unique<DeviceParts>(
        parts_, devices_, comm_, rank_of_part_,
        [this](std::size_t part, std::span<const Vertex> some) { return local_numbers(part, some); }, sources);
    return;
  }
  batches_ = on_threads_ ? static_cast<Size>(comm_.max(devices_.threads->count())) : 1;
  batches_ = std::clamp<Size>((sources + 7) / 8, 1, batches_);
  width_ = static_cast<int>(std::clamp<Size>(((sources + batches_ - 1) / batches_ + 7) / 8 * 8, 8, most_lanes));
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const Budget& budget = devices_.devices[p]->budget();
    const auto fits = [&] {
      const Size each =
          on_threads_ ? bytes_of_thread_sweep(parts_[p], width_) : bytes_of_device_sweep(parts_[p], width_);
      return batches_ * each <= budget.capacity() - budget.used();
    };
    while (width_ > (on_threads_ ? 8 : 1) && !fits()) width_ = width_ > 8 ? width_ - 8 : width_ / 2;
    while (batches_ > 1 && !fits()) --batches_;
  }
  width_ = -static_cast<int>(comm_.max(-static_cast<double>(width_)));
  batches_ = -static_cast<Size>(comm_.max(-static_cast<double>(batches_)));
  comm_.together([&] {
    sweeps_.resize(static_cast<std::size_t>(batches_));
    for (Batch& batch : sweeps_)
      for (std::size_t p = 0; p < parts_.size(); ++p)
        batch.push_back(on_threads_ ? make_thread_sweep(parts_[p], devices_.devices[p]->budget(), width_)
                                    : make_device_sweep(parts_[p], *devices_.devices[p], width_));
  });
}

/// All batches at the same time, each on one thread.
void DistributedSweep::for_batches(const std::function<void(std::size_t)>& body) {
  const auto threads = static_cast<std::size_t>(std::min<Size>(batches_, devices_.threads->count()));
  if (threads == 1) {
    for (std::size_t b = 0; b < sweeps_.size(); ++b) body(b);
    return;
  }
  devices_.threads->run(static_cast<int>(threads), [&](int i) {
    for (auto b = static_cast<std::size_t>(i); b < sweeps_.size(); b += threads) body(b);
  });
}

/// What came of a level, to the ghosts of a batch.
void DistributedSweep::unpack(std::size_t b, std::int32_t depth) {
  std::vector<const char*> at;
  for (const std::vector<char>& bytes : incoming_) {
    const char* next = bytes.data();
    const std::span<const Size> sizes = read_bytes<Size>(next, batches_);
    for (std::size_t before = 0; before < b; ++before) next += sizes[before];
    at.push_back(next);
  }
  std::vector<std::vector<LevelView>> got(parts_.size());
  for (std::size_t p = 0; p < parts_.size(); ++p) got[p].resize(parts_[p].map.links.size());
  for (std::size_t from = 0; from < rank_of_part_.size(); ++from)
    for (std::size_t p = 0; p < parts_.size(); ++p)
      for (std::size_t k = 0; k < got[p].size(); ++k)
        if (static_cast<std::size_t>(parts_[p].map.links[k].part) == from)
          got[p][k] = read_message(at[static_cast<std::size_t>(rank_of_part_[from])]);
  for (std::size_t p = 0; p < parts_.size(); ++p) sweeps_[b][p]->put(depth, got[p]);
}

/// A step of all batches, between the messages of two levels: those of level `came` are put to the ghosts, those of
/// level `goes` are made. Where there is no level it is 0. All in one, for each meeting of the ranks costs time.
void DistributedSweep::step(bool back, std::int32_t came, std::int32_t goes,
                            const std::function<void(std::size_t)>& body) {
  const auto ranks = static_cast<std::size_t>(comm_.size());
  outgoing_.assign(ranks, {});
  comm_.together([&] {
    std::vector<std::vector<std::vector<char>>> packed(sweeps_.size(), std::vector<std::vector<char>>(ranks));
    for_batches([&](std::size_t b) {
      if (came > 0) unpack(b, came);
      body(b);
      for (std::size_t p = 0; goes > 0 && p < parts_.size(); ++p) {
        const std::vector<LevelMessage> messages = sweeps_[b][p]->take(goes, back);
        for (std::size_t k = 0; k < messages.size(); ++k)
          write_message(packed[b][static_cast<std::size_t>(parts_[p].map.links[k].rank)], messages[k]);
      }
    });
    for (std::size_t r = 0; goes > 0 && r < ranks; ++r) {
      std::vector<Size> sizes;
      for (const auto& batch : packed) sizes.push_back(static_cast<Size>(batch[r].size()));
      write_bytes(outgoing_[r], sizes);
      for (auto& batch : packed) {
        outgoing_[r].insert(outgoing_[r].end(), batch[r].begin(), batch[r].end());
        batch[r] = {};
      }
    }
  });
}

/// Between each pair of ranks one message: how many bytes each batch has, then batch after batch, of each by sending
/// part, then by receiving part.
void DistributedSweep::exchange() {
  const auto start = std::chrono::steady_clock::now();
  const auto me = static_cast<std::size_t>(comm_.rank());
  std::vector<char> own = std::move(outgoing_[me]);
  outgoing_[me].clear();
  for (const std::vector<char>& bytes : outgoing_) bytes_sent_ += static_cast<Size>(bytes.size());
  incoming_ = comm_.all_to_all(outgoing_);
  incoming_[me] = std::move(own);
  exchange_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::vector<Vertex> DistributedSweep::local_numbers(std::size_t part, std::span<const Vertex> sources) const {
  std::vector<Vertex> here;
  for (const Vertex s : sources)
    here.push_back(local_[part * static_cast<std::size_t>(vertices_) + static_cast<std::size_t>(s)]);
  return here;
}

/// False: some path count needs more than doubles, and nothing was added.
bool DistributedSweep::try_add(std::span<const Vertex> sources) {
  const std::size_t each = (sources.size() + sweeps_.size() - 1) / sweeps_.size();
  const auto begin = [&](std::size_t b) {
    const auto first = std::min(sources.size(), b * each), count = std::min(sources.size() - first, each);
    for (std::size_t p = 0; p < parts_.size(); ++p)
      sweeps_[b][p]->begin(local_numbers(p, sources.subspan(first, count)));
  };
  std::int32_t depth = 0;
  for (;; ++depth) {
    struct Found {
      Size any = 0, too_many = 0;
    };
    std::vector<Found> found(sweeps_.size());
    step(false, depth, depth + 1, [&](std::size_t b) {
      if (depth == 0) begin(b);
      for (const auto& sweep : sweeps_[b]) {
        if (sweep->step_out(depth)) found[b].any = 1;
        if (sweep->too_many_paths()) found[b].too_many = 1;
      }
    });
    Size all[2] = {0, 0};
    for (const Found& f : found) {
      all[0] += f.any;
      all[1] += f.too_many;
    }
    comm_.sum(all);
    if (all[1] > 0) return false;
    if (all[0] == 0) break;
    exchange();
  }
  std::vector<Size> reached(sweeps_.size(), 0);
  for (std::int32_t d = depth; d > 0; --d) {
    step(true, d < depth ? d + 1 : 0, d > 1 ? d : 0, [&](std::size_t b) {
      for (const auto& sweep : sweeps_[b]) {
        sweep->step_back(d);
        if (d == 1) reached[b] += sweep->count_reached();
      }
    });
    if (d > 1) exchange();
  }
  if (depth == 0)
    step(false, 0, 0, [&](std::size_t b) {
      for (const auto& sweep : sweeps_[b]) reached[b] += sweep->count_reached();
    });
  reached_ = std::accumulate(reached.begin(), reached.end(), reached_);
  return true;
}

void DistributedSweep::add(std::span<const Vertex> sources) {
  std::vector<Vertex> left;
  if (device_parts_) {
    left = device_parts_->add(sources);
    sources = left;
  } else if (try_add(sources)) {
    return;
  }
  if (sources.empty()) return;
  // Most likely so in the next ones, too.
  std::vector<DeltaSum> sums(static_cast<std::size_t>(vertices_));
  comm_.together([&] { collect_sweeps(parallel_for(*devices_.threads), sums, reached_); });
  earlier_ = std::move(sums);
  if (device_parts_) {
    bytes_sent_ += device_parts_->bytes_sent();
    exchange_seconds_ += device_parts_->exchange_seconds();
    device_parts_.reset();
  }
  on_threads_ = false;
  wide_ = true;
  make_sweeps(static_cast<Size>(sources.size()));
  for (; !sources.empty(); sources = sources.subspan(std::min(sources.size(), static_cast<std::size_t>(most()))))
    try_add(sources.first(std::min(sources.size(), static_cast<std::size_t>(most()))));
}

void DistributedSweep::collect_sweeps(const ParallelFor& parallel, std::span<DeltaSum> sums, Size& reached) {
  for (const Batch& batch : sweeps_)
    for (const auto& sweep : batch) sweep->collect(sums);
  if (device_parts_) device_parts_->collect(parallel, sums, reached);
}

void DistributedSweep::collect(const ParallelFor& parallel, std::span<DeltaSum> sums, Size& reached) {
  collect_sweeps(parallel, sums, reached);
  for (std::size_t v = 0; v < earlier_.size(); ++v) sums[v].add(earlier_[v]);
  earlier_.clear();
  reached += reached_;
  reached_ = 0;
}

}  // namespace tutti::graph
