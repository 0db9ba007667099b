// Sources shared out to workers of very different speeds.
#pragma once

#include <mutex>
#include <vector>

#include "tutti/base/types.hpp"

namespace tutti::graph {

/// Sources [begin, end) of a list.
struct SourceRange {
  Size begin = 0, end = 0;
  Size size() const { return end - begin; }
};

/// What is known of a worker: how many sources it takes at most at a time, and sources a second, a guess at first.
struct WorkerRate {
  Size most = 1;
  double rate = 1;
  bool measured = false;
};

/// One list for all workers of a rank. Thread safe.
class SourceQueue {
 public:
  SourceQueue(SourceRange all, std::vector<WorkerRate>& workers)
      : next_(all.begin), end_(all.end), all_(all.size()), workers_(workers), states_(workers.size(), State::fresh) {}

  /// What worker w does next: first its share of everything, then of what is left, in whole batches of 64 if it is
  /// larger. Empty: there is no more for it, ever. It gets no piece that would take it longer than all that still take
  /// need for what is left: a CPU beside a GPU may get none. The last one gets everything.
  SourceRange take(std::size_t w);
  /// Worker w did so many sources in this time.
  void report(std::size_t w, Size count, double seconds);
  /// After an error: nobody gets any more.
  void stop();

 private:
  std::mutex mutex_;
  enum class State : std::uint8_t { fresh, working, gone };
  Size next_, end_, all_;
  std::vector<WorkerRate>& workers_;
  std::vector<State> states_;  ///< gone: was told that there is no more
};

/// `count` things over shares of these weights, in order: the nearest whole numbers below, the rest to the largest
/// fractions. The weights are not all zero.
std::vector<Size> share_out(Size count, const std::vector<double>& weights);

}  // namespace tutti::graph
