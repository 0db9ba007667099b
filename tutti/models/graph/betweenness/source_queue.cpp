#include "tutti/models/graph/betweenness/source_queue.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tutti::graph {

SourceRange SourceQueue::take(std::size_t w) {
  const std::lock_guard lock(mutex_);
  const Size left = end_ - next_;
  if (left <= 0) return {};
  double all = 0, fastest = 0;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    if (states_[i] == State::gone) continue;
    all += workers_[i].rate;
    fastest = std::max(fastest, workers_[i].rate);
  }
  const WorkerRate& mine = workers_[w];
  const bool slow = mine.rate <= 0.3 * fastest;
  const Size part = states_[w] == State::fresh ? all_ : left;
  // Guesses of a CPU thread beside a GPU were six times too favourable: few sources share little work, and threads
  // share the memory. Too small a first piece costs next to nothing, too large a one makes the GPU wait.
  const double doubt = slow && !mine.measured ? 0.1 : 1;
  auto share = static_cast<Size>(static_cast<double>(part) * (doubt * mine.rate / all));
  if (share > 64) share = (share + 63) / 64 * 64;
  // Small batches share little work: among equals a piece has a quarter of a batch at least, and who is much slower
  // takes no crumbs.
  const Size least = std::clamp<Size>(mine.most / 4, 1, 64);
  Size count = std::min({share, mine.most, left});
  if (!slow)
    count = std::min({std::max(share, least), mine.most, left});
  else if (share < std::min<Size>(least, 8))
    count = 0;
  states_[w] = count == 0 ? State::gone : State::working;
  const SourceRange range{next_, next_ + count};
  next_ += count;
  return range;
}

void SourceQueue::report(std::size_t w, Size count, double seconds) {
  const std::lock_guard lock(mutex_);
  const double rate = static_cast<double>(count) / std::max(seconds, 1e-9);
  WorkerRate& mine = workers_[w];
  mine.rate = mine.measured ? 0.5 * (mine.rate + rate) : rate;
  mine.measured = true;
}

void SourceQueue::stop() {
  const std::lock_guard lock(mutex_);
  next_ = end_;
}

std::vector<Size> share_out(Size count, const std::vector<double>& weights) {
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<Size> shares;
  std::vector<std::pair<double, std::size_t>> rest;
  Size given = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double exact = static_cast<double>(count) * (weights[i] / all);
    shares.push_back(std::min(static_cast<Size>(exact), count - given));
    given += shares.back();
    rest.emplace_back(static_cast<double>(shares.back()) - exact, i);
  }
  std::sort(rest.begin(), rest.end());
  for (std::size_t k = 0; given < count; ++k, ++given) ++shares[rest[k % rest.size()].second];
  return shares;
}

}  // namespace tutti::graph
