#include "tutti/models/graph/betweenness/betweenness.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include "tutti/base/log.hpp"
#include "tutti/base/system/start_thread.hpp"

namespace tutti::graph {
namespace {

/// Does `range`, and takes more until there is none. An error stops everyone.
void work(SourceQueue& queue, std::size_t w, SourceWorker& worker, std::span<const Vertex> sources, SourceRange range) {
  try {
    for (; range.size() > 0; range = queue.take(w)) {
      const auto start = std::chrono::steady_clock::now();
      worker.add(sources.subspan(range.begin, range.size()));
      queue.report(w, range.size(), std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
  } catch (...) {
    queue.stop();
    throw;
  }
}

/// One portion of the list for all ranks: a batch for each worker first, to measure, then half of what is left.
Size next_portion(Size left, Size batches, bool measured) {
  return measured ? std::max(left / 2, std::min(left, batches)) : std::min(left, batches);
}

}  // namespace

Placement parse_placement(const std::string& name) {
  if (name == "auto") return Placement::automatic;
  if (name == "copies") return Placement::copies;
  if (name == "parts") return Placement::parts;
  fail(ErrorKind::usage, "placement '{}'; expected auto, copies or parts", name);
}

Betweenness::Betweenness(const OrderedGraph& graph, DeviceSet& devices, const Comm& comm, Size sources, Sweep sweep,
                         Placement placement)
    : vertices_(graph.graph.vertices), devices_(devices), comm_(comm) {
  if (placement == Placement::automatic && needs_parts(bytes_of_copy(graph.graph), devices, comm)) {
    info("the graph does not fit into a device's memory: its vertices are distributed");
    placement = Placement::parts;
  }
  if (placement == Placement::parts) {
    parts_ = std::make_unique<DistributedSweep>(graph.graph, devices, comm, sources);
    return;
  }
  comm.together([&] {
    for (const auto& device : devices.devices)
      if (!device->is_host()) workers_.push_back(make_device_worker(graph, *device, sources, sweep));
    device_workers_ = workers_.size();
    for (const auto& device : devices.devices) {
      if (!device->is_host()) continue;
      const Size threads = std::clamp<Size>(sources, 1, devices.threads->count());
      const Size each = (sources + threads * comm.size() - 1) / (threads * comm.size());
      for (Size i = 0; i < threads; ++i) workers_.push_back(make_thread_worker(graph, device->budget(), each, sweep));
    }
    for (const auto& worker : workers_) rates_.push_back({worker->most(), worker->likely_rate(), false});
    // Threads start when they are first needed: before it counts.
    for_ranges(parallel_for(*devices.threads), devices.threads->count(), [](Size, Size) {});
  });
}

Betweenness::Betweenness(std::vector<GraphPart> parts, Vertex vertices, DeviceSet& devices, const Comm& comm,
                         Size sources)
    : vertices_(vertices),
      devices_(devices),
      comm_(comm),
      parts_(std::make_unique<DistributedSweep>(std::move(parts), vertices, devices, comm, sources)) {}

double Betweenness::rate_here() const {
  double rate = 0;
  for (const WorkerRate& r : rates_) rate += r.rate;
  return rate;
}

void Betweenness::add_here(std::span<const Vertex> sources, SourceRange range) {
  if (range.size() == 0) return;
  SourceQueue queue(range, rates_);
  std::vector<std::exception_ptr> failed(device_workers_ + 1);
  const auto guarded = [&](std::size_t slot, auto&& body) {
    try {
      body();
    } catch (...) {
      queue.stop();
      failed[slot] = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  guarded(device_workers_, [&] {
    for (std::size_t w = 0; w < device_workers_; ++w)
      others.push_back(start_thread("a device of this rank", [&, w] {
        guarded(w, [&] { work(queue, w, *workers_[w], sources, queue.take(w)); });
      }));
    // Threads that get nothing are not started: they would wait on the cores that the devices' threads need.
    std::vector<std::pair<std::size_t, SourceRange>> busy;
    for (std::size_t w = device_workers_; w < workers_.size(); ++w)
      if (const SourceRange first = queue.take(w); first.size() > 0) busy.emplace_back(w, first);
    if (!busy.empty())
      devices_.threads->run(static_cast<int>(busy.size()), [&](int i) {
        const auto& [w, first] = busy[static_cast<std::size_t>(i)];
        work(queue, w, *workers_[w], sources, first);
      });
  });
  for (std::thread& other : others) other.join();
  for (const std::exception_ptr& error : failed)
    if (error) std::rethrow_exception(error);
}

Size Betweenness::batches() const {
  if (parts_) return parts_->most();
  Size here = 0;
  for (const WorkerRate& r : rates_) here += r.most;
  return comm_.sum(here);
}

void Betweenness::add(std::span<const Vertex> sources, Size until, BetweennessState& state) {
  advance(sources, until, state);
  collect(state);
}

void Betweenness::advance(std::span<const Vertex> sources, Size until, BetweennessState& state) {
  if (parts_) {
    while (state.done < until) {
      const Size count = std::min(parts_->most(), until - state.done);  // there may be fewer at a time afterwards
      parts_->add(sources.subspan(state.done, count));
      state.done += count;
    }
    return;
  }
  bool measured_here = true;
  for (const WorkerRate& r : rates_) measured_here = measured_here && r.measured;
  const Size batches = this->batches();
  bool measured = comm_.sum(measured_here ? 0 : 1) == 0;
  while (state.done < until) {
    const Size portion = comm_.size() == 1 ? until - state.done : next_portion(until - state.done, batches, measured);
    const double rate = rate_here();
    const std::vector<Size> shares = share_out(portion, comm_.all_gather(std::span<const double>(&rate, 1)));
    Size first = state.done;
    for (int r = 0; r < comm_.rank(); ++r) first += shares[r];
    const Size mine = shares[comm_.rank()];
    comm_.together([&] { add_here(sources, {first, first + mine}); });
    state.done += portion;
    measured = true;
  }
}

void Betweenness::collect(BetweennessState& state) {
  const ParallelFor parallel = parallel_for(*devices_.threads);
  for (const auto& worker : workers_) worker->fetch();
  const auto take = [&](std::span<DeltaSum> to, Size& reached) {
    std::vector<std::span<DeltaSum>> all;
    for (const auto& worker : workers_)
      if (const std::span<DeltaSum> sums = worker->take_sums(reached); !sums.empty()) all.push_back(sums);
    take_all(parallel, all, to);
  };
  if (comm_.size() == 1) {
    take(state.sums, state.reached);
    if (parts_) parts_->collect(parallel, state.sums, state.reached);
    return;
  }
  std::vector<DeltaSum> sums(state.sums.size());
  Size reached = 0;
  take(sums, reached);
  if (parts_) parts_->collect(parallel, sums, reached);
  // Digits below 2^46 of up to 2^16 ranks fit in a word.
  if (!sums.empty()) comm_.sum({&sums.front().high, 3 * sums.size()});
  for (std::size_t v = 0; v < sums.size(); ++v) state.sums[v].add(sums[v]);
  state.reached += comm_.sum(reached);
}

std::vector<double> values_of(const BetweennessState& state, std::span<const Vertex> new_name) {
  std::vector<double> values(state.sums.size());
  for (std::size_t v = 0; v < values.size(); ++v) values[v] = state.sums[new_name[v]].value();
  return values;
}
std::vector<double> values_of(const BetweennessState& state, const OrderedGraph& graph) {
  return values_of(state, graph.new_name);
}

}  // namespace tutti::graph
