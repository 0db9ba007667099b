// Ends a run whose numbers are not numbers any more.
#pragma once

#include "tutti/simulation/observer.hpp"

namespace tutti {

/// Looks at the diagnostics of each step that has some. Error(numerical) names the first bad cell of the lowest rank.
class FiniteWatch : public Observer {
 public:
  void after_step(Run& run) override;
};

}  // namespace tutti
