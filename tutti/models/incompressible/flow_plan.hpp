// What a flow will need, counted before anything is allocated.
#pragma once

#include <vector>

#include "tutti/domain/box_domain.hpp"
#include "tutti/models/incompressible/flow_case.hpp"
#include "tutti/program/planned.hpp"

namespace tutti::incompressible {

/// What one part takes and moves. Arrays are without what a transport between GPUs takes besides; message_bytes are
/// those to other parts.
struct FlowPartPlan : PlannedPart {
  double flops_a_step = 0;  ///< of the direct solver's transforms
};

/// Part p of this rank, in the precision of the case. `sweeps`: of a solve.
FlowPartPlan plan_part(const Case& options, const FlowCase& flow, const BoxDomain& domain, std::size_t p, int sweeps);

/// How the cells of a flow are shared: by its own kernel's rate, as far as there is room. `options` and
/// `threads` outlive it.
Sharing flow_sharing(const Case& options, const FlowCase& flow, Threads& threads);

/// Projections of a step.
int stages_of(const FlowCase& flow);
/// Sweeps of a solve: those of the case, or where a tolerance ends them, what takes two decades off the residual with
/// the best omega (Young 1954).
int planned_sweeps(const FlowCase& flow);
/// What FlowModel::time_step() will be; initial values that are formulas are looked at in 32^3 points at most.
double planned_time_step(const Case& options, const FlowCase& flow);

/// Multiply-adds of the direct solver's transforms, counted as two: their rate on a device (the CPU team's, where it is
/// no GPU), timed in about 20 ms.
double quick_transform_rate(Device& device, Threads& threads, bool single);

/// Values a cell that a stage must read or write, each once: momentum 10, divergence 4, correction 7, temperature 6,
/// another scalar 7 (with the velocity), a force 3, a source 1, a subgrid model 11 and its force 3, a mass flow 3.
Size values_besides_pressure(const FlowCase& flow);
/// With the pressure: a sweep of Jacobi 3, one of red_black 2 x 3, a direct solution 8.
Size values_a_stage(const FlowCase& flow, int sweeps);
/// Floating-point operations a cell: what a stage computes as it is written in flow_kernel.hpp, but for a sweep, which
/// counts 10: what it takes on a uniform grid (six neighbours in three weighted pairs, the right side, one factor).
double flops_a_stage(const FlowCase& flow, int sweeps);

}  // namespace tutti::incompressible
