// What takes sources from the queue: a thread of the CPU, or a device.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "tutti/base/parallel.hpp"
#include "tutti/device/device.hpp"
#include "tutti/models/graph/betweenness/delta_sum.hpp"
#include "tutti/models/graph/betweenness/ordered_graph.hpp"

namespace tutti::graph {

/// Bytes taken from a budget for as long as it lives.
class Charge {
 public:
  Charge(Budget& budget, const std::string& what, Size bytes) : budget_(budget), bytes_(bytes) {
    budget.reserve(what, bytes);
  }
  ~Charge() { budget_.release(bytes_); }
  Charge(const Charge&) = delete;
  Charge& operator=(const Charge&) = delete;

 private:
  Budget& budget_;
  Size bytes_;
};

class SourceWorker {
 public:
  virtual ~SourceWorker() = default;
  /// Sources at a time.
  virtual Size most() const = 0;
  /// Sources a second that are likely, before anything was measured.
  virtual double likely_rate() const = 0;
  /// Adds the dependencies of 1 to most() sources to the worker's sums. What a source adds depends on nothing but the
  /// graph and the source, bit for bit, whoever does it.
  virtual void add(std::span<const Vertex> sources) = 0;
  /// Starts to fetch what collect() adds, so that all devices do it at the same time.
  virtual void fetch() {}
  /// Adds the worker's sums to `sums`, and its reached arcs to `reached`; they are zero afterwards. It takes no time
  /// where the worker has added nothing.
  virtual void collect(const ParallelFor& parallel, std::span<DeltaSum> sums, Size& reached) = 0;
};

/// Adds the sums of a worker to all. Few are not worth a team of threads.
inline void add_sums(const ParallelFor& parallel, std::span<const DeltaSum> from, std::span<DeltaSum> to) {
  constexpr std::size_t few = std::size_t{1} << 18;
  for_ranges(from.size() < few ? ParallelFor() : parallel, std::ssize(from), [&](Size begin, Size end) {
    for (auto v = static_cast<std::size_t>(begin); v < static_cast<std::size_t>(end); ++v) to[v].add(from[v]);
  });
}

/// Which of the two ways of counting paths: `automatic` takes batches where the graph has few levels.
enum class Sweep : std::uint8_t { automatic, batches, one_by_one };

/// Graphs of more levels are swept one source at a time.
inline constexpr Size most_batch_depth = 48;

/// One thread. Its arrays are charged to `budget`, in as many lanes as fit and as `sources` need. Error(resource): not
/// even those of one source fit.
std::unique_ptr<SourceWorker> make_thread_worker(const OrderedGraph& graph, Budget& budget, Size sources, Sweep sweep);

/// A fake or cuda device with a copy of the graph. On a GPU the kernels made for one are used, unless `portable`: then
/// those that every device runs. Error(resource): the graph and one source do not fit.
std::unique_ptr<SourceWorker> make_device_worker(const OrderedGraph& graph, Device& device, Size sources, Sweep sweep,
                                                 bool portable = false);

}  // namespace tutti::graph
