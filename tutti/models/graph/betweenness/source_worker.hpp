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
  /// Starts to fetch what take_sums() returns, so that all devices do it at the same time.
  virtual void fetch() {}
  /// The worker's sums, none where it has added nothing: whoever takes them zeroes them. Its reached arcs are added to
  /// `reached`.
  virtual std::span<DeltaSum> take_sums(Size& reached) = 0;
};

/// Adds all of several sums and zeroes them. Few are not worth a team of threads, which may take some milliseconds to
/// wake.
inline void take_all(const ParallelFor& parallel, std::span<const std::span<DeltaSum>> all, std::span<DeltaSum> to) {
  constexpr std::size_t few = std::size_t{1} << 19;
  for_ranges(all.size() * to.size() < few ? ParallelFor() : parallel, std::ssize(to), [&](Size begin, Size end) {
    for (const std::span<DeltaSum> from : all) {
      if (from.empty()) continue;
      for (auto v = static_cast<std::size_t>(begin); v < static_cast<std::size_t>(end); ++v) {
        to[v].add(from[v]);
        from[v] = {};
      }
    }
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
