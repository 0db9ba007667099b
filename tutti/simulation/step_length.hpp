// Steps whose length the model decides while it runs.
#pragma once

#include "tutti/simulation/observer.hpp"

namespace tutti {

/// Asks the model every Model::adapts_every() steps; the plan of the steps to come follows. Errors as plan_from.
class StepLength : public Observer {
 public:
  void after_step(Run& run) override {
    const Size every = run.model.adapts_every();
    if (every == 0 || run.step % every != 0 || run.last) return;
    const double dt = run.model.adapted_step(run.plan.dt);
    run.comm.together([&] {
      if (dt == run.plan.dt) return;
      const auto units = run.model.advance();
      run.plan =
          units ? plan_units(units->end, run.step, run.time, dt) : plan_from(run.options, run.step, run.time, dt);
    });
  }
};

}  // namespace tutti
