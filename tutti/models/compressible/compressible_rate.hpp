// How many elements a second a device advances by a stage: for balance.weights = "measured".
#pragma once

#include "tutti/io/case/case.hpp"
#include "tutti/models/compressible/compressible_case.hpp"
#include "tutti/schedule/balance.hpp"

namespace tutti::compressible {

/// Times stages of the case's method on a periodic box: of the case's own elements where they are generated, else of
/// tetrahedra. `threads` must outlive it.
MeasureRate stage_rate(const Case& options, const CompressibleCase& flow, Threads& threads);

}  // namespace tutti::compressible
