#include "tutti/simulation/run/load_monitor.hpp"

#include <algorithm>
#include <numeric>

namespace tutti {
namespace {

constexpr double idle_enough = 0.05, gain_enough = 0.02;
constexpr Size window = 50;  // steps

}  // namespace

std::optional<NewShares> choose_shares(const std::vector<PartLoad>& loads, Size steps) {
  NewShares shares;
  double slowest = 0, rates = 0, cells = 0;
  for (const PartLoad& load : loads) {
    if (load.cells == 0) {
      shares.weights.push_back(0);
      continue;
    }
    if (!(load.busy > 0)) return std::nullopt;
    const auto own = static_cast<double>(load.cells);
    shares.weights.push_back(own / load.busy);
    rates += own / load.busy;
    cells += own;
    slowest = std::max(slowest, load.busy);
  }
  for (std::size_t p = 0; p < loads.size(); ++p) {
    const double idle = 1 - loads[p].busy / slowest;
    if (loads[p].cells == 0 || idle <= shares.idle) continue;
    shares.idle = idle;
    shares.idle_part = static_cast<int>(p);
  }
  if (shares.idle <= idle_enough || cells / rates > (1 - gain_enough) * slowest) return std::nullopt;
  shares.seconds = slowest / static_cast<double>(steps);
  shares.seconds_then = cells / rates / static_cast<double>(steps);
  for (double& w : shares.weights) w /= rates;
  return shares;
}

LoadMonitor::LoadMonitor(const Comm& comm, Model& model, double cost) : comm_(comm), model_(model), cost_(cost) {
  for (const IndexMap& map : model.domain().maps) cells_.push_back(map.owned);
}

std::optional<NewShares> LoadMonitor::look(Size steps, Size left) {
  if (steps_before_ >= 0 && steps - steps_before_ < window) return std::nullopt;
  const std::vector<PartSeconds> now = part_seconds(model_);
  const Size counted = steps - steps_before_;
  const bool first = steps_before_ < 0;
  std::vector<PartLoad> mine;
  for (std::size_t p = 0; p < cells_.size() && !first; ++p) {
    const PartSeconds in_window = now[p] - before_[p];
    mine.push_back({cells_[p], in_window.separator + in_window.interior});
  }
  before_ = now;
  steps_before_ = steps;
  if (first) return std::nullopt;
  auto shares = choose_shares(comm_.all_gather(std::span<const PartLoad>(mine)), counted);
  if (!shares) return std::nullopt;
  // Clocks and costs differ between ranks: the root decides.
  const bool worth_it = (shares->seconds - shares->seconds_then) * static_cast<double>(left) > cost_;
  std::vector<int> decided{worth_it ? 1 : 0};
  comm_.broadcast(decided);
  if (decided[0] == 0) return std::nullopt;
  return shares;
}

}  // namespace tutti
