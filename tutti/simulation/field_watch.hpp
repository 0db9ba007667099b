// Ends a run whose numbers cannot be right any more.
#pragma once

#include <span>
#include <string>

#include "tutti/base/comm.hpp"
#include "tutti/simulation/model.hpp"

namespace tutti {

/// The first diagnostic has left what the model's data allow by orders of magnitude: Error(numerical) says so, with the
/// cell of the largest value, its place and the time. `advice`: what to do, "; ..." . Collective.
void require_bounds(const Comm& comm, Model& model, std::span<const Diagnostic> diagnostics, Size step, double time,
                    const std::string& advice);

}  // namespace tutti
