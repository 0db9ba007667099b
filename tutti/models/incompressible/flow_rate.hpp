// How fast a device computes a flow.
#pragma once

#include "tutti/models/incompressible/flow_case.hpp"
#include "tutti/schedule/balance.hpp"

namespace tutti::incompressible {

/// For weights "measured": cells a second of a pass of the model, the mean over prediction, divergence, sweeps of the
/// pressure and correction, in the precision of the case. With Jacobi the sweeps are those of the flow; with the direct
/// solver its transforms count, too. `threads` must outlive it.
MeasureRate flow_rate(const FlowCase& flow, bool single, Threads& threads);

/// What GPUs exchange in such a pass: Sharing::exchanges. Beside kernels an exchange takes longer than alone; with the
/// direct solver elimination goes from part to part, too, each of whose pieces waits for the one before.
double exchanges_a_pass(const FlowCase& flow);

}  // namespace tutti::incompressible
