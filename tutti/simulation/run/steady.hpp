// Ends a run in which nothing changes any more.
#pragma once

#include <vector>

#include "tutti/simulation/observer.hpp"

namespace tutti {

/// time.steady of models that have no such test of their own: the run ends when a step changes every field of its
/// state by less than so much of its largest value a unit of time. Every 50 steps one step is looked at, by copies on
/// the host; which one depends on its number only, so a restart ends where the run would have. First of the observers:
/// the others then see the last step.
class Steady : public Observer {
 public:
  /// Steps from one look to the next.
  static constexpr Size apart = 50;

  explicit Steady(const Run& run);
  void start(Run& run) override { keep(run); }
  Looks looks(const Run& run) const override {
    if (!looks_at(run.step)) return Looks::at_nothing;
    return run.step % apart == 0 ? Looks::at_diagnostics : Looks::at_fields;  // others look at a last step
  }
  void after_step(Run& run) override;

 private:
  bool looks_at(Size step) const { return below_ > 0 && (step % apart == 0 || step % apart == apart - 1); }
  void keep(Run& run);

  double below_ = 0;
  /// Of the step before: [field][part of this rank][value].
  std::vector<std::vector<std::vector<double>>> before_;
};

}  // namespace tutti
