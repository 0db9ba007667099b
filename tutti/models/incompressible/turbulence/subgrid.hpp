// The eddy viscosity of a subgrid model, and the force div(2 nu_t S) of what the grid does not resolve.
#pragma once

#include "tutti/models/incompressible/flow_part.hpp"

namespace tutti::incompressible {

/// Arrays of a subgrid model; the force of the case, if a formula, goes to FlowPart::given_force.
template <class T>
void allocate_subgrid(Stream& stream, const FlowCase& flow, FlowPart<T>& part);

// What passes over cells of a part do.

/// nu_t at the centres of cells from the velocity and its ghosts, edges among them. With D^2 the product of the cell's
/// widths to the power 2/3: C^2 D^2 sqrt(2 S:S) (Smagorinsky, Mon. Weather Rev. 91, 1963), or C^2 D^2 (Sd:Sd)^(3/2) /
/// ((S:S)^(5/2) + (Sd:Sd)^(5/4)), Sd the symmetric traceless part of the squared velocity gradient (Nicoud and Ducros,
/// Flow Turbul. Combust. 62, 1999). Gradients are the means of the differences at the cell's edges.
template <class T>
void eddy_viscosity(Kernels& to, FlowPart<T>& part, const FlowCase& flow);
/// FlowPart::force: that of the case and div(nu_t (grad u + (grad u)^T)), from nu_t with its ghosts. At an edge nu_t is
/// the mean of the four cells around it.
template <class T>
void add_subgrid_force(Kernels& to, FlowPart<T>& part, const FlowConstants<T>& constants);

/// Largest sum over the directions of 4 nu_t / width^2: what bounds a step (longest_step); directions of one cell do
/// not count. From nu_t of the owned cells.
template <class T>
double eddy_rate(Stream& stream, FlowPart<T>& part, const FlowCase& flow);

}  // namespace tutti::incompressible
