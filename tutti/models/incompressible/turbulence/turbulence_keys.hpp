// Keys of what turbulent flows need: a mass flow that is kept, a subgrid model, profiles.
#pragma once

#include "tutti/models/incompressible/flow_case.hpp"

namespace tutti::incompressible {

void add_turbulence_keys(CaseSchema& schema);
/// Fills what they say into a case whose ends, grid, scalars and kind of diffusion are read. Error(input) as
/// read_flow_case.
void read_turbulence(const Case& options, FlowCase& flow);

}  // namespace tutti::incompressible
