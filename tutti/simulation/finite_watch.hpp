// Ends a run on NaN or infinity, or on values that cannot be right.
#pragma once

#include "tutti/simulation/observer.hpp"

namespace tutti {

/// The diagnostics of where the run stands, which are known, must be finite and within what the model's data allow.
/// Error(numerical) names the first bad cell of the lowest rank, or the cell of the largest value, and the last good
/// checkpoint. Collective.
void require_good_state(const Run& run);

/// Looks at the diagnostics of each step that has some. Errors as require_good_state.
class FiniteWatch : public Observer {
 public:
  void after_step(Run& run) override;
};

}  // namespace tutti
