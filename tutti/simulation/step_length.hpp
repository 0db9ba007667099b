// Steps whose length the model decides while it runs.
#pragma once

#include "tutti/simulation/observer.hpp"

namespace tutti {

/// Asks the model every Model::adapts_every() steps, and goes on where shortened steps have met their time; the plan of
/// the steps to come follows. Errors as plan_from.
class StepLength : public Observer {
 public:
  void after_step(Run& run) override {
    const Size every = run.model.adapts_every();
    const bool adapts = every > 0 && run.step % every == 0, arrived = run.step == run.plan.until;
    if ((!adapts && !arrived) || run.last) return;
    const double before = run.plan.longest > 0 ? run.plan.longest : run.plan.dt;
    const double dt = adapts ? run.model.adapted_step(before) : before;
    run.comm.together([&] {
      if (dt == before && !arrived) return;
      const auto units = run.model.advance();
      run.plan =
          units ? plan_units(units->end, run.step, run.time, dt) : plan_from(run.options, run.step, run.time, dt);
    });
  }
};

}  // namespace tutti
