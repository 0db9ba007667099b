// What a model writes itself when its run has reached the end.
#pragma once

#include <chrono>

#include "tutti/simulation/observer.hpp"

namespace tutti {

/// Model::write_results; not of a run that was stopped or is repartitioned.
class ModelResults : public Observer {
 public:
  void finish(Run& run, Summary& summary) override {
    if (run.stopped || run.shares || (run.step < run.plan.steps && !run.finished)) return;
    run.comm.together([&] { run.require_folder(); });
    const auto start = std::chrono::steady_clock::now();
    run.model.write_results(run.folder);
    summary.output_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
};

}  // namespace tutti
