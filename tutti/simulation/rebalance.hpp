// Shares the work anew where a device keeps waiting for others.
#pragma once

#include "tutti/simulation/observer.hpp"

namespace tutti {

/// Looks at each report; repartitioning ends the run, to go on from a checkpoint.
class Rebalance : public Observer {
 public:
  /// How often a program does this at most.
  static constexpr std::size_t most = 3;
  /// `cost`: seconds that repartitioning takes, on the root.
  Rebalance(const Run& run, double cost) : monitor_(run.comm, run.model, cost) {}
  void after_step(Run& run) override {
    if (!run.reports || run.last) return;
    run.shares = monitor_.look(run.step, run.plan.steps - run.step);
    run.interrupted = std::chrono::steady_clock::now();
  }

 private:
  LoadMonitor monitor_;
};

}  // namespace tutti
